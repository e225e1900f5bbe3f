"""Blocks of points: between points of different blocks the kernel is zero.

Under delta kernels, the kernel of two points is nonzero only when all their discrete elements (and the
action) are equal. So a Gram matrix is block-diagonal, with one block for each such signature, and every
computation can be done block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Ints

UNKNOWN = -1

SORTED = 1 << 16
"""Rows of a table that are sorted, or looked for, at once: few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The distinct rows of a table of integers, sorted; a row's number is its position among them."""

    rows: Ints

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
        own_keys, found = _as_keys(self.rows), np.empty(len(table), dtype=np.int64)
        for begin in range(0, len(table), SORTED):
            keys = _as_keys(table[begin : begin + SORTED])
            position = np.minimum(np.searchsorted(own_keys, keys), len(own_keys) - 1)
            found[begin : begin + SORTED] = np.where(own_keys[position] == keys, position, UNKNOWN)
        return found


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
