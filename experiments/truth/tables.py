"""The tables of estimates and live returns: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class PolicyEstimate(msgspec.Struct, frozen=True):
    """What an estimator says a policy learned on a tracker is worth, beside its return in live play.

    low, high: the estimate's 95 % interval. live_half_width: half of the live return's own.
    on_policy_gap: how far the estimator is from the observed return of the logged policy.
    flags: reasons not to believe the estimate.
    """

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
    on_policy_gap: float
    flags: tuple[str, ...]


class VariantSummary(msgspec.Struct, frozen=True):
    """An estimator over all cells of worlds and core trackers; bias and rmse in points of return.

    r: correlation with the live return within worlds, of all trackers; r_core: of all but degenerate ones.
    coverage: share of the 95 % intervals that contain the live return.
    """

    estimator: str
    cells: int
    bias: float
    rmse: float
    r: float
    r_core: float
    coverage: float


class EstimatorSummary(msgspec.Struct, frozen=True):
    """The same, and more.

    above_observed: r_core less that of the observed return, with an interval over resampled worlds.
    coverage_near: the same as coverage, with intervals widened by the noise of the live return itself.
    infeasible, flagged: of all trackers, values outside of what can be earned, and values with any flag.
    """

    estimator: str
    cells: int
    bias: float
    rmse: float
    r: float
    r_core: float
    above_observed: float
    above_low: float
    above_high: float
    coverage: float
    coverage_near: float
    infeasible: int
    flagged: int
    on_policy_gap: float


class RealValue(msgspec.Struct, frozen=True):
    """What a policy on a tracker of DSTC2 is worth, by each estimator.

    manager: whether the state includes which dialog manager made the call. observed: the logged return.
    placebo_gain: what a policy learned from shuffled actions seems to gain; of learned policies only.
    """

    tracker: str
    manager: bool
    policy: str
    observed: float
    lstd: float
    lstd_augmented: float
    fqe: float
    fqe_augmented: float
    mean_augmented: float
    placebo_gain: float | None
    flags: tuple[str, ...]
