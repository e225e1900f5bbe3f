"""State-action pairs of the admitted actions, with the basis functions of each pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.policy.basis import Basis, with_action
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
        chosen = states.take(state)
        block = basis.block_of(with_action(chosen, action))
        n_states, n_actions = admitted.shape
        return StateActions((n_states, n_actions), state, action, basis.rows(chosen.continuous, block))

    def spread(self, of_pairs: Floats) -> Floats:
        """(n, n_actions) numbers of pairs laid out by state and action, -inf elsewhere."""
        table = np.full(self.shape, -np.inf)
        table[self.state, self.action] = of_pairs
        return table

    def mixed(self, policy: Floats) -> sparse.csr_array:
        """(n, m) sum_a pi(a | s) phi(s, a) of each state, for a policy (n, n_actions)."""
        weight = policy[self.state, self.action]
        parts = (weight, (self.state, np.arange(len(weight))))
        mix = sparse.csr_array(parts, shape=(self.shape[0], len(weight)))
        mix.eliminate_zeros()
        return sparse.csr_array(mix @ self.rows)

    @property
    def zero_share(self) -> float:
        """Share of the pairs for which there is no kernel."""
        return float((np.diff(self.rows.indptr) == 0).mean())


def rows_after(rows: sparse.csr_array, following: Ints) -> sparse.csr_array:
    """(n, m) the row of the next decision of each decision; zero rows after the END."""
    chosen = rows[np.maximum(following, 0)]
    return sparse.csr_array(chosen.multiply((following != END)[:, None].astype(np.float64)))
