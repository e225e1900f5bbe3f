"""TripPy's prediction files, on a made-up one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import TRIPPY
from extrinsic.errors import InputError
from tests.builders import write_json
from tests.contents import states_content


def entry(guid: Any, gold: str = "none", predicted: str = "none", **others: Any) -> Any:
    slots = {"slot_groundtruth_hotel-area": gold, "slot_prediction_hotel-area": predicted}
    return {"guid": guid, "input_ids_x": "not read", **slots, **others}


def refusal(tmp_path: Path, value: Any) -> str:
    with pytest.raises(InputError) as caught:
        TRIPPY.read(write_json(tmp_path / "x.json", value))
    return str(caught.value)


def test_by_hand(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({}, "the file has the wrong kind"),
        ([], "no dialogs"),
        ([7], "entry 0"),
        ([{"slot_prediction_a-b": "c"}], "entry 0 lacks 'guid'"),
        ([entry(["test", "d"])], "the guid of entry 0"),
        ([entry(["test", "d", "x"])], "the guid of entry 0"),
        ([entry(["test", "d", 0])], "the guid of entry 0"),
        ([entry(["test", "d", "²"])], "the guid of entry 0"),
        ([entry(["test", "d", "9" * 5000])], "entry 0"),
        ([entry(["test", "d", "0"]), entry(["test", "d", "0"])], "session d, turn 0: the turn occurs more"),
        ([entry(["test", "d", "0"]), entry(["test", "d", "2"])], "session d: turns are missing"),
        ([entry(["test", "d", "0"], gold=7)], "session d, turn 0, slot hotel-area"),
        ([entry(["test", "d", "0"], slot_prediction_hotel="x")], "names no slot"),
        ([{"guid": ["test", "d", "0"], "slot_prediction_a-b": "c"}], "begins with 'slot_groundtruth_'"),
        (
            [entry(["test", "d", "0"], **{"slot_prediction_a-b": "c", "slot_groundtruht_a-b": "c"})],
            "slot a-b: the entry lacks 'slot_groundtruth_a-b'; did you mean 'slot_groundtruht_a-b'?",
        ),
        ([entry(["test", "d", "0"], **{"slot_groundtruth_a-b": "c"})], "lacks 'slot_prediction_a-b'"),
    ],
)
def test_what_is_wrong_is_placed(tmp_path: Path, value: Any, place: str) -> None:
    assert place in refusal(tmp_path, value)


@pytest.mark.parametrize("unread", ['"loss": NaN', '"loss": [{"a": 1, "a": 2}]', '"loss": 1, "loss": 2'])
def test_strict_json_also_where_nothing_is_read(tmp_path: Path, unread: str) -> None:
    """Models write much that we do not read; a file that is no JSON is still not to be trusted."""
    slots = '"slot_prediction_a-b": "c", "slot_groundtruth_a-b": "c"'
    (tmp_path / "x.json").write_text(f'[{{"guid": ["t", "d", "0"], {unread}, {slots}}}]')
    with pytest.raises(InputError, match="loss"):
        TRIPPY.read(tmp_path / "x.json")
