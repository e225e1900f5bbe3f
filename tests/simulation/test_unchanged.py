"""Calls of the embedded worlds stay what they were: digests of an earlier version."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.labels import LabelEvents
from extrinsic.simulation import Play, find_simulation, play
from tests.simulation.worlds import Allowed, world

DIGESTS = {
    "bus:ds1": "1b790132cf5960bab627",
    "bus:ds3": "866e99b49a1317700358",
    "bus:letsgo": "a0c781d107bd1622e15e",
    "bus:cambridge": "a6e58e70c286d5bbb0d1",
    "restaurants:quiet": "24acbc56729bb4bc22cf",
    "restaurants:noisy": "19937e31de302c34b922",
    "restaurants:noisy(noise=0.3, slots=2, caution=0.6)": "cc6b51551ad1333953a3",
    "bus:letsgo(patience=9, boldness=2, calibration=0.2)": "e538d88e210f7c5f20f4",
}

EVERYTHING = world(
    {"long_lists": 0.2, "rejects": 0.1, "single": 0.3},
    {"starts_over": 0.2, "undoes": 0.4, "browses": 0.5, "says_bye": 0.5, "changes_goal": 0.1},
    no_connection=0.2,
    system={"opening": "directed", "help": True, "ignores": 0.2, "unless_next_bus": ["route"]},
)
"""Every way of the bus world at once, those that no dataset has included."""


def digest(played: Play) -> str:
    """Of everything said, heard, believed and logged; words as text, numbers to six decimals."""
    corpus, output, hashed = played.corpus, played.output, hashlib.sha256()

    def texts(ids: np.ndarray) -> bytes:
        return "|".join(corpus.vocabulary.text(int(identity)) for identity in ids.ravel()).encode()

    for acts in (corpus.system, corpus.nbest.acts):
        for words in (acts.name, acts.slot, acts.value):
            hashed.update(texts(words))
        hashed.update(repr((acts.offsets.tolist(), acts.pair_offsets.tolist())).encode())
    hashed.update(texts(output.given.value) + repr(output.given.offsets.tolist()).encode())
    for numbers in (corpus.nbest.score, corpus.propensities, output.given.score):
        assert numbers is not None
        hashed.update(repr(np.round(np.nan_to_num(numbers, nan=-1.0), 6).tolist()).encode())
    labels = corpus.labels
    if isinstance(labels, LabelEvents):
        hashed.update(texts(labels.value) + repr((labels.turn.tolist(), labels.correct.tolist())).encode())
    else:
        hashed.update(texts(labels.goal) + texts(labels.method) + repr(labels.requested.tolist()).encode())
    hashed.update(repr((played.ending.tolist(), played.completed.tolist())).encode())
    return hashed.hexdigest()[:20]


@pytest.mark.parametrize("dataset", DIGESTS)
def test_the_experts_calls_are_what_they_were(dataset: str) -> None:
    kind, _, name = dataset.partition(":")
    in_world: Any = find_simulation(kind).world(name, "test")
    assert digest(play(in_world.policy(), in_world.tracker(), 40, 17, in_world)) == DIGESTS[dataset]


def test_calls_with_every_way_at_once_are_what_they_were() -> None:
    digests = [
        digest(play(policy, EVERYTHING.tracker(), 60, 17, EVERYTHING))
        for policy in (Allowed(), EVERYTHING.policy())
    ]
    assert digests == ["d80f9ca2305674027bdc", "99ae0a967a6ccc4f5fb8"]
