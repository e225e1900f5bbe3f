"""What an estimator is: it values a policy, and declares what it needs for that."""

from __future__ import annotations

from typing import Literal, Protocol

from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import ResampledOver, Value

Need = Literal["augmented_states", "world", "propensities"]


class Estimator(Protocol):
    """A way to value a policy, by its name in the registry ESTIMATORS.

    needs: what an evaluation problem must hold beyond transitions and the policy's probabilities.
    resampled_over: what the influence of its values is of.
    """

    @property
    def name(self) -> str: ...

    @property
    def needs(self) -> tuple[Need, ...]: ...

    @property
    def resampled_over(self) -> ResampledOver: ...

    def estimate(self, problem: EvaluationProblem) -> Value:
        """The expected return of the problem's policy, with how it moves with the weight of each dialog."""
        ...
