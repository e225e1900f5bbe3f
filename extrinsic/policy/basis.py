"""Kernels as basis functions: sparse rows of phi(s, a), one for every point of the dictionary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.errors import UsageError
from extrinsic.policy.features import States
from extrinsic.policy.kernels import UNKNOWN, Blocks, Gaussian, in_blocks
from extrinsic.policy.sparsification import Dictionary, Sparsification, sparsify
from extrinsic.policy.transitions import END
from extrinsic.records import require_shapes

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

    def __post_init__(self) -> None:
        require_shapes(self, centers="kernels numbers", offsets="blocks")
        steps = np.diff(self.offsets, prepend=0, append=len(self.centers))
        if len(self.offsets) != len(self.signatures) + 1 or self.offsets[0] != 0 or steps.min() < 0:
            raise UsageError("the blocks of the kernels do not follow one another", found=str(self.offsets))

    @staticmethod
    def fit(
        continuous: Floats,
        table: Ints,
        kernel: Gaussian,
        nu: float,
        largest: int | None = None,
        sparsification: Sparsification = "growing",
    ) -> tuple[Basis, Dictionary]:
        """Fit to points (n, d) with the discrete elements (n, e) that define their blocks."""
        signatures, block = Blocks.of(table)
        dictionary = sparsify(continuous, block, len(signatures), kernel, nu, largest, sparsification)
        return Basis(kernel, signatures, continuous[dictionary.rows], dictionary.offsets), dictionary

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


@dataclass(frozen=True, eq=False)
class StateActions:
    """Some (state, action) pairs of n states: state, action (k,); rows (k, m): their basis functions."""

    shape: tuple[int, int]
    state: Ints
    action: Ints
    rows: sparse.csr_array

    @staticmethod
    def of(basis: Basis, states: States, admitted: Bools) -> StateActions:
        """The pairs of the admitted actions (n, n_actions)."""
        state, action = np.nonzero(admitted)
        block = basis.block_of(np.column_stack([states.discrete[state], action]))
        n_states, n_actions = admitted.shape
        return StateActions((n_states, n_actions), state, action, basis.rows(states.continuous, block, state))

    def spread(self, of_pairs: Floats) -> Floats:
        """(n, n_actions) numbers of pairs laid out by state and action, -inf elsewhere."""
        table = np.full(self.shape, -np.inf)
        table[self.state, self.action] = of_pairs
        return table

    def mixed(self, policy: Floats, following: Ints | None = None) -> sparse.csr_array:
        """(n, m) sum_a pi(a | s) phi(s, a) of each state, for a policy (n, n_actions).

        following (n,): of the state of each decision's next one instead; empty rows after the END.
        """
        weight = policy[self.state, self.action]
        chosen = np.flatnonzero(weight)
        if len(chosen) == self.shape[0] and (weight[chosen] == 1.0).all():
            # One action in every state, and pairs lie in the order of states. Place -1 is the END.
            return rows_after(self.rows, chosen if following is None else np.append(chosen, END)[following])
        parts = (weight, (self.state, np.arange(len(weight))))
        mix = sparse.csr_array(parts, shape=(self.shape[0], len(weight)))
        mix.eliminate_zeros()
        return sparse.csr_array((mix if following is None else rows_after(mix, following)) @ self.rows)

    @property
    def zero_share(self) -> float:
        """Share of the pairs for which there is no kernel."""
        return float((np.diff(self.rows.indptr) == 0).mean())


def rows_after(rows: sparse.csr_array, following: Ints) -> sparse.csr_array:
    """(n, m) the row of the next decision of each decision; empty rows after the END."""
    goes_on = following != END
    taken = rows[following[goes_on]]
    lengths = np.zeros(len(following), dtype=np.int64)
    lengths[goes_on] = np.diff(taken.indptr)
    offsets = offsets_from_lengths(lengths).astype(taken.indptr.dtype)  # of one type, or scipy copies
    parts = (taken.data, taken.indices, offsets)
    return sparse.csr_array(parts, shape=(len(following), rows.shape[1]))
