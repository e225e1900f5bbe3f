"""Properties derived from the offsets of dialogs alone."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from extrinsic.arrays import Ints, row_of_each


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
