"""Kernels as basis functions: sparse rows of phi(s, a), one for every point of the dictionary."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from extrinsic.arrays import Floats, Ints, offsets_from_lengths
from extrinsic.policy.blocks import UNKNOWN, Blocks, in_blocks
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import Dictionary, Sparsification, sparsify
from extrinsic.policy.states import States

ROWS = 1 << 16
"""Points at once, so that what they are written to stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Basis:
    """phi_j(x) = k(x, x_j) for the points x_j of a dictionary, block by block.

    A point has the kernels of its own block only; one of an unknown block has none.
    """

    kernel: Gaussian
    signatures: Blocks
    centers: Floats
    offsets: Ints
    dictionary: Dictionary

    @staticmethod
    def fit(
        continuous: Floats,
        table: Ints,
        kernel: Gaussian,
        nu: float,
        largest: int | None = None,
        sparsification: Sparsification = "growing",
    ) -> Basis:
        """Fit to points (n, d) with the discrete elements (n, e) that define their blocks."""
        signatures, block = Blocks.of(table)
        dictionary = sparsify(continuous, block, len(signatures), kernel, nu, largest, sparsification)
        return Basis(kernel, signatures, continuous[dictionary.rows], dictionary.offsets, dictionary)

    def for_keeping(self) -> Basis:
        """Without the residuals of the training points."""
        return replace(self, dictionary=replace(self.dictionary, residual=self.dictionary.residual[:0]))

    def __len__(self) -> int:
        return len(self.centers)

    def block_of(self, table: Ints) -> Ints:
        """(n,) UNKNOWN for a signature never seen."""
        return self.signatures.find(table)

    def rows(self, continuous: Floats, block: Ints, point: Ints | None = None) -> sparse.csr_array:
        """(n, m) phi of points in given blocks; point (n,): which of `continuous` each is."""
        sizes = np.diff(self.offsets)
        offsets = offsets_from_lengths(np.where(block == UNKNOWN, 0, sizes[np.maximum(block, 0)]))
        # Indices of both kinds are of one type, or scipy copies the larger.
        kind = np.int32 if offsets[-1] <= np.iinfo(np.int32).max else np.int64
        data, columns = np.empty(offsets[-1]), np.empty(offsets[-1], dtype=kind)
        for first in range(0, len(block), ROWS):
            part = slice(first, first + ROWS)
            order, bounds = in_blocks(block[part], len(sizes))
            for number in np.flatnonzero(np.diff(bounds)):
                members = order[bounds[number] : bounds[number + 1]] + first
                begin, end = self.offsets[number], self.offsets[number + 1]
                places = offsets[members][:, None] + np.arange(end - begin)
                points = continuous[members if point is None else point[members]]
                data[places] = self.kernel.between(points, self.centers[begin:end])
                columns[places] = np.arange(begin, end)
        return sparse.csr_array((data, columns, offsets.astype(kind)), shape=(len(block), len(self)))


def with_action(states: States, action: Ints) -> Ints:
    """(n, e + 1) the discrete elements of states, followed by the action."""
    return np.concatenate([states.discrete, action[:, None]], axis=1)
