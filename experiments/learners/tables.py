"""The tables of learners in live play: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class LiveReturn(msgspec.Struct, frozen=True, kw_only=True, rename={"earned": "return"}):
    """A policy learned on a tracker, played live against the callers that the expert (`behaviour`) met.

    earned: its return. difference: to the expert's, with half of its paired 95 % interval.
    completed: share of calls in which the caller got what he wanted. three_alike: share in which the system
    says the very same three times in a row. kernels, largest_q: of the learned Q. zero_kernel: share of the
    (state, admitted action) pairs met in live play for which there is no kernel.
    """

    seed: int
    dataset: str
    tracker: str
    policy: str
    earned: float
    difference: float
    half_width: float
    completed: float
    three_alike: float
    kernels: int | None = None
    largest_q: float | None = None
    zero_kernel: float | None = None


class PolicySummary(msgspec.Struct, frozen=True, kw_only=True, rename={"earned": "return"}):
    """Means over all cells of worlds and trackers.

    lowest: the difference in the worst cell. above_zero: cells whose interval lies above zero.
    """

    policy: str
    earned: float
    difference: float
    lowest: float
    above_zero: int
    cells: int
    completed: float
    three_alike: float
    kernels: float | None = None
    largest_q: float | None = None
    zero_kernel: float | None = None
