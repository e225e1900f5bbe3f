"""Is it a tracker at all? Signs in a file of states that its system did not track, by stated rules.

- `gold`: on the slots that the system fills at all, at least 98 % of its turns are the gold state.
- `unfilled`: a slot that gold has in at least 1 % of the turns is never filled.
- `forgets`: of the right values that gold keeps in the next turn, more than 5 % are dropped.
- `copies`: of its new values, more than 5 % are wrong and were said only in the system's reply that follows.

A file with fewer than 200 turns is not judged. What is flagged does not belong to the core of a study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ids
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets, Suspicion

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
