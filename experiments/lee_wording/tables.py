"""The tables of Lee's wording: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec


class Sparsified(msgspec.Struct, frozen=True, kw_only=True, rename={"earned": "return"}):
    """A policy learned with a dictionary that was made one way or the other, played live.

    points: decisions that it was chosen from. kernels: its size. residual: how far the farthest point lies
    from its span, squared. beyond: share of the points that lie further than nu. earned: the live return.
    difference: to that of `growing` on the same callers, with half of its paired 95 % interval.
    """

    seed: int
    tracker: str
    features: str
    sparsification: str
    points: int
    kernels: int
    residual: float
    beyond: float
    earned: float
    difference: float
    half_width: float


class Filtered(msgspec.Struct, frozen=True, kw_only=True, rename={"earned": "return"}):
    """The SVM behind the filter with a kernel of some width and height, and the policy learned with it.

    log_loss: of the logged actions, each dialog by a model that did not see it. admitted: actions per state.
    differs: share of the training states whose admitted actions are not those of height 1.
    earned, difference, half_width: as in Sparsified; the difference is to height 1 of the same width.
    """

    seed: int
    tracker: str
    features: str
    width: float
    height: float
    log_loss: float
    admitted: float
    differs: float
    earned: float
    difference: float
    half_width: float
