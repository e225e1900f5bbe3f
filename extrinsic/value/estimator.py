"""The protocol of estimators, the problems that they are given, and the observed value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy.features import States
from extrinsic.policy.rewards import RewardFunction
from extrinsic.policy.transitions import Transitions
from extrinsic.simulation.single_world import World
from extrinsic.simulation.world import LockstepWorld, Policy
from extrinsic.trackers.tracking import Tracker
from extrinsic.value.value import ResampledOver, Value, mean_of_dialogs

Need = Literal["augmented_states", "world"]


class Estimator(Protocol):
    """A method to estimate the value of a policy, by its name in the registry ESTIMATORS.

    needs: what an evaluation problem must contain beyond transitions and the policy's probabilities.
    resampled_over: the dialogs that the influence of its values refers to.

    An estimator that a study can set has a field `settings`: a frozen dataclass or struct whose fields are
    the keys of `[value.<name>]`. One that combines others has them as `parts`; each follows its own table.
    """

    @property
    def name(self) -> str: ...

    @property
    def needs(self) -> tuple[Need, ...]: ...

    @property
    def resampled_over(self) -> ResampledOver: ...

    def estimate(self, problem: EvaluationProblem) -> Value:
        """The expected return of the problem's policy, with the influence of each dialog."""
        ...


Tables = Mapping[str, Mapping[str, object]]
"""The options of estimators, by name."""


def parts_of(estimator: Any) -> tuple[Any, ...]:
    """The estimators that one combines; of any other, itself."""
    return tuple(getattr(estimator, "parts", (estimator,)))


def with_options(estimator: Any, tables: Tables) -> Any:
    """The estimator with its settings, or those of its parts, as the tables have them."""
    if hasattr(estimator, "parts"):
        return replace(estimator, parts=tuple(with_options(part, tables) for part in estimator.parts))
    options = tables.get(estimator.name)
    if not options:
        return estimator
    settings = estimator.settings
    return replace(
        estimator, settings=msgspec.convert({**msgspec.to_builtins(settings), **options}, type(settings))
    )


@dataclass(frozen=True, eq=False)
class LivePlay:
    """Where and how a policy is played: the same `seed` gives the same callers for every policy.

    Where the reward has a fill rule, the system offers what counts as filled and nothing else.
    """

    policy: Policy
    tracker: Tracker
    world: World | LockstepWorld
    n_dialogs: int = 1_000
    seed: int = 0
    reward: RewardFunction | None = None


@dataclass(frozen=True, eq=False)
class EvaluationProblem:
    """The input of estimators.

    transitions: logged decisions that the policy did not learn from.
    target (n, n_actions): the policy's action probabilities at each of them.
    augmented: states with more information than the policy has (beliefs of proxy trackers), for estimators
    that use them; the policy still acts on its own states.
    stage: where it can be played live, if anywhere.
    """

    transitions: Transitions
    target: Floats
    augmented: States | None = None
    stage: LivePlay | None = None

    def __post_init__(self) -> None:
        shape = (len(self.transitions), len(self.transitions.actions))
        if self.target.shape != shape:
            raise UsageError(
                "the policy's probabilities have the wrong shape",
                expected=str(shape),
                found=str(self.target.shape),
            )
        if not np.allclose(self.target.sum(axis=1), 1.0) or (self.target < 0).any():
            raise UsageError("the policy's probabilities must be at least 0 and sum to 1")
        if self.augmented is not None and len(self.augmented) != shape[0]:
            raise UsageError(
                "the augmented states are of other decisions",
                expected=str(shape[0]),
                found=str(len(self.augmented)),
            )
        if self.transitions.n_dialogs < 2:
            raise UsageError(
                "a value with an interval needs at least two dialogs", found=str(self.transitions.n_dialogs)
            )

    @cached_property
    def first(self) -> Ints:
        """(n_dialogs,) the first decision of each dialog."""
        return np.flatnonzero(self.transitions.first)

    def behaviour(self, logged: bool = False) -> EvaluationProblem:
        """The same decisions with the logged policy as the target: probability 1 for the logged actions.

        logged: use its logged probabilities, where there are any.
        """
        probabilities = np.zeros_like(self.target)
        probabilities[np.arange(len(probabilities)), self.transitions.action] = 1.0
        chances = self.transitions.propensities
        if logged and not np.isnan(chances).any():
            probabilities = chances
        return EvaluationProblem(self.transitions, probabilities, self.augmented)


class Observed:
    """The mean return of the logged dialogs: no model, and no policy other than the logged one."""

    name = "observed"
    needs: tuple[Need, ...] = ()
    resampled_over: ResampledOver = "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        return mean_of_dialogs(self.name, problem.transitions.returns())


OBSERVED = Observed()


@dataclass(frozen=True)
class StateEstimator:
    """What estimators have in common that learn a value function of states.

    augmented: in states that include the beliefs of proxy trackers, which removes most of the optimism.
    """

    name: str
    settings: Any
    augmented: bool = False
    resampled_over: ResampledOver = "dialogs"

    @property
    def needs(self) -> tuple[Need, ...]:
        return ("augmented_states",) if self.augmented else ()

    def states_of(self, problem: EvaluationProblem) -> States:
        if not self.augmented:
            return problem.transitions.states
        if problem.augmented is None:
            raise UsageError(f"the estimator {self.name!r} needs augmented states: name proxy trackers")
        return problem.augmented


S = TypeVar("S")
P = TypeVar("P")


class Shared(Generic[S, P]):
    """Parts of estimates that depend on decisions, states and settings alone: made once, for all policies.

    They are forgotten together with the decisions.
    """

    def __init__(self, make: Callable[[Transitions, States, S], P]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[Transitions, list[tuple[States, S, P]]] = WeakKeyDictionary()

    def get(self, transitions: Transitions, states: States, settings: S) -> P:
        made = self._made.setdefault(transitions, [])
        for own_states, own_settings, part in made:
            if own_states is states and own_settings == settings:
                return part
        made.append((states, settings, self._make(transitions, states, settings)))
        return made[-1][2]
