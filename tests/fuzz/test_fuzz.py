"""Whatever is in a file, a command is done or refuses it: no traceback, no hang, no silent change."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from extrinsic.errors import ExtrinsicError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Session
from tests.fuzz.kinds import KINDS, make_input, run_good
from tests.fuzz.mutations import mutated_json
from tests.fuzz.outcomes import GOOD, outcome_apart, outcome_forked
from tests.fuzz.semantic import CHANGES, outcome_of_change

MANY, FEW, APART = 20, 3, 1


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.filterwarnings("ignore")
def test_mutated_inputs(root: Path, kind: str) -> None:
    for seed in range(FEW if KINDS[kind].is_slow else MANY):
        given = make_input(kind, seed, root)
        outcome, text = outcome_forked(given)
        assert outcome in GOOD, f"{outcome}: seed {seed}, {given.changed}, {given.command}\n{text}"


@pytest.mark.parametrize("kind", sorted(kind for kind in KINDS if not KINDS[kind].is_slow))
def test_good_inputs_are_done(root: Path, kind: str) -> None:
    run_good(kind, root)


@pytest.mark.parametrize("kind", ["tracker dstc2", "archive"])
def test_mutated_inputs_with_little_memory(root: Path, kind: str) -> None:
    for seed in range(APART):
        outcome, text = outcome_apart(make_input(kind, seed, root))
        assert outcome in GOOD, f"{outcome}: seed {seed}\n{text}"


@pytest.mark.parametrize("name", sorted(CHANGES))
@pytest.mark.filterwarnings("ignore")
def test_no_number_changes_in_silence(name: str, root: Path) -> None:
    assert outcome_of_change(name, root) in GOOD


TURN = {
    "system": [{"act": "request", "slots": [["slot", "food"]]}],
    "nbest": [
        {"slu-hyp": [{"act": "inform", "slots": [["food", "thai"], ["area", "north"]]}], "score": 0.7},
        {"slu-hyp": [{"act": "request", "slots": [["slot", "phone"]]}], "score": 0.2},
    ],
}


def test_a_session_hears_turns_of_any_form() -> None:
    """Beliefs come back, or an error that says what is wrong."""
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
