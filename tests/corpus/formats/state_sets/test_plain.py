"""state-sets files: what they hold, what is wrong with them, and that they survive a round trip."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.formats import STATE_SETS
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE
from tests.builders import StateSetFiles, write_json, write_state_sets
from tests.contents import states_content
from tests.samples import small_state_sets
from tests.strategies import state_set_files


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
