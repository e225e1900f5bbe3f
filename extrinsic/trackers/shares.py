"""Normalising the scores of a slot."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats


def total(scores: Floats) -> Floats:
    """(..., width) -> (..., 1) the sum over the candidates of each slot."""
    return np.asarray(scores.sum(axis=-1, keepdims=True))


def capped(scores: Floats) -> Floats:
    """Scores at least 0, divided by their sum where that is above 1."""
    positive = np.maximum(scores, 0.0)
    return np.asarray(positive / np.maximum(total(positive), 1.0))


def best_only(scores: Floats) -> Floats:
    """The highest score of each slot at its position, 0 elsewhere; of equals the first."""
    best = scores.argmax(axis=-1)[..., None]
    kept = np.zeros_like(scores)
    np.put_along_axis(kept, best, np.take_along_axis(scores, best, axis=-1), axis=-1)
    return kept


def share_out(scores: Floats, whole: Floats) -> Floats:
    """Scores scaled to sum to `whole` (at most 1, one number per slot); unchanged where all are 0."""
    summed = total(scores)
    return capped(whole * scores / np.where(summed > 0.0, summed, 1.0))
