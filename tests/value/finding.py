"""Estimators by name."""

from __future__ import annotations

from extrinsic.registry import ESTIMATORS
from extrinsic.value.estimator import Estimator

WEIGHTED = ("is", "pdis", "wis", "pdwis", "dr", "wdr")
"""Those that need propensities."""

PLAIN = ("observed", "lstd", "lstd_behaviour", "fqe")
AUGMENTED = ("lstd_augmented", "fqe_augmented", "mean_augmented")
FITTED = ("world", "world_mixed")


def find(name: str) -> Estimator:
    found: Estimator = ESTIMATORS.get(name)
    return found
