"""How well the worlds that were fitted to the logs fit them."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section, described, table
from extrinsic.report.results.report_data import Study
from extrinsic.study.number_texts import amount
from extrinsic.study.tables.schema import WorldFitRow


def section(study: Study) -> Section | None:
    rows = study.tables.fit
    if not rows:
        return None
    shown = [
        (
            row.dataset,
            row.measure,
            f"{amount(row.logged, 2)} [{amount(row.low, 2)}, {amount(row.high, 2)}]",
            amount(row.fitted, 2),
            "misfit" if row.misfit else "",
        )
        for row in rows
    ]
    caption = (
        "Policies were also valued in worlds fitted to the logs. A measure that lies clearly outside the "
        "interval of the log is a misfit, and values in that world carry a flag."
    )
    heads = described(
        WorldFitRow,
        dataset="dataset",
        measure="measure",
        logged="#in the log",
        fitted="#in the fitted world",
        misfit="misfit",
    )
    return Section("fit", "Worlds fitted to the logs", (table(caption, heads, shown, "fit.csv"),))
