"""Two trackers on the same dialogs: the difference of every metric, its interval, and a permutation test.

The interval resamples dialogs, the same ones for both. The test exchanges the two trackers dialog by dialog,
by a coin: if they were equally good it would not matter which of them had which dialog (Noreen 1989; Riezler
and Maxwell 2005 recommend it over the bootstrap as a test). Both follow from sums of statistics over dialogs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.state_checks import gold_differences
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, UsageError
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.measuring import Measurement, Source, measure, percentile_interval, resampled_values
from extrinsic.panel import item_weights, rng_of
from extrinsic.verdict.compare import better_one

PERMUTATIONS = 4_999
DECIMALS = 12
"""Differences are rounded before they are compared: their last bits depend on the order of additions."""


@dataclass(frozen=True)
class PairedScore:
    """A metric of two trackers; difference: the first less the second."""

    component: str
    metric: str
    schedule: int
    label_scheme: str | None
    n: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    better: str | None
    """The tracker that the metric prefers; none where that is not decided, or the metric has no direction."""


def paired_scores(
    first: Source,
    second: Source,
    metrics: Sequence[Metric],
    schedules: Sequence[int] | None = None,
    components: Sequence[str] | None = None,
    bootstrap: int = 1_000,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[PairedScore]:
    """Every metric of both, dialog by dialog; they must be about the same dialogs."""
    if first.identity != second.identity:
        raise UsageError("a paired test needs two trackers on the same dialogs")
    if permutations < 1:
        raise UsageError("a permutation test needs at least 1 permutation", found=str(permutations))
    weights = item_weights(first.identity, first.n_dialogs, bootstrap, seed)
    nothing = np.zeros_like(weights)
    # 1 where the trackers keep their dialog, 0 where they exchange it.
    coins = rng_of("paired", first.identity, seed).integers(0, 2, (permutations, first.n_dialogs))
    sides = [
        {
            (str(row.metric), row.component, row.schedule, row.label_scheme): row
            for row in measure(source, metrics, schedules, components)
        }
        for source in (first, second)
    ]
    shared = [key for key in sides[0] if key in sides[1]]
    rows: list[PairedScore] = []
    names = (first.tracker.name, second.tracker.name)
    with threadpool_limits(1, user_api="blas"):
        # Metrics that share their statistics (the points of a ROC curve) are resampled together.
        for _, group in groupby(shared, key=lambda key: id(sides[0][key].statistics)):
            pairs = [(sides[0][key], sides[1][key]) for key in group]
            drawn = _differences(pairs, weights, nothing)
            swapped = _differences(pairs, coins, 1 - coins)
            rows += map(partial(_row, names), pairs, drawn, swapped)
    return rows


def _differences(pairs: Sequence[tuple[Measurement, Measurement]], one: Ints, other: Ints) -> Floats:
    """(n_metrics, k) where the first has its own dialogs `one` times and the second's `other` times."""
    metrics = [row.metric for row, _ in pairs]
    left, right = (row.statistics for row in pairs[0])
    both: Any = np.concatenate([left, right]) if isinstance(left, np.ndarray) else left.joined(right)
    values = resampled_values(np.hstack([one, other]), metrics, both)
    return np.asarray(np.round(values - resampled_values(np.hstack([other, one]), metrics, both), DECIMALS))


def _row(
    names: tuple[str, str], pair: tuple[Measurement, Measurement], drawn: Floats, swapped: Floats
) -> PairedScore:
    a, b = pair
    difference = low = high = p = None
    if a.value is not None and b.value is not None:
        difference = round(a.value - b.value, DECIMALS)
        low, high = percentile_interval(drawn)
        chance = swapped[~np.isnan(swapped)]
        p = float((np.abs(chance) >= abs(difference)).sum() + 1) / (len(chance) + 1)
    return PairedScore(
        **a.described(),
        first=a.value,
        second=b.value,
        difference=difference,
        low=low,
        high=high,
        p=p,
        better=better_one(names, a.metric.higher_is_better, difference, low, high, p),
    )


def align(first: StateSets, second: StateSets) -> StateSets:
    """The second system's states on the first's dialogs, in their order; every dialog must be in both."""
    position = {dialog: number for number, dialog in enumerate(second.dialogs)}
    lacking = sorted(set(first.dialogs) ^ set(second.dialogs))
    if lacking:
        raise UsageError(
            f"a paired test needs the same dialogs: {len(lacking):,} are in one file only",
            found=", ".join(lacking[:5]),
        )
    aligned = second.take([position[dialog] for dialog in first.dialogs])
    differing = [
        dialog
        for dialog, a, b in zip(first.dialogs, np.diff(first.offsets), np.diff(aligned.offsets), strict=True)
        if a != b
    ]
    if differing:
        raise UsageError(
            f"a paired test needs the same turns: {len(differing):,} dialogs differ in their number of turns",
            found=", ".join(differing[:5]),
        )
    return aligned


def sources_of(scored: Sequence[tuple[Corpus | StateSets, TrackerOutput | None]]) -> tuple[Source, Source]:
    """Both trackers as sources of items."""
    (labelled, output), (other, other_output) = scored
    if isinstance(labelled, StateSets):
        assert isinstance(other, StateSets)
        aligned = align(labelled, other)
        differences = gold_differences({labelled.name: labelled, other.name: aligned})
        if differences:
            raise InputError(differences)
        return Source(None, labelled), Source(None, aligned)
    assert output is not None and other_output is not None
    assert isinstance(other, Corpus)
    return Source(labelled, output), Source(other, other_output)
