"""The verdict on two trackers: whose policy earns more, how sure that is, and what their scores alone say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.deciding import Side, decide, relation
from extrinsic.study.comparing import MEAN, ComparisonRow
from extrinsic.study.finished_run import Run
from extrinsic.study.health import joint_only_trackers
from extrinsic.study.naming import Name, is_higher_better, is_of_single_slots, target_title, variant_title
from extrinsic.study.number_texts import amount, counted
from extrinsic.study.tables.value_rows import ReturnRow
from extrinsic.study.verdict import CORE, run_verdict
from extrinsic.study.verdict_types import Verdict
from extrinsic.value.diagnostics import WORDS


class ComparisonVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Two trackers by one target, under one variant.

    better: the name of the better one; None where it is not decided.
    difference, low, high: of the first less the second, on the same dialogs or callers.
    metric, probability: by this metric's scores alone, how likely the first one's policy is the better; of a
    study of the other core trackers, which choose the metric. None where the study refuses, and `refusal`
    says why.
    flags: reasons not to trust the two values, a sentence each.
    """

    target: str
    variant: str | None
    first: str
    second: str
    better: str | None
    difference: float | None
    low: float | None
    high: float | None
    metric: str | None = None
    probability: float | None = None
    refusal: str = ""
    sentence: str = ""
    flags: tuple[str, ...] = ()


def comparison_verdicts(
    run: Run, rows: Sequence[ComparisonRow], first: str, second: str
) -> list[ComparisonVerdict]:
    """For every variant, by the primary target; from the rows of `compare_trackers`."""
    study = run_verdict(run).verdicts
    if not study:
        return []
    target = study[0].target
    whole = [row for row in rows if row.kind == "return" and row.name == target]
    datasets = {row.dataset for row in whole}
    shown = [row for row in whole if row.dataset == MEAN or len(datasets) == 1]
    made = []
    for row in shown:
        of_target = [one for one in study if one.target == target]
        of_row = [one for one in of_target if (row.variant or "") in (one.variants or ("",))]
        metric, probability, refusal = _by_scores(run, row, of_row, first, second)
        verdict = ComparisonVerdict(
            target=target,
            variant=row.variant,
            first=first,
            second=second,
            better={"a": first, "b": second}.get(row.better or ""),
            difference=row.difference,
            low=row.low,
            high=row.high,
            metric=metric,
            probability=probability,
            refusal=refusal,
            flags=tuple(value_flags(run.table("returns"), row, (first, second))),
        )
        made.append(msgspec.structs.replace(verdict, sentence=_sentence(verdict, len(shown) > 1)))
    return made


def value_flags(returns: Sequence[ReturnRow], row: ComparisonRow, pair: tuple[str, str]) -> Iterator[str]:
    """`q_range on the value of hwu: Q is outside the returns that a dialog can have.`"""
    policy, _, estimator = row.name.partition(".")
    flagged: dict[str, set[str]] = {}
    for value in returns:
        is_meant = (value.policy, value.estimator, value.variant) == (policy, estimator, row.variant)
        if is_meant and value.tracker in pair:
            for flag in value.flags:
                flagged.setdefault(flag, set()).add(value.tracker)
    for flag, trackers in flagged.items():
        whose = "both values" if len(trackers) == 2 else f"the value of {trackers.pop()}"
        yield f"{flag} on {whose}: {WORDS.get(flag, flag)}."


def _sentence(verdict: ComparisonVerdict, names_variant: bool) -> str:
    """`By the learned policy's return, hwu earns 12 more [-3, 28] than focus: not decided.`"""
    title = variant_title(verdict.variant) if names_variant else ""
    under = f"{title[0].upper()}{title[1:]}: " if title else ""
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return f"{under}{target_title(verdict.target)} cannot be compared: it is undefined for one of them."
    ends = [verdict.first, verdict.second]
    difference, low, high = verdict.difference, verdict.low, verdict.high
    if difference < 0:
        ends, difference, low, high = ends[::-1], -difference, -high, -low
    is_share = verdict.target.startswith("outcome.") or verdict.target.endswith(".completed")
    digits = 3 if is_share else 1
    numbers = f"{amount(difference, digits)} more [{amount(low, digits)}, {amount(high, digits)}]"
    told = f"{verdict.better} is the better one" if verdict.better else "not decided"
    by = f"by {target_title(verdict.target)}," if under else f"By {target_title(verdict.target)},"
    text = f"{under}{by} {ends[0]} {'has' if is_share else 'earns'} {numbers} than {ends[1]}: {told}."
    if verdict.metric and verdict.probability is not None:
        likelier = verdict.first if verdict.probability >= 0.5 else verdict.second
        chance = max(verdict.probability, 1.0 - verdict.probability)
        text += f" By {verdict.metric} alone, {likelier} is the better one with probability {chance:.2f}."
    elif verdict.refusal:
        alone = f"{verdict.metric} alone does" if verdict.metric else "Scores alone do"
        text += f" {alone[0].upper()}{alone[1:]} not decide it: {verdict.refusal}."
    return text


def _by_scores(
    run: Run, row: ComparisonRow, study: Sequence[Verdict], first: str, second: str
) -> tuple[str | None, float | None, str]:
    """The metric that the other core trackers choose, the probability by it, and why there is none."""
    if not any(one.metric for one in study):
        return None, None, "the study decides for no metric"
    policy, _, estimator = row.name.partition(".")
    datasets = list(dict.fromkeys(one.dataset for one in run.table("intrinsic")))
    core = [one.tracker for one in run.table("trackers") if one.core]
    others = [tracker for tracker in core if tracker not in (first, second)]
    trackers = [*others, first, second]
    joint_only = bool(joint_only_trackers(run.table("trackers")))
    scores: dict[Name, dict[tuple[str, str], float]] = {
        Name.of(one): {}
        for one in run.table("best_set")
        if (one.target, one.trackers) == (row.name, CORE)
        and (policy == "outcome" or one.variant == row.variant)
        and one.r is not None
        and not (joint_only and is_of_single_slots(Name.of(one)))
    }
    for measured in run.table("intrinsic"):
        if measured.value is not None and (name := Name.of(measured)) in scores:
            scores[name][measured.dataset, measured.tracker] = measured.value
    returns = {
        (one.dataset, one.tracker): one.value
        for one in run.table("returns")
        if (one.policy, one.estimator) == (policy, estimator)
        and (policy == "outcome" or one.variant == row.variant)
        and one.value is not None
    }

    def values(table: dict[tuple[str, str], float]) -> Floats:
        return np.array([[table.get((d, t), np.nan) for t in trackers] for d in datasets])

    signs = {name: 1.0 if is_higher_better(name.metric) else -1.0 for name in scores}
    oriented = {name: signs[name] * values(table) for name, table in scores.items()}
    complete = {name: made for name, made in oriented.items() if not np.isnan(made).any()}
    if not complete:
        return None, None, "no metric has a score of every tracker"
    several, earned = np.array(list(complete.values())), values(returns)
    line = relation(several[..., :-2], earned[:, :-2])
    chosen = list(complete)[line.metric]
    decision = decide(line, several[line.metric, :, -2], several[line.metric, :, -1])
    if decision.side is Side.REFUSED:
        named = re.sub(r"dataset (\d+)", lambda match: datasets[int(match[1]) - 1], decision.reason)
        return chosen.title(), None, f"{named}, of {counted(len(others), f'other {CORE} tracker')}"
    return chosen.title(), decision.probability, ""
