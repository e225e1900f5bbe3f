"""The protocol of estimators: they estimate a policy's value and declare what they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Protocol

import msgspec

from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.result import ResampledOver, Value

Need = Literal["augmented_states", "world", "fitted_world", "propensities"]


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
