"""Values that the ontology of a corpus does not have: they can never be right, and are probably misspelt."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Ids, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import LONGEST_FOUND, Problems, did_you_mean, shortened

DONTCARE = "dontcare"
EXAMPLES = 3


def warn_of_values(problems: Problems, corpus: Corpus, what: str, turn: Ints, slot: Ints, value: Ids) -> None:
    """One warning for each slot: how often, in which values, what was probably meant; with the first place.

    turn, slot, value (n,): where each value is written and its id; slot: the column among corpus.slots.
    """
    informable = corpus.ontology.get("informable", {})
    for column, name in enumerate(corpus.slots):
        if name not in informable:
            continue
        rows = np.flatnonzero((slot == column) & (value != NONE))
        ids = np.unique(value[rows])
        written = {int(identity): corpus.vocabulary.text(int(identity)) for identity in ids}
        options = {*informable[name], DONTCARE}
        foreign = [identity for identity, text in written.items() if text not in options]
        if not foreign:
            continue
        places = rows[np.isin(value[rows], foreign)]
        first = int(turn[places].min())
        examples = [_example(written[identity], options) for identity in foreign[:EXAMPLES]]
        rest = f" and {len(foreign) - EXAMPLES:,} more" if len(foreign) > EXAMPLES else ""
        problems.add(
            f"{what}: {len(places):,} with values that the ontology lacks; the first is here",
            session=corpus.sessions[int(corpus.dialog_of_turn[first])],
            turn=int(corpus.turn_in_dialog[first]),
            slot=name,
            found=", ".join(examples) + rest,
            severity="warning",
        )


def _example(text: str, options: set[str]) -> str:
    hint = did_you_mean(text.strip(), options, limit=0)
    return f"{shortened(text, LONGEST_FOUND)!r}" + (f" ({hint})" if hint.startswith("did you mean") else "")
