"""The tables of estimates and live returns: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class PolicyEstimate(msgspec.Struct, frozen=True):
    """What an estimator says a policy learned on a tracker is worth, beside its return in live play.

    world: bus or restaurants.   low, high: the estimate's 95 % interval.
    live_half_width: half of the live return's own.   flags: reasons not to believe the estimate.
    """

    world: str
    seed: int
    dataset: str
    tracker: str
    degenerate: bool
    estimator: str
    value: float
    low: float
    high: float
    live: float
    live_half_width: float
    flags: tuple[str, ...]


class EstimatorSummary(msgspec.Struct, frozen=True):
    """An estimator over all cells of a world and its core trackers; bias and rmse in points of return.

    r: correlation with the live return within logs, of all trackers; r_core: of all but degenerate ones.
    above_observed: r_core less that of the observed return, with an interval over resampled logs.
    coverage: share of the 95 % intervals that contain the live return; coverage_low, coverage_high: over
    resampled logs, because the trackers of one log share its level.
    """

    world: str
    estimator: str
    logs: int
    cells: int
    bias: float
    rmse: float
    r: float
    r_core: float
    r_low: float
    r_high: float
    above_observed: float
    above_low: float
    above_high: float
    coverage: float
    coverage_low: float
    coverage_high: float
    flagged: int


class DatasetBias(msgspec.Struct, frozen=True):
    """The bias of an estimator over core trackers and the logs of one dataset, with an interval over logs."""

    world: str
    dataset: str
    estimator: str
    logs: int
    bias: float
    low: float
    high: float
    rmse: float
    r_core: float
