"""The protocol of estimators: they estimate a policy's value and declare what they need."""

from __future__ import annotations

from typing import Literal, Protocol

from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import ResampledOver, Value

Need = Literal["augmented_states", "world", "propensities"]


class Estimator(Protocol):
    """A method to estimate the value of a policy, by its name in the registry ESTIMATORS.

    needs: what an evaluation problem must contain beyond transitions and the policy's probabilities.
    resampled_over: the dialogs that the influence of its values refers to.
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
