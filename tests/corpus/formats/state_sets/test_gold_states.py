"""Gold from a file of its own, and MultiWOZ_Evaluation's format, on made-up files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import read_states
from extrinsic.errors import InputError, UsageError
from tests.builders import write_json
from tests.contents import states_content
from tests.running import run

PREDICTED: Any = {"PMUL1.json": [{"state": {"hotel": {"bookday": "monday"}}, "response": ""}, {"state": {}}]}
DIALOGS: Any = {
    "pmul1": {
        "turns": [{"gold21": {"hotel": {"day": "monday"}}, "gold24": {}}, {"gold21": {}, "gold24": {}}]
    },
    "pmul2": {"turns": [{"gold21": {}, "gold24": {}}]},
}
DAY = ("hotel", "day")


def read(tmp_path: Path, gold: Any, name: str | None = None) -> Any:
    path = write_json(tmp_path / "gold.json", gold)
    mine = write_json(tmp_path / "mine.json", PREDICTED)
    return read_states(mine, format="multiwoz-eval", gold=path, gold_name=name)


@pytest.mark.parametrize(
    ("gold", "name"),
    [
        (DIALOGS, "gold21"),
        ({"pmul1": [{"state": {"hotel": {"book day": "monday"}}}, {"state": {}}]}, None),
        ({"pmul1": {"0": {"gt": {"hotel": {"day": "monday"}}, "pr": {}}, "1": {"gt": {}, "pr": {}}}}, None),
    ],
)
def test_every_form_of_gold(tmp_path: Path, gold: Any, name: str | None) -> None:
    states = read(tmp_path, gold, name)
    assert states_content(states) == {"pmul1": [({DAY: "monday"}, {DAY: "monday"}), ({}, {})]}
    assert states.gold_signature


def test_one_of_several_golds(tmp_path: Path) -> None:
    states = read(tmp_path, DIALOGS, "gold24")
    assert states_content(states)["pmul1"][0] == ({}, {DAY: "monday"})
    (note,) = states.problems
    assert "1 of 2 gold dialogs are not predicted" in note.message
    with pytest.raises(UsageError, match="several golds"):
        read(tmp_path, DIALOGS)
    with pytest.raises(UsageError, match="did you mean 'gold24'"):
        read(tmp_path, DIALOGS, "gold25")


def test_a_gold_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"PMUL1.json: the gold in .* lacks this dialog"):
        read(tmp_path, {"pmul2": DIALOGS["pmul2"]}, "gold21")
    with pytest.raises(InputError, match=r"expected 1 turns, found 2"):
        read(tmp_path, {"pmul1": DIALOGS["pmul2"]}, "gold21")


def test_files_with_a_gold_of_their_own_can_take_another(tmp_path: Path) -> None:
    gold = write_json(tmp_path / "gold.json", DIALOGS)
    trade = {
        "PMUL1.json": {str(i): {"turn_belief": [], "pred_bs_ptr": ["hotel-book day-monday"]} for i in (0, 1)}
    }
    mine = write_json(tmp_path / "mine.json", trade)
    for name, jga in (("gold21", 0.5), ("gold24", 0.0)):
        outcome = run(
            "score",
            "--format",
            "trade",
            mine,
            "--gold",
            gold,
            "--gold-name",
            name,
            "--metric",
            "jga",
            "--json",
        )
        assert outcome.json()["rows"][0]["value"] == jga
        assert f"gold:{name}-" in outcome.json()["signature"]
