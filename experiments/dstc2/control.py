"""A negative control: the caller's own word on success, which no tracker here could have changed.

The calls were made with another tracker in the loop, so success is one figure a call, whoever tracks it
afterwards. Between trackers it cannot correlate with anything. Between calls it does, as far as calls that
are hard to track are also hard to bring to an end: that much a metric gets without causing anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import extrinsic
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.relations import bare, is_headline
from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import correlate, is_flat
from extrinsic.correlation.intervals import interval
from extrinsic.metrics.dialog_resampling import resample_dialogs
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.correlating.panel import oriented_metrics
from extrinsic.study.finished_run import Run
from extrinsic.study.stages.stored_scores import Measurements

OUTCOME = "success"
RESAMPLES = 1_000
RETURN = "observed return"


def control_rows(run: Run, trackers: list[str]) -> list[dict[str, Any]]:
    """Of every headline metric: r with success between calls, within condition and tracker; and pooled.

    between_calls: mean over trackers, with an interval over resampled calls.   between_trackers: None,
    success being the same for all.   pooled: over trackers and conditions; only conditions can differ.
    """
    settings = read_study(run.folder / "config.toml")
    assert settings.corpus is not None
    dev = extrinsic.read_corpus(settings.corpus.path, settings.corpus.test, format=settings.corpus.format)
    success = np.array(dev.outcomes[OUTCOME])
    groups = dev.dialogs_by(settings.corpus.datasets_by or "directory")
    cells = {tracker: _by_call(run, tracker, groups) for tracker in trackers}
    names = list(next(iter(cells.values()))[0])
    values = np.array([[cells[tracker][0][name] for tracker in trackers] for name in names])
    condition = np.empty(len(success), dtype=np.int64)
    for number, dialogs in enumerate(groups.values()):
        condition[dialogs] = number
    known = ~np.isnan(success)
    weights = resample_dialogs("dstc2 success", len(success), RESAMPLES, settings.seed).astype(np.float64)
    whole = np.array([cells[tracker][1] for tracker in trackers])
    of_condition = np.array([np.nanmean(success[dialogs]) for dialogs in groups.values()])
    rows = []
    for m, name in enumerate(names):
        there = known & ~np.isnan(values[m]).any(axis=0)
        r = _within(values[m][:, there], success[there], condition[there], np.ones((1, int(there.sum()))))
        drawn = _within(values[m][:, there], success[there], condition[there], weights[:, there])
        low, high = interval(r[0], drawn)
        rows.append(
            {
                "metric": name,
                "calls": int(there.sum()),
                "between_calls": float(r[0]),
                "low": float(low),
                "high": float(high),
                **_between(whole, m, of_condition),
            }
        )
    return rows


def _by_call(run: Run, tracker: str, groups: Any) -> tuple[dict[str, Floats], Floats]:
    """By metric the value of every call by itself; and (n_conditions, n_metrics) of every condition."""
    ((_, measured),) = run.stored("measure", tracker)
    learned = dict(run.stored("learn", tracker))[f"fill={FILLS[0]}"]
    n_dialogs = sum(map(len, groups.values()))
    by_call: dict[str, Floats] = {}
    whole: list[list[float]] = []
    for dataset, dialogs in groups.items():
        cell = Measurements.of(measured, dataset)
        each = cell.resampled(np.eye(cell.n_dialogs, dtype=np.int64))
        row = []
        for name, (place, sign) in oriented_metrics(cell).items():
            if is_headline(name) and not name[0].startswith("roc."):  # a call is no curve
                into = by_call.setdefault(f"{bare(name[0])}@{name[1]}", np.full(n_dialogs, np.nan))
                into[dialogs] = sign * each[place]
                found = cell.rows[place].value
                row.append(np.nan if found is None else sign * found)
        observed = next(
            number
            for number, found in enumerate(learned.values["rows"])
            if (found["dataset"], found["estimator"]) == (dataset, "observed")
        )
        mean, influence = learned.values["rows"][observed]["value"], learned.arrays[f"influence{observed}"]
        by_call.setdefault(RETURN, np.full(n_dialogs, np.nan))[dialogs] = mean + len(dialogs) * influence
        whole.append([*row, mean])
    return by_call, np.array(whole)


def _within(values: Floats, success: Floats, condition: Any, weights: Floats) -> Floats:
    """(n_draws,) Pearson's r between calls, within condition, the mean over trackers.

    values (n_trackers, n_calls), weights (n_draws, n_calls): how often a call is drawn.
    """
    indicator = (condition[:, None] == np.unique(condition)).astype(np.float64)
    size = np.maximum(weights @ indicator, 1.0)

    def products(a: Floats, b: Floats) -> Floats:
        """(n_draws, ...) weighted sums of products of what is centred within condition."""
        together = weights @ (a * b).T
        for group in range(indicator.shape[1]):
            some = weights * indicator[:, group]
            together = together - (some @ a.T) * (some @ b.T) / size[:, [group]]
        return np.asarray(together)

    target = success[None]
    cross, own, other = products(values, target), products(values, values), products(target, target)
    return np.asarray((cross / np.sqrt(own * other)).mean(axis=1))


def _between(whole: Floats, metric: int, success: Floats) -> dict[str, Any]:
    """whole (n_trackers, n_conditions, n_metrics); success (n_conditions,), the same for every tracker."""
    metrics = whole[:, :, metric].T[None]
    targets = np.broadcast_to(success[:, None], metrics.shape[1:])[None]
    flat = bool(is_flat(targets, "within")[0])
    pooled = float(correlate(metrics, targets, "pearson", "pooled")[0, 0])
    return {"between_trackers": None if flat else "not flat", "pooled": pooled}
