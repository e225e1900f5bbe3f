"""The stored values as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.lee2014.runs import name_of
from extrinsic.arrays import Floats, Ints
from extrinsic.report.results.naming import Name, is_higher_better

Rows = list[dict[str, Any]]
PLACE = ("seed", "dataset", "tracker")


@dataclass(frozen=True, eq=False)
class Points:
    """metrics (n_metrics, n_seeds, n_datasets, n_trackers), higher is better, NaN where there is none.

    returns: by column (`argmax rl live`), (n_seeds, n_datasets, n_trackers).
    core: places of the trackers that are core ones with every seed.
    """

    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    names: tuple[Name, ...]
    metrics: Floats
    returns: dict[str, Floats]
    core: Ints

    def chosen(self, group: str) -> Ints:
        return self.core if group == "core" else np.arange(len(self.trackers))

    def of_dataset(self, dataset: str) -> Points:
        """One dataset by itself."""
        place = self.datasets.index(dataset)
        only = slice(place, place + 1)
        returns = {name: values[:, only] for name, values in self.returns.items()}
        return replace(self, datasets=(dataset,), metrics=self.metrics[:, :, only], returns=returns)

    def metric(self, name: Name) -> Floats:
        return np.asarray(self.metrics[self.names.index(name)])


def read_points(metrics: Rows, returns: Rows, trackers: Rows) -> Points:
    """From rows as `runs.py` keeps them."""
    seeds, datasets, names = (tuple(dict.fromkeys(row[key] for row in metrics)) for key in PLACE)
    columns = [key for key in metrics[0] if key not in PLACE]
    found = tuple(name_of(column) for column in columns)
    signs = np.array([1.0 if is_higher_better(name.metric) else -1.0 for name in found])
    places = (seeds, datasets, names)
    values = _array(metrics, columns, places) / 1000.0 * signs[:, None, None, None]
    policies = [key for key in returns[0] if key not in PLACE]
    earned = _array(returns, policies, places)
    left_out = {row["tracker"] for row in trackers if row["core"] != "True"}
    core = np.array([place for place, name in enumerate(names) if name not in left_out], dtype=np.int64)
    return Points(seeds, datasets, names, found, values, dict(zip(policies, earned, strict=True)), core)


def _array(rows: Rows, columns: Sequence[str], places: Sequence[tuple[Any, ...]]) -> Floats:
    """(n_columns, n_seeds, n_datasets, n_trackers); NaN where there is no row or no value."""
    table = np.full((len(columns), *map(len, places)), np.nan)
    for row in rows:
        seed, dataset, tracker = (of.index(row[key]) for key, of in zip(PLACE, places, strict=True))
        table[:, seed, dataset, tracker] = [
            np.nan if row[column] is None else row[column] for column in columns
        ]
    return table
