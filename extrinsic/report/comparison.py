"""The page that compares two trackers: what differs, and the dialogs that explain it, turn by turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from extrinsic.report.drawing.page_parts import Fold, Section, table
from extrinsic.report.page import make_environment, script_and_style
from extrinsic.report.report_files import require_libraries
from extrinsic.report.results.table_columns import clean
from extrinsic.storage import write_atomic
from extrinsic.study.comparing import MEAN
from extrinsic.study.disagreements import Disagreement
from extrinsic.study.finished_run import Run

HEADS = ("#difference", "#low", "#high", "#p", "better")


def write_comparison(
    run: Run,
    first: str,
    second: str,
    rows: Sequence[dict[str, Any]],
    dialogs: Sequence[Disagreement],
    output: str | Path | None = None,
) -> Path:
    """Write the page beside the run's report; returns where it is."""
    require_libraries()
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"compare-{first}-{second}")
    path = run.folder / f"{name}.html" if output is None else Path(output)
    environment = make_environment()
    study = SimpleNamespace(name=str(run.manifest["study"]), folder="")
    environment.globals["study"] = study
    macros: Any = environment.get_template("blocks.html").module
    page = environment.get_template("compare.html").render(
        first=first,
        second=second,
        sections=_sections(rows, first, second),
        dialogs=dialogs,
        blocks=partial(macros.show, study=study),
        facts="Differences are the first less the second, with 95 % intervals over resampled dialogs; p by "
        "exchanging the two dialog by dialog.",
        signature=clean(run.signature),
        **script_and_style(),
    )
    write_atomic(path, page.encode())
    return path


def _sections(rows: Sequence[dict[str, Any]], first: str, second: str) -> list[Section]:
    """Returns and metrics, each of the mean over datasets first and then of every dataset."""
    sections = []
    for kind, title, names in (
        ("return", "What policies on them are worth", ("variant", "name")),
        ("metric", "Metrics", ("name", "component", "#schedule")),
    ):
        mine = [row for row in rows if row["kind"] == kind]
        tables = {}
        for dataset in dict.fromkeys(row["dataset"] for row in mine):
            caption = "The mean over all datasets." if dataset == MEAN else f"Dataset {dataset}."
            lines = [_line(row, names, first, second) for row in mine if row["dataset"] == dataset]
            tables[dataset] = table(caption, (*names, f"#{first}", f"#{second}", *HEADS), lines)
        if tables:
            shown, *others = tables.items()
            folds = (Fold(f"Dataset {dataset}", (one,), is_aside=True) for dataset, one in others)
            sections.append(Section(kind, title, (shown[1], *folds)))
    return sections


def _line(row: dict[str, Any], names: Sequence[str], first: str, second: str) -> list[str]:
    told = [str(row.get(name.lstrip("#")) or "") for name in names]
    digits = 1 if row["kind"] == "return" and not row["name"].startswith("outcome.") else 3
    numbers = [_number(row[key], digits) for key in ("a", "b", "difference", "low", "high")]
    return [*told, *numbers, _number(row["p"], 3), {"a": first, "b": second}.get(row["better"] or "", "")]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
