"""Least-squares temporal differences on kernels: the Q function of any policy on fixed data.

Policy iteration evaluates its own policies with it, and the estimator `lstd` (`extrinsic.value.lstd`) those
of others, with the influence of every dialog on the value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, gmres, splu

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.errors import UsageError
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.features import States
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import Dictionary, Sparsification, require_threshold
from extrinsic.typed_files import Discount, NotNegative, Positive

DENSE_UP_TO = 300
"""Systems up to this size are solved densely, where BLAS is fastest."""

TOLERANCE, GOOD_ENOUGH = 1e-13, 1e-10
"""The target and the accepted tolerance of the Krylov solver; above it a factorisation is used."""

ENTRIES = 1 << 16
"""Numbers of phi that are multiplied at once; the products of a long log would wait for memory."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Q(x) = prior + phi(x) weights; condition: of the Gram matrix phi' phi + ridge (2-norm)."""

    weights: Floats
    prior: float
    condition: float

    def of(self, rows: sparse.csr_array) -> Floats:
        """(n,) Q of points with the basis functions `rows` (n, m)."""
        return np.asarray(self.prior + rows @ self.weights)


@dataclass(frozen=True, eq=False)
class System:
    """What is the same for all policies: phi of the decisions taken, and its Gram matrix.

    phi (n, m), its columns in blocks: no row has entries in two of them.   offsets (n_blocks + 1,): of the
    blocks.
    """

    phi: sparse.csr_array
    offsets: Ints
    ridge: float

    def solve(
        self, phi_next: sparse.csr_array, reward: Floats, ends: Bools, gamma: float, prior: float
    ) -> Solution:
        """w such that phi' (r + gamma q' - q) = ridge w, with q = prior + phi w, q' = 0 after the end.

        phi_next (n, m): of what follows each decision, zero rows after the end. That is
        phi' (phi - gamma phi_next) w + ridge w = phi' (r + gamma prior [goes on] - prior).
        """
        right = self.phi.T @ (reward + gamma * prior * ~ends - prior)
        weights = self._solved(phi_next, gamma, right)
        return Solution(weights, prior, self.inverse_of_gram[1])

    def regress(self, target: Floats, prior: float) -> Solution:
        """w such that phi' (target - prior - phi w) = ridge w: ridge regression, block by block."""
        inverse, condition = self.inverse_of_gram
        return Solution(np.asarray(inverse @ (self.phi.T @ (target - prior))), prior, condition)

    def solve_transposed(self, phi_next: sparse.csr_array, right: Floats, gamma: float) -> Floats:
        """x such that (phi' (phi - gamma phi_next) + ridge)' x = right: the sensitivity of a linear function
        of the weights."""
        return self._solved(phi_next, gamma, right, transposed=True)

    def _solved(
        self, phi_next: sparse.csr_array, gamma: float, right: Floats, transposed: bool = False
    ) -> Floats:
        """The solution of (phi' (phi - gamma phi_next) + ridge) x = right, or of the transposed system."""
        if len(right) > DENSE_UP_TO:
            return self._solved_by_steps(phi_next, gamma, right, transposed)
        system = self._matrix(phi_next, gamma, transposed).toarray()
        system[np.diag_indices_from(system)] += self.ridge
        try:
            with warnings.catch_warnings(action="error", category=linalg.LinAlgWarning):
                return np.asarray(linalg.solve(system, right, check_finite=False))
        except (linalg.LinAlgError, linalg.LinAlgWarning):
            raise _without_solution(self.ridge) from None

    def _solved_by_steps(
        self, phi_next: sparse.csr_array, gamma: float, right: Floats, transposed: bool
    ) -> Floats:
        """Krylov steps, preconditioned with the inverse of the Gram matrix.

        The preconditioned system is the identity minus gamma times the transition to the next decision, and
        dialogs are short: hardly more steps are needed than a dialog has turns.
        """
        inverse, _ = self.inverse_of_gram
        size = len(right)

        def apply(vector: Floats) -> Floats:
            change = self.phi @ vector - gamma * (phi_next @ vector)
            return np.asarray(self.phi.T @ change + self.ridge * vector)

        def apply_transposed(vector: Floats) -> Floats:
            taken = self.phi @ vector
            return np.asarray(self.phi.T @ taken - gamma * (phi_next.T @ taken) + self.ridge * vector)

        product = apply_transposed if transposed else apply
        system = LinearOperator((size, size), matvec=product, dtype=np.float64)
        preconditioner = LinearOperator((size, size), matvec=lambda v: inverse @ v, dtype=np.float64)
        solution, _ = gmres(system, right, rtol=TOLERANCE, restart=80, maxiter=5, M=preconditioner)
        if np.linalg.norm(product(solution) - right) > GOOD_ENOUGH * np.linalg.norm(right):
            whole = self._matrix(phi_next, gamma, transposed) + self.ridge * sparse.eye_array(size)
            try:
                solution = splu(whole.tocsc()).solve(right)
            except RuntimeError:
                raise _without_solution(self.ridge) from None
        return np.asarray(solution)

    def _matrix(self, phi_next: sparse.csr_array, gamma: float, transposed: bool) -> sparse.csr_array:
        """phi' (phi - gamma phi_next), or its transpose."""

        def product(rows: slice) -> sparse.csr_array:
            taken = self.phi[rows]
            change = taken - gamma * phi_next[rows]
            return change.T.tocsr() @ taken if transposed else taken.T.tocsr() @ change

        return self._sum(product)

    def _sum(self, product: Callable[[slice], sparse.csr_array]) -> sparse.csr_array:
        """The sum of what a product is of runs of rows, few enough for the processor's cache."""
        entries = np.arange(0, self.phi.nnz, ENTRIES)
        bounds = np.searchsorted(self.phi.indptr, [*entries, self.phi.nnz + 1]).tolist()
        return sum((product(slice(*pair)) for pair in pairwise(bounds)), start=product(slice(0, 0)))

    @cached_property
    def inverse_of_gram(self) -> tuple[sparse.csr_array, float]:
        """The inverse of phi' phi + ridge, block by block, and its condition number."""
        gram = self._sum(lambda rows: self.phi[rows].T.tocsr() @ self.phi[rows])
        blocks, columns, lowest, highest = [], [], np.inf, 0.0
        for begin, end in pairwise(self.offsets):
            block = gram[begin:end, begin:end].toarray()
            block[np.diag_indices_from(block)] += self.ridge
            values, vectors = np.linalg.eigh(block)
            lowest, highest = min(lowest, values[0]), max(highest, values[-1])
            blocks.append(((vectors / np.maximum(values, 1e-12 * highest)) @ vectors.T).ravel())
            columns.append(np.tile(np.arange(begin, end), end - begin))
        sizes = np.diff(self.offsets)
        rows = offsets_from_lengths(np.repeat(sizes, sizes))
        parts = (np.concatenate(blocks), np.concatenate(columns), rows)
        inverse = sparse.csr_array(parts, shape=gram.shape)
        return inverse, float(highest / lowest) if lowest > 0 else np.inf


def _without_solution(ridge: float) -> UsageError:
    return UsageError(
        "the equations of LSTD have no (reliable) solution: the data do not determine the policy's value",
        expected="a larger ridge, or a gamma below 1",
        found=f"ridge {ridge:g}",
    )


@dataclass(frozen=True)
class KernelSettings:
    """Kernels and equations of a Q function.

    height, width: of the Gaussian.   nu: of the sparsification, which is `growing` (Engel's) or `removal` (as
    Lee words it: against all the rest).   ridge, gamma: of LSTD.
    """

    height: Positive = 4.0
    width: Positive = 2.0
    nu: Positive = 1.0
    ridge: NotNegative = 100.0
    gamma: Discount = 1.0
    sparsification: Sparsification = "growing"

    def __post_init__(self) -> None:
        require_threshold(self.nu, self.height)
        if not 0.0 < self.gamma <= 1.0:
            raise UsageError("gamma must lie in (0, 1]", found=str(self.gamma))
        if not (np.isfinite(self.ridge) and self.ridge >= 0.0):
            raise UsageError("the ridge must be at least 0", found=str(self.ridge))

    def kernels_of(self, states: States, action: Ints, largest: int | None = None) -> KernelsOfLog:
        """The kernels of logged decisions; largest: the maximum of one block."""
        table, kernel = with_action(states, action), Gaussian(self.height, self.width)
        basis, dictionary = Basis.fit(states.continuous, table, kernel, self.nu, largest, self.sparsification)
        system = System(basis.rows(states.continuous, basis.block_of(table)), basis.offsets, self.ridge)
        return KernelsOfLog(basis, system, dictionary)


@dataclass(frozen=True, eq=False)
class KernelsOfLog:
    """The basis functions of logged decisions, whatever was earned; dictionary: how they were chosen."""

    basis: Basis
    system: System
    dictionary: Dictionary
