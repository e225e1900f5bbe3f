"""The mean of two estimators with opposite biases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.value.estimator import EvaluationProblem, Need
from extrinsic.value.lstd import LSTD_AUGMENTED, Lstd
from extrinsic.value.trees import FQE_AUGMENTED, Fqe
from extrinsic.value.value import ResampledOver, Value, value_of


@dataclass(frozen=True)
class MeanOf:
    """LSTD overestimates a policy, trees shrink its value towards the logged policy's."""

    name: str
    parts: tuple[Lstd | Fqe, ...]
    resampled_over: ResampledOver = "dialogs"

    @property
    def needs(self) -> tuple[Need, ...]:
        return tuple(dict.fromkeys(need for part in self.parts for need in part.needs))

    def estimate(self, problem: EvaluationProblem) -> Value:
        return self.of([part.estimate(problem) for part in self.parts])

    def of(self, values: Sequence[Value]) -> Value:
        """The mean of the parts' values.

        Resampling dialogs does not show the bias of the parts; their disagreement does. So half of that
        distance is added to the interval from the dialogs.
        """
        n_parts = len(values)
        means = {value.estimator: value.mean for value in values}
        spread = max(means.values()) - min(means.values())
        # The worst of the parts' diagnostics: a mean is no more reliable than its parts.
        worst: dict[str, float] = {}
        for part in values:
            for name, number in part.diagnostics.items():
                pick = np.minimum if name == "lowest_q" else np.maximum
                worst[name] = float(pick(worst.get(name, number), number))
        value = value_of(
            self.name,
            sum(means.values()) / n_parts,
            sum((value.influence for value in values[1:]), values[0].influence) / n_parts,
            {**worst, **means, "spread": spread},
        )
        below = np.hypot(value.mean - value.low, spread / 2.0)
        above = np.hypot(value.high - value.mean, spread / 2.0)
        return replace(value, low=float(value.mean - below), high=float(value.mean + above))


MEAN_AUGMENTED = MeanOf("mean_augmented", (LSTD_AUGMENTED, FQE_AUGMENTED))
