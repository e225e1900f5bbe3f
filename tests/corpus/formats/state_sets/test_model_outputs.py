"""What three trackers write (TRADE, TripPy, SimpleTOD), on made-up files; refusals are in test_refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extrinsic.corpus.formats import SIMPLETOD, TRADE, TRIPPY
from tests.builders import write_json
from tests.contents import states_content

FILE: Any = {
    "MUL0003.json": {
        "1": {
            "turn_belief": ["hotel-name-a-and-b guest house", "train-book people-2"],
            "pred_bs_ptr": ["train-book people-2", "hotel-area-none"],
            "pred_bs_class": ["not read"],
        },
        "0": {"turn_belief": [], "pred_bs_ptr": ["hotel-area-north"]},
    }
}


def test_trade_by_hand(tmp_path: Path) -> None:
    """Values may hold hyphens; turns come in the order of their numbers."""
    assert states_content(TRADE.read(write_json(tmp_path / "x.json", FILE))) == {
        "MUL0003.json": [
            ({}, {("hotel", "area"): "north"}),
            (
                {("hotel", "name"): "a-and-b guest house", ("train", "book people"): "2"},
                {("hotel", "area"): "none", ("train", "book people"): "2"},
            ),
        ]
    }


def entry(guid: Any, gold: str = "none", predicted: str = "none", **others: Any) -> Any:
    slots = {"slot_groundtruth_hotel-area": gold, "slot_prediction_hotel-area": predicted}
    return {"guid": guid, "input_ids_x": "not read", **slots, **others}


def test_trippy_by_hand(tmp_path: Path) -> None:
    """Turns of one dialog need not stand together; the mark of a copied value is no part of it."""
    second = {"slot_groundtruth_train-book_people": "2", "slot_prediction_train-book_people": "§§2"}
    value = [
        entry(["test", "MUL1.json", "1"], "a-b", "north", **second),
        entry(["test", "SNG2.json", "1"], "north", "north"),
        entry("test-MUL1.json-0", "none", "§§ north"),
    ]
    area, people = ("hotel", "area"), ("train", "book_people")
    assert states_content(TRIPPY.read(write_json(tmp_path / "x.json", value))) == {
        "MUL1.json": [
            ({area: "none"}, {area: "north"}),
            ({area: "a-b", people: "2"}, {area: "north", people: "2"}),
        ],
        "SNG2.json": [({area: "north"}, {area: "north"})],  # some versions count turns from 1
    }


def dialog(gold: Any, predicted: Any) -> Any:
    return {"target_turn_belief": gold, "generated_turn_belief": predicted, "target_turn_action": []}


def test_simpletod_by_hand(tmp_path: Path) -> None:
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
