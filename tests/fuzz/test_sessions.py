"""A session hears whatever a toolkit gives it: beliefs come back, or an error that says what is wrong."""

from __future__ import annotations

import json
from random import Random

from extrinsic.errors import ExtrinsicError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Session
from tests.fuzz.mutations import mutated_json

TURN = {
    "system": [{"act": "request", "slots": [["slot", "food"]]}],
    "nbest": [
        {"slu-hyp": [{"act": "inform", "slots": [["food", "thai"], ["area", "north"]]}], "score": 0.7},
        {"slu-hyp": [{"act": "request", "slots": [["slot", "phone"]]}], "score": 0.2},
    ],
}


def test_turns_of_any_form() -> None:
    good = json.dumps(TURN).encode()
    session, n_refused = Session("restaurants", TRACKERS.get("focus")), 0
    for seed in range(150):
        session.reset()
        try:
            turn = json.loads(mutated_json(good, Random(seed)))
            beliefs = session.hear(turn["system"], turn["nbest"])
        except ExtrinsicError as error:
            n_refused += 1
            assert str(error)
        except (KeyError, TypeError) as error:
            assert not isinstance(turn, dict) or not TURN.keys() <= turn.keys(), (turn, error)
        else:
            for scores in beliefs.goals.values():
                assert 0 <= sum(scores.values()) <= 1 + 1e-9
    assert 30 < n_refused < 150
