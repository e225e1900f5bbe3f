"""Correlations over systems and dialogs, split by what is compared, with a two-way bootstrap.

- `pooled`: all (system, dialog) points.      - `between`: the systems' means.
- `within`: every system's mean subtracted.   - `dialog`: every dialog's mean subtracted.
- `both`: the effects of systems and of dialogs subtracted (least squares, exact also with missing cells).

A resample draws systems and dialogs independently (the pigeonhole bootstrap, Owen 2007): it gives weights to
both, and a cell has their product as its weight; a missing cell has weight 0. Everything follows from
weighted sums of products, so the only loop is over blocks of resamples.

>>> from extrinsic.correlation.partial import scatter_correlations
>>> values = np.random.default_rng(0).normal(size=(2, 3, 50))
>>> values[1] += values[0]
>>> sums = TwoWaySums.of(values, np.ones((3, 50), dtype=bool))
>>> observed = two_way_scatter(sums, TwoWayWeights.observed(3, 50))["within"]
>>> drawn = draw_two_way("abc", [str(i) for i in range(50)], 100, seed=0)
>>> resampled = two_way_scatter(sums, drawn)["within"]
>>> scatter_correlations(observed, [0], [1]).shape, scatter_correlations(resampled, [0], [1]).shape
((1, 1, 1), (100, 1, 1))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.panel import item_weights

Split = Literal["pooled", "between", "within", "dialog", "both"]
SPLITS: tuple[Split, ...] = ("pooled", "between", "within", "dialog", "both")

BLOCK = 100
"""Resamples at once."""

SMALL = 1e-9
"""Eigenvalues below this share of the largest count as 0: effects that systems and dialogs share."""


@dataclass(frozen=True, eq=False)
class TwoWayWeights:
    """systems (n, n_systems), dialogs (n, n_dialogs): how often each is drawn, in n resamples."""

    systems: Floats
    dialogs: Floats

    @staticmethod
    def observed(n_systems: int, n_dialogs: int) -> TwoWayWeights:
        """Everything once: n is 1."""
        return TwoWayWeights(np.ones((1, n_systems)), np.ones((1, n_dialogs)))

    def dialogs_alone(self) -> TwoWayWeights:
        """The same draws of dialogs, with every system once: for these systems, not for a population."""
        return TwoWayWeights(np.ones_like(self.systems), self.dialogs)


def draw_two_way(
    systems: Sequence[str], dialogs: Sequence[str], n_resamples: int, seed: int
) -> TwoWayWeights:
    """Both drawn with replacement, never fewer than two systems.

    The draws depend on the names of what is drawn and on the seed alone.
    """
    drawn = draw_trackers(" ".join(systems), len(systems), n_resamples, seed)
    counts = (drawn[:, :, None] == np.arange(len(systems))).sum(axis=1)
    dialog_counts = item_weights(" ".join(dialogs), len(dialogs), n_resamples, seed)
    return TwoWayWeights(counts.astype(float), dialog_counts.astype(float))


@dataclass(frozen=True, eq=False)
class TwoWaySums:
    """Sums of products over dialogs, of which resamples are weighted sums.

    values (n_systems, n_dialogs, k): centred, 0 where missing.   present (n_systems, n_dialogs).
    products (n_dialogs, n_systems * k * k).
    """

    values: Floats
    present: Floats
    products: Floats

    @staticmethod
    def of(values: Floats, present: Bools) -> TwoWaySums:
        """values (k, n_systems, n_dialogs), NaN where not present (n_systems, n_dialogs)."""
        means = np.nanmean(values, axis=(1, 2), keepdims=True)
        centred = np.moveaxis(np.where(present, values - means, 0.0), 0, -1)
        products = centred[..., :, None] * centred[..., None, :]
        by_dialog = np.moveaxis(products, 1, 0).reshape(present.shape[1], -1)
        return TwoWaySums(centred, present.astype(float), by_dialog)


def two_way_scatter(sums: TwoWaySums, weights: TwoWayWeights) -> dict[Split, Floats]:
    """By split, (n, k, k) sums of squares and products after centring.

    For correlations: `scatter_correlations`; for partial ones, `partial_scatter` first.
    """
    parts = [
        _scatter(sums, weights.systems[rows], weights.dialogs[rows]) for rows in _blocks(len(weights.systems))
    ]
    return {split: np.concatenate([part[split] for part in parts]) for split in SPLITS}


def _blocks(total: int) -> Iterator[slice]:
    for begin in range(0, total, BLOCK):
        yield slice(begin, begin + BLOCK)


def _scatter(sums: TwoWaySums, systems: Floats, dialogs: Floats) -> dict[Split, Floats]:
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
    # For each dialog the sum over the drawn systems, and their number.
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
        "both": dialog - _explained_by_systems(sums.present, systems, count, linear, share, shared),
    }


def _explained_by_systems(
    present: Floats, systems: Floats, count: Floats, linear: Floats, share: Floats, shared: Floats
) -> Floats:
    """What systems explain after the effects of dialogs are removed: b' A^+ b, by Frisch and Waugh."""
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
