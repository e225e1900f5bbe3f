"""Scores of items as ROC statistics, and their resampled values by the definition: a curve each."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics import DSTC1_METRICS
from extrinsic.metrics.items.curves import RocRule, RocStatistics, score_order
from extrinsic.metrics.parsing import parse_metric

ROC_METRICS = [parse_metric(name) for name in DSTC1_METRICS if name.startswith("roc.")]
RULES: tuple[RocRule, ...] = ("dstc1", "dstc2")


def statistics_of(rule: RocRule, n_dialogs: int, score: Any, correct: Any, dialog: Any) -> RocStatistics:
    score, correct, dialog = np.array(score, float), np.array(correct, bool), np.array(dialog, int)
    order = score_order(score) if rule == "dstc2" else slice(None)
    return RocStatistics(rule, n_dialogs, score[order], correct[order], dialog[order])


def one_curve_after_the_other(weights: Any, statistics: RocStatistics) -> Floats:
    """(n_metrics, n_resamples) by the definition: every row of weights alone makes a curve."""
    rows = [row @ statistics for row in weights]
    return np.array([[float(metric.values(row)) for row in rows] for metric in ROC_METRICS])
