"""Kernel LSPI with a width of its own for every continuous column, chosen on the training dialogs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.bounds import Count
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.lstd import System
from extrinsic.policy.transitions import Transitions

FACTORS = (2.0, 0.5)
"""A scale is doubled or halved where that helps."""


@dataclass(frozen=True)
class ArdLSPI(KernelLSPI):
    """LSPI whose Gaussian has the width `width` x scale of the column (automatic relevance determination).

    Scales start at 1 and are doubled (or halved again), column by column, where that lowers the
    cross-validated error of predicting what dialogs earned from a decision on: that needs no policy, only the
    log. None goes below 1: narrow kernels predict returns better, but policies on them are far worse live.
    sweeps: how often over all columns.   folds: of dialogs.
    """

    sweeps: Count = 2
    folds: Annotated[int, msgspec.Meta(ge=2)] = 3

    def kernel(self, transitions: Transitions) -> Gaussian:
        kernel = super().kernel(transitions)
        n_columns = transitions.states.continuous.shape[1]
        n_folds = min(self.folds, transitions.n_dialogs)
        if n_columns == 0 or n_folds < 2:
            return kernel
        fold = fold_of_sessions(transitions.sessions, n_folds)[transitions.dialog]
        best = replace(kernel, scales=(1.0,) * n_columns)
        lowest = self._error(transitions, fold, best)
        for _ in range(self.sweeps):
            before = best
            for column in range(n_columns):
                for factor in FACTORS:
                    assert best.scales is not None
                    changed = list(best.scales)
                    changed[column] = max(1.0, changed[column] * factor)
                    candidate = replace(best, scales=tuple(changed))
                    if candidate == best:
                        continue
                    error = self._error(transitions, fold, candidate)
                    if error < lowest:
                        best, lowest = candidate, error
                        break
            if best == before:
                break
        return best

    def _error(self, transitions: Transitions, fold: Ints, kernel: Gaussian) -> float:
        """The mean squared error of the return-to-go of each fold, by kernels of the others."""
        states, to_go = transitions.states, transitions.returns_to_go()
        table = with_action(states, transitions.action)
        errors = np.empty(len(fold))
        for held in np.unique(fold):
            rows, others = np.flatnonzero(fold == held), np.flatnonzero(fold != held)
            points = states.continuous[others]
            basis = Basis.fit(points, table[others], kernel, self.nu, self.largest, self.sparsification)
            system = System(basis.rows(points, basis.block_of(table[others])), basis.offsets, self.ridge)
            solution = system.regress(to_go[others], float(to_go[others].mean()))
            phi = basis.rows(states.continuous[rows], basis.block_of(table[rows]))
            errors[rows] = to_go[rows] - solution.of(phi)
        return float(np.mean(errors**2))
