"""Is it a tracker at all: every rule on made-up states, and the real files that meet one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import read_states
from extrinsic.corpus.state_checks import Said, check_tracker
from tests.builders import write_json
from tests.real_data import FOLDER
from tests.running import run

TRACKERS = FOLDER / "multiwoz" / "trackers_2.1"


def file_of(folder: Path, predict: Any) -> Path:
    """Eighty dialogs of three turns; predict(number, turn) is the predicted state."""
    gold = {"hotel": {"area": "north", "stars": "4"}}
    return write_json(
        folder / "mine.json",
        {
            f"d{number}": {
                str(turn): {"gt": gold, "pr": {"hotel": predict(number, turn)}} for turn in range(3)
            }
            for number in range(80)
        },
    )


def rules(folder: Path, predict: Any) -> list[str]:
    return [suspicion.rule for suspicion in read_states(file_of(folder, predict)).suspicions]


def usual(number: int, turn: int) -> dict[str, str]:
    return {"area": "north", "stars": "4" if number % 2 else "3"}


def test_rules(tmp_path: Path) -> None:
    assert rules(tmp_path, usual) == []
    assert rules(tmp_path, lambda number, turn: {"area": "north", "stars": "4"}) == ["gold"]
    assert rules(tmp_path, lambda number, turn: {"area": "north"}) == ["gold", "unfilled"]
    assert rules(tmp_path, lambda number, turn: {"area": "south"}) == ["unfilled"]
    forgetful = lambda number, turn: usual(number, turn) if turn != 1 else {"stars": "3"}  # noqa: E731
    assert rules(tmp_path, forgetful) == ["forgets"]
    assert rules(tmp_path, lambda number, turn: {}) == ["unfilled"]


def test_values_that_only_the_reply_has(tmp_path: Path) -> None:
    states = read_states(
        file_of(tmp_path, lambda number, turn: usual(number, turn) | {"name": f"hotel {turn}"})
    )
    replied = [Said(frozenset(), frozenset({f"hotel {turn}"})) for turn in range(3)]
    said = dict.fromkeys(states.dialogs, replied)
    assert "copies" in [suspicion.rule for suspicion in check_tracker(states, said)]
    known = [Said(turn.in_reply, turn.in_reply) for turn in replied]
    assert check_tracker(states, dict.fromkeys(states.dialogs, known)) == []


def test_commands_show_it(tmp_path: Path) -> None:
    file = file_of(tmp_path, lambda number, turn: {"area": "north"})
    for command in ("validate", "score"):
        outcome = run(command, "--format", "state-sets", file)
        assert outcome.code == 0
        assert "may be no tracker (gold): 100.0% of its turns" in outcome.text
        assert "never fills hotel-stars" in outcome.text


@pytest.mark.skipif(not TRACKERS.is_dir(), reason="the MultiWOZ trackers are not here")
@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("e2e_uniconv", ["gold", "unfilled"]),
        ("e2e_soloist", ["unfilled"]),
        ("dard_claude_with_retrieval", ["forgets"]),
        ("dard_claude_basic", []),
        ("e2e_augpt", []),
    ],
)
def test_real_systems(system: str, expected: list[str]) -> None:
    states = read_states(TRACKERS / f"{system}.json.gz")
    assert [suspicion.rule for suspicion in states.suspicions] == expected
