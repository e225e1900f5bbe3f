"""How many trackers does it take to say what Lee says? Subsets of ours, and what follows for more of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.lee2014.findings import FINDINGS, GAINS, SWAPS, judge
from experiments.lee2014.metric_correlations import RESAMPLES, SEED
from experiments.lee2014.points import Condition, Points
from experiments.lee2014.tables import Finding, Needed, Subset
from experiments.selection import Selection
from extrinsic.arrays import Ints
from extrinsic.correlation.power import CORRELATION, MEAN, error_scale, share_resolved, trackers_needed_range
from extrinsic.correlation.resampling import rng_of
from extrinsic.correlation.verdicts import Support, Verdict

SIZES = (6, 8, 10, 12, 16, 20)
LEARNED_FROM = 12
"""Subsets up to this size predict what larger ones do."""

SUBSETS, SUBSET_RESAMPLES, SUBSET_SWAPS = 100, 200, 99
SUBSET_TARGETS = ("live", "lstd")
"""The truth, and what Lee had."""


def subset_sizes(n_trackers: int) -> list[int]:
    """The numbers of trackers that are looked at; the last is all of them."""
    return [*(size for size in SIZES if size < n_trackers), n_trackers]


def draw_subsets(n_trackers: int, size: int, condition: Condition, group: str) -> Ints:
    """(SUBSETS, size) indices of trackers, each subset without repetition."""
    # The committed tables were drawn with this text: another one draws other subsets.
    fill, target, scope = condition.fill, condition.target, condition.scope
    identity = f"Where(fill={fill!r}, estimator={target!r}, scope={scope!r}) {group}"
    rng = rng_of(f"subsets of {size}", identity, SEED)
    return np.sort(np.argsort(rng.random((SUBSETS, n_trackers)), axis=1)[:, :size], axis=1)


def subset_rows(points: Points, condition: Condition, group: str, size: int) -> list[Subset]:
    """What subsets of one size say of every finding."""
    trackers, seeds = points.group(group), np.arange(len(points.seeds))
    is_part = size < len(trackers)
    whole = judge(points, condition, seeds, trackers, RESAMPLES, swaps=0 if is_part else SWAPS)
    judgements = [whole]
    if is_part:
        pairs = {key: judged.pair for key, judged in whole.items() if judged.pair is not None}
        judgements = [
            judge(points, condition, seeds, trackers[drawn], SUBSET_RESAMPLES, SUBSET_SWAPS, pairs)
            for drawn in draw_subsets(len(trackers), size, condition, group)
        ]
    rows = []
    for key in FINDINGS:
        verdicts = [judged[key].verdict for judged in judgements]
        numbers = [judged[key].number for judged in judgements]
        same = np.array([number.value * whole[key].number.value > 0.0 for number in numbers])
        resolved = np.array([number.verdict() is not Verdict.NOT_RESOLVED for number in numbers])
        row = Subset(
            finding=key,
            fill=condition.fill,
            target=condition.target,
            trackers=group,
            size=size,
            error=float(np.mean([number.error for number in numbers])),
            right=float((resolved & same).mean()),
            wrong=float((resolved & ~same).mean()),
            holds=verdicts.count(Support.HOLDS) / len(verdicts),
            fails=verdicts.count(Support.FAILS) / len(verdicts),
        )
        rows.append(row)
    return rows


def finding_key(row: Finding | Needed) -> dict[str, str]:
    """What the rows of one finding have in common in every table."""
    return {name: getattr(row, name) for name in ("finding", "fill", "target", "trackers")}


def needed_rows(subsets: Sequence[Subset], findings: Sequence[Finding]) -> list[Needed]:
    """How many trackers every finding needs, from the tables as they are stored."""
    rows = []
    for finding in Selection(findings).where(scope="within", target=list(SUBSET_TARGETS)).rows:
        *_, part, whole = sizes = Selection(subsets).where(**finding_key(finding)).rows
        lost = MEAN if finding.finding in GAINS else CORRELATION
        scale = error_scale([(row.size, row.error) for row in sizes if row.size <= LEARNED_FROM], lost)
        ends = finding.low, finding.high
        trackers = trackers_needed_range(finding.value, ends, whole.error, whole.size, lost)
        part_error = float(scale / np.sqrt(part.size - lost))
        row = Needed(
            **finding_key(finding),
            size=whole.size,
            value=finding.value,
            error=whole.error,
            foretold=float(scale / np.sqrt(whole.size - lost)),
            needed=trackers.needed,
            fewest=trackers.fewest,
            most=trackers.most,
            right_at=part.size,
            right=part.right,
            right_foretold=share_resolved(finding.value, part_error, part.size / whole.size),
        )
        rows.append(row)
    return rows
