"""Dividing dialogs into parts by who they are, never by where they stand in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError


def split_dialogs(corpus: Corpus, share: float, seed: int = 0) -> tuple[Ints, Ints]:
    """Dialogs of a first part (`share` of them, rounded) and of the rest, each in corpus order.

    Which dialogs go where depends on the session ids and the seed alone: the same sessions in another
    order, or beside others of another list, are ranked the same way.
    """
    if not 0.0 < share < 1.0:
        raise UsageError("the share of a split must lie between 0 and 1", found=str(share))
    ranked = ranked_sessions(corpus.sessions, seed)
    first = np.zeros(corpus.n_dialogs, dtype=bool)
    first[ranked[: round(share * corpus.n_dialogs)]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


def fold_of_dialogs(corpus: Corpus, n_folds: int, seed: int = 0) -> Ints:
    """(n_dialogs,) the fold of each dialog, sizes differing by at most one."""
    return fold_of_sessions(corpus.sessions, n_folds, seed)


def fold_of_sessions(sessions: Sequence[str], n_folds: int, seed: int = 0) -> Ints:
    """(n_dialogs,) the fold of each of these sessions, sizes differing by at most one."""
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
    """The dialogs in an order that the seed and their ids alone decide."""

    def draw(dialog: int) -> bytes:
        return hashlib.sha256(f"{seed}/{sessions[dialog]}".encode()).digest()

    return sorted(range(len(sessions)), key=draw)
