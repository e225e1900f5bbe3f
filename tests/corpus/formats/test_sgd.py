"""Schema-guided dialogues: a made-up corpus by hand, drawn ones against the oracle, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import extrinsic
from extrinsic.corpus.formats import SGD, SGD_FRAMES, StateSetFormat
from extrinsic.corpus.formats.sgd import token_sort_ratio
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.errors import InputError, UsageError
from tests.contents import states_content
from tests.oracles import sgd as oracle
from tests.running import assert_refused, run
from tests.schema_guided import (
    GOLD,
    PREDICTED,
    SCHEMA,
    by_chance,
    hand_made,
    write_gold,
    write_predictions,
)

R, H = "Restaurants_1", "Hotels_1"


def read(
    folder: Path,
    form: StateSetFormat = SGD,
    fuzzy: int | None = None,
    gold: Any = GOLD,
    predicted: Any = PREDICTED,
    schema: Any = SCHEMA,
) -> StateSets:
    reading = StateReading(str(write_gold(folder / "gold", gold, schema)), fuzzy)
    return form.read(write_predictions(folder / "mine" / "all.json", predicted), reading=reading)


def value(states: StateSets, metric: str) -> float | None:
    return extrinsic.score(states, metrics=[metric]).rows[0].value


THAI, TIME, JOSE, FOUR = (
    {(service, slot): value}
    for service, slot, value in (
        (R, "cuisine", "Thai"), (R, "time", "6 pm"), (H, "city", "San Jose"), (H, "stars", "4"),
    )
)  # fmt: skip
BERLIN = {(H, "city"): "Berlin"}


def test_dialogs_by_hand(tmp_path: Path) -> None:
    """A service keeps its last frame; any gold variant goes by the name that gold had first."""
    late = {(R, "time"): "pm 6"}
    assert states_content(read(tmp_path)) == {
        "1_00000": [
            (THAI, THAI),
            (THAI | TIME | JOSE, THAI | late | {(H, "city"): "San Josee"}),
            (THAI | TIME | JOSE | FOUR, THAI | late | JOSE | FOUR),
        ],
        "1_00001": [
            (BERLIN, BERLIN),
            (BERLIN | {(H, "stars"): "dontcare"}, BERLIN | {(H, "stars"): "3"}),
        ],
    }


def test_frames_by_hand(tmp_path: Path) -> None:
    content = states_content(read(tmp_path, SGD_FRAMES))
    lengths = {name: len(turns) for name, turns in content.items()}
    assert lengths == dict.fromkeys((f"1_00000 {R}", f"1_00000 {H}", f"1_00001 {H}"), 2)
    assert content[f"1_00000 {H}"][1] == (JOSE | FOUR, JOSE | FOUR)


@pytest.mark.parametrize(
    ("form", "fuzzy", "jga", "changed"),
    [
        # Of five turns: the time is wrong from the second on, the city in the second, the stars at the end.
        (SGD, None, 2 / 5, 0),
        (SGD, 95, 3 / 5, 1),
        (SGD, 94, 4 / 5, 2),
        # Of six frames.
        (SGD_FRAMES, None, 3 / 6, 0),
        (SGD_FRAMES, 95, 4 / 6, 1),
        (SGD_FRAMES, 94, 5 / 6, 2),
    ],
)
def test_joint_goal_accuracy_by_hand(
    tmp_path: Path, form: StateSetFormat, fuzzy: int | None, jga: float, changed: int
) -> None:
    states = read(tmp_path, form, fuzzy)
    assert value(states, "jga") == pytest.approx(jga)
    assert states.n_values_changed == changed


def test_a_categorical_value_is_never_nearly_right(tmp_path: Path) -> None:
    gold, predicted, schema = hand_made()
    schema[0]["slots"][1] |= {"is_categorical": True, "possible_values": ["6 pm"]}
    schema[1]["slots"][0] |= {"is_categorical": True, "possible_values": ["San Jose", "Berlin"]}
    states = read(tmp_path, fuzzy=1, gold=gold, predicted=predicted, schema=schema)
    assert states.n_values_changed == 0


@pytest.mark.parametrize(
    ("left", "right", "ratio"),
    [
        ("6 pm", "PM 6!", 100),
        ("San Jose", "San Josee", round(100 * 16 / 17)),
        ("abc", "xyz", 0),
        ("!", "!", 0),
        ("caf\u00e9 one", "caf one", 100),
        ("ab cd", "cd", round(100 * 4 / 7)),
    ],
)
def test_similarity_by_hand(left: str, right: str, ratio: int) -> None:
    """Twice the matching characters, of those of both; the words sorted."""
    assert token_sort_ratio(left, right) == ratio


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            SGD_FRAMES,
            {
                "jga": oracle.joint_goal_accuracy,
                "average_goal_accuracy": oracle.average_goal_accuracy,
            },
        ),
        (SGD, {"jga": oracle.joint_goal_accuracy_across_turn}),
    ],
)
def test_accuracies_equal_the_scorers(tmp_path: Path, seed: int, form: StateSetFormat, expected: Any) -> None:
    """Of frames, and across the frames of a turn, where all are there."""
    gold, predicted = by_chance(seed, all_frames=form is SGD)
    states = read(tmp_path, form, gold=gold, predicted=predicted)
    files = [{entry["dialogue_id"]: entry for entry in side} for side in (gold, predicted)]
    for metric, oracles in expected.items():
        assert value(states, metric) == pytest.approx(oracles(*files, SCHEMA))


def test_files_and_directories(tmp_path: Path) -> None:
    """Predictions may be a directory, a file, or compressed; what the scorer left beside them is not read."""
    gold = str(write_gold(tmp_path / "gold"))
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dialogues_001.json").write_text(json.dumps(PREDICTED[:1]))
    (folder / "dialogues_002.json.gz").write_bytes(gzip.compress(json.dumps(PREDICTED[1:]).encode()))
    (folder / "dialogues_and_metrics.json").write_text("{}")
    (folder / "schema.json").write_text("[]")
    file = write_predictions(tmp_path / "all.json")
    contents = [
        states_content(extrinsic.read_states(path, format="sgd", gold=gold)) for path in (folder, file)
    ]
    assert contents[0] == contents[1]
    assert extrinsic.read_states(folder, format="sgd", gold=gold).name == "mine"
    single = extrinsic.read_states(
        write_predictions(tmp_path / "one.json", PREDICTED[:1]),
        format="sgd",
        gold=f"{gold}/dialogues_001.json",
    )
    assert single.dialogs == ("1_00000",)


def test_notes_count_what_is_not_scored(tmp_path: Path) -> None:
    gold, predicted, _ = hand_made()
    first = predicted[0]["turns"]
    first[0]["frames"].append({"service": H, "state": {"slot_values": {}}})
    first[4]["frames"][0]["state"]["slot_values"] = {"city": ["SJ", "Rome"], "stars": ["7"]}
    states = read(tmp_path, fuzzy=94, gold=gold, predicted=predicted)
    assert {problem.severity for problem in states.problems} == {"note"}
    text = "\n".join(map(str, states.problems))
    for part in (
        "1 predicted frames are of services that gold has no frame of",
        "1 of 9 predicted values are followed by others",
        "1 of 9 predicted values are none of those that the schema lists",
        "2 of 9 predicted values count as gold ones by fuzzy=94 alone",
    ):
        assert part in text


def test_the_signature_names_gold_and_rules(tmp_path: Path) -> None:
    exact, fuzzy = (extrinsic.score(read(tmp_path, fuzzy=n), metrics="jga") for n in (None, 90))
    assert "format:sgd|gold:" in exact.signature
    assert "fuzzy" not in exact.signature
    assert "values:fuzzy=90" in fuzzy.signature
    gold, _, _ = hand_made()
    gold[1]["turns"][2]["frames"][0]["state"]["slot_values"]["stars"] = ["3"]
    other = extrinsic.score(read(tmp_path, gold=gold), metrics="jga")
    assert len({exact.signature, fuzzy.signature, other.signature}) == 3
    frames = extrinsic.score(read(tmp_path, SGD_FRAMES), metrics="jga")
    assert "format:sgd-frames|" in frames.signature


def spoil_gold_and_prediction() -> tuple[Any, Any, Any]:
    """One corpus with everything wrong at once."""
    gold, predicted, schema = hand_made()
    schema[1]["slots"].append({"name": "city", "is_categorical": False})
    schema[0]["slots"][2].pop("possible_values")
    first, second = (entry["turns"] for entry in predicted)
    first[0]["utterance"] = "Greek food"
    first[1]["speaker"] = "USER"
    first[2]["frames"][0]["state"]["slot_values"] |= {"cuisin": ["Thai"], "time": "6 pm"}
    first[2]["frames"].append(first[2]["frames"][0])
    first[4]["frames"][0]["state"]["slot_values"] = {"city": [], "stars": [4]}
    second[0]["frames"][0]["service"] = "Hotel_1"
    second[2]["frames"][0]["state"] = {}
    second.append({})
    predicted[1]["services"] = [R]
    predicted.append(json.loads(json.dumps(predicted[0])) | {"dialogue_id": "9"})
    predicted.append(predicted[0])
    gold.append(json.loads(json.dumps(gold[0])) | {"dialogue_id": "7"})
    gold[2]["turns"][0]["frames"][0]["state"]["slot_values"] = {"cuisine": [""]}
    return gold, predicted, schema


def test_every_problem_at_once(tmp_path: Path) -> None:
    gold, predicted, schema = spoil_gold_and_prediction()
    with pytest.raises(InputError) as caught:
        read(tmp_path, gold=gold, predicted=predicted, schema=schema)
    lines = str(caught.value).splitlines()
    mine, theirs = "mine/all.json, session", "gold/dialogues_003.json, session"
    for parts in (
        ("gold/schema.json", f"slot {H}-city", "stands more than once"),
        ("gold/schema.json", f"slot {R}-price", "lacks 'possible_values'"),
        (f"{theirs} 7, turn 0, slot {R}-cuisine", "a value is empty"),
        (f"{mine} 1_00000, turn 0", "another utterance", "Thai food", "Greek food"),
        (f"{mine} 1_00000, turn 1", "another speaker", "expected SYSTEM, found USER"),
        (f"{mine} 1_00000, turn 2, slot {R}-cuisin", "did you mean 'cuisine'?"),
        (f"{mine} 1_00000, turn 2, slot {R}-time", "expected an array", "6 pm"),
        (f"{mine} 1_00000, turn 2", f"'{R}' has more than one frame"),
        (f"{mine} 1_00000, turn 4, slot {H}-city", "the list of values is empty"),
        (f"{mine} 1_00000, turn 4, slot {H}-stars", "expected text", "number 4"),
        (f"{mine} 1_00001, turn 0", "unknown service; did you mean 'Hotels_1'?"),
        (f"{mine} 1_00001, turn 0", f"no frame of '{H}'"),
        (f"{mine} 1_00001, turn 2", "lacks 'slot_values'"),
        (f"{mine} 1_00001, turn 3", "the turn lacks 'speaker'"),
        (f"{mine} 1_00001:", "number of turns", "expected 3 turns, found 4"),
        (f"{mine} 1_00001:", "differ in their services"),
        (f"{mine} 9:", "gold does not have"),
        (f"{mine} 1_00000:", "the dialog stands more than once"),
        (f"{mine} 7:", "not predicted"),
    ):
        assert any(all(part in line for part in parts) for line in lines), (parts, lines)


def test_a_missing_schema_does_not_hide_the_rest(tmp_path: Path) -> None:
    _, predicted, _ = hand_made()
    predicted[0]["turns"][0]["frames"][0]["state"]["slot_values"] = {"cuisine": "Thai"}
    with pytest.raises(InputError) as caught:
        read(tmp_path, predicted=predicted, schema=None)
    assert "gold/schema.json: there is no such file" in str(caught.value)
    assert "1_00000, turn 0, slot Restaurants_1-cuisine" in str(caught.value)


@pytest.mark.parametrize("side", ["gold", "predicted", "schema"])
@pytest.mark.parametrize("content", [{}, [], None, [7], [{}], "x", [{"dialogue_id": "1_00000"}]])
def test_content_of_another_kind_is_refused(tmp_path: Path, side: str, content: Any) -> None:
    gold = write_gold(tmp_path / "gold", GOLD[:1])
    mine = write_predictions(tmp_path / "mine.json", PREDICTED[:1])
    paths = {"gold": gold / "dialogues_001.json", "predicted": mine, "schema": gold / "schema.json"}
    paths[side].write_text(json.dumps(content))
    assert_refused(run("validate", "--format", "sgd", "--gold", gold, mine), str(paths[side]))


def test_a_directory_without_dialogs(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold")
    (tmp_path / "none").mkdir()
    outcome = run("validate", "--format", "sgd", "--gold", gold, tmp_path / "none")
    assert_refused(outcome, "the directory has no files of dialogs")
    outcome = run("validate", "--format", "sgd", "--gold", tmp_path / "none", gold)
    assert_refused(outcome, "dialogues_*.json", "schema.json")


def test_choices_that_a_format_does_not_have(tmp_path: Path) -> None:
    gold, mine = write_gold(tmp_path / "gold"), write_predictions(tmp_path / "mine.json")
    assert_refused(run("score", "--format", "sgd", mine), "--gold")
    named = run("score", "--format", "sgd", "--gold", gold, "--gold-name", "gold24", mine)
    assert_refused(named, "take no gold_name", "--gold-name")
    assert_refused(run("score", "--format", "state-sets", "--fuzzy", 90, mine), "--fuzzy")
    assert_refused(run("score", "--format", "sgd", "--gold", gold, "--fuzzy", 101, mine), "1 to 100")
    assert_refused(run("score", "--format", "sgd", "--gold", gold, "--corpus", gold, mine), "--corpus")
    assert_refused(run("score", "--format", "dstc2", "--corpus", gold, "--gold", gold, mine), "--gold")
    with pytest.raises(UsageError, match="gold"):
        extrinsic.read_states(mine, format="sgd")
