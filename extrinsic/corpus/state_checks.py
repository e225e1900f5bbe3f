"""Signs in files of states: is it a tracker at all, are values only written otherwise, have all one gold?

A system may not have tracked, by stated rules:

- `gold`: on the slots that the system fills at all, at least 98 % of its turns are the gold state.
- `unfilled`: a slot that gold has in at least 1 % of the turns is never filled.
- `forgets`: of the right values that gold keeps in the next turn, more than 5 % are dropped.
- `copies`: of its new values, more than 5 % are wrong and were said only in the system's reply that follows.

A file with fewer than 200 turns is not judged. What is flagged does not belong to the core of a study.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ids
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets, Suspicion
from extrinsic.errors import Problem, Problems

FEWEST_TURNS = 200
EQUAL_TO_GOLD = 0.98
SHARE_OF_TURNS = 0.01
FORGOTTEN = 0.05
COPIED = 0.05
SHORTEST_COPY = 4
"""Shorter values (a number, `yes`) are in a reply by chance."""


@dataclass(frozen=True)
class Said:
    """What was said up to a turn of the user, and what its reply adds: values in lower case."""

    before: frozenset[str]
    in_reply: frozenset[str]


def check_tracker(states: StateSets, said: Mapping[str, Sequence[Said]] | None = None) -> list[Suspicion]:
    """The rules that the states meet; said: by dialog and turn, for the rule `copies`."""
    if states.n_turns < FEWEST_TURNS:
        return []
    gold, predicted = (np.where(side == GIVEN_NONE, ABSENT, side) for side in (states.gold, states.predicted))
    filled = (predicted != ABSENT).any(axis=0)
    suspicions = _equal_to_gold(gold, predicted, filled)
    suspicions += _unfilled(states, gold, filled)
    before = [_before(states, side) for side in (gold, predicted)]
    held = (before[1] != ABSENT) & (before[1] == before[0]) & (gold == before[0])
    n_held, n_lost = int(held.sum()), int((held & (predicted == ABSENT)).sum())
    if n_held and n_lost / n_held > FORGOTTEN:
        text = (
            f"{n_lost / n_held:.1%} of {n_held:,} right values that gold keeps are dropped in the next turn"
        )
        suspicions.append(Suspicion("forgets", text))
    if said is not None:
        suspicions += _copies(states, gold, predicted, (predicted != ABSENT) & (predicted != before[1]), said)
    return suspicions


def _equal_to_gold(gold: Ids, predicted: Ids, filled: Bools) -> list[Suspicion]:
    if not filled.any():
        return [Suspicion("unfilled", "no state has a value")]
    equal = float((gold[:, filled] == predicted[:, filled]).all(axis=1).mean())
    if equal < EQUAL_TO_GOLD:
        return []
    n_left = int((~filled).sum())
    outside = f" outside the {n_left} slots that it never fills" if n_left else ""
    return [Suspicion("gold", f"{equal:.1%} of its turns are the gold state{outside}")]


def _unfilled(states: StateSets, gold: Ids, filled: Bools) -> list[Suspicion]:
    often = (gold != ABSENT).mean(axis=0) >= SHARE_OF_TURNS
    lacking = [
        f"{domain}-{slot}" for (domain, slot), bad in zip(states.slots, often & ~filled, strict=True) if bad
    ]
    return [Suspicion("unfilled", f"never fills {', '.join(lacking)}")] if lacking and filled.any() else []


def _before(states: StateSets, side: Ids) -> Ids:
    """The state of the turn before; nothing before the first turn of a dialog."""
    before = np.zeros_like(side)
    before[1:] = side[:-1]
    before[states.offsets[:-1]] = ABSENT
    return before


def _copies(
    states: StateSets, gold: Ids, predicted: Ids, new: Bools, said: Mapping[str, Sequence[Said]]
) -> list[Suspicion]:
    n_new = n_copied = 0
    for number, dialog in enumerate(states.dialogs):
        for turn, row in zip(
            said.get(dialog, ()), range(states.offsets[number], states.offsets[number + 1]), strict=False
        ):
            fresh = turn.in_reply - turn.before
            for column in new[row].nonzero()[0].tolist():
                n_new += 1
                value = str(states.value(int(predicted[row, column]))).lower()
                wrong = predicted[row, column] != gold[row, column]
                n_copied += bool(wrong and len(value) >= SHORTEST_COPY and value in fresh)
    if n_new and n_copied / n_new > COPIED:
        text = f"{n_copied / n_new:.1%} of {n_new:,} new values are wrong and only in the reply that follows"
        return [Suspicion("copies", text)]
    return []


def warnings_of_writing(states: StateSets, path: str) -> list[Problem]:
    """One warning: how many values equal the gold one but for their writing, and where the first is."""
    given = (states.gold > GIVEN_NONE) & (states.predicted > GIVEN_NONE) & (states.gold != states.predicted)
    row, column = np.nonzero(given)
    pairs = np.stack([states.gold[row, column], states.predicted[row, column]], axis=1)
    unique, pair = np.unique(pairs, axis=0, return_inverse=True)
    same = [_plain(states, gold) == _plain(states, predicted) for gold, predicted in unique.tolist()]
    places = np.flatnonzero(np.array(same, dtype=bool)[pair.ravel()])
    if not len(places):
        return []
    first = int(row[places[0]])
    gold, predicted = pairs[places[0]].tolist()
    return [
        Problem(
            f"{len(places):,} predicted values are wrong only by capitals, blanks or the form of accents; "
            "the first is here",
            path=path,
            session=states.dialogs[int(states.dialog_of_turn[first])],
            turn=int(states.turn_in_dialog[first]),
            slot="-".join(states.slots[int(column[places[0]])]),
            expected=repr(states.value(gold)),
            found=repr(states.value(predicted)),
            severity="warning",
        )
    ]


def _plain(states: StateSets, identity: int) -> str:
    text = unicodedata.normalize("NFKC", str(states.value(identity)))
    return " ".join(text.casefold().split())


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
