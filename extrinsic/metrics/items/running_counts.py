"""How many right and wrong items precede each position of a ranking, in many weighted samples at once.

A full table of running counts has a row for each item and a column for each sample, and writing it would
dominate the cost. So items are grouped in blocks: counts are stored at the block borders only, and those
inside a block are summed only for the block that a sample needs.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.metrics.items.operating_points import Condition, Points
from extrinsic.metrics.items.searching import last_that_meets

RIGHT, WRONG = 0, 1


class Ranking:
    """Items by descending score, in blocks of `size` items.

    score (n_items + 1,), correct (n_items + 1,): after the last item comes a wrong one below all scores.
    dialogs (size, 2, n_blocks + 1): the dialog of each position of a block if its item is right, and if it is
    wrong; otherwise, and after the last item, n_dialogs, a dialog that is never drawn.
    """

    def __init__(self, score: Floats, correct: Bools, dialog: Ints, n_dialogs: int) -> None:
        self.n_items, self.n_dialogs = len(score), n_dialogs
        self.score = np.append(score, -np.inf)
        self.correct = np.append(correct, False)
        # Borders cost a row each when counting, positions inside a block when querying: balance the two.
        self.size = max(4, round((self.n_items / 60) ** 0.5))
        self.n_blocks = -(-self.n_items // self.size)
        dialogs = np.full(((self.n_blocks + 1) * self.size, 2), n_dialogs)
        dialogs[np.arange(self.n_items), np.where(self.correct[:-1], RIGHT, WRONG)] = dialog
        self.dialogs = np.ascontiguousarray(dialogs.reshape(-1, self.size, 2).transpose(1, 2, 0))

    @cached_property
    def ascending(self) -> Floats:
        """(n_items,) the scores from the lowest up."""
        return self.score[-2::-1].copy()

    @cached_property
    def run_start(self) -> Ints:
        """(n_items + 1,) the start of the run of equal scores that each position belongs to."""
        begins = np.append(True, self.score[1:] != self.score[:-1])
        return np.maximum.accumulate(np.where(begins, np.arange(self.n_items + 1), 0))

    @cached_property
    def block_sums(self) -> Any:
        """(2 n_blocks, n_dialogs + 1) sparse: right and wrong items of each dialog in each block."""
        # Importing it is slow, and single scores do not need it.
        from scipy import sparse

        dialogs = self.dialogs[:, :, :-1].transpose(2, 1, 0).reshape(-1, self.size)
        drawn = dialogs < self.n_dialogs
        offsets = offsets_from_lengths(np.count_nonzero(drawn, axis=1))
        once = np.ones(self.n_items, dtype=np.int16)
        return sparse.csr_array(
            (once, dialogs[drawn], offsets), shape=(2 * self.n_blocks, self.n_dialogs + 1)
        )


class RunningCounts:
    """Right and wrong items before each position, in each of n samples; weights (n, n_dialogs), integers."""

    def __init__(self, ranking: Ranking, weights: npt.NDArray[Any]) -> None:
        self.ranking = ranking
        self.n_samples = len(weights)
        # Small integers are several times as fast; none of the sums below can overflow them.
        largest = int(weights.max(initial=0))
        small = np.int16 if largest * ranking.size < 2**15 else np.int64
        whole = np.int32 if largest * ranking.n_items < 2**31 else np.int64
        self._weights = np.zeros((ranking.n_dialogs + 1, self.n_samples), dtype=small)
        self._weights[:-1] = weights.astype(small).T
        # (n_blocks + 1, 2, n) right and wrong items before each border.
        self._borders = np.zeros((ranking.n_blocks + 1, 2, self.n_samples), dtype=whole)
        self._borders[1:] = (ranking.block_sums @ self._weights).reshape(ranking.n_blocks, 2, self.n_samples)
        _accumulate(self._borders)
        self._samples = np.arange(self.n_samples)
        self._columns = self._samples + self.n_samples * np.array([[RIGHT], [WRONG]])
        self.right: Floats = self._borders[-1, RIGHT].astype(float)
        self.total: Floats = self.right + self._borders[-1, WRONG]

    def points(self, counts: npt.NDArray[Any]) -> Points:
        """(..., 2, n) right and wrong items accepted."""
        return Points(counts[..., RIGHT, :], counts[..., WRONG, :], self.right, self.total)

    def before(self, position: Ints) -> Points:
        """(n,) positions -> the points that accept all items before them."""
        block, offset = np.divmod(position, self.ranking.size)
        return self.points(self._inside(block)[offset, :, self._samples].T)

    def longest(self, condition: Condition) -> Ints:
        """(n,) the last position such that accepting all before it meets a condition; 0 also if none does."""

        def border_meets(block: Ints) -> Bools:
            return np.asarray(condition(self.points(self._border(block))))

        nothing = np.zeros(self.n_samples, dtype=np.int64)
        block = last_that_meets(border_meets, nothing, self.ranking.n_blocks + 1)
        more = np.count_nonzero(condition(self.points(self._inside(block)[1:])), axis=0)
        return np.asarray(np.minimum(block * self.ranking.size + more, self.ranking.n_items))

    def _border(self, block: Ints) -> npt.NDArray[Any]:
        """(n,) blocks -> (2, n) counts before them."""
        return np.asarray(self._borders.reshape(-1).take(block * (2 * self.n_samples) + self._columns))

    def _inside(self, block: Ints) -> npt.NDArray[Any]:
        """(n,) blocks -> (size + 1, 2, n) counts before each of their positions, and after the last."""
        index = self.ranking.dialogs.take(block, axis=2)
        index *= self.n_samples
        index += self._samples
        counts = np.empty((self.ranking.size + 1, 2, self.n_samples), dtype=self._borders.dtype)
        counts[0] = self._border(block)
        counts[1:] = self._weights.reshape(-1).take(index)
        return _accumulate(counts)


def _accumulate(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Running sums of rows, in place; numpy's own works column by column, which defeats the cache."""
    for before, row in pairwise(rows):
        np.add(before, row, out=row)
    return rows
