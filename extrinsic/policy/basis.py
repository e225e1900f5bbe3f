"""Kernels as basis functions: sparse rows of phi(s, a), one for every point of the dictionary."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from extrinsic.arrays import Floats, Ints, offsets_from_lengths
from extrinsic.policy.blocks import UNKNOWN, Blocks
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import Dictionary, Sparsification, sparsify
from extrinsic.policy.states import States


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

    def rows(self, continuous: Floats, block: Ints) -> sparse.csr_array:
        """(n, m) phi of points in given blocks."""
        sizes = np.diff(self.offsets)
        lengths = np.where(block == UNKNOWN, 0, sizes[np.maximum(block, 0)])
        offsets = offsets_from_lengths(lengths)
        data = np.empty(offsets[-1])
        columns = np.empty(offsets[-1], dtype=np.int64)
        order = np.argsort(block, kind="stable")
        bounds = np.searchsorted(block[order], np.arange(len(sizes) + 1))
        for number in np.flatnonzero(np.diff(bounds)):
            members = order[bounds[number] : bounds[number + 1]]
            begin, end = self.offsets[number], self.offsets[number + 1]
            places = offsets[members][:, None] + np.arange(end - begin)
            data[places] = self.kernel.between(continuous[members], self.centers[begin:end])
            columns[places] = np.arange(begin, end)
        return sparse.csr_array((data, columns, offsets), shape=(len(block), len(self)))


def with_action(states: States, action: Ints) -> Ints:
    """(n, e + 1) the discrete elements of states, followed by the action."""
    return np.concatenate([states.discrete, action[:, None]], axis=1)
