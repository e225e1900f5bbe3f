"""Files of states: state-sets, those of TRADE, TripPy and SimpleTOD, gold from a file of its own; and whether
what they hold is a tracker at all: every rule on made-up states, and the real files that meet one.

Refusals are in test_refusals; schema-guided dialogs in test_sgd.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.formats import SIMPLETOD, STATE_SETS, TRADE, TRIPPY, read_states
from extrinsic.corpus.state_checks import Said, check_tracker
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE
from extrinsic.errors import InputError, UsageError
from tests.builders import StateSetFiles, write_json, write_state_sets
from tests.contents import states_content
from tests.real_data import FOLDER
from tests.running import run
from tests.samples import small_state_sets
from tests.strategies import state_set_files


def test_state_sets_by_hand(tmp_path: Path) -> None:
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


PREDICTED: Any = {"PMUL1.json": [{"state": {"hotel": {"bookday": "monday"}}, "response": ""}, {"state": {}}]}
DIALOGS: Any = {
    "pmul1": {
        "turns": [{"gold21": {"hotel": {"day": "monday"}}, "gold24": {}}, {"gold21": {}, "gold24": {}}]
    },
    "pmul2": {"turns": [{"gold21": {}, "gold24": {}}]},
}
DAY = ("hotel", "day")


def read_beside(tmp_path: Path, gold: Any, name: str | None = None) -> Any:
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
    states = read_beside(tmp_path, gold, name)
    assert states_content(states) == {"pmul1": [({DAY: "monday"}, {DAY: "monday"}), ({}, {})]}
    assert states.gold_signature


def test_one_of_several_golds(tmp_path: Path) -> None:
    states = read_beside(tmp_path, DIALOGS, "gold24")
    assert states_content(states)["pmul1"][0] == ({}, {DAY: "monday"})
    (note,) = states.problems
    assert "1 of 2 gold dialogs are not predicted" in note.message
    with pytest.raises(UsageError, match="several golds"):
        read_beside(tmp_path, DIALOGS)
    with pytest.raises(UsageError, match="did you mean 'gold24'"):
        read_beside(tmp_path, DIALOGS, "gold25")


def test_a_gold_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"PMUL1.json: the gold in .* lacks this dialog"):
        read_beside(tmp_path, {"pmul2": DIALOGS["pmul2"]}, "gold21")
    with pytest.raises(InputError, match=r"expected 1 turns, found 2"):
        read_beside(tmp_path, {"pmul1": DIALOGS["pmul2"]}, "gold21")


def test_files_with_a_gold_of_their_own_can_take_another(tmp_path: Path) -> None:
    gold = write_json(tmp_path / "gold.json", DIALOGS)
    trade = {
        "PMUL1.json": {str(i): {"turn_belief": [], "pred_bs_ptr": ["hotel-book day-monday"]} for i in (0, 1)}
    }
    mine = write_json(tmp_path / "mine.json", trade)
    for name, jga in (("gold21", 0.5), ("gold24", 0.0)):
        outcome = run(
            *("score", "--format", "trade", mine, "--gold", gold, "--gold-name", name),
            *("--metric", "jga", "--json"),
        )
        assert outcome.json()["rows"][0]["value"] == jga
        assert f"gold:{name}-" in outcome.json()["signature"]


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
