"""Random numbers by identity: a draw depends on the dialog, the turn and the purpose, and nothing else.

A sequential generator returns numbers in the order of the calls, so one more draw in one dialog changes all
that follow. Here every number is a hash of (dialog, turn, purpose, position): the same caller gets the same
draws whatever policy, tracker or batch it meets.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Floats, Ints

Keys = npt.NDArray[np.uint64]

TurnNumber = int | Ints
"""The number of a turn: of all dialogs, or (n,) of each."""

_STEP = np.uint64(0x9E3779B97F4A7C15)


@cache
def _number_of(*names: object) -> np.uint64:
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "little"))


def _numbers_of(purpose: str, turn: TurnNumber) -> Keys | np.uint64:
    """The number of the purpose at a turn; where dialogs are at different turns, (n,) of each."""
    if not isinstance(turn, np.ndarray):
        return _number_of(purpose, turn)
    numbers = [_number_of(purpose, number) for number in range(int(turn.max(initial=0)) + 1)]
    return np.array(numbers, dtype=np.uint64)[turn]


def _mixed(numbers: Keys) -> Keys:
    """SplitMix64's finaliser, in place: every bit of the result depends on every bit of the number."""
    numbers ^= numbers >> np.uint64(30)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(27)
    numbers *= np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    return numbers


@dataclass(frozen=True, eq=False)
class Chance:
    """The random draws of n dialogs; key (n,)."""

    key: Keys

    @staticmethod
    def of(n_dialogs: int, *names: object) -> Chance:
        """The draws of dialogs 0 to n - 1 under these names, e.g. Chance.of(274, seed, "ds1", "train")."""
        numbers = np.arange(n_dialogs, dtype=np.uint64) * _STEP
        return Chance(_mixed(_mixed(numbers + _number_of(*names))))

    def take(self, dialogs: Ints) -> Chance:
        return Chance(self.key[dialogs])

    def repeated(self, times: int) -> Chance:
        """The same n dialogs again and again, one n after the other."""
        return Chance(np.tile(self.key, times))

    def uniform(self, purpose: str, turn: TurnNumber, shape: tuple[int, ...] = ()) -> Floats:
        """(n, *shape) numbers in [0, 1)."""
        positions = np.arange(prod(shape), dtype=np.uint64)[None]
        return self.uniform_at(purpose, turn, positions).reshape(len(self.key), *shape)

    def uniform_at(self, purpose: str, turn: TurnNumber, position: npt.NDArray) -> Floats:  # type: ignore[type-arg]
        """Numbers in [0, 1) for given positions (n, ...) or (1, ...): the same position, the same number."""
        keys = _mixed(self.key + _numbers_of(purpose, turn))
        keys = keys.reshape(-1, *[1] * (position.ndim - 1))
        bits = _mixed(keys + (position.astype(np.uint64) + np.uint64(1)) * _STEP)
        bits >>= np.uint64(11)
        return bits.astype(np.float64) * 2.0**-53
