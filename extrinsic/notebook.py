"""How results appear in a notebook, and as tables of pandas and pyarrow where these are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrinsic.errors import UsageError

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 20


def html_table(caption: str, rows: Sequence[Mapping[str, object]]) -> str:
    """The first rows as an HTML table under a caption; all rows have the same keys."""
    heads = list(rows[0]) if rows else []
    shown = [_line("td", row.values()) for row in rows[:MOST_ROWS]]
    more = f"<p>... {len(rows) - MOST_ROWS:,} more rows</p>" if len(rows) > MOST_ROWS else ""
    table = f"<table>{_line('th', heads)}{''.join(shown)}</table>" if rows else ""
    return f"<p><b>{escape(caption)}</b></p>{table}{more}"


def _line(cell: str, values: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(_text(value))}</{cell}>" for value in values) + "</tr>"


def _text(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def dataframe(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pandas.DataFrame:
    """Rows as a pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_dataframe needs pandas: pip install pandas") from None
    return pandas.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns))


def write_parquet(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], path: str | Path) -> Path:
    """Rows as a Parquet file; returns where it is."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install pyarrow") from None
    # A tuple of names (flags) is a list of texts there.
    values = {
        name: [list(row[name]) if isinstance(row[name], tuple) else row[name] for row in rows]
        for name in columns
    }
    pyarrow.parquet.write_table(pyarrow.table(values), str(path))
    return Path(path)
