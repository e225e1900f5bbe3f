"""Scores of items as ROC statistics, and their resampled values by the definition: a curve each."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.conventions import DSTC1, RocPoints
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.roc import Roc
from extrinsic.metrics.roc_curves import CURVES, RocStatistics, first_on_curve, score_order

ROC_METRICS = [parse_metric(name) for name in DSTC1.metrics if name.startswith("roc.")]
POINTS: tuple[RocPoints, ...] = ("even_thresholds", "distinct_scores")


def statistics_of(points: RocPoints, n_dialogs: int, score: Any, correct: Any, dialog: Any) -> RocStatistics:
    score, correct, dialog = np.array(score, float), np.array(correct, bool), np.array(dialog, int)
    order = score_order(score) if points == "distinct_scores" else slice(None)
    return RocStatistics(points, n_dialogs, score[order], correct[order], dialog[order])


def one_curve_after_the_other(weights: Any, statistics: RocStatistics) -> Floats:
    """(n_metrics, n_resamples) by the definition: the curve of the items that each row draws, with copies."""
    values = np.empty((len(ROC_METRICS), len(weights)))
    for sample, row in enumerate(weights):
        copies = np.repeat(np.arange(len(statistics.score)), row[statistics.dialog].astype(int))
        curve = CURVES[statistics.points](statistics.score[copies], statistics.correct[copies])
        for number, metric in enumerate(ROC_METRICS):
            assert isinstance(metric, Roc)
            with np.errstate(divide="ignore", invalid="ignore"):
                values[number, sample] = metric.read(first_on_curve(curve, metric.condition))
    return values
