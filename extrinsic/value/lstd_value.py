"""Values by least-squares temporal differences: of a policy, of the logged policy, in augmented states."""

from __future__ import annotations

from dataclasses import dataclass

from extrinsic.errors import UsageError
from extrinsic.policy.states import States
from extrinsic.value.estimator import Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.q_function import DEFAULT, KernelSettings, fit_q
from extrinsic.value.result import ResampledOver, Value, value_of


@dataclass(frozen=True)
class Lstd:
    """The mean of V over first states. Optimistic about a policy that the same method chose: `gain_over_log`.

    augmented: in states that include the beliefs of proxy trackers, which removes most of the optimism.
    of_behaviour: of the logged decisions themselves; should equal the observed value.
    """

    name: str = "lstd"
    settings: KernelSettings = DEFAULT
    augmented: bool = False
    of_behaviour: bool = False
    resampled_over: ResampledOver = "dialogs"

    @property
    def needs(self) -> tuple[Need, ...]:
        return ("augmented_states",) if self.augmented else ()

    def estimate(self, problem: EvaluationProblem) -> Value:
        states = require_augmented(problem, self.name) if self.augmented else problem.transitions.states
        fitted = fit_q(problem.behaviour() if self.of_behaviour else problem, states, self.settings)
        return value_of(self.name, fitted.value, fitted.influence, fitted.diagnostics)


def require_augmented(problem: EvaluationProblem, name: str) -> States:
    if problem.augmented is None:
        raise UsageError(f"the estimator {name!r} needs augmented states: name proxy trackers")
    return problem.augmented
