"""Candidates: the values mentioned so far in each dialog, at fixed positions, which a tracker scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each, take_rows
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.vocabulary import NONE

FIRST_WIDTH = 8


class Candidates:
    """Per (dialog, slot) the values in order of first appearance.

    value (n_dialogs, n_slots, width), NONE where unused.   count (n_dialogs, n_slots).
    """

    def __init__(self, n_dialogs: int, n_slots: int) -> None:
        self.value: Ids = np.full((n_dialogs, n_slots, FIRST_WIDTH), NONE, dtype=np.int32)
        self.count: Ints = np.zeros((n_dialogs, n_slots), dtype=np.int64)

    @property
    def width(self) -> int:
        return int(self.value.shape[2])

    def forget(self, dialogs: Ints) -> None:
        self.value[dialogs] = NONE
        self.count[dialogs] = 0

    def locate(self, dialogs: Ints, evidence: Evidence) -> Ints:
        """(r,) the position of each row of evidence among the candidates of its dialog; adds new ones.

        Row i of `evidence.restart` is a turn of dialogs[i].
        """
        n_slots = evidence.n_slots
        item = row_of_each(evidence.offsets)
        dialog, slot = dialogs[item // n_slots], item % n_slots
        same = self.value[dialog, slot] == evidence.value[:, None]
        is_candidate = same.any(axis=1)
        # Several new values of one item take the next positions in their order.
        new_before = np.cumsum(~is_candidate) - ~is_candidate
        start = np.append(new_before, 0)[np.minimum(evidence.offsets[:-1], len(is_candidate))]
        position = np.where(
            is_candidate, same.argmax(axis=1), self.count[dialog, slot] + new_before - start[item]
        )
        self._widen(int(position.max(initial=-1)) + 1)
        self.value[dialog, slot, position] = evidence.value
        new = np.flatnonzero(~is_candidate)
        np.add.at(self.count, (dialog[new], slot[new]), 1)
        return np.asarray(position)

    def _widen(self, width: int) -> None:
        """In powers of two: sums over candidates are then the same whatever dialogs are tracked beside."""
        if width > self.width:
            self.value = widened(self.value, FIRST_WIDTH * 2 ** int(np.ceil(np.log2(width / FIRST_WIDTH))))


def widened(array: npt.NDArray, width: int) -> npt.NDArray:  # type: ignore[type-arg]
    """The array with its last axis padded with zeros up to a width."""
    more = np.zeros((*array.shape[:-1], width - array.shape[-1]), dtype=array.dtype)
    return np.concatenate([array, more], axis=-1)


@dataclass(frozen=True, eq=False)
class Heard:
    """The evidence of one turn of each of m dialogs, arranged by candidate.

    Arrays are (m, n_slots, width), computed on first access; 0 or False for a value not mentioned.
    value: the candidates themselves, NONE for unused positions.
    """

    evidence: Evidence
    place: Ints
    value: Ids

    @property
    def is_candidate(self) -> Bools:
        """Which positions have a candidate."""
        return np.asarray(self.value != NONE)

    @cached_property
    def informed(self) -> Floats:
        return self._laid_out(self.evidence.informed)

    @cached_property
    def affirmed(self) -> Floats:
        return self._laid_out(self.evidence.affirmed)

    @cached_property
    def top(self) -> Floats:
        return self._laid_out(self.evidence.top)

    @cached_property
    def denied(self) -> Floats:
        return self._laid_out(self.evidence.denied)

    @cached_property
    def rejected(self) -> Floats:
        return self._laid_out(self.evidence.rejected)

    @cached_property
    def rank(self) -> Floats:
        """1 for the best hypothesis that informs it, 1/2 for the second, ...; 0 for none."""
        rank = self.evidence.rank
        return self._laid_out(np.where(rank < 0, 0.0, 1.0 / (1.0 + np.maximum(rank, 0))))

    @cached_property
    def explicit(self) -> Bools:
        return self._laid_out(self.evidence.explicit)

    @cached_property
    def implicit(self) -> Bools:
        return self._laid_out(self.evidence.implicit)

    @property
    def requested(self) -> Bools:
        """(m, n_slots)"""
        return self.evidence.requested

    def take(self, row: Ints, slot: Ints) -> Heard:
        """The chosen slots of the dialogs, each as a dialog with a single slot: arrays are (k, 1, width)."""
        evidence = self.evidence
        offsets, rows = take_rows(evidence.offsets, row * evidence.n_slots + slot)
        chosen = Evidence(
            1,
            offsets,
            evidence.value[rows],
            evidence.informed[rows],
            evidence.affirmed[rows],
            evidence.top[rows],
            evidence.denied[rows],
            evidence.rejected[rows],
            evidence.rank[rows],
            evidence.explicit[rows],
            evidence.implicit[rows],
            evidence.requested[row, slot][:, None],
            evidence.affirms[row],
            evidence.negates[row],
            evidence.restart[row],
        )
        return Heard(chosen, self.place[rows], self.value[row, slot][:, None])

    def _laid_out(self, column: npt.NDArray) -> npt.NDArray:  # type: ignore[type-arg]
        table = np.zeros(self.value.shape, dtype=column.dtype)
        item = row_of_each(self.evidence.offsets)
        n_slots = self.evidence.n_slots
        table[item // n_slots, item % n_slots, self.place] = column
        return table
