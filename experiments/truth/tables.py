"""The tables of estimates and live returns: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec

from extrinsic.simulation.fitted.goodness_of_fit import FitRow


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


class WorldFit(msgspec.Struct, frozen=True):
    """How well the fitted worlds fit, over the logs of a dataset.

    logged, fitted: the means of a measure.   misfits: of how many logs it is a misfit.
    """

    world: str
    dataset: str
    measure: str
    logs: int
    logged: float
    fitted: float
    misfits: int


class LogFit(FitRow, frozen=True, kw_only=True):
    """The fit of the world of a real log, measure by measure."""

    log: str


class RealValue(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a learned policy on a real log; `observed` is that of the logged one.

    cloned: the tracker exists as files only.   flags: reasons not to believe the value.
    """

    log: str
    tracker: str
    cloned: bool
    estimator: str
    value: float
    low: float
    high: float
    flags: tuple[str, ...]
