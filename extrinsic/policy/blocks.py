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


@dataclass(frozen=True, eq=False)
class Blocks:
    """The distinct rows of a table of integers, sorted; a row's number is its position among them."""

    rows: Ints

    @staticmethod
    def of(table: Ints) -> tuple[Blocks, Ints]:
        """The signatures of a table (n, e), and (n,) which one each row has."""
        if table.shape[1] == 0:
            return Blocks(table[:1]), np.zeros(len(table), dtype=np.int64)
        _, first, number = np.unique(_as_keys(table), return_index=True, return_inverse=True)
        return Blocks(table[first]), number.ravel()

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, table: Ints) -> Ints:
        """(n,) the number of each row's signature, UNKNOWN for one never seen."""
        if table.shape[1] == 0:
            return np.zeros(len(table), dtype=np.int64)
        own_keys, keys = _as_keys(self.rows), _as_keys(table)
        position = np.minimum(np.searchsorted(own_keys, keys), len(own_keys) - 1)
        return np.where(own_keys[position] == keys, position, UNKNOWN)


def _as_keys(table: Ints) -> npt.NDArray[np.void]:
    """One comparable item per row; big-endian and without a sign bit, so that bytes sort as numbers do."""
    shifted = (table.astype(np.int64) ^ np.int64(-(2**63))).view(np.uint64).astype(">u8")
    shifted = np.ascontiguousarray(shifted)
    return shifted.view(np.dtype((np.void, shifted.shape[1] * 8))).ravel()
