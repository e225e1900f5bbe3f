"""A negative control: whether the caller reports success, which no tracker here could have changed.

The calls were made with another tracker in the loop, so success is one figure a call, whoever tracks it
afterwards. Between trackers it cannot correlate with anything. Between calls it does, as far as calls that
are hard to track are also hard to bring to an end: that much a metric gets without causing anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from extrinsic.correlation.estimate import Estimate
from extrinsic.study.resampled_points import oriented_metrics

import extrinsic
from experiments.dstc2.candidate_settings import FILLS
from experiments.dstc2.gains import stored_values
from experiments.dstc2.return_correlations import headline_name, is_headline
from experiments.dstc2.scenarios import LOGGED
from experiments.dstc2.tables import Control
from extrinsic.arrays import Floats, Ints
from extrinsic.panel import item_weights
from extrinsic.study.run import Run
from extrinsic.study.score_stage import Measurements
from extrinsic.study.settings import StudySettings
from extrinsic.verdict.coefficients import correlate

OUTCOME = "success"
RESAMPLES = 1_000
RETURN = "observed return"


def control_rows(run: Run, settings: StudySettings, trackers: list[str]) -> Iterator[Control]:
    """Of every headline metric, and of the logged return."""
    assert settings.corpus is not None
    dev = extrinsic.read_corpus(settings.corpus.path, settings.corpus.test, format=settings.corpus.format)
    success = np.array(dev.outcomes[OUTCOME])
    groups = dev.dialogs_by(settings.corpus.datasets_by or "directory")
    condition = np.empty(len(success), dtype=np.int64)
    for number, dialogs in enumerate(groups.values()):
        condition[dialogs] = number
    by_call, by_condition = zip(*(_metric_values(run, tracker, groups) for tracker in trackers), strict=True)
    weights = item_weights("dstc2 success", len(success), RESAMPLES, settings.seed).astype(np.float64)
    # (n_metrics, n_conditions, n_trackers), and success, which is the same for every tracker.
    metrics = np.array(by_condition).transpose(2, 1, 0)
    means = np.array([np.nanmean(success[dialogs]) for dialogs in groups.values()])
    targets = np.broadcast_to(means[:, None], metrics.shape[1:])[None]
    between, pooled = (correlate(metrics, targets, "pearson", scope)[:, 0] for scope in ("within", "pooled"))
    for m, name in enumerate(by_call[0]):
        values = np.array([of_tracker[name] for of_tracker in by_call])
        defined = ~np.isnan(success) & ~np.isnan(values).any(axis=0)
        calls = (values[:, defined], success[defined], condition[defined])
        observed = within_condition(*calls, np.ones((1, defined.sum())))
        r = Estimate(observed[0], within_condition(*calls, weights[:, defined]))
        low, high = map(float, r.interval())
        of_trackers = None if np.isnan(between[m]) else float(between[m])
        yield Control(name, int(defined.sum()), float(r.value), low, high, of_trackers, float(pooled[m]))


def _metric_values(
    run: Run, tracker: str, groups: Mapping[str, Ints]
) -> tuple[dict[str, Floats], list[list[float]]]:
    """By metric the value of every call by itself; and of every condition the metrics in the same order."""
    (scores,) = run.scores(tracker)
    logged = stored_values(run, tracker, FILLS[0])
    n_dialogs = sum(map(len, groups.values()))
    by_call: dict[str, Floats] = {}
    by_condition: list[list[float]] = []
    for dataset, dialogs in groups.items():
        measured = Measurements.of(scores, dataset)
        each = measured.resampled(np.eye(measured.n_dialogs, dtype=np.int64))
        parts: dict[str, tuple[float, Floats]] = {}
        for name, (row, sign) in oriented_metrics(measured).items():
            if is_headline(name) and not name[0].startswith("roc."):  # a call is no curve
                value = measured.rows[row].value
                whole = np.nan if value is None else sign * value
                parts[headline_name(name)] = (whole, sign * each[row])
        for entry in logged:
            worth = entry.value
            if (worth.dataset, worth.target) == (dataset, LOGGED):
                parts[RETURN] = (worth.mean, worth.mean + len(dialogs) * entry.influence)
        by_condition.append([whole for whole, _ in parts.values()])
        for label, (_, calls) in parts.items():
            by_call.setdefault(label, np.full(n_dialogs, np.nan))[dialogs] = calls
    return by_call, by_condition


def within_condition(values: Floats, success: Floats, condition: Ints, weights: Floats) -> Floats:
    """(n_draws,) Pearson's r between calls, within condition, the mean over trackers.

    values (n_trackers, n_calls), weights (n_draws, n_calls): how often a call is drawn.
    """
    indicator = (condition[:, None] == np.unique(condition)).astype(np.float64)
    size = np.maximum(weights @ indicator, 1.0)

    def products(a: Floats, b: Floats) -> Floats:
        """(n_draws, ...) weighted sums of products of what is centred within condition."""
        sums = weights @ (a * b).T
        for group in range(indicator.shape[1]):
            some = weights * indicator[:, group]
            sums = sums - (some @ a.T) * (some @ b.T) / size[:, [group]]
        return np.asarray(sums)

    target = success[None]
    cross, own, other = products(values, target), products(values, values), products(target, target)
    return np.asarray((cross / np.sqrt(own * other)).mean(axis=1))
