"""TRADE's prediction files, on a made-up one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import TRADE
from extrinsic.errors import InputError
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


def refusal(tmp_path: Path, value: Any) -> str:
    with pytest.raises(InputError) as caught:
        TRADE.read(write_json(tmp_path / "x.json", value))
    return str(caught.value)


def test_by_hand(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("turn", "place"),
    [
        ({"turn_belief": []}, "lacks 'pred_bs_ptr'"),
        ({"turn_belief": "x", "pred_bs_ptr": []}, "'turn_belief' has the wrong kind"),
        ({"turn_belief": ["hotel-area"], "pred_bs_ptr": []}, "not a triple"),
        ({"turn_belief": [7], "pred_bs_ptr": []}, "not a triple"),
        ({"turn_belief": ["a-b-c", "a-b-d"], "pred_bs_ptr": []}, "slot a-b: the slot has two values"),
        ([], "the turn has the wrong kind"),
    ],
)
def test_what_is_wrong_is_placed(tmp_path: Path, turn: Any, place: str) -> None:
    text = refusal(tmp_path, {"d": {"0": turn}})
    assert "session d, turn 0" in text
    assert place in text


@pytest.mark.parametrize(
    "value", [{}, [], None, {"d": {}}, {"d": []}, {"d": {"1": FILE["MUL0003.json"]["0"]}}]
)
def test_files_without_turns_are_refused(tmp_path: Path, value: Any) -> None:
    assert refusal(tmp_path, value)
