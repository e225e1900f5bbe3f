"""Predicted values that are wrong only in how they are written: capitals, blanks, the form of an accent."""

from __future__ import annotations

import unicodedata

import numpy as np

from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets
from extrinsic.errors import Problem


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
