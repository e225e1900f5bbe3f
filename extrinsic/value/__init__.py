"""Estimators of a policy's value, with a common protocol and diagnostics."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from extrinsic.registry import ESTIMATORS

_SUMMARIES = {
    "observed": "mean return of the logged dialogs (the behaviour policy)",
    "lstd": "least-squares temporal differences, as in Lee 2014; optimistic",
    "lstd_augmented": "LSTD in a state augmented by proxy trackers",
    "fqe": "fitted Q evaluation with trees: a different function class from the learner's",
    "fqe_augmented": "trees in the augmented state",
    "mean_augmented": "the mean of lstd_augmented and fqe_augmented, whose biases are opposite (default)",
    "live": "the policy played against simulated callers: the true value",
}
for _name, _target, _title in (
    ("observed", "estimator:OBSERVED", "the log"),
    ("lstd", "lstd:LSTD", "LSTD"),
    ("lstd_augmented", "lstd:LSTD_AUGMENTED", "augmented LSTD"),
    ("fqe", "trees:FQE", "fitted Q"),
    ("fqe_augmented", "trees:FQE_AUGMENTED", "augmented fitted Q"),
    ("mean_augmented", "mean_of:MEAN_AUGMENTED", "augmented mean"),
    ("live", "live:ESTIMATOR", "live play"),
):
    ESTIMATORS.register(_name, f"extrinsic.value.{_target}", _SUMMARIES[_name], _title)


class _CallablePackage(ModuleType):
    """`extrinsic.value(policy, dialogs)` is a function, and this package has the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from extrinsic.value.single_policy import value

        return value(*arguments, **options)


# Importing any module of this package makes `extrinsic.value` the package, so the package can be called.
sys.modules[__name__].__class__ = _CallablePackage
