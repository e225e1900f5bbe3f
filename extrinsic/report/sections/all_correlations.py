"""Every correlation, in a table to sort and filter; its rows are embedded as JSON columns."""

from __future__ import annotations

import json
from collections.abc import Callable

from extrinsic.report.drawing.page_parts import Partial, Section
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import component_title, metric_title, schedule_title, target_title, variant_title
from extrinsic.study.tables.metric_rows import CorrelationRow
from extrinsic.study.tables.schema import column_help

WHICH = ("variant", "target", "trackers", "scope", "coefficient")
WORDS = (*WHICH, "metric", "component", "schedule", "carried_by")
"""Columns of few different texts, stored as indices."""

NUMBERS = ("r", "low", "high", "p_max_t")
WHOLE = ("n",)
TITLES: dict[str, Callable[[str], str]] = {
    "variant": variant_title,
    "target": target_title,
    "metric": metric_title,
    "component": component_title,
    "schedule": lambda schedule: schedule_title(int(schedule)),
}
"""What people call the texts of a column."""

DIGITS = 10_000
MOST_ROWS = 20_000
"""At most this many rows are embedded; a big study has the rest in its csv."""


def all_correlations_section(study: Study) -> Section | None:
    rows = study.tables.correlations
    if not rows:
        return None
    kept = embedded(rows)
    shown = {row.target for row in kept}
    left = list(dict.fromkeys(row.target for row in rows if row.target not in shown))
    numbers = {
        "n_rows": len(kept),
        "n_all": len(rows),
        "left": left,
        "cut": len(rows) > len(kept) and not left,
    }
    values = {"data": columns(kept), **numbers, "coefficient": study.coefficient, "target": study.target}
    return Section("everything", "Every correlation", (Partial("everything.html", values),))


def embedded(rows: list[CorrelationRow], most: int = MOST_ROWS) -> list[CorrelationRow]:
    """Whole targets in their order, as long as there is room; of the first one at least what fits."""
    kept: list[CorrelationRow] = []
    for target in dict.fromkeys(row.target for row in rows):
        of_target = [row for row in rows if row.target == target]
        if len(kept) + len(of_target) > most:
            break
        kept += of_target
    return kept or rows[:most]


def columns(rows: list[CorrelationRow]) -> str:
    """JSON for a script element: names, columns, and the help of the columns.

    {"names": {...}, "titles": {...}, "columns": {...}, "help": {...}}; numbers times 10,000.
    """
    names: dict[str, list[str]] = {}
    made: dict[str, list[int | None]] = {}
    for key in WORDS:
        texts = [str(getattr(row, key) or "") for row in rows]
        number_of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        names[key] = list(number_of)
        made[key] = [number_of[text] for text in texts]
    for key in NUMBERS:
        values = (getattr(row, key) for row in rows)
        made[key] = [None if value is None else round(value * DIGITS) for value in values]
    for key in WHOLE:
        made[key] = [getattr(row, key) for row in rows]
    meanings = column_help(CorrelationRow)
    texts_of = {key: f"{key}: {meanings[key]}".replace("`", "") for key in made}
    titles = {key: [title(name) for name in names[key]] for key, title in TITLES.items()}
    data = {"names": names, "titles": titles, "columns": made, "help": texts_of}
    return escape_script(json.dumps(data, separators=(",", ":")))


def escape_script(text: str) -> str:
    """Escape text so that no markup can begin in it: neither </script> nor a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
