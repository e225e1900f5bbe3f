"""Estimators by name."""

from __future__ import annotations

from extrinsic.registry import ESTIMATORS
from extrinsic.value.estimator import Estimator

PLAIN = ("observed", "lstd", "fqe")
AUGMENTED = ("lstd_augmented", "fqe_augmented", "mean_augmented")


def find(name: str) -> Estimator:
    found: Estimator = ESTIMATORS.get(name)
    return found
