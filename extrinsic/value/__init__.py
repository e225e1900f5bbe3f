"""Estimators of a policy's value, with a common protocol and diagnostics."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from extrinsic.registry import ESTIMATORS

_HERE = "extrinsic.value"

_TITLES = {
    "observed": "the log",
    "lstd": "LSTD",
    "lstd_behaviour": "LSTD of the logged policy",
    "lstd_augmented": "augmented LSTD",
    "fqe": "fitted Q",
    "fqe_augmented": "augmented fitted Q",
    "mean_augmented": "augmented mean",
    "world": "a fitted world",
    "world_mixed": "a fitted world, mixed",
    "live": "live play",
    "is": "importance sampling",
    "pdis": "importance sampling per decision",
    "wis": "weighted importance sampling",
    "pdwis": "weighted importance sampling per decision",
    "dr": "doubly robust",
    "wdr": "weighted doubly robust",
}

for _name, _target, _summary in (
    ("observed", "estimators:OBSERVED", "mean return of the logged dialogs (the behaviour policy)"),
    ("lstd", "estimators:LSTD", "least-squares temporal differences, as in Lee 2014; optimistic"),
    (
        "lstd_behaviour",
        "estimators:LSTD_BEHAVIOUR",
        "of the behaviour policy: should equal observed",
    ),
    ("lstd_augmented", "estimators:LSTD_AUGMENTED", "LSTD in a state augmented by proxy trackers (default)"),
    (
        "fqe",
        "estimators:FQE",
        "fitted Q evaluation with trees: a different function class from the learner's",
    ),
    ("fqe_augmented", "estimators:FQE_AUGMENTED", "trees in the augmented state: the cross-check (default)"),
    ("mean_augmented", "estimators:MEAN_AUGMENTED", "the mean of these two, which have opposite biases"),
    ("world", "estimators:WORLD", "the policy played in a world fitted to the log"),
    (
        "world_mixed",
        "estimators:WORLD_MIXED",
        "nine tenths of world, a tenth of fqe_augmented (default)",
    ),
    ("live", "estimators:LIVE", "the policy played against simulated callers: the true value"),
    ("is", "estimators:IS", "importance sampling of whole dialogs"),
    ("pdis", "estimators:PDIS", "importance sampling per decision"),
    ("wis", "estimators:WIS", "importance sampling, weights normalised"),
    ("pdwis", "estimators:PDWIS", "importance sampling per decision, weights normalised"),
    ("dr", "estimators:DR", "doubly robust: LSTD corrected by importance sampling"),
    ("wdr", "estimators:WDR", "doubly robust, weights normalised"),
):
    ESTIMATORS.register(_name, f"{_HERE}.{_target}", _summary, _TITLES[_name])


class _CallablePackage(ModuleType):
    """`extrinsic.value(policy, dialogs)` is a function, and this package has the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from extrinsic.value.single_policy import value

        return value(*arguments, **options)


# Importing any module of this package makes `extrinsic.value` the package, so the package can be called.
sys.modules[__name__].__class__ = _CallablePackage
