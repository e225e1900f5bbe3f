"""One step of policy improvement: greedy on the logged policy's own Q (Brandfonbrener et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.kernel_lspi import KernelLearner, LoggedKernels, Progress
from extrinsic.policy.lstd import Solution
from extrinsic.policy.transitions import Transitions


@dataclass(frozen=True)
class OneStep(KernelLearner):
    """The greedy policy on Q of the logged policy; what the log did not do is never evaluated.

    evaluation: of that policy: `lstd`; `returns`, ridge regression of what dialogs earned from a decision on
    (undiscounted); or the `mean` of both. LSTD trusts the states to hold all that matters of the past, which
    biases it; returns need not, but are noisy. In live play the mean is as good as LSTD on small logs, and
    better than either on large ones (experiments/learners).
    """

    evaluation: Literal["mean", "lstd", "returns"] = "mean"

    def admitted(self, transitions: Transitions, behaviour: Behaviour) -> Bools:
        """By the model of all the log, as when it is played: no action of the log's states is chosen here,
        so that nothing needs a model which did not see their dialogs."""
        return behaviour.choices(transitions.states, transitions.possible)[1]

    def improve(self, log: LoggedKernels) -> tuple[Solution, Progress]:
        solutions = []
        if self.evaluation != "returns":
            solutions.append(log.value(log.as_logged))
        if self.evaluation != "lstd":
            solutions.append(log.value_of_returns())
        weights = np.mean([solution.weights for solution in solutions], axis=0)
        return replace(solutions[0], weights=weights), Progress(1, converged=True)
