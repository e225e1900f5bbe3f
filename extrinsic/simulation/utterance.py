"""What callers say, as numbers; what a recogniser hears and what acts are made of."""

from __future__ import annotations

from dataclasses import dataclass

from extrinsic.arrays import Bools, Ints

NOTHING = -1
"""No value: a group the caller does not care about, or the system knows nothing about."""

SILENT = 0
YES, NO = 1, 2


@dataclass(frozen=True, eq=False)
class Utterance:
    """What m callers say.

    value (m, n_groups): the value said for each group, NOTHING for none.   answer (m,): YES, NO, SILENT.
    command (m,): any other request: SILENT or the number of a command of the world.
    hangs_up (m,): ends the call.
    """

    value: Ints
    answer: Ints
    command: Ints
    hangs_up: Bools
