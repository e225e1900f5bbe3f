"""state-sets files: what they hold, what is wrong with them, and that they survive a round trip."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.formats import STATE_SETS
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE
from extrinsic.errors import InputError
from tests.builders import StateSetFiles, write_json, write_state_sets
from tests.contents import states_content
from tests.samples import small_state_sets
from tests.strategies import state_set_files

TURN = {"gt": {}, "pr": {}}


def complaints(tmp_path: Path, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError) as caught:
        STATE_SETS.read(tmp_path / "x.json")
    return [str(problem) for problem in caught.value.problems]


def test_by_hand(tmp_path: Path) -> None:
    states = STATE_SETS.read(write_state_sets(tmp_path, small_state_sets()))
    assert states.name == "states"
    assert states.dialogs == ("PMUL0001.json", "SNG0002.json")
    assert states.offsets.tolist() == [0, 2, 3]
    assert states.slots == (("hotel", "area"), ("hotel", "name"), ("taxi", "leave at"))
    assert states.domains == ("hotel", "taxi")
    north, time = states.vocabulary.find("north"), states.vocabulary.find("10:15")
    south, name = states.vocabulary.find("south"), states.vocabulary.find("a-and-b")
    assert states.gold.tolist() == [[north, ABSENT, ABSENT], [north, GIVEN_NONE, time], [ABSENT] * 3]
    assert states.predicted.tolist() == [[north, ABSENT, ABSENT], [south, name, ABSENT], [ABSENT] * 3]


def plain_content(files: StateSetFiles) -> dict[str, Any]:
    """The same as contents.states_content, straight from the file: an empty value is none at all."""

    def state(written: Any) -> dict[tuple[str, str], str]:
        return {(d, s): v for d, slots in written.items() for s, v in slots.items() if v}

    return {
        dialog: [(state(turn["gt"]), state(turn["pr"])) for turn in turns.values()]
        for dialog, turns in files.states.items()
    }


@settings(max_examples=60, deadline=None)
@given(files=state_set_files())
def test_what_is_read_is_what_stands_there(files: StateSetFiles) -> None:
    with TemporaryDirectory() as folder:
        states = STATE_SETS.read(write_state_sets(Path(folder), files))
    assert states_content(states) == plain_content(files)


@settings(max_examples=40, deadline=None)
@given(files=state_set_files(), data=st.data())
def test_taking_dialogs_commutes_with_reading(files: StateSetFiles, data: st.DataObject) -> None:
    dialogs = list(files.states)
    chosen = data.draw(st.lists(st.integers(0, len(dialogs) - 1), min_size=1, max_size=3, unique=True))
    part = StateSetFiles({dialogs[i]: files.states[dialogs[i]] for i in chosen})
    with TemporaryDirectory() as folder:
        states = STATE_SETS.read(write_state_sets(Path(folder), files))
        expected = states_content(STATE_SETS.read(write_state_sets(Path(folder), part)))
    assert states_content(states.take(chosen)) == expected
    assert list(states_content(states.take(chosen))) == list(expected)


def test_turns_are_ordered_by_number(tmp_path: Path) -> None:
    turns = {str(n): {"gt": {"a": {"b": str(n)}}, "pr": {}} for n in (10, *range(10))}
    states = STATE_SETS.read(write_json(tmp_path / "x.json", {"d": turns}))
    assert [gold[("a", "b")] for gold, _ in states_content(states)["d"]] == [str(n) for n in range(11)]


def test_escapes_in_json_are_no_defect(tmp_path: Path) -> None:
    """A colon may be written as \\u003a, and a less-than sign as \\u003c (some encoders always do)."""
    (tmp_path / "x.json").write_text('{"d": {"0": {"gt": {"a": {"b": "10\\u003a15"}}, "pr": {}}}}')
    assert states_content(STATE_SETS.read(tmp_path / "x.json")) == {"d": [({("a", "b"): "10:15"}, {})]}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the file has the wrong kind"),
        ({}, "no dialogs"),
        ({"d": []}, "session d"),
        ({"d": {}}, "session d: the dialog has no turns"),
        ({"d": {"0": TURN, "2": TURN}}, "turns are missing (expected turns 0 to 1, found no '1')"),
        ({"d": {"1": TURN}}, "turns are missing"),
        ({"d": {"00": TURN}}, "found '00'"),
        ({"d": {"-1": TURN}}, "found '-1'"),
        ({"d": {"9" * 5000: TURN}}, "session d"),
        ({"d": {"0": 7}}, "session d, turn 0: the turn has the wrong kind"),
        ({"d": {"0": {"gt": {}}}}, "session d, turn 0: the turn lacks 'pr'"),
        ({"d": {"0": {**TURN, "pred": {}}}}, "did you mean 'pr'?"),
        ({"d": {"0": {"gt": [], "pr": {}}}}, "session d, turn 0: 'gt' has the wrong kind"),
        ({"d": {"0": {"gt": {"hotel": "x"}, "pr": {}}}}, "the domain 'hotel' of 'gt'"),
        ({"d": {"0": {"gt": {}, "pr": {"hotel": {"area": 7}}}}}, "slot hotel-area"),
        ({"d": {"0": {"gt": {}, "pr": {"hotel": {"area": None}}}}}, "found null"),
        ('{"d": {"0": {"gt": {"a": {"b": "1", "b": "2"}}, "pr": {}}}}', "'b' occurs more than once"),
        ('{"d": {"0": {"gt": {}, "pr": {}}}, "d": {"0": {"gt": {}, "pr": {}}}}', "'d' occurs more than once"),
        ('{"d": {"0": {"gt": {"a": {"b": "\\ud800"}}, "pr": {}}}}', "x.json"),
    ],
)
def test_what_is_wrong_is_placed(tmp_path: Path, value: Any, place: str) -> None:
    assert any(place in text for text in complaints(tmp_path, value)), complaints(tmp_path, value)


def test_all_problems_at_once(tmp_path: Path) -> None:
    value = {"one": {"0": {"gt": {"a": {"b": 1, "c": 2}}, "pr": []}}, "two": [], "three": {"x": TURN}}
    assert len(complaints(tmp_path, value)) == 5
