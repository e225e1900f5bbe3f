"""The observed value: what the system that made the corpus earned."""

from __future__ import annotations

from extrinsic.value.estimator import Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import ResampledOver, Value, mean_of_dialogs


class Observed:
    """The mean return of the logged dialogs: no model, and no policy other than the logged one."""

    name = "observed"
    needs: tuple[Need, ...] = ()
    resampled_over: ResampledOver = "dialogs"

    def estimate(self, problem: EvaluationProblem) -> Value:
        return mean_of_dialogs(self.name, problem.transitions.returns())
