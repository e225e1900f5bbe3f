"""Trackers crossed with generators: metrics against outcomes, and what errors cost."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Block, Section, Text, described, table
from extrinsic.report.drawing.terms import name_term
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import Name, target_title
from extrinsic.study.number_texts import share, with_interval
from extrinsic.study.tables.schema import CostRow, SwapRow

EVERY = "all"
FEWEST = 0.01
"""Errors in a smaller share of the dialogs are in costs.csv alone."""


def section(study: Study) -> Section | None:
    rows = [row for row in study.tables.swap if row.generator == EVERY]
    if not rows:
        return None
    first = rows[0]
    blocks: list[Block] = [
        Text(
            (
                f"The states of {first.n_trackers} trackers were put under the responses of "
                f"{first.n_generators} generators in the same {first.n_dialogs:,} dialogs: the tracker "
                "is all that differs. "
                "Intervals resample trackers, generators and dialogs, each as whole units.",
            )
        ),
        _metrics(rows),
    ]
    if study.tables.costs:
        blocks.append(_costs(study.tables.costs))
    return Section("swaps", "Trackers under the same responses", tuple(blocks))


def _metrics(rows: list[SwapRow]) -> Block:
    defined = [row for row in rows if row.r is not None and row.target == rows[0].target]
    order = sorted(defined, key=lambda row: (row.trackers != "core", row.level != "tracker", -(row.r or 0.0)))
    caption = (
        f"Pearson's r of each metric with {target_title(rows[0].target)}: of trackers within each generator, "
        "and of dialogs within each generator and dialog. Where the interval of the difference to JGA does "
        "not include 0, the metric predicts better or worse than JGA."
    )
    heads = described(
        SwapRow,
        trackers="trackers",
        level="level",
        metric="metric",
        r="#r",
        difference="#less that of jga",
    )
    lines = [
        (
            row.trackers,
            row.level,
            name_term(Name.of(row)),
            with_interval(row.r, row.low, row.high),
            with_interval(row.difference, row.difference_low, row.difference_high)
            if row.difference is not None
            else "",
        )
        for row in order
    ]
    return table(caption, heads, lines, "swap.csv")


def _costs(rows: list[CostRow]) -> Block:
    group = "core" if any(row.trackers == "core" for row in rows) else EVERY
    shown = [row for row in rows if row.trackers == group and row.share >= FEWEST and row.cost is not None]
    caption = (
        f"By how much {target_title(rows[0].target)} is lower where a slot is missed, wrong or overshot in "
        f"some turn, within each generator and dialog ({group} trackers), and whether trackers with fewer "
        "such errors reach more."
    )
    heads = described(CostRow, error="error", slots="slots", share="#share", cost="#cost", r="#r of fewer")
    lines = [
        (
            row.error,
            row.slots,
            share(row.share),
            with_interval(row.cost, row.low, row.high),
            with_interval(row.r, row.r_low, row.r_high) if row.r is not None else "",
        )
        for row in sorted(
            shown, key=lambda row: (row.slots not in (EVERY, "search", "booking"), -(row.cost or 0.0))
        )
    ]
    return table(caption, heads, lines, "costs.csv")
