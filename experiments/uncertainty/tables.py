"""The tables of simulated studies: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class Coverage(msgspec.Struct, frozen=True):
    """How often an interval contains the correlation of the population.

    truth: that correlation; truth_here: the one that unlimited trackers with as few dialogs would show.
    coverage, coverage_here: shares of studies whose interval contains the one and the other; below, above:
    how often the truth lies on either side of the interval.
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
