"""The verdict of a study: which metric to use for each target, what may do as well, and how sure that is.

It rests on the best set (`extrinsic.correlation.best_set`) over the core trackers, on trackers left out, and
on the flags of the values of its own target. 'May do as well' means one thing everywhere: in the best set,
not shown to be worse than another. Where trackers are crossed with generators, the set and the trackers left
out are those of `swap_stage`.

A metric is recommended under three conditions: the set rules out some other; a metric chosen without the
trackers it is tested on predicts them (that interval lies above 0); and the metric itself is shown to
predict: its interval for all metrics at once lies above 0. The first of the set for which this holds is the
one to use. Else nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median_low
from typing import TYPE_CHECKING

import msgspec

from extrinsic.correlation.best_set import FEWEST_TO_EXTRAPOLATE
from extrinsic.study.configuration.targets import verdict_targets
from extrinsic.study.health import carried_notes, health_notes, joint_only_trackers
from extrinsic.study.naming import Counted, Name, is_of_single_slots, symbol, target_title
from extrinsic.study.number_texts import counted, with_interval
from extrinsic.study.tables.metric_rows import BestSetRow, CompositeRow, CorrelationRow
from extrinsic.study.tables.value_rows import ReturnRow, TrackerRow
from extrinsic.study.verdict_types import (
    Candidate,
    Flagged,
    LeftOut,
    StudyVerdict,
    Verdict,
    agreement,
    sentence,
)
from extrinsic.value.diagnostics import WORDS

if TYPE_CHECKING:
    from extrinsic.study.finished_run import Run

CORE = "core"


def run_verdict(run: Run) -> StudyVerdict:
    """The verdict of a finished run, from its tables."""
    tables = run.table("best_set"), run.table("composite"), run.table("returns"), run.table("trackers")
    correlations = run.table("correlations")
    return study_verdict(*tables, [row.target for row in correlations], correlations)


def study_verdict(
    best_set: Sequence[BestSetRow],
    composite: Sequence[CompositeRow],
    returns: Sequence[ReturnRow],
    trackers: Sequence[TrackerRow],
    targets: Sequence[str],
    correlations: Sequence[CorrelationRow] = (),
) -> StudyVerdict:
    """From the rows of a run's tables; targets: in the order of the study, the primary one first."""
    verdicts: list[Verdict] = []
    core = {row.tracker for row in trackers if row.core}
    joint_only = bool(joint_only_trackers(trackers))
    for target in verdict_targets(list(dict.fromkeys(targets))):
        rows = [
            row
            for row in best_set
            if row.target == target
            and row.trackers == CORE
            and not (joint_only and is_of_single_slots(Name.of(row)))
        ]
        variants = list(dict.fromkeys(row.variant for row in rows)) or [None]
        carried = {
            (row.variant, Name.of(row)): row.carried_by
            for row in correlations
            if row.carried_by
            and (row.target, row.trackers, row.scope, row.coefficient)
            == (target, CORE, "within", rows[0].coefficient if rows else "")
        }
        made = [_of_variant(target, variant, rows, composite, returns, core, carried) for variant in variants]
        verdicts += _merged(made)
    judged = list(dict.fromkeys(verdict.target for verdict in verdicts))
    return StudyVerdict(
        verdicts=tuple(verdicts),
        agreement=agreement(verdicts),
        health=(*health_notes(trackers, returns, judged), *carried_notes(correlations, judged)),
    )


def _of_variant(
    target: str,
    variant: str | None,
    rows: Sequence[BestSetRow],
    composite: Sequence[CompositeRow],
    returns: Sequence[ReturnRow],
    core: set[str],
    carried: Mapping[tuple[str | None, Name], str | None],
) -> Verdict:
    of_variant = [row for row in rows if row.variant == variant]
    defined = [row for row in of_variant if row.r is not None]
    count = Counted.of(of_variant)
    inside = sorted((row for row in defined if row.in_set), key=lambda row: row.rank or 0)
    candidates = [Candidate.of(row, carried.get((variant, Name.of(row)))) for row in inside]
    n = len(core)
    left_out = [
        LeftOut(variant, row.r, row.low, row.high)
        for row in composite
        if (row.target, row.variant, row.trackers, row.method) == (target, variant, CORE, "best_single")
        and row.r is not None
    ]
    shown = _recommended(candidates, left_out)
    coefficient = of_variant[0].coefficient if of_variant else "pearson"
    reason = ""
    if not candidates:
        why = "too few for any correlation" if not defined else "at least 5 are needed"
        reason = f"{counted(n, 'tracker')}, {why}" if n < 5 else "no metric has a correlation"
    elif len(candidates) == len(defined) and len(defined) > 1:
        first = _first(candidates[0], coefficient, n)
        reason = f"any of the {count} may be the best; {first}"
        shown = None
    elif shown is None:
        reason = f"{_first(candidates[0], coefficient, n)}, but "
        reason += _why_none(target, candidates[0], inside[0].reason, left_out, coefficient)
    others = tuple(candidate for candidate in candidates if candidate is not shown)
    verdict = Verdict(
        target=target,
        target_title=target_title(target),
        variants=(variant,) if variant else (),
        coefficient=coefficient,
        n_trackers=n,
        n_generators=of_variant[0].n_generators if of_variant else None,
        n_metrics=count.metrics,
        n_schedules=count.schedules,
        metric=shown,
        others=others,
        more_trackers=_more_trackers(others, n),
        left_out=tuple(left_out),
        flags=tuple(_flags(target, variant, returns, core)),
        reason=reason,
    )
    return msgspec.structs.replace(verdict, sentence=sentence(verdict))


def _recommended(candidates: Sequence[Candidate], left_out: Sequence[LeftOut]) -> Candidate | None:
    """The first that is itself shown to predict; none where trackers left out do not show it."""
    if any(part.includes_zero for part in left_out):
        return None
    return next((candidate for candidate in candidates if candidate.is_shown), None)


def _first(candidate: Candidate, coefficient: str, n: int) -> str:
    """`AvgP, last turn comes first over 12 trackers, r = .90 [.70, .99] for all metrics at once`."""
    r = f"{symbol(coefficient)} = {with_interval(candidate.r, candidate.low, candidate.high)}"
    at_once = " for all metrics at once" if candidate.low is not None else ""
    return f"{candidate.title} comes first over {counted(n, 'tracker')}, {r}{at_once}"


def _why_none(
    target: str, first: Candidate, reason: str | None, left_out: Sequence[LeftOut], coefficient: str
) -> str:
    for part in left_out:
        if part.includes_zero:
            r = f"{symbol(coefficient)} = {with_interval(part.r, part.low, part.high)}"
            return f"a metric chosen without the trackers it is tested on has {r}, which includes 0"
    text = f"no metric that may be the best is shown to predict {target_title(target)}"
    return f"{text} ({reason})" if reason and first.low is None else text


def _more_trackers(others: Sequence[Candidate], n: int) -> int | None:
    """How many more would rule out half of those that may do as well; of few trackers it cannot be told."""
    if n < FEWEST_TO_EXTRAPOLATE:
        return None
    needed = sorted(other.trackers_needed or float("inf") for other in others)
    if not needed or median_low(needed) == float("inf"):
        return None
    return int(median_low(needed)) - n


def _flags(
    target: str, variant: str | None, returns: Sequence[ReturnRow], core: set[str]
) -> Iterator[Flagged]:
    policy, _, estimator = target.partition(".")
    values = [
        row
        for row in returns
        if (row.policy, row.estimator) == (policy, estimator)
        and (policy == "outcome" or row.variant == variant)
        and row.tracker in core
    ]
    counts = Counter(flag for row in values for flag in row.flags)
    for flag, n in counts.most_common():
        yield Flagged(flag, WORDS.get(flag, ""), n, len(values))


def _merged(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """One verdict where a metric that may be the best of each variant is shown to predict under all."""
    first = verdicts[0]
    if len(verdicts) == 1:
        return [first]
    if not any(verdict.decided for verdict in verdicts) and len({v.reason for v in verdicts}) == 1:
        variants = tuple(name for verdict in verdicts for name in verdict.variants)
        return [msgspec.structs.replace(first, variants=variants)]
    by_name = [{candidate.name: candidate for candidate in verdict.candidates} for verdict in verdicts]
    common = [name for name in by_name[0] if all(name in others for others in by_name[1:])]
    candidates = sorted(
        (_together([others[name] for others in by_name]) for name in common),
        key=lambda candidate: -candidate.r,
    )
    shown = _recommended(candidates, [part for verdict in verdicts for part in verdict.left_out])
    if shown is None:
        return list(verdicts)
    others = tuple(candidate for candidate in candidates if candidate is not shown)
    flags: dict[str, Flagged] = {}
    for flag in (flag for verdict in verdicts for flag in verdict.flags):
        before = flags.get(flag.flag, Flagged(flag.flag, flag.meaning, 0, 0))
        n, total = before.n + flag.n, before.total + flag.total
        flags[flag.flag] = Flagged(flag.flag, flag.meaning, n, total)
    merged = msgspec.structs.replace(
        first,
        variants=tuple(name for verdict in verdicts for name in verdict.variants),
        metric=shown,
        others=others,
        more_trackers=_more_trackers(others, first.n_trackers),
        left_out=tuple(part for verdict in verdicts for part in verdict.left_out),
        flags=tuple(flags.values()),
    )
    return [msgspec.structs.replace(merged, sentence=sentence(merged))]


def _together(parts: Sequence[Candidate]) -> Candidate:
    """A metric under several variants: the mean of r, and what all of its intervals cover."""
    lows = [part.low for part in parts if part.low is not None]
    highs = [part.high for part in parts if part.high is not None]
    whole = len(lows) == len(highs) == len(parts)
    needed = [part.trackers_needed for part in parts if part.trackers_needed is not None]
    return msgspec.structs.replace(
        parts[0],
        r=fmean(part.r for part in parts),
        low=min(lows) if whole else None,
        high=max(highs) if whole else None,
        trackers_needed=min(needed, default=None),
        carried_by=next((part.carried_by for part in parts if part.carried_by), None),
    )
