"""How to read the page, what not to conclude, and the provenance of the run."""

from __future__ import annotations

from collections.abc import Iterable

from extrinsic.report.drawing.page_parts import Partial, Section
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.report_tables import clean
from extrinsic.study.number_texts import counted, listing
from extrinsic.study.tables.schema import TABLES


def how_to_read_section(
    study: Study, template: str = "reading.html", tables: Iterable[str] = TABLES
) -> Section:
    values = {
        "study": study,
        "signature": study.signature,
        "versions": study.versions,
        "stages": listing([f"{number} × {name}" for name, number in sorted(study.stages.items())]),
        "n_stages": counted(study.stages.total(), "stage"),
        "config": "\n".join(map(clean, study.config.splitlines())),
        "tables": [f"{name}.csv" for name in tables],
        "changed": study.changed,
        "left_out": study.left_out,
    }
    return Section("reading", "How to read this", (Partial(template, values),))
