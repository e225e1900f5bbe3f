"""Whether to trust the values: flags, and the diagnostics of learners and estimators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from extrinsic.report.drawing.page_parts import (
    Block,
    Fold,
    Head,
    Section,
    Table,
    Term,
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
from extrinsic.study.tables.value_rows import LEARNER, DiagnosticRow, ReturnRow
from extrinsic.value.diagnostics import WORDS

MOST_FLAGGED = 200
LEARNED = "rl"


Judged = tuple[ReturnRow, dict[str, float]]
"""A value with its diagnostics by name; of a learner: a row of it, whose estimator is `learner`."""


def trust_section(study: Study) -> Section | None:
    rows = judged(study.tables.returns, study.tables.diagnostics)
    if not rows:
        return None
    blocks: list[Block] = [*_flags(rows), _summary(rows)]
    if any(numbers for _, numbers in rows):
        blocks.append(Fold("Every diagnostic", (_ranges(rows),), is_aside=True))
    return Section("diagnostics", "Whether to trust the values", tuple(blocks))


def judged(returns: Sequence[ReturnRow], diagnostics: Sequence[DiagnosticRow]) -> list[Judged]:
    """Every learner and every estimated value, in the order of the returns.

    A learner takes the position of the return of the logged dialogs, which comes first.
    """
    numbers: dict[tuple[str | None, str, str, str, str], dict[str, float]] = {}
    for entry in diagnostics:
        key = (entry.variant, entry.dataset, entry.tracker, entry.policy, entry.estimator)
        of_value = numbers.setdefault(key, {})
        if entry.value is not None:
            of_value[entry.diagnostic] = entry.value
    rows = []
    for row in returns:
        if row.estimator in NO_RETURNS or (row.policy, row.estimator) == ("behaviour", "live"):
            continue
        if row.policy == "behaviour":
            row = msgspec.structs.replace(row, policy=LEARNED, estimator=LEARNER, flags=())
        key = (row.variant, row.dataset, row.tracker, row.policy, row.estimator)
        if row.policy != "outcome" and (row.estimator != LEARNER or key in numbers):
            rows.append((row, numbers.get(key, {})))
    return rows


def _flags(rows: Sequence[Judged]) -> list[Block]:
    flagged = [row for row, _ in rows if row.flags]
    if not flagged:
        among = counted(len(rows), "value and learner", "values and learners")
        return [Text((f"Nothing was flagged among {among}.",))]
    counts = Counter((flag, row.estimator) for row in flagged for flag in row.flags)
    totals = Counter(row.estimator for row, _ in rows)
    lines = [
        (flag, WORDS.get(flag, ""), estimator_term(estimator), f"{number} of {totals[estimator]}")
        for (flag, estimator), number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    names = ("dataset", "tracker", "policy", "estimator", "variant", "flags")
    every_flagged = []
    for row in flagged[:MOST_FLAGGED]:
        terms = policy_term(row.policy), estimator_term(row.estimator), variant_term(row.variant)
        every_flagged.append((row.dataset, row.tracker, *terms, " ".join(row.flags)))
    each = table("", described(ReturnRow, *names), every_flagged, "returns.csv")
    return [
        Text((f"{counted(len(flagged), 'value')} of {len(rows):,} carry a flag.",)),
        table(
            "A flagged value should not be trusted as it is.",
            ("flag", "what it means", *described(ReturnRow, "estimator"), "#values"),
            lines,
        ),
        Fold(f"The flagged values ({len(flagged)})", (each,), is_aside=True),
    ]


def _groups(rows: Sequence[Judged]) -> list[tuple[tuple[Term, Term, Term], list[Judged]]]:
    """By variant, policy and estimator; their names as terms."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for row, numbers in rows:
        groups.setdefault((row.variant or "", row.policy, row.estimator), []).append((row, numbers))
    return [
        ((variant_term(variant), policy_term(policy), estimator_term(estimator)), group)
        for (variant, policy, estimator), group in groups.items()
    ]


GROUP_HEADS = described(ReturnRow, "variant", "policy", "estimator")


def _range_of_q(rows: Sequence[Judged]) -> str:
    """The smallest and largest value of all Q functions."""
    lowest = _shown(rows, "lowest_q", lambda values: amount(min(values)))
    highest = _shown(rows, "highest_q", lambda values: amount(max(values)))
    return NOTHING if NOTHING in (lowest, highest) else f"{lowest} to {highest}"


def _summary(rows: Sequence[Judged]) -> Table:
    """A line for each policy, estimator and variant: the median and the worst of the main diagnostics."""
    lines = []
    for names, group in _groups(rows):
        texts = (
            _shown(group, "zero_kernel", lambda shares: f"{_share(median(shares))}, {_share(max(shares))}"),
            _shown(group, "kernels", lambda sizes: f"{amount(min(sizes), 0)} to {amount(max(sizes), 0)}"),
            _shown(group, "condition", lambda values: amount(max(values))),
            _range_of_q(group),
            _feasible(group),
            _shown(group, "effective_size", lambda values: amount(min(values))),
            _shown(group, "on_policy_gap", lambda gaps: amount(max(gaps, key=abs), 1)),
        )
        lines.append((*names, str(len(group)), *texts))
    caption = (
        "Zero kernel: the share of the policy's decisions that no kernel covers, so that the value is the "
        "prior's (median, largest). Gap: the estimated value of the logged policy, less its observed return "
        "(largest either way). Q should stay within what a dialog can earn."
    )
    heads: list[Head] = [
        *GROUP_HEADS,
        "#values",
        "#zero kernel",
        "#kernels",
        "#largest condition",
        "#range of Q",
    ]
    heads += [*described(ReturnRow, feasible_low="#a dialog can earn"), "#least effective size", "#gap"]
    return table(caption, heads, lines, "diagnostics.csv")


def _ranges(rows: Sequence[Judged]) -> Table:
    """Every diagnostic of learners and estimators: its range over trackers and datasets."""
    lines = []
    for names, group in _groups(rows):
        for name in dict.fromkeys(name for _, numbers in group for name in numbers):
            values = _numbers(group, name)
            spread = (amount(part) for part in (min(values), median(values), max(values)))
            lines.append((*names, name, str(len(values)), *spread))
    heads: list[Head] = [*GROUP_HEADS, *described(DiagnosticRow, "diagnostic")]
    heads += ["#values", "#least", "#median", "#most"]
    caption = "The numbers of all trackers on all datasets; 1 and 0 stand for yes and no."
    return table(caption, heads, lines, "diagnostics.csv")


def _numbers(rows: Sequence[Judged], name: str) -> list[float]:
    return [numbers[name] for _, numbers in rows if name in numbers]


def _shown(rows: Sequence[Judged], name: str, form: Callable[[list[float]], str]) -> str:
    values = _numbers(rows, name)
    return form(values) if values else NOTHING


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _feasible(rows: Sequence[Judged]) -> str:
    lows = [low for row, _ in rows if (low := row.feasible_low) is not None]
    highs = [high for row, _ in rows if (high := row.feasible_high) is not None]
    return f"{amount(min(lows), 0)} to {amount(max(highs), 0)}" if lows and highs else NOTHING
