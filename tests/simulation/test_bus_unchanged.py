"""Calls of the bus world stay what they were before worlds became a protocol: digests of that version."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from extrinsic.simulation import ExpertTracker, Play, play, read_simulation

DIGESTS = {
    "ds1": "1b790132cf5960bab627",
    "ds3": "866e99b49a1317700358",
    "letsgo": "a0c781d107bd1622e15e",
    "cambridge": "a6e58e70c286d5bbb0d1",
}


def digest(played: Play) -> str:
    """Of everything said, heard, believed and logged; words as text, numbers to six decimals."""
    corpus, output, hashed = played.corpus, played.output, hashlib.sha256()

    def texts(ids: np.ndarray) -> bytes:
        return "|".join(corpus.vocabulary.text(int(identity)) for identity in ids).encode()

    for acts in (corpus.system, corpus.nbest.acts):
        for words in (acts.name, acts.slot, acts.value):
            hashed.update(texts(words))
        hashed.update(repr((acts.offsets.tolist(), acts.pair_offsets.tolist())).encode())
    hashed.update(texts(output.given.value) + repr(output.given.offsets.tolist()).encode())
    for numbers in (corpus.nbest.score, corpus.propensities, output.given.score):
        hashed.update(repr(np.round(np.nan_to_num(numbers, nan=-1.0), 6).tolist()).encode())
    labels = corpus.labels
    hashed.update(texts(labels.value) + repr((labels.turn.tolist(), labels.correct.tolist())).encode())
    hashed.update(repr((played.ending.tolist(), played.completed.tolist())).encode())
    return hashed.hexdigest()[:20]


@pytest.mark.parametrize("dataset", DIGESTS)
def test_the_experts_calls_are_what_they_were(dataset: str) -> None:
    world = read_simulation().world(dataset, "test")
    assert digest(play(world.policy(), ExpertTracker(), 40, 17, world)) == DIGESTS[dataset]
