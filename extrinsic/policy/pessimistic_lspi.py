"""Conservative policy iteration for small logs: what is seldom in the log counts as worse than it looks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from extrinsic.bounds import NotNegative
from extrinsic.errors import UsageError
from extrinsic.policy.kernel_lspi import KernelLSPI, LoggedKernels
from extrinsic.policy.lstd import Solution


@dataclass(frozen=True)
class PessimisticLSPI(KernelLSPI):
    """LSPI that improves a lower bound: Q(s, a) - pessimism sigma sqrt(phi (phi' phi + ridge)^-1 phi').

    The root is the standard error of Q in units of sigma, which is the standard deviation of the temporal
    differences: small where the log has many decisions alike, height^2 / sqrt(ridge) where it has none.
    (Jin, Yang & Wang 2021 subtract the same in value iteration.)
    pessimism: how many standard errors; 0 is kernel_lspi.
    """

    pessimism: NotNegative = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge <= 0.0:
            raise UsageError("pessimism needs a ridge above 0", found=str(self.ridge))

    def evaluate(self, log: LoggedKernels, following: sparse.csr_array) -> Solution:
        solution = log.value(following)
        inverse, _ = log.system.inverse_of_gram
        scale = self.pessimism * float(np.std(log.differences(solution, following)))
        unsupported = scale * self.height**2 / np.sqrt(self.ridge)
        return replace(solution, doubt=sparse.csr_array(scale**2 * inverse), unsupported=unsupported)
