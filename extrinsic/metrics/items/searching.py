"""Vectorised bisection."""

from __future__ import annotations

from collections.abc import Callable

from extrinsic.arrays import Bools, Ints


def last_that_meets(meets: Callable[[Ints], Bools], low: Ints, width: int) -> Ints:
    """(n,) the largest numbers in low .. low + width - 1 that meet a condition; low also if none does.

    meets: (n,) numbers in that range -> (n,) flags; after a number that does not meet, none does.
    """
    while width > 1:
        # The remaining width is the same for all, so that a step is one evaluation and one addition.
        half = width // 2
        low = low + half * meets(low + half)
        width -= half
    return low
