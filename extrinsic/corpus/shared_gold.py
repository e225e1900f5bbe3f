"""Whether systems have one gold: a file whose gold differs would be compared on other terms than the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.arrays import Ids
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets
from extrinsic.errors import Problem, Problems

SHOWN = 3
"""Places that are named for every file."""


def gold_differences(systems: Mapping[str, StateSets]) -> list[Problem]:
    """Where the gold of systems, by path, differs from the first's; all have the same dialogs and turns."""
    problems = Problems()
    (_, first), *others = systems.items()
    slots = tuple(sorted({slot for system in systems.values() for slot in system.slots}))
    reference = _gold(first, first, slots)
    for path, system in others:
        turns, columns = np.nonzero(_gold(system, first, slots) != reference)
        for turn, column in list(zip(turns.tolist(), columns.tolist(), strict=True))[:SHOWN]:
            number = int(np.searchsorted(system.offsets, turn, side="right")) - 1
            problems.add(
                f"{system.name} has another gold than {first.name}",
                path=path,
                session=system.dialogs[number],
                turn=turn - int(system.offsets[number]),
                slot="-".join(slots[column]),
                expected=_text(first, slots[column], turn),
                found=_text(system, slots[column], turn),
            )
        if len(turns) > SHOWN:
            n_dialogs = len(np.unique(np.searchsorted(system.offsets, turns, side="right")))
            problems.add(
                f"{system.name} has another gold in {len(turns):,} places of {n_dialogs:,} dialogs; if every "
                "system has its own gold, say so: states.own_gold = true",
                path=path,
            )
    return list(problems)


def _gold(system: StateSets, first: StateSets, slots: Sequence[tuple[str, str]]) -> Ids:
    """(n_turns, n_slots) the gold as ids of the first system's vocabulary; -1 for a value that it lacks."""
    ids, position = np.unique(system.gold, return_inverse=True)
    new = [i if i <= GIVEN_NONE else first.vocabulary.find(system.value(i)) for i in ids.tolist()]
    translated = np.where(np.array(new) == GIVEN_NONE, ABSENT, new)[position].reshape(system.gold.shape)
    table = np.full((len(translated), len(slots)), ABSENT, dtype=np.int32)
    table[:, [slots.index(slot) for slot in system.slots]] = translated
    return table


def _text(system: StateSets, slot: tuple[str, str], turn: int) -> str:
    if slot not in system.slots:
        return "nothing"
    identity = int(system.gold[turn, system.slots.index(slot)])
    return repr(system.value(identity)) if identity > GIVEN_NONE else "nothing"
