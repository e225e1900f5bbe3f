"""The page that compares two trackers: what differs, and the dialogs that explain it, turn by turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from extrinsic.report.drawing.page_parts import Fold, Section, described, table
from extrinsic.report.page import make_environment, script_and_style
from extrinsic.report.report_files import require_libraries
from extrinsic.report.results.report_tables import clean
from extrinsic.storage import write_atomic
from extrinsic.study.comparing import MEAN, ComparisonRow
from extrinsic.study.disagreements import Disagreement
from extrinsic.study.finished_run import Run


def write_comparison(
    run: Run,
    first: str,
    second: str,
    rows: Sequence[ComparisonRow],
    dialogs: Sequence[Disagreement],
    output: str | Path | None = None,
) -> Path:
    """Write the page beside the run's report; returns where it is."""
    require_libraries()
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"compare-{first}-{second}")
    path = run.folder / f"{name}.html" if output is None else Path(output)
    environment = make_environment()
    study = SimpleNamespace(name=clean(run.manifest.study), folder="")
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


def _sections(rows: Sequence[ComparisonRow], first: str, second: str) -> list[Section]:
    """Returns and metrics, each first for the mean over datasets and then for every dataset."""
    sections = []
    for kind, title, labels in (
        ("return", "Values of policies built on them", {"variant": "variant", "name": "name"}),
        ("metric", "Metrics", {"name": "name", "component": "component", "schedule": "#schedule"}),
    ):
        of_kind = [row for row in rows if row.kind == kind]
        heads = described(
            ComparisonRow,
            **labels,
            a=f"#{first}",
            b=f"#{second}",
            difference="#difference",
            low="#low",
            high="#high",
            p="#p",
            better="better",
        )
        tables = {}
        for dataset in dict.fromkeys(row.dataset for row in of_kind):
            caption = "The mean over all datasets." if dataset == MEAN else f"Dataset {dataset}."
            lines = [_line(row, list(labels), first, second) for row in of_kind if row.dataset == dataset]
            tables[dataset] = table(caption, heads, lines)
        if tables:
            (_, shown), *others = tables.items()
            folds = (Fold(f"Dataset {dataset}", (other,), is_aside=True) for dataset, other in others)
            sections.append(Section(kind, title, (shown, *folds)))
    return sections


def _line(row: ComparisonRow, labels: Sequence[str], first: str, second: str) -> list[str]:
    texts = [str(getattr(row, label) or "") for label in labels]
    digits = 1 if row.kind == "return" and not row.name.startswith("outcome.") else 3
    numbers = [_number(value, digits) for value in (row.a, row.b, row.difference, row.low, row.high)]
    return [*texts, *numbers, _number(row.p, 3), {"a": first, "b": second}.get(row.better or "", "")]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
