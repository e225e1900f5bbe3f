"""The values that are kept of the runs, as arrays by seed, dataset and tracker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.lee2014.tables import METRICS, RETURNS, MetricValues, ReturnValues, TrackerKind
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Scope
from extrinsic.study.naming import Name, is_higher_better
from extrinsic.study.tables.table_files import read_rows


@dataclass(frozen=True)
class Condition:
    """The fill rule of the reward, who says what a policy is worth, and how points are compared."""

    fill: str
    target: str
    scope: Scope = "within"


@dataclass(frozen=True, eq=False)
class Points:
    """metrics (n_metrics, n_seeds, n_datasets, n_trackers): in the order of METRICS, higher is better.

    returns: by fill rule, policy and estimator, (n_seeds, n_datasets, n_trackers). What is undefined is NaN.
    core: indices of the trackers that are core ones with every seed.
    """

    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    metrics: Floats
    returns: dict[tuple[str, str, str], Floats]
    core: Ints

    def group(self, name: str) -> Ints:
        """Indices of all or of the core trackers."""
        return self.core if name == "core" else np.arange(len(self.trackers))

    def identity(self, trackers: Ints) -> str:
        """What draws of these trackers depend on."""
        return " ".join(self.trackers[i] for i in trackers)

    def metric(self, name: Name) -> Floats:
        return np.asarray(self.metrics[METRICS.index(name)])

    def earned(self, condition: Condition, policy: str) -> Floats:
        """(n_seeds, n_datasets, n_trackers); the logged policy's return is observed, whatever the target."""
        return self.returns[condition.fill, policy, "observed" if policy == "behaviour" else condition.target]

    def gain(self, condition: Condition, more: str, less: str) -> Floats:
        """(n_seeds, n_datasets, n_trackers) by how much a policy earns more than another."""
        return self.earned(condition, more) - self.earned(condition, less)

    def on_dataset(self, dataset: str) -> Points:
        """One dataset by itself."""
        number = self.datasets.index(dataset)
        only = slice(number, number + 1)
        returns = {key: values[:, only] for key, values in self.returns.items()}
        return replace(self, datasets=(dataset,), metrics=self.metrics[:, :, only], returns=returns)


def read_points(folder: Path) -> Points:
    """From metrics.csv, returns.csv and trackers.csv."""
    metrics = _cells(read_rows(folder / "metrics.csv", MetricValues))
    returns = _cells(read_rows(folder / "returns.csv", ReturnValues))
    seeds, datasets, trackers = axes = tuple(tuple(dict.fromkeys(key)) for key in zip(*metrics, strict=True))
    signs = [1.0 if is_higher_better(name.metric) else -1.0 for name in METRICS]
    values = _array(metrics, axes) / 1000.0 * np.array(signs)[:, None, None, None]
    kinds = read_rows(folder / "trackers.csv", TrackerKind)
    left_out = {row.tracker for row in kinds if not row.core}
    core = np.array([number for number, name in enumerate(trackers) if name not in left_out], dtype=np.int64)
    earned = dict(zip(RETURNS, _array(returns, axes), strict=True))
    return Points(seeds, datasets, trackers, values, earned, core)


def _cells(rows: Sequence[msgspec.Struct]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The values of every row by its seed, dataset and tracker."""
    return {cells[:3]: cells[3:] for cells in map(msgspec.structs.astuple, rows)}


def _array(cells: dict[tuple[Any, ...], tuple[Any, ...]], axes: tuple[tuple[Any, ...], ...]) -> Floats:
    """(n_columns, n_seeds, n_datasets, n_trackers); NaN where there is no row or no value."""
    array = np.full((len(next(iter(cells.values()))), *map(len, axes)), np.nan)
    for key, values in cells.items():
        seed, dataset, tracker = (axis.index(part) for axis, part in zip(axes, key, strict=True))
        array[:, seed, dataset, tracker] = np.array(values, dtype=np.float64)
    return array
