"""One step of policy improvement: greedy on the logged policy's own Q (Brandfonbrener et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from extrinsic.policy.kernel_lspi import KernelLearner, LoggedKernels, Progress
from extrinsic.policy.lstd import Solution


@dataclass(frozen=True)
class OneStep(KernelLearner):
    """The greedy policy on Q of the logged policy; what the log did not do is never evaluated.

    evaluation: of that policy: `lstd`, or `returns`, ridge regression of what dialogs earned from a decision
    on (undiscounted): a state need not hold all that matters of the past, but targets are noisier.
    """

    evaluation: Literal["lstd", "returns"] = "lstd"

    def improve(self, log: LoggedKernels) -> tuple[Solution, Progress]:
        solution = log.value(log.as_logged) if self.evaluation == "lstd" else log.value_of_returns()
        return solution, Progress(1, converged=True)
