"""The tables of simulated studies: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class Coverage(msgspec.Struct, frozen=True):
    """How often an interval contains the correlation of the population.

    truth: that correlation; truth_here: the one that unlimited trackers with as few dialogs would show.
    coverage, coverage_here: shares of studies whose interval contains the one and the other; below, above:
    how often the truth lies on either side of the interval. withheld: share of studies without an interval
    (more noise than signal), which count in none of these.
    """

    population: str
    n_trackers: int
    r: float
    truth: float
    truth_here: float
    mean_r: float
    way: str
    method: str
    studies: int
    coverage: float
    coverage_here: float
    width: float
    below: float
    above: float
    withheld: float


class Null(msgspec.Struct, frozen=True):
    """p-values of a metric that is unrelated to the target; ks: their distance from an even distribution."""

    population: str
    n_trackers: int
    interaction: float
    noise_r: float
    studies: int
    ks: float
    at_05: float
    at_01: float


TESTS = {
    "swapped_trackers": "swapped trackers",
    "swapped_both": "swapped both",
    "resampled_both": "resampled both",
    "williams_points": "williams, points",
    "zou_points": "zou, points",
    "williams_trackers": "williams, trackers",
    "zou_trackers": "zou, trackers",
}


class Difference(msgspec.Struct, frozen=True, rename=TESTS):
    """How often each test finds two metrics different; r_a, r_b with the target, r_ab with each other."""

    n_trackers: int
    r_a: float
    r_b: float
    r_ab: float
    studies: int
    swapped_trackers: float
    swapped_both: float
    resampled_both: float
    williams_points: float
    zou_points: float
    williams_trackers: float
    zou_trackers: float


class Independent(msgspec.Struct, frozen=True):
    """How often Zou's interval of r_a - r_b contains the difference, with independent points."""

    n_points: int
    r_a: float
    r_b: float
    r_ab: float
    studies: int
    coverage: float
    width: float


class Chosen(msgspec.Struct, frozen=True):
    """The best of many metrics: how often what is said of it is true.

    order: how good the metrics truly are.   best_in_set, size: how often a truly best metric is in the best
    set, and the metrics in it; best_in_cluster, cluster: the same of the first cluster, before.
    first_simultaneous,
    first_jackknife, first_resampled: how often the interval of the metric that came first contains its
    correlation.
    ranks, rank_width: how often the interval of a metric's rank contains it, and how many ranks it spans
    beyond one.
    """

    order: str
    n_trackers: int
    n_datasets: int
    studies: int
    best_in_set: float
    size: float
    best_in_cluster: float
    cluster: float
    first_simultaneous: float
    first_jackknife: float
    first_resampled: float
    ranks: float
    rank_width: float


class Combined(msgspec.Struct, frozen=True):
    """How often the interval of a composite contains its correlation on new trackers, on average `truth`.

    refitted: by the jackknife, fitted again without each tracker; resampled: of predictions that are not,
    before.
    """

    method: str
    n_trackers: int
    studies: int
    truth: float
    mean_r: float
    refitted: float
    resampled: float


class Decided(msgspec.Struct, frozen=True):
    """Of the pairs of trackers given a chance from low to high: how many, the mean chance, and the share
    right."""

    population: str
    n_trackers: int
    studies: int
    low: float
    high: float
    pairs: int
    predicted: float
    right: float


class Carried(msgspec.Struct, frozen=True):
    """Studies in which the tracker with most of the variance has a share of it from least to most.

    of_all: how many of the studies these are.   coverage, width: of the interval by the jackknife, empty
    where there are none.
    """

    population: str
    n_trackers: int
    studies: int
    least: float
    most: float
    of_all: float
    coverage: float | None
    width: float | None
