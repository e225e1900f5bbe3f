"""SimpleTOD's output, on a made-up file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import SIMPLETOD
from extrinsic.errors import InputError
from tests.builders import write_json
from tests.contents import states_content


def dialog(gold: Any, predicted: Any) -> Any:
    return {"target_turn_belief": gold, "generated_turn_belief": predicted, "target_turn_action": []}


def refusal(tmp_path: Path, value: Any) -> str:
    with pytest.raises(InputError) as caught:
        SIMPLETOD.read(write_json(tmp_path / "x.json", value))
    return str(caught.value)


def test_by_hand(tmp_path: Path) -> None:
    value = {
        "mul1.json": dialog(
            [["hotel area north"], ["hotel area north", "train book people 2"]],
            [
                ["hotel area north <|endoftext|>", " "],
                ["hotel area south", "hotel area east", "hotel name a-b c"],
            ],
        )
    }
    states = SIMPLETOD.read(write_json(tmp_path / "x.json", value))
    area, people, name = ("hotel", "area"), ("train", "book people"), ("hotel", "name")
    assert states_content(states) == {
        "mul1.json": [
            ({area: "north"}, {area: "north"}),
            ({area: "north", people: "2"}, {area: "east", name: "a-b c"}),  # the last of two counts
        ]
    }
    assert states.problems == ()


def test_generated_nonsense_predicts_nothing_and_is_counted(tmp_path: Path) -> None:
    value = {"d": dialog([["hotel area north"]], [["hotel", "hotel area", "train book people", "taxi to x"]])}
    states = SIMPLETOD.read(write_json(tmp_path / "x.json", value))
    assert states_content(states) == {"d": [({("hotel", "area"): "north"}, {("taxi", "to"): "x"})]}
    (note,) = states.problems
    assert note.severity == "note"
    assert note.message.startswith("3 generated texts")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the file has the wrong kind"),
        ({}, "no dialogs"),
        ({"d": []}, "session d"),
        ({"d": {"target_turn_belief": []}}, "session d: the dialog lacks 'generated_turn_belief'"),
        ({"d": dialog([], [])}, "session d"),
        ({"d": dialog([[]], [])}, "session d: gold and prediction differ"),
        ({"d": dialog([["hotel area"]], [[]])}, "session d, turn 0: an entry of 'target_turn_belief'"),
        ({"d": dialog([[7]], [[]])}, "session d, turn 0"),
        ({"d": dialog([[]], ["hotel area north"])}, "session d, turn 0"),
    ],
)
def test_what_is_wrong_is_placed(tmp_path: Path, value: Any, place: str) -> None:
    assert place in refusal(tmp_path, value)
