"""State-action pairs of the admitted actions, with the basis functions of each pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.policy.basis import Basis
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END


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
