"""A panel from the rows of a table that anybody has: systems, items, metrics and outcomes as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.errors import InputError, Problems, shown
from extrinsic.panel import Dataset, MetricKey, Panel, Roles, System, Target
from extrinsic.storage import content_hash

NORMAL = 1.96
"""Standard errors from a value to the ends of its 95 % interval."""

Row = Mapping[str, object]


def panel_of_rows(rows: Sequence[Row], roles: Roles) -> Panel:
    """Scores and values are means over items; of a table without items they are its cells.

    Every system must be about the same items of a dataset, each once. An empty cell is undefined, and so is
    a mean over it.
    """
    cells, families = _cells(rows, roles)
    datasets = {dataset: tuple(cell) for (dataset, _), cell in reversed(cells.items())}
    datasets = {dataset: datasets[dataset] for dataset, _ in cells}
    _require_same_items(cells, datasets, tuple(families))
    columns, n_systems, n_metrics = (*roles.metrics, *roles.outcomes), len(families), len(roles.metrics)
    scores, values, half, parts, influence = [], [], [], [], []
    for dataset, items in datasets.items():
        by_system = [[cells[dataset, system][item] for item in items] for system in families]
        # (n_columns, n_systems, n_items)
        numbers = np.array(
            [[[_number(row[name], name) for row in cell] for cell in by_system] for name in columns],
            dtype=np.float64,
        ).reshape(len(columns), n_systems, len(items))
        means = numbers.mean(axis=2)
        away = (numbers[n_metrics:] - means[n_metrics:, :, None]) / len(items)
        scores.append(means[:n_metrics])
        values.append(means[n_metrics:])
        # Of one item, or a whole system, nothing says how far the value may be off.
        error = np.sqrt((away**2).sum(axis=2))
        half.append(NORMAL * error if len(items) > 1 else np.full_like(error, np.nan))
        kept = len(items) if roles.item else 0
        parts.append((numbers[:n_metrics] / len(items))[..., :kept].astype(np.float32))
        influence.append(away[..., :kept] if roles.item else np.zeros((0, n_systems, 0)))
    mean, reach = (np.stack(part, axis=1) for part in (values, half))
    counts = np.array([len(items) for items in datasets.values()], dtype=np.int64)
    return Panel.of(
        (System(name, family) for name, family in families.items()),
        (
            Dataset(name, items if roles.item else (), identity=content_hash(name, *items))
            for name, items in datasets.items()
        ),
        (MetricKey(name, 1, "all", None, name not in roles.lower_is_better, name) for name in roles.metrics),
        (
            Target(name, None, name, "dialogs" if roles.item else "none", primary=number == 0)
            for number, name in enumerate(roles.outcomes)
        ),
        scores=np.stack(scores, axis=1),
        counts=np.tile(counts[None, :, None], (n_metrics, 1, n_systems)),
        values=mean,
        low=mean - reach,
        high=mean + reach,
        parts=parts,
        influence=influence,
    )


def _cells(
    rows: Sequence[Row], roles: Roles
) -> tuple[dict[tuple[str, str], dict[str, Row]], dict[str, str | None]]:
    """The rows by dataset and system, then item; and the family of each system."""
    named = filter(None, (roles.system, roles.item, roles.dataset, roles.family))
    columns = [*named, *roles.metrics, *roles.outcomes]
    problems = Problems()
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    families: dict[str, str | None] = {}
    for number, row in enumerate(rows, start=1):
        for name in columns:
            if name not in row:
                raise InputError(f"row {number} has no column {name!r}", found=", ".join(row))
        dataset = str(row[roles.dataset]) if roles.dataset else "all"
        system, item = str(row[roles.system]), str(row[roles.item]) if roles.item else ""
        cell = cells.setdefault((dataset, system), {})
        if item in cell:
            problems.add(f"row {number}: {system} is there twice", session=item or None, found=dataset)
        cell[item] = row
        families.setdefault(system, str(row[roles.family]) if roles.family else None)
    problems.raise_errors()
    return cells, families


def _require_same_items(
    cells: Mapping[tuple[str, str], Mapping[str, Row]],
    datasets: Mapping[str, Sequence[str]],
    systems: Sequence[str],
) -> None:
    problems = Problems()
    for dataset, items in datasets.items():
        for system in systems:
            differing = sorted(set(items) ^ set(cells.get((dataset, system), ())))
            if differing:
                problems.add(
                    f"dataset {dataset}: {system} and {next(iter(systems))} are not about the same items",
                    found=", ".join(differing[:3]) or "none",
                )
    problems.raise_errors()


def _number(cell: object, column: str) -> float:
    """NaN for an empty cell."""
    if cell is None or cell == "":
        return float("nan")
    try:
        return float(str(cell))
    except ValueError:
        raise InputError(f"a cell of {column} is no number", found=shown(cell)) from None
