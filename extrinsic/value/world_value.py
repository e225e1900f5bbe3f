"""The value of a policy in a world fitted to the logs (model-based evaluation).

Estimators that regress on the log's own states do not see what a tracker's policy would have said: the acts
of the log have the logged system's arguments. In a fitted world tracker and policy act themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.value.estimator import Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fitted_play import FittedPlay
from extrinsic.value.fqe import Fqe
from extrinsic.value.result import ResampledOver, Value

LEVEL_ERROR = 14.0
"""The standard error, in points of return, of what a fitted world leaves wrong for a whole log: most of it is
whether its callers happened to be heard well. Intervals with it held 95 % of the live returns in twenty logs
of the bus world (seeds 383, 384, 391, 392, which experiments/truth had reported before)."""

TRACKER_ERROR = 8.0
"""The standard error, in points, of what a fitted world leaves wrong for the policy of one tracker alone.

Errors of the trackers of a log differ by a standard deviation of 9.0 beyond the noise of live play (35 logs
of the bus world, experiments/truth; 5.7 in 6 logs of restaurants), of which dialogs show a part. It belongs
to the difference of two trackers, which the error of a log's level does not touch.
"""

IN_WORLD, DIFFERENCE, TRAINING_NOISE = "in_world", "difference", "training_noise"
"""Diagnostics: V_M(policy), observed - V_M(logged policy), and the noise of the callers of other logs."""

PLAYED, CORRECTION, TREES = "played", "correction", "trees"
"""Components of a value: the influence on V_M(policy), on the difference, and on the trees' estimate."""

NORMAL = 1.959963984540054


@dataclass(frozen=True, eq=False)
class WorldParts:
    """What a value in a fitted world consists of.

    in_world: the policy's return there.   difference: the observed return of the logged policy, less what it
    earns there with the same callers.   influence, of_difference (n_dialogs,): of the dialogs that policies
    are valued on.
    training_noise: the standard error from the callers of the other logs, and from clones.
    """

    in_world: float
    difference: float
    influence: Floats
    of_difference: Floats
    training_noise: float


class World:
    """V_M(policy) + k (observed - V_M(logged policy)), in the fitted world M, by the tracker's own beliefs.

    The second part corrects what the world gets wrong about this log and this tracker, as far as it is more
    than noise (`level_correction`). A study replaces it by a level of each dataset and the deviation of the
    tracker (`extrinsic.value.levelling`). Where the logged policy is a clone, the value is flagged, and its
    interval allows for what clones get wrong.
    """

    name = "world"
    needs: tuple[Need, ...] = ("fitted_world",)
    resampled_over: ResampledOver = "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        stage = problem.fitted
        if stage is None:
            raise UsageError("no world was fitted to this log, so nothing can be played in it")
        parts = world_parts(problem, stage)
        noise = np.array([np.sum(parts.of_difference**2)])
        correction = level_correction(np.array([parts.difference]), noise)
        mean = parts.in_world + float(correction.value[0])
        influence = parts.influence + float(correction.own[0]) * parts.of_difference
        flags = (("cloned_policy",) if stage.logged.is_clone else ()) + stage.flags
        diagnostics = {
            IN_WORLD: parts.in_world,
            DIFFERENCE: parts.difference,
            TRAINING_NOISE: parts.training_noise,
        }
        components = {PLAYED: parts.influence, CORRECTION: parts.of_difference}
        value = Value(self.name, mean, mean, mean, len(influence), influence, diagnostics, flags)
        return with_world_interval(replace(value, components=components))


def world_parts(problem: EvaluationProblem, stage: FittedPlay) -> WorldParts:
    """Play the policy, and value the logged policy's dialogs, in the fitted world."""
    logs = stage.world.logs
    earned, logged = stage.returns(), stage.logged.returns(stage.tracker, stage.reward)
    of_policy, of_logged = stage.by_caller(earned), stage.by_caller(logged)
    n_callers, first = len(of_policy), int(logs.first[-2])
    noise = np.sqrt(np.sum((of_policy[:first] - of_policy.mean()) ** 2)) / n_callers
    # The callers of the last log, in the order of the transitions' dialogs.
    position = {session: number for number, session in enumerate(logs.corpora[-1].sessions)}
    order = first + np.array([position[session] for session in problem.transitions.sessions])
    gap = problem.transitions.returns() - of_logged[order]
    return WorldParts(
        in_world=float(earned.mean()),
        difference=float(gap.mean()),
        influence=(of_policy[order] - of_policy.mean()) / n_callers,
        of_difference=(gap - gap.mean()) / len(gap),
        training_noise=float(np.linalg.norm([noise, stage.tracker_error, stage.logged.level_error])),
    )


@dataclass(frozen=True, eq=False)
class LevelCorrection:
    """By how much the values of each of n datasets are corrected.

    value (n,): the correction.   own (n,): what of a change of the dataset's own level goes into it.
    left_out (n,): the variance that is not in `own`: of what shrinking leaves out, and of other datasets.
    """

    value: Floats
    own: Floats
    left_out: Floats


def level_correction(levels: Floats, noise: Floats) -> LevelCorrection:
    """What of the levels of n datasets is more than noise.

    noise (n,): the variance of each level by chance. Levels differ from each other, and worlds that are made
    of the logs of one system may all be wrong in one direction. Of the mean m of all levels, with the noise v
    of a mean, the share k = 1 - c v / m^2 is kept, if positive (after James & Stein 1961), where c = 3.84 is
    what m^2 / v exceeds by chance once in twenty times: a world that fits has the level of the log in it,
    and of more dialogs than m. Of a deviation the share t2 / (t2 + noise) is kept, where t2 is what
    deviations vary by beyond what noise does once in twenty times.

    >>> level_correction(np.array([3.0, -3.0]), np.array([100.0, 100.0])).value
    array([0., 0.])
    >>> level_correction(np.array([50.0]), np.array([100.0])).value.round(2)
    array([42.32])
    >>> level_correction(np.array([19.0, 21.0, 20.0]), np.array([100.0, 100.0, 100.0])).value.round(2)
    array([13.6, 13.6, 13.6])
    """
    n_datasets, noise = len(levels), np.maximum(noise, 1e-12)
    mean, of_mean = float(levels.mean()), float(noise.mean()) / n_datasets
    common = max(1.0 - _by_chance(1) * of_mean / mean**2, 0.0) if mean else 0.0
    between = 0.0
    if n_datasets > 1:
        between = max(float(np.var(levels, ddof=1) - _by_chance(n_datasets - 1) * noise.mean()), 0.0)
    share = between / (between + noise) if n_datasets > 1 else np.zeros(1)
    of_each = (common - share) / n_datasets
    others = of_each**2 * (noise.sum() - noise)
    left_out = share * (1.0 - share) * noise + common * (1.0 - common) * of_mean + others
    return LevelCorrection(common * mean + share * (levels - mean), share + of_each, left_out)


def _by_chance(n_numbers: int) -> float:
    """What the mean square of standard normal numbers exceeds once in twenty times (chi-square / n)."""
    from scipy.special import gammaincinv

    return float(2.0 * gammaincinv(n_numbers / 2.0, 0.95) / n_numbers)


def with_world_interval(value: Value) -> Value:
    """A 95 % interval from the dialogs of both halves, Monte Carlo noise, and the level error of the world.

    The dialogs' influence includes that each caller is met a few times only.
    """
    half = half_width(value.influence, value.diagnostics[TRAINING_NOISE])
    return replace(value, low=value.mean - half, high=value.mean + half)


def half_width(influence: Floats, training_noise: float) -> float:
    """Half of the 95 % interval of a value in a fitted world; influence (n_dialogs,)."""
    variance = float(np.sum(influence**2)) + LEVEL_ERROR**2 + training_noise**2
    return float(NORMAL * np.sqrt(variance))


WORLD_SHARE = 0.9
"""Of the fitted world in the mixed estimate, the rest is that of the trees. Chosen on ten logs of seeds 11 to
13: r among core trackers was .937 with .9, .935 with .75 and .934 without the trees on four of the bus world,
.955, .943 and .960 on six of restaurants."""


@dataclass(frozen=True)
class WorldMixed:
    """Nine tenths of the fitted world's estimate and a tenth of the trees'.

    A study mixes deviations from the mean of a dataset (`extrinsic.value.levelling`).
    """

    name: str
    parts: tuple[World, Fqe]
    resampled_over: ResampledOver = "dialogs"

    @property
    def needs(self) -> tuple[Need, ...]:
        return tuple(dict.fromkeys(need for part in self.parts for need in part.needs))

    def estimate(self, problem: EvaluationProblem) -> Value:
        return self.of([part.estimate(problem) for part in self.parts])

    def of(self, values: Sequence[Value]) -> Value:
        """The mean of the parts' values, with the interval of the world's."""
        world, trees = values
        return with_world_interval(
            replace(
                world,
                estimator=self.name,
                mean=WORLD_SHARE * world.mean + (1.0 - WORLD_SHARE) * trees.mean,
                influence=WORLD_SHARE * world.influence + (1.0 - WORLD_SHARE) * trees.influence,
                diagnostics={**world.diagnostics, world.estimator: world.mean, trees.estimator: trees.mean},
                flags=tuple(dict.fromkeys((*world.flags, *trees.flags))),
                components={**world.components, TREES: trees.influence},
            )
        )
