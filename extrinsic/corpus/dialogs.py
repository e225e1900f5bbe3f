"""Dialogs whatever is said in them: the turns of each, and folds by their ids."""

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from extrinsic.arrays import Ints, row_of_each
from extrinsic.errors import UsageError


class DialogTurns:
    """Base of everything that has turns in dialogs: offsets (n_dialogs + 1,) delimit the turns of each."""

    offsets: Ints

    def __getstate__(self) -> dict[str, Any]:
        """The fields without cached properties, so that equal content pickles to equal bytes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def n_dialogs(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_turns(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def dialog_of_turn(self) -> Ints:
        """(n_turns,)"""
        return row_of_each(self.offsets)

    @cached_property
    def turn_in_dialog(self) -> Ints:
        """(n_turns,) 0, 1, 2, ... within each dialog."""
        return np.arange(self.n_turns) - self.offsets[self.dialog_of_turn]


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
