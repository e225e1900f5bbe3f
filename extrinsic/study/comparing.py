"""Two trackers of a run: every metric and return, their paired differences, with intervals and p-values.

Both saw the same dialogs, so dialogs are resampled together. For p-values the two are exchanged dialog by
dialog at random (approximate randomisation): p = (count + 1) / (n + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.resampling import rng_of
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.dialog_resampling import resample_dialogs
from extrinsic.metrics.parsing import parse_metric
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.planning import make_plan
from extrinsic.study.stages.store import Result, plain
from extrinsic.study.stages.stored_scores import Measurements

RESAMPLES = 1_000
PERMUTATIONS = 1_999
SAME = 1e-12
MEAN = "(mean of all)"
"""Instead of a dataset's name: the mean over datasets."""

HEADS = (
    "dataset",
    "kind",
    "name",
    "schedule",
    "component",
    "variant",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "better",
)

Rows = list[dict[str, Any]]


def compare_trackers(run: Run, first: str, second: str, seed: int = 0) -> Rows:
    """Rows of every return and metric: by dataset, and the mean over datasets."""
    known = [row["tracker"] for row in run.table("trackers")]
    for name in (first, second):
        if name not in known:
            raise UsageError(f"the run has no tracker {name!r}; {did_you_mean(name, known)}")
    if first == second:
        raise UsageError("a tracker cannot be compared with itself", found=first)
    return (
        _outcomes(run, first, second, seed)
        + _returns(run, first, second, seed)
        + _metrics(run, first, second, seed)
    )


def _outcomes(run: Run, first: str, second: str, seed: int) -> Rows:
    """Targets that came from a file; it is read again."""
    settings = read_study(run.folder / "config.toml")
    if settings.outcomes is None:
        return []
    outcomes = make_plan(settings).outcomes or {}
    rows: Rows = []
    for name in settings.outcomes.names:
        pairs = {}
        for dataset in dict.fromkeys(dataset for dataset, _ in outcomes):
            a, b = (outcomes[dataset, tracker][f"outcome.{name}"] for tracker in (first, second))
            pairs[dataset] = _paired(a.mean, b.mean, a.influence - b.influence, f"compare {dataset}", seed)
        rows += _rows({"kind": "return", "name": f"outcome.{name}", "higher_is_better": True}, pairs)
    return rows


def _paired(a: float, b: float, apart: Floats, whose: str, seed: int) -> tuple[Floats, Floats, Floats]:
    """Two values, resampled differences, exchanged ones; apart: the difference of their influences."""
    n = len(apart)
    weights = resample_dialogs(whose, n, RESAMPLES, seed)
    signs = 2.0 * rng_of("exchange", whose, seed).integers(0, 2, (PERMUTATIONS, n)) - 1.0
    each = (a - b) / n + apart
    return np.array([a, b]), a - b + (weights - 1.0) @ apart, signs @ each


def _metrics(run: Run, first: str, second: str, seed: int) -> Rows:
    cells = {name: _measurements(run, name) for name in (first, second)}
    drawn: dict[str, tuple[Floats, Floats, Floats]] = {}
    for dataset, a in cells[first].items():
        drawn[dataset] = _differences(a, cells[second][dataset], dataset, seed)
    rows: Rows = []
    names = next(iter(cells[first].values())).rows
    for number, measured in enumerate(names):
        metric = parse_metric(measured.metric)
        label = {
            "kind": "metric",
            "name": measured.metric,
            "schedule": measured.schedule,
            "component": measured.component,
            "higher_is_better": metric.higher_is_better,
        }
        parts = {d: (o[:, number], r[:, number], s[:, number]) for d, (o, r, s) in drawn.items()}
        rows += _rows(label, parts)
    return rows


def _measurements(run: Run, tracker: str) -> dict[str, Measurements]:
    cells = {}
    for _, result in run.stored("measure", tracker):
        for dataset in result.values:
            cells[dataset] = Measurements.of(result, dataset)
    return cells


def _differences(a: Measurements, b: Measurements, dataset: str, seed: int) -> tuple[Floats, Floats, Floats]:
    """Values of both (2, n_metrics), resampled differences (n, n_metrics), exchanged ones (k, n_metrics)."""
    n = a.n_dialogs
    values = np.array([[row.value for row in of.rows] for of in (a, b)], dtype=np.float64)
    weights = resample_dialogs(f"compare {dataset}", n, RESAMPLES, seed)
    resampled = (a.resampled(weights) - b.resampled(weights)).T
    coins = rng_of("exchange", dataset, seed).integers(0, 2, (PERMUTATIONS, n))
    both = a.joined(b)
    mine = both.resampled(np.concatenate([coins, 1 - coins], axis=1))
    theirs = both.resampled(np.concatenate([1 - coins, coins], axis=1))
    return values, resampled, (mine - theirs).T


def _returns(run: Run, first: str, second: str, seed: int) -> Rows:
    of = [_values(run.stored("learn", name)) for name in (first, second)]
    rows: Rows = []
    for variant, name in of[0]:
        parts = {}
        for dataset, (mean_a, influence_a) in of[0][variant, name].items():
            mean_b, influence_b = of[1][variant, name][dataset]
            whose = f"live {dataset}" if name.endswith(".live") else f"compare {dataset}"
            parts[dataset] = _paired(mean_a, mean_b, influence_a - influence_b, whose, seed)
        rows += _rows({"kind": "return", "name": name, "variant": variant, "higher_is_better": True}, parts)
    return rows


Values = dict[tuple[str | None, str], dict[str, tuple[float, Floats]]]


def _values(stored: Sequence[tuple[str | None, Result]]) -> Values:
    """By (variant, policy.estimator) and dataset, the value and its influence."""
    values: Values = {}
    for variant, result in stored:
        for number, row in enumerate(result.values["rows"]):
            key = (variant, f"{row['policy']}.{row['estimator']}")
            values.setdefault(key, {})[row["dataset"]] = (row["value"], result.arrays[f"influence{number}"])
    return values


def _rows(label: dict[str, Any], parts: dict[str, tuple[Floats, Floats, Floats]]) -> Rows:
    """A row for each dataset and one for their mean; parts: both values, resampled, exchanged."""
    higher = label.pop("higher_is_better")
    if len(parts) > 1:
        stacked = [np.mean([part[i] for part in parts.values()], axis=0) for i in range(3)]
        parts = {MEAN: (stacked[0], stacked[1], stacked[2]), **parts}
    rows: Rows = []
    for dataset, (values, resampled, exchanged) in parts.items():
        difference = float(values[0] - values[1])
        low, high = interval(np.array(difference), resampled)
        rows.append(
            {
                "dataset": dataset,
                **label,
                "a": plain(values[0]),
                "b": plain(values[1]),
                "difference": plain(difference),
                "low": plain(low),
                "high": plain(high),
                "p": _p(difference, exchanged),
                "better": _better(difference, higher),
            }
        )
    return rows


def _p(difference: float, exchanged: Floats) -> float | None:
    if not np.isfinite(difference):
        return None
    count = (np.abs(exchanged) >= abs(difference) - SAME).sum()
    return float((count + 1.0) / (len(exchanged) + 1.0))


def _better(difference: float, higher: bool | None) -> str | None:
    if higher is None or not np.isfinite(difference) or abs(difference) <= SAME:
        return None
    return "a" if (difference > 0) == higher else "b"


def differing_dialogs(right: tuple[Ints, Ints], offsets: Ints, most: int) -> list[tuple[int, int]]:
    """Dialogs in which one tracker is right more often: (dialog, by how many), the farthest apart first.

    right (n_turns,): how many slots each of the two has right at every turn.
    """
    apart = np.add.reduceat(right[0] - right[1], offsets[:-1])
    order = np.argsort(-np.abs(apart), kind="stable")[:most]
    return [(int(dialog), int(apart[dialog])) for dialog in order if apart[dialog]]
