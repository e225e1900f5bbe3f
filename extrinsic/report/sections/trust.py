"""Whether to trust the values: flags, and the diagnostics of learners and estimators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from extrinsic.report.drawing.page_parts import (
    Block,
    Column,
    Fold,
    Head,
    Section,
    Table,
    Text,
    described,
    estimator_term,
    policy_term,
    table,
    variant_term,
)
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import NO_RETURNS
from extrinsic.study.number_texts import NOTHING, amount, counted
from extrinsic.study.tables.schema import LEARNER, DiagnosticRow, ReturnRow
from extrinsic.value.diagnostics import WORDS

MOST_FLAGGED = 200
LEARNED = "rl"


@dataclass(frozen=True)
class Judged:
    """A value or a learner, with its flags and diagnostics.

    estimator: `learner` for a learner.   numbers: its diagnostics, by name.
    feasible: the least and the most that a dialog can earn.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str
    variant: str
    flags: tuple[str, ...] = ()
    feasible: tuple[float | None, float | None] = (None, None)
    numbers: dict[str, float] = field(default_factory=dict)


def trust_section(study: Study) -> Section | None:
    rows = judged(study.tables.returns, study.tables.diagnostics)
    if not rows:
        return None
    blocks: list[Block] = [*_flags(rows), _summary(rows)]
    if any(row.numbers for row in rows):
        blocks.append(Fold("Every diagnostic", (_ranges(rows),), is_aside=True))
    return Section("diagnostics", "Whether to trust the values", tuple(blocks))


def judged(returns: Sequence[ReturnRow], diagnostics: Sequence[DiagnosticRow]) -> list[Judged]:
    """Every learner and every estimated value, in the order of the returns.

    A learner takes the position of the return of the logged dialogs, which comes first.
    """
    numbers: dict[tuple[str | None, str, str, str, str], dict[str, float]] = {}
    for row in diagnostics:
        key = (row.variant, row.dataset, row.tracker, row.policy, row.estimator)
        diagnostics_of = numbers.setdefault(key, {})
        if row.value is not None:
            diagnostics_of[row.diagnostic] = row.value
    rows = []
    for value in returns:
        policy, estimator = value.policy, value.estimator
        if estimator in NO_RETURNS or (policy, estimator) == ("behaviour", "live"):
            continue
        if policy == "behaviour":
            policy, estimator = LEARNED, LEARNER
        key = (value.variant, value.dataset, value.tracker, policy, estimator)
        if policy == "outcome" or (estimator == LEARNER and key not in numbers):
            continue
        rows.append(
            Judged(
                value.dataset,
                value.tracker,
                policy,
                estimator,
                value.variant or "",
                () if estimator == LEARNER else value.flags,
                (value.feasible_low, value.feasible_high),
                numbers.get(key, {}),
            )
        )
    return rows


def _flags(rows: Sequence[Judged]) -> list[Block]:
    flagged = [row for row in rows if row.flags]
    if not flagged:
        among = counted(len(rows), "value and learner", "values and learners")
        return [Text((f"Nothing was flagged among {among}.",))]
    counts = Counter((flag, row.estimator) for row in flagged for flag in row.flags)
    totals = Counter(row.estimator for row in rows)
    lines = [
        (flag, WORDS.get(flag, ""), estimator_term(estimator), f"{number} of {totals[estimator]}")
        for (flag, estimator), number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    every_flagged = [
        (
            row.dataset,
            row.tracker,
            policy_term(row.policy),
            estimator_term(row.estimator),
            variant_term(row.variant),
            " ".join(row.flags),
        )
        for row in flagged[:MOST_FLAGGED]
    ]
    heads = described(
        ReturnRow,
        dataset="dataset",
        tracker="tracker",
        policy="policy",
        estimator="estimator",
        variant="variant",
        flags="flags",
    )
    each = table("", heads, every_flagged, "returns.csv")
    return [
        Text((f"{counted(len(flagged), 'value')} of {len(rows):,} carry a flag.",)),
        table(
            "A flagged value should not be trusted as it is.",
            ("flag", "what it means", *described(ReturnRow, estimator="estimator"), "#values"),
            lines,
        ),
        Fold(f"The flagged values ({len(flagged)})", (each,), is_aside=True),
    ]


Group = tuple[str, str, str]
"""Variant, policy, estimator."""


def _groups(rows: Sequence[Judged]) -> dict[Group, list[Judged]]:
    groups: dict[Group, list[Judged]] = {}
    for row in rows:
        groups.setdefault((row.variant, row.policy, row.estimator), []).append(row)
    return groups


def _group_heads() -> list[Column]:
    return described(ReturnRow, variant="variant", policy="policy", estimator="estimator")


def _range_of_q(rows: Sequence[Judged]) -> str:
    """The smallest and largest value of all Q functions."""
    lowest = _shown(rows, "lowest_q", lambda values: amount(min(values)))
    highest = _shown(rows, "highest_q", lambda values: amount(max(values)))
    return NOTHING if NOTHING in (lowest, highest) else f"{lowest} to {highest}"


def _summary(rows: Sequence[Judged]) -> Table:
    """A line for each policy, estimator and variant: the median and the worst of the main diagnostics."""
    lines = []
    for (variant, policy, estimator), group in _groups(rows).items():
        lines.append(
            (
                variant_term(variant),
                policy_term(policy),
                estimator_term(estimator),
                str(len(group)),
                _shown(
                    group, "zero_kernel", lambda shares: f"{_share(median(shares))}, {_share(max(shares))}"
                ),
                _shown(group, "kernels", lambda sizes: f"{amount(min(sizes), 0)} to {amount(max(sizes), 0)}"),
                _shown(group, "condition", lambda values: amount(max(values))),
                _range_of_q(group),
                _feasible(group),
                _shown(group, "effective_size", lambda values: amount(min(values))),
                _shown(group, "on_policy_gap", lambda gaps: amount(max(gaps, key=abs), 1)),
            )
        )
    caption = (
        "Zero kernel: the share of the policy's decisions that no kernel covers, so that the value is the "
        "prior's (median, largest). Gap: the estimated value of the logged policy, less its observed return "
        "(largest either way). Q should stay within what a dialog can earn."
    )
    heads: tuple[Head, ...] = (
        *_group_heads(),
        "#values",
        "#zero kernel",
        "#kernels",
        "#largest condition",
        "#range of Q",
        *described(ReturnRow, feasible_low="#a dialog can earn"),
        "#least effective size",
        "#gap",
    )
    return table(caption, heads, lines, "diagnostics.csv")


def _ranges(rows: Sequence[Judged]) -> Table:
    """Every diagnostic of learners and estimators: its range over trackers and datasets."""
    lines = []
    for (variant, policy, estimator), group in _groups(rows).items():
        for name in dict.fromkeys(name for row in group for name in row.numbers):
            values = _numbers(group, name)
            lines.append(
                (
                    variant_term(variant),
                    policy_term(policy),
                    estimator_term(estimator),
                    name,
                    str(len(values)),
                    amount(min(values)),
                    amount(median(values)),
                    amount(max(values)),
                )
            )
    heads: tuple[Head, ...] = (
        *_group_heads(),
        *described(DiagnosticRow, diagnostic="diagnostic"),
        "#values",
        "#least",
        "#median",
        "#most",
    )
    caption = "The numbers of all trackers on all datasets; 1 and 0 stand for yes and no."
    return table(caption, heads, lines, "diagnostics.csv")


def _numbers(rows: Sequence[Judged], name: str) -> list[float]:
    return [row.numbers[name] for row in rows if name in row.numbers]


def _shown(rows: Sequence[Judged], name: str, form: Callable[[list[float]], str]) -> str:
    values = _numbers(rows, name)
    return form(values) if values else NOTHING


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _feasible(rows: Sequence[Judged]) -> str:
    lows = [low for row in rows if (low := row.feasible[0]) is not None]
    highs = [high for row in rows if (high := row.feasible[1]) is not None]
    return f"{amount(min(lows), 0)} to {amount(max(highs), 0)}" if lows and highs else NOTHING
