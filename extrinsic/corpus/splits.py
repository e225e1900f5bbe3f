"""Splitting dialogs by their ids, independently of their order in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError


def fold_of_dialogs(corpus: Corpus, n_folds: int, seed: int = 0) -> Ints:
    """(n_dialogs,) the fold of each dialog, sizes differing by at most one."""
    return fold_of_sessions(corpus.sessions, n_folds, seed)


def fold_of_sessions(sessions: Sequence[str], n_folds: int, seed: int = 0) -> Ints:
    """(n_dialogs,) the fold of each of these sessions, sizes differing by at most one."""
    if len(sessions) < 2:
        raise UsageError(
            "what learns from dialogs needs at least two, to be cross-fitted", found=str(len(sessions))
        )
    if not 2 <= n_folds <= len(sessions):
        raise UsageError(
            "the number of folds must lie between 2 and the number of dialogs",
            expected=f"2 to {len(sessions)}",
            found=str(n_folds),
        )
    folds = np.empty(len(sessions), dtype=np.int64)
    folds[ranked_sessions(sessions, seed)] = np.arange(len(sessions)) % n_folds
    return folds


def ranked_sessions(sessions: Sequence[str], seed: int) -> list[int]:
    """The dialogs in an order that depends only on the seed and their ids."""

    def draw(dialog: int) -> bytes:
        return hashlib.sha256(f"{seed}/{sessions[dialog]}".encode()).digest()

    return sorted(range(len(sessions)), key=draw)
