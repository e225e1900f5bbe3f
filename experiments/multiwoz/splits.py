"""Correlations over systems by dialogs, split by what is compared, on many resamples of both at once.

- `pooled`: all (system, dialog) points.      - `between`: the systems' means.
- `within`: every system's mean taken away.   - `dialog`: every dialog's mean taken away.
- `both`: the effects of systems and of dialogs taken away (least squares, exact also where cells lack).

A resample gives weights to systems and dialogs, and a cell weighs their product; a cell that is not there
weighs nothing. All of it follows from weighted sums of products, so that nothing is looped over but blocks of
resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.multiwoz.grid import Grid
from extrinsic.arrays import Floats

SPLITS = ("pooled", "between", "within", "dialog", "both")
BLOCK = 100
"""Resamples at once."""

SMALL = 1e-9
"""Eigenvalues below this share of the largest are 0: what the effects of systems and dialogs share."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What resamples are weighted sums of.

    values (n_systems, n_dialogs, k): centred, 0 where not there.   present (n_systems, n_dialogs).
    products (n_dialogs, n_systems * k * k).
    """

    values: Floats
    present: Floats
    products: Floats

    @staticmethod
    def of(grid: Grid, names: Sequence[str]) -> Sums:
        chosen = grid.values[[grid.at(name) for name in names]]
        means = np.nanmean(chosen, axis=(1, 2), keepdims=True)
        values = np.moveaxis(np.where(grid.present, chosen - means, 0.0), 0, -1)
        products = values[..., :, None] * values[..., None, :]
        n_dialogs = len(grid.dialogs)
        return Sums(values, grid.present.astype(float), np.moveaxis(products, 1, 0).reshape(n_dialogs, -1))


def scatter(sums: Sums, systems: Floats, dialogs: Floats) -> dict[str, Floats]:
    """By split, (n_resamples, k, k) sums of squares and products around what is taken away.

    systems (n_resamples, n_systems), dialogs (n_resamples, n_dialogs): how often each is drawn.
    """
    parts = [_scatter(sums, systems[rows], dialogs[rows]) for rows in _blocks(len(systems))]
    return {split: np.concatenate([part[split] for part in parts]) for split in SPLITS}


def _blocks(total: int) -> Iterator[slice]:
    for begin in range(0, total, BLOCK):
        yield slice(begin, begin + BLOCK)


def _scatter(sums: Sums, systems: Floats, dialogs: Floats) -> dict[str, Floats]:
    n_systems, n_dialogs, k = sums.values.shape
    systems, dialogs = systems.astype(float), dialogs.astype(float)
    by_dialog = np.moveaxis(sums.values, 1, 0).reshape(n_dialogs, -1)
    count = dialogs @ sums.present.T
    linear = (dialogs @ by_dialog).reshape(-1, n_systems, k)
    raw = np.einsum("bs,bskl->bkl", systems, (dialogs @ sums.products).reshape(-1, n_systems, k, k))
    means = linear / count[..., None]
    weighted = systems[..., None] * linear
    total = weighted.sum(axis=1)
    away = means - (systems[..., None] * means).sum(axis=1, keepdims=True) / n_systems
    within = raw - _outer(weighted, means)
    # Of each dialog the sum over the systems drawn, and their number.
    drawn = (systems @ sums.values.reshape(n_systems, -1)).reshape(-1, n_dialogs, k)
    number = systems @ sums.present
    share = np.divide(dialogs, number, out=np.zeros_like(dialogs), where=number > 0.0)
    shared = share[..., None] * drawn
    dialog = raw - _outer(shared, drawn)
    return {
        "pooled": raw - total[:, :, None] * total[:, None, :] / (systems * count).sum(axis=1)[:, None, None],
        "between": _outer(systems[..., None] * away, away),
        "within": within,
        "dialog": dialog,
        "both": dialog - _of_systems(sums.present, systems, count, linear, share, shared),
    }


def _of_systems(
    present: Floats, systems: Floats, count: Floats, linear: Floats, share: Floats, shared: Floats
) -> Floats:
    """What the effects of systems explain once those of dialogs are out: b' A^+ b, by Frisch and Waugh."""
    n_systems = present.shape[0]
    together = (present[:, None] * present[None]).reshape(n_systems * n_systems, -1)
    matrix = (
        -systems[:, :, None] * systems[:, None, :] * (share @ together.T).reshape(-1, n_systems, n_systems)
    )
    diagonal = np.arange(n_systems)
    matrix[:, diagonal, diagonal] += systems * count
    along = systems[..., None] * (linear - present @ shared)
    inverse = np.linalg.pinv(matrix, rcond=SMALL, hermitian=True)
    return np.asarray(np.swapaxes(along, 1, 2) @ inverse @ along)


def _outer(first: Floats, second: Floats) -> Floats:
    """(n, k, k) sums over the middle axis of (n, m, k) and (n, m, k)."""
    return np.asarray(np.swapaxes(first, 1, 2) @ second)


def partial(scatters: Floats, given: Sequence[int]) -> Floats:
    """(n, k, k) what is left of the sums of products when some of the k are held fixed."""
    held = list(given)
    beside = scatters[:, :, held]
    fixed = np.linalg.solve(scatters[:, held][:, :, held], np.swapaxes(beside, 1, 2))
    return np.asarray(scatters - beside @ fixed)


def correlations(scatters: Floats, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """(n, len(rows), len(columns)) Pearson's r; NaN where something does not vary."""
    squares = np.diagonal(scatters, axis1=1, axis2=2)
    norms = np.sqrt(np.maximum(squares[:, rows][:, :, None] * squares[:, columns][:, None, :], 0.0))
    products = scatters[:, rows][:, :, columns]
    return np.divide(products, norms, out=np.full_like(products, np.nan), where=norms > 0.0)
