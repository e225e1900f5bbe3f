"""The tables of the study of real calls: one struct per csv file, whose fields are the columns.

Columns that several have. manager: whether the state holds the dialog manager, `seen` or `hidden`.
absent: how the reward counts a concept in neither goal nor belief, `correct` or `zero`. fill: when a belief
counts as filled, by `argmax` or by a `threshold`. low, high: a 95 % interval over resampled trackers and
calls; jackknife_low, jackknife_high: one by leaving out each tracker.
"""

from __future__ import annotations

import msgspec


class OfRun(msgspec.Struct, frozen=True):
    """What the rows of several tables begin with: the run, and its fill rule."""

    manager: str
    absent: str
    fill: str


class OfGroup(OfRun, frozen=True):
    """trackers: `all`, the `core`, the `good` ones, or those of the core that score `slots`; n: how many."""

    trackers: str
    n: int


class CandidateRow(msgspec.Struct, frozen=True):
    """What a setting of the learner gains on training calls that it did not learn from, the best first.

    gain: over the logged policy. behind: the gain of the first less this one, with its standard error over
    trackers. cells: values that the gain is a mean of. flags: of these values, each flag with its count.
    """

    features: str
    gamma: float
    ridge: float
    threshold: float
    gain: float
    behind: float
    standard_error: float
    trackers: int
    cells: int
    flags: str = ""


class JudgedTracker(msgspec.Struct, frozen=True):
    """A tracker on the training calls.

    given: run by others. accuracy: of joint goals. good: nearly as accurate as the best; nearly: the good
    tracker that believes nearly the same.
    """

    tracker: str
    given: bool
    accuracy: float
    good: bool
    nearly: str | None


class Correlation(OfGroup, frozen=True):
    """Pearson's r between a metric and a target, within condition; headline: whether it is compared."""

    target: str
    metric: str
    schedule: int
    component: str
    headline: bool
    r: float
    low: float
    high: float
    jackknife_low: float
    jackknife_high: float

    @property
    def name(self) -> str:
        """Of a headline metric, as in the other tables: `accuracy@1`."""
        return f"{self.metric}@{self.schedule}"


class Difference(OfGroup, frozen=True):
    """r of `metric` less r of `than`, on the same resamples."""

    metric: str
    than: str
    difference: float
    low: float
    high: float
    jackknife_low: float
    jackknife_high: float


class BeyondLogged(msgspec.Struct, frozen=True):
    """What a metric predicts beyond the logged return; kind: `given` that return, or with the `gain`."""

    fill: str
    metric: str
    kind: str
    r: float
    low: float
    high: float
    jackknife_low: float
    jackknife_high: float


class Gain(OfRun, frozen=True):
    """What policies are worth with a tracker on all dev calls, in points.

    behaviour: logged; sl_sampled: imitated; rl: learned. rl_behaviour, rl_sl: differences of these, with
    normal 95 % intervals over calls; what the estimator gets wrong is not in them.
    """

    tracker: str
    behaviour: float
    sl_sampled: float
    rl: float
    rl_behaviour: float
    rl_behaviour_low: float
    rl_behaviour_high: float
    rl_sl: float
    rl_sl_low: float
    rl_sl_high: float


class Check(OfRun, frozen=True):
    """Checks of what is gained, in points.

    gain: by LSTD, over what LSTD says of the logged policy. placebo: the same, learned from shuffled
    actions. on_policy_gap: what the study's estimator says of the logged policy, less what was observed.
    """

    tracker: str
    gain: float
    placebo: float
    on_policy_gap: float


class FlagCount(msgspec.Struct, frozen=True, rename={"total": "of"}):
    """How many values of the learned policy carry a flag."""

    flag: str
    count: int
    total: int


class Control(msgspec.Struct, frozen=True):
    """r of a metric with the caller's success, which no tracker here could have changed.

    between_calls: within condition, mean over trackers, with an interval over resampled calls.
    between_trackers: undefined where success is the same for all trackers. pooled: over trackers and
    conditions, of which only conditions can differ.
    """

    metric: str
    calls: int
    between_calls: float
    low: float
    high: float
    between_trackers: float | None
    pooled: float


class PrototypeWay(msgspec.Struct, frozen=True):
    """Policies learned and valued in one way on all of dev together, means over trackers, filled by argmax.

    sl: how the imitating policy acts. rl_sl: learned less imitated; above: in how many trackers it is above
    0. rl_logged: learned less logged, both by the estimator.
    """

    manager: str
    features: str
    gamma: float
    ridge: float
    threshold: float
    sl: str
    estimator: str
    rl_sl: float
    above: int
    trackers: int
    rl_logged: float


COMPUTED: dict[str, type[msgspec.Struct]] = {
    "gains": Gain,
    "checks": Check,
    "flags": FlagCount,
    "correlations": Correlation,
    "differences": Difference,
    "beyond": BeyondLogged,
    "control": Control,
}
CHOSEN: dict[str, type[msgspec.Struct]] = {
    "candidates": CandidateRow,
    "trackers": JudgedTracker,
    "prototype": PrototypeWay,
}
"""Written by the commands `choose` and `prototype`."""
