"""Whether to trust the values (flags, diagnostics), several metrics together, and other settings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import msgspec

from extrinsic.report.page_parts import (
    Block,
    Fold,
    Head,
    Section,
    Table,
    Term,
    Text,
    described,
    estimator_term,
    name_term,
    policy_term,
    table,
    variant_term,
)
from extrinsic.report.run_data import Study
from extrinsic.study.tables import LEARNER, DiagnosticRow, ReturnRow, SensitivityRow
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.names import (
    NO_RETURNS,
    NOTHING,
    Name,
    amount,
    correlation,
    counted,
    in_unit,
    unit_title,
    with_interval,
)
from extrinsic.verdict.rows import CompositeRow

MOST_FLAGGED = 200
LEARNED = "rl"


Judged = tuple[ReturnRow, dict[str, float]]
"""A value with its diagnostics by name; of a learner: a row of it, whose estimator is `learner`."""


def trust_section(study: Study) -> Section | None:
    rows, words = judged(study.tables[ReturnRow], study.tables[DiagnosticRow]), study.panel.words
    if not rows:
        return None
    blocks: list[Block] = [*_flags(rows, words), _summary(rows)]
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


def _flags(rows: Sequence[Judged], words: Mapping[str, str]) -> list[Block]:
    flagged = [row for row, _ in rows if row.flags]
    if not flagged:
        among = counted(len(rows), "value and learner", "values and learners")
        return [Text((f"Nothing was flagged among {among}.",))]
    counts = Counter((flag, row.estimator) for row in flagged for flag in row.flags)
    totals = Counter(row.estimator for row, _ in rows)
    lines = [
        (flag, words.get(flag, ""), estimator_term(estimator), f"{number} of {totals[estimator]}")
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


def _summary(rows: Sequence[Judged]) -> Table:
    """A line for each policy, estimator and variant: the median and the worst of the main diagnostics."""
    lines = []
    for names, group in _groups(rows):
        lows = [low for row, _ in group if (low := row.feasible_low) is not None]
        highs = [high for row, _ in group if (high := row.feasible_high) is not None]
        lowest_q, highest_q = _numbers(group, "lowest_q"), _numbers(group, "highest_q")
        texts = (
            _shown(group, "zero_kernel", lambda shares: f"{_share(median(shares))}, {_share(max(shares))}"),
            _shown(group, "kernels", lambda sizes: f"{amount(min(sizes), 0)} to {amount(max(sizes), 0)}"),
            _shown(group, "condition", lambda values: amount(max(values))),
            _range(lowest_q, highest_q),
            _range(lows, highs, 0),
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
    heads += [*described(ReturnRow, feasible_low="#a dialog can earn"), "#gap"]
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


def _range(lows: Sequence[float], highs: Sequence[float], digits: int | None = None) -> str:
    return f"{amount(min(lows), digits)} to {amount(max(highs), digits)}" if lows and highs else NOTHING


METHODS = {
    "best_single": "best single metric",
    "mean": "mean of all metrics",
    "ridge": "ridge regression",
    "nonnegative": "regression, no negative weight",
    "behaviour": "return of the logged dialogs alone",
}


def combined_metrics_section(study: Study) -> Section | None:
    """Whether a combination of metrics predicts better than one, on trackers that were left out."""
    rows = []
    for row in study.tables[CompositeRow]:
        if (row.target, row.scope, row.trackers) == (study.target, "within", CORE):
            method = variant_term(row.variant), METHODS.get(row.method, row.method)
            r = with_interval(row.r, row.low, row.high), correlation(row.r_in_sample)
            rows.append((*method, *r, _lead(row), _made_of(row)))
    if not rows:
        return None
    caption = (
        "Over the core trackers. Each is learned on some and tested on those left out; “in sample” is its r "
        "on the trackers it was learned on. A combination is worth using only where its lead over the best "
        "single metric has an interval above 0."
    )
    if study.has_policies:
        caption += (
            " The return of the logged dialogs needs no metric at all: it is what they earn by the tracker's "
            "own beliefs."
        )
    heads = described(CompositeRow, "variant", method="predictor", r="#r on trackers left out")
    heads += described(CompositeRow, r_in_sample="#r in sample")
    heads += described(
        CompositeRow, above_best_single="#lead over the best single", weights="what it is made of"
    )
    return Section("composite", "Several metrics together", (table(caption, heads, rows, "composite.csv"),))


WEIGHT = re.compile(r"(?P<share>[+-][\d.]+) (?P<metric>.+) (?P<component>\S+) schedule (?P<schedule>\d+)")


def _made_of(row: CompositeRow) -> str:
    """The weights with the titles of their metrics: `+.30 slot F1, last turn`."""
    if row.method == "mean":
        return "every metric, schedule and component alike"
    if row.method == "behaviour":
        return "no metric"
    parts = []
    for weight in row.weights.split("; "):
        match = WEIGHT.fullmatch(weight)
        if match:
            share, name = (
                float(match["share"]),
                Name(match["metric"], int(match["schedule"]), match["component"]),
            )
            weight = f"{'+' if share > 0 else ''}{correlation(share)} {name.title()}"
        parts.append(weight)
    return "; ".join(parts)


def _lead(row: CompositeRow) -> str:
    """By how much it beats the best single metric."""
    if row.method == "best_single" or row.above_best_single is None:
        return ""
    sign = "+" if row.above_best_single > 0 else ""
    return f"{sign}{with_interval(row.above_best_single, row.above_low, row.above_high)}"


def other_settings_section(study: Study) -> Section | None:
    """Whether the answer depends on settings that papers seldom report."""
    rows = study.tables[SensitivityRow]
    if not study.has_policies or len({row.variant for row in rows}) < 2:
        return None
    shown = []
    unit = next((target.unit for target in study.panel.targets if target.name == study.target), "points")
    for row in rows:
        lost = f"{in_unit(row.lost, unit)} of {in_unit(row.possible, unit)}"
        usual = in_unit(row.usual_winner_lost, unit), f"{row.usual_winner_rank} of {row.n_metrics}"
        setting = row.parameter, row.setting or "", row.trackers
        shown.append((*setting, name_term(Name.of(row)), lost, *usual, correlation(row.agreement)))
    caption = (
        f"In {unit_title(unit)}, one setting changed at a time. The last three columns are about the metric "
        "that loses least in the study's own setting, and how much the two orders of metrics agree "
        "(Kendall's τ)."
    )
    heads = described(SensitivityRow, "parameter", "setting", "trackers", metric="metric that loses least")
    heads += described(SensitivityRow, lost="#loses, of a coin's", usual_winner_lost="#the usual one loses")
    heads += described(SensitivityRow, usual_winner_rank="#its rank", agreement="#agreement τ")
    return Section("sensitivity", "Other settings", (table(caption, heads, shown, "sensitivity.csv"),))
