"""Trackers crossed with generators: metrics against outcomes, and what errors cost."""

from __future__ import annotations

from collections.abc import Sequence

from extrinsic.report.page_parts import Block, Fold, Section, Text, described, name_term, table
from extrinsic.report.run_data import Study
from extrinsic.study.tables import CostRow, SwapRow
from extrinsic.verdict.names import (
    Name,
    correlation,
    listing,
    metric_title,
    share,
    target_title,
    with_interval,
)
from extrinsic.verdict.rows import TrackerRow

EVERY, CORE, OWN = "all", "core", "own"
GROUPS = (EVERY, "search", "booking")
KINDS = ("missed", "wrong", "overshot")
FEWEST = 0.01
"""A slot with errors in a smaller share of the dialogs is in costs.csv alone."""

CAPTION = (
    "First over trackers, each generator's mean taken away, and the lowest and highest r under a single "
    "generator; then over trackers in the same dialog, the mean of each generator and dialog taken away. "
    "Intervals and ranks are by leaving out each tracker, generator and dialog; a metric whose ranks begin "
    "with 1 may be the best. Over all generators r may be lower than under each, as outcomes vary more with "
    "the tracker under some generators than under others."
)
OWN_CAPTION = (
    "First over the dialogs of each system, its mean taken away (hard dialogs count); then over systems in "
    "the same dialog, the dialog's mean taken away. Intervals leave out each system and each dialog."
)


def swaps_section(study: Study) -> Section | None:
    """The core trackers first; all of them, with those that are flagged, behind a fold."""
    every = study.tables[SwapRow]
    if not every:
        return None
    rows = [row for row in every if row.target == every[0].target]
    groups = sorted({row.trackers for row in rows}, key=lambda group: group != CORE)
    first, *others = ([row for row in rows if row.trackers == group] for group in groups)
    blocks: list[Block] = [Text((_design(study, first[0]), *_answer(first))), _metrics(first)]
    blocks += [
        Fold(f"All {part[0].n_trackers} trackers", (Text(tuple(_answer(part))), _metrics(part)))
        for part in others
    ]
    costs = [row for row in study.tables[CostRow] if row.trackers == groups[0]]
    blocks += _costs(costs) if costs else []
    title = "Dialogs as points" if first[0].generator == OWN else "Trackers under the same responses"
    return Section("swaps", title, tuple(blocks))


def _design(study: Study, row: SwapRow) -> str:
    which = f"{row.n_trackers} {CORE} trackers" if row.trackers == CORE else f"{row.n_trackers} trackers"
    flagged = [
        f"{tracker.tracker} ({', '.join(tracker.flags)})"
        for tracker in study.tables[TrackerRow]
        if tracker.flags and row.trackers == CORE
    ]
    left_out = f" Flagged and left out: {'; '.join(flagged)}." if flagged else ""
    if row.generator == OWN:
        return (
            f"Do metrics predict which of {row.n_dialogs:,} dialogs go well? {which.capitalize()}, each with "
            f"its own responses; few systems say little of metrics, dialogs say more.{left_out}"
        )
    return (
        f"The states of {which} were put under the responses of {row.n_generators} generators in the same "
        f"{row.n_dialogs:,} dialogs: the tracker is all that differs.{left_out}"
    )


def _answer(rows: Sequence[SwapRow]) -> list[str]:
    """Which metrics may be the best over trackers, and which differ from JGA."""
    every = [row for row in rows if row.generator == EVERY and row.level == "tracker" and row.r is not None]
    if not every:
        return []
    order = sorted(every, key=lambda row: -(row.r or 0.0))
    best = [row for row in order if row.in_set]
    titles = {row.metric: metric_title(row.metric) for row in order}
    first = titles[order[0].metric]
    sentence = f"For {target_title(order[0].target)}, {first} comes first of {len(order)} metrics"
    if best:
        sentence += f"; {len(best)} may be the best: {listing([titles[row.metric] for row in best])}"
    above = [titles[row.metric] for row in order if (row.difference_low or 0.0) > 0.0]
    below = [titles[row.metric] for row in order if (row.difference_high or 0.0) < 0.0]
    sides = (("shown to be above JGA", above), ("below it", below))
    compared = [f"{which}: {listing(names)}" for which, names in sides if names]
    has_reference = any(row.difference is not None for row in order)
    verdict = "; ".join(compared) or "no metric is resolved from JGA"
    return [f"{sentence}. " + (f"{verdict[0].upper()}{verdict[1:]}." if has_reference else "")]


def _metrics(rows: Sequence[SwapRow]) -> Block:
    """A line for each metric: over trackers, under single generators, over dialogs."""
    together = {(Name.of(row), row.level): row for row in rows if row.generator in (EVERY, OWN)}
    is_own = rows[0].generator == OWN
    before = "within" if is_own else "tracker"
    single: dict[Name, list[float]] = {}
    for row in rows:
        if row.generator not in (EVERY, OWN) and row.r is not None:
            single.setdefault(Name.of(row), []).append(row.r)
    names = [name for name, level in together if level == before]
    names.sort(key=lambda name: -(together[name, before].r or -2.0))
    lines = []
    for name in names:
        over_trackers, over_dialogs = together[name, before], together[name, "dialog"]
        if over_trackers.r is None and over_dialogs.r is None:
            continue
        ends = single.get(name, ())
        reach = f"{correlation(min(ends))} to {correlation(max(ends))}" if ends else ""
        lines.append((name_term(name), *_cells(over_trackers), reach, *_cells(over_dialogs)))
    caption = f"Pearson's r with {target_title(rows[0].target)}. " + (OWN_CAPTION if is_own else CAPTION)
    r = "#r, within a system" if is_own else "#r, trackers"
    heads = [
        *described(SwapRow, metric="metric", r=r, difference="#less JGA's", rank="#ranks"),
        *described(SwapRow, generator="#one generator"),
        *described(SwapRow, r="#r, same dialog", difference="#less JGA's", rank="#ranks"),
    ]
    return table(caption, heads, lines, "swap.csv")


def _cells(row: SwapRow) -> tuple[str, str, str]:
    r = (row.r, row.low, row.high), (row.difference, row.difference_low, row.difference_high)
    own, difference = ("" if numbers[0] is None else with_interval(*numbers) for numbers in r)
    return own, difference, f"{row.rank_low} to {row.rank_high}" if row.rank_low else ""


def _costs(rows: Sequence[CostRow]) -> list[Block]:
    """Groups of slots, with r over trackers, and single slots behind a fold; kinds of error side by side."""
    by_kind = {
        (row.slots, row.error): row
        for row in rows
        if row.cost is not None and (row.share >= FEWEST or row.slots in GROUPS)
    }
    dearest: dict[str, float] = {}
    for (slots, kind), row in by_kind.items():
        if kind in KINDS:
            dearest[slots] = max(dearest.get(slots, -1.0), row.cost or 0.0)
    caption = (
        f"By how much {target_title(rows[0].target)} is lower in a dialog where a slot is missed, wrong or "
        f"overshot in some turn, within each generator and dialog ({rows[0].trackers} trackers), and in "
        "which share of the dialogs it is. Intervals are over trackers, generators and dialogs."
    )
    of_fewer = " r: whether trackers with fewer such errors reach more."
    slot, *costs = (
        *described(CostRow, "slots"),
        *(column for kind in KINDS for column in described(CostRow, cost=f"#{kind}")),
    )
    r = [column for kind in KINDS for column in described(CostRow, r=f"#r, fewer {kind}")]
    groups, single = [], []
    for name in sorted(dearest, key=lambda name: -dearest[name]):
        line = [by_kind.get((name, kind)) for kind in KINDS]
        cells = [
            f"{with_interval(row.cost, row.low, row.high)} · {share(row.share)}" if row else ""
            for row in line
        ]
        if name in GROUPS:
            ends = [with_interval(row.r, row.r_low, row.r_high) if row else "" for row in line]
            groups.append((name, *cells, *ends))
        else:
            single.append((name, *cells))
    groups.sort(key=lambda line: GROUPS.index(line[0]))
    blocks: list[Block] = [table(caption + of_fewer, [slot, *costs, *r], groups, "costs.csv")]
    if single:
        by_slot = table(caption, [slot, *costs], single, "costs.csv")
        blocks.append(Fold("What errors cost, by slot", (by_slot,)))
    return blocks
