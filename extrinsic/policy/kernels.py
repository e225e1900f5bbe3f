"""Lee's kernel between states: a Gaussian on what is continuous, a delta on everything discrete.

Under delta kernels, the kernel of two points is nonzero only when all their discrete elements (and the
action) are equal. So a Gram matrix is block-diagonal, with one block for each such signature, and every
computation can be done block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy.features import States
from extrinsic.records import require_shapes


@dataclass(frozen=True)
class Gaussian:
    """p^2 exp(-|x - y|^2 / (2 sigma^2)); height p, width sigma."""

    height: float = 4.0
    width: float = 1.0

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise UsageError(f"the {name} of a Gaussian kernel must be positive", found=str(value))

    def between(self, first: Floats, second: Floats) -> Floats:
        """(n_first, n_second) of points (n_first, d) and (n_second, d)."""
        squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * (first @ second.T)
        # Rounding may leave the distance of a point to itself just below 0.
        return np.asarray(self.height**2 * np.exp(np.maximum(squares, 0.0) / (-2.0 * self.width**2)))


def state_gram(kernel: Gaussian, first: States, second: States) -> Floats:
    """(n_first, n_second) the Gaussian where all discrete elements are the same, else 0.

    Dense; to compute only the nonzero part, go block by block.
    """
    same = (first.discrete[:, None, :] == second.discrete[None, :, :]).all(axis=2)
    return np.asarray(kernel.between(first.continuous, second.continuous) * same)


UNKNOWN = -1

SORTED = 1 << 16
"""Rows of a table that are sorted, or looked for, at once: few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The distinct rows of a table of integers, sorted; a row's number is its position among them."""

    rows: Ints

    def __post_init__(self) -> None:
        require_shapes(self, rows="signatures elements")

    @staticmethod
    def of(table: Ints) -> tuple[Blocks, Ints]:
        """The signatures of a table (n, e), and (n,) which one each row has."""
        if table.shape[1] == 0:
            return Blocks(table[:1]), np.zeros(len(table), dtype=np.int64)
        begins = range(0, max(1, len(table)), SORTED)
        parts = [_distinct(table[begin : begin + SORTED]) for begin in begins]
        rows, place = _distinct(np.concatenate([distinct for distinct, _ in parts]))
        places = np.split(place, np.cumsum([len(distinct) for distinct, _ in parts])[:-1])
        numbers = [of_part[number] for of_part, (_, number) in zip(places, parts, strict=True)]
        return Blocks(rows), np.concatenate(numbers)

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, table: Ints) -> Ints:
        """(n,) the number of each row's signature, UNKNOWN for one never seen."""
        if table.shape[1] == 0:
            return np.zeros(len(table), dtype=np.int64)
        own_keys, numbers = _as_keys(self.rows), np.empty(len(table), dtype=np.int64)
        for begin in range(0, len(table), SORTED):
            keys = _as_keys(table[begin : begin + SORTED])
            position = np.minimum(np.searchsorted(own_keys, keys), len(own_keys) - 1)
            numbers[begin : begin + SORTED] = np.where(own_keys[position] == keys, position, UNKNOWN)
        return numbers


def _distinct(table: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of a table, sorted, and (n,) which one each row is."""
    _, first, number = np.unique(_as_keys(table), return_index=True, return_inverse=True)
    return table[first], number.ravel()


def in_blocks(block: Ints, n_blocks: int) -> tuple[Ints, Ints]:
    """(n,) points in the order of their blocks (n,), and (n_blocks + 1,) where each block begins."""
    # Numbers of 16 bits are sorted in linear time.
    small = block.astype(np.int16) if n_blocks <= np.iinfo(np.int16).max else block
    order = np.argsort(small, kind="stable")
    return order, np.searchsorted(block[order], np.arange(n_blocks + 1))


def _as_keys(table: Ints) -> npt.NDArray[np.void]:
    """One comparable item per row; big-endian and without a sign bit, so that bytes sort as numbers do."""
    shifted = (table.astype(np.int64) ^ np.int64(-(2**63))).view(np.uint64).astype(">u8")
    shifted = np.ascontiguousarray(shifted)
    return shifted.view(np.dtype((np.void, shifted.shape[1] * 8))).ravel()
