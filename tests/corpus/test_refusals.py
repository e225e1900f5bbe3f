"""Whatever is wrong with a file is refused at its place: a table of formats, files, changes and places.

Good files of every format are laid out once; each row spoils one of them, and says what must be named.
"""

from __future__ import annotations

import copy
import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    hypothesis,
    slu_label,
    write_dstc1,
    write_dstc2,
    write_json,
    write_state_sets,
)
from tests.running import Outcome, assert_refused, run
from tests.samples import small_dstc1, small_dstc2, small_state_sets

Json = Any
Change = bytes | str | tuple[str, str] | Callable[[Any], object]
"""New content (bytes, or text), a replacement in the text, or what changes the JSON (in place)."""

TURN = {"gt": {}, "pr": {}}
TRADE = {"d": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-a-b"]}}}
SIMPLETOD = {"d": {"target_turn_belief": [["hotel area x"]], "generated_turn_belief": [["hotel area y"]]}}
TRIPPY = [
    {"guid": ["test", "d", "0"], "slot_groundtruth_hotel-area": "x", "slot_prediction_hotel-area": "§§x"}
]
GOLD = {"pmul1": {"turns": [{"gold21": {"hotel": {"day": "monday"}}}]}}
PREDICTED = {"pmul1": [{"state": {"hotel": {"bookday": "monday"}}, "response": ""}]}
BELIEFS = ("dstc1", "dstc2")
FORMATS = (*BELIEFS, "state-sets", "trade", "trippy", "simpletod", "multiwoz-eval")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good files for each format."""
    root = tmp_path_factory.mktemp("good")
    write_dstc1(root / "dstc1", small_dstc1())
    write_dstc2(root / "dstc2", small_dstc2())
    write_state_sets(root / "state-sets", small_state_sets()).rename(root / "state-sets" / "tracker.json")
    own = {"trade": TRADE, "trippy": TRIPPY, "simpletod": SIMPLETOD, "multiwoz-eval": PREDICTED}
    for form, content in own.items():
        write_json(root / form / "tracker.json", content)
    write_json(root / "multiwoz-eval" / "gold.json", GOLD)
    return root


@pytest.fixture
def files(good: Path, tmp_path: Path) -> Path:
    shutil.copytree(good, tmp_path / "files")
    return tmp_path / "files"


def validate(files: Path, form: str, *paths: Path, corpus: Path | None = None) -> Outcome:
    folder = files / form
    options: dict[str, list[object]] = {
        **{name: ["--corpus", corpus or folder / "corpus"] for name in BELIEFS},
        "multiwoz-eval": ["--gold", folder / "gold.json", "--gold-name", "gold21"],
    }
    return run("validate", "--format", form, *options.get(form, []), *(paths or [folder / "tracker.json"]))


def at(*keys: Any, to: Json) -> Callable[[Any], object]:
    """What puts a value at the end of a path of keys."""

    def change(file: Any) -> None:
        for key in keys[:-1]:
            file = file[key]
        file[keys[-1]] = to

    return change


def spoil(files: Path, form: str, name: str, change: Change) -> Path:
    (path,) = (files / form).rglob(name)
    if isinstance(change, tuple):
        assert change[0] in path.read_text()
        path.write_text(path.read_text().replace(*change, 1))
    elif callable(change):
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
    else:
        path.write_bytes(change if isinstance(change, bytes) else change.encode())
    return path


Row = tuple[str, str, Change, str]

BAD_SCORES: list[tuple[Json, str]] = [
    ("0.5", "found text '0.5'"),
    (True, "found boolean True"),
    (None, "found null"),
    ([0.5], "found array with 1 entry"),
    (float("nan"), "found nan"),
    (float("-inf"), "found -inf"),
    (10**400, "is not finite"),
]
SCORES = {
    ("dstc1", "slot route"): ("sessions", 0, "turns", 1, "route", "hyps", 0, "score"),
    ("dstc2", "slot food"): ("sessions", 0, "turns", 1, "goal-labels", "food", "thai"),
    ("dstc2", "slot method"): ("sessions", 0, "turns", 1, "method-label", "none"),
    ("dstc2", "slot phone"): ("sessions", 0, "turns", 1, "requested-slots", "phone"),
}


def score_rows() -> Iterator[Row]:
    for (form, slot), keys in SCORES.items():
        for score, shown in BAD_SCORES if slot in ("slot route", "slot food") else BAD_SCORES[:2]:
            yield form, "tracker.json", at(*keys, to=score), f"session one, turn 1, {slot}: ... {shown}"
    joint = at("sessions", 0, "turns", 0, "goal-labels-joint", 0, "score", to="x")
    yield "dstc2", "tracker.json", joint, "session one, turn 0, slot joint"
    for form in BELIEFS:
        yield form, "tracker.json", ("0.75", "1e999"), "session one, turn ... not finite"
        yield form, "tracker.json", ("0.75", "9" * 5000), "tracker.json"


def session_rows() -> Iterator[Row]:
    """Sessions and turns of a tracker file are those of the corpus, in its order."""
    extra = {"session-id": "four", "turns": []}
    changes: list[tuple[Change, str]] = [
        (lambda file: file["sessions"].pop(0), "session one: a session of the corpus is missing"),
        (lambda file: file["sessions"].append(extra), "not in the corpus ... four"),
        (lambda file: file["sessions"].reverse(), "out of order, first at position 0 ... expected one"),
        (
            lambda file: file["sessions"].append(file["sessions"][0]),
            "one: the session occurs 2 times",
        ),
        (lambda file: file["sessions"][0]["turns"].pop(), "session one ... expected 2 turns, found 1"),
        (lambda file: file["sessions"].clear(), "the file has no sessions"),
        (('"session-id": "', '"session-id": "voip-'), "voip-one"),
        (at("dataset", to="dstc9"), "another dataset ... 'dstc9'"),
        (lambda file: file.pop("dataset"), "the file lacks 'dataset'"),
    ]
    for form in BELIEFS:
        for change, place in changes:
            yield form, "tracker.json", change, place


def pair_rows() -> Iterator[Row]:
    """Names and values in hypotheses of DSTC1."""
    pairs: list[tuple[str, Json, str]] = [
        ("route", {"rout": "61c"}, "did you mean 'route'?"),
        ("route", {"from.desc": "cmu"}, "contains another slot"),
        ("route", {"route": "61c", "from.desc": "cmu"}, "contains another slot"),
        ("time", {"time": "7"}, "unknown slot"),
        ("joint", {"place": "x"}, "unknown slot"),
        ("route", {"route": ["61c"]}, "wrong kind"),
        ("route", {"route": None}, "wrong kind"),
        ("joint", {"route": False}, "wrong kind"),
        ("route", {"route": float("nan")}, "slots.route'"),
        ("time", {"time.hour": float("inf")}, "slots.time.hour'"),
    ]
    for slot, value, place in pairs:
        change = at("sessions", 0, "turns", 1, slot, to={"hyps": [hypothesis(0.5, value)]})
        yield "dstc1", "tracker.json", change, f"session one, turn 1, slot {slot} ... {place}"


def name_rows() -> Iterator[Row]:
    yield (
        *("dstc1", "tracker.json", at("sessions", 1, "turns", 0, "from.dsc", to={"hyps": []})),
        "session two, turn 0 ... did you mean 'from.desc'?",
    )
    names: list[tuple[str, Json, str]] = [
        ("goal-labels", {"fod": {"thai": 0.5}}, "did you mean 'food'?"),
        ("goal-labels-joint", [hypothesis(0.5, {"fod": "thai"})], "did you mean 'food'?"),
        ("requested-slots", {"fone": 0.5}, "did you mean 'phone'?"),
        ("method-label", {"byconstraint": 0.5}, "did you mean 'byconstraints'?"),
        ("goal-label", {}, "did you mean 'goal-labels'?"),
    ]
    for key, value, place in names:
        change = at("sessions", 1, "turns", 0, key, to=value)
        yield "dstc2", "tracker.json", change, f"session two, turn 0 ... {place}"


LOGS: list[tuple[str, str, str]] = [
    ('"turn-index": 1', '"turn-index": 2', "turn 1: the turn index is out of order"),
    ('"turn-index": 1', '"turn-index": true', "turn 1: 'turn-index' has the wrong kind"),
    ('"turn-index": 1, ', "", "turn 1: the turn lacks 'turn-index'"),
    ('"restart": false', '"restart": 0', "turn 1: 'restart' has the wrong kind"),
    ('"score": 0.6', '"score": NaN', "turn 0: 'input.live.slu-hyps[0].score'"),
    ('"score": 0.6', '"score": 1' + "0" * 400, "turn 0: 'input.live.slu-hyps[0].score'"),
    ('"act": "hello"', '"act": 7', "turn 0"),
    ('["route", "61d"]', '["route"]', "turn 0"),
    ('["route", "61d"]', '["route", true]', "turn 0"),
    ('"session-id": "one"', '"session-id": 1', "'session-id' has the wrong kind"),
    ('"turns": [', '"turns": [], "x": [', "'turns' is empty"),
    ('"session-id"', '"x": {"a": 1, "a": 2}, "session-id"', "'a'"),
    ('"session-id"', '"x": [NaN], "session-id"', "x"),
]
LABELS: list[tuple[Change, str]] = [
    (b"", "the file is empty"),
    (b'{"turns": [', "ends too early"),
    (b"\x1f\x8b\x08 no gzip", "gzip"),
    (b'{"turns": []}', "expected 2 turns, found 0"),
    (b'{"turn": []}', "lacks 'turns'"),
    (b'{"turns": [{"slu-labels": []}, {"slu-labels": 7}]}', "turn 1"),
    (b'{"turns": [{"slu-labels": []}, {"slu-labels": [{"slots": {}, "label": 1}]}]}', "turn 1"),
    ('{"turns": [], "name": "é"}'.encode("latin-1"), "byte 0xe9"),
    *[
        (at("turns", 1, "slu-labels", 0, to=slu_label(True, pairs)), f"turn 1 ... {place}")
        for pairs, place in [
            ({}, "no pairs"),
            ({"rout": "61c"}, "did you mean 'route'"),
            ({"route": "61c", "from.desc": "cmu"}, "not about one slot"),
            ({"date": "monday"}, "unknown slot"),
            ({"route": ["61c"]}, "wrong kind"),
            ({"route": None}, "wrong kind"),
        ]
    ],
]
PROPENSITIES: list[tuple[Json, str]] = [
    ({"confrim": 0.5}, "did you mean 'confirm'"),
    ({"confirm": "often"}, "output.propensities.confirm' has the wrong kind"),
    ({"confirm": None}, "output.propensities.confirm' has the wrong kind"),
    ([0.5, 0.5], "output.propensities' has the wrong kind"),
    ({"offer": 2.0, "confirm": -1.0}, "'offer' is no probability (expected 0 to 1, found 2)"),
    ({"offer": 1.5, "confirm": -0.5}, "'confirm' is no probability (expected 0 to 1, found -0.5)"),
    ({"offer": 0.5}, "do not add up to 1 (expected 1, found 0.5)"),
    ({}, "do not add up to 1"),
    ({"offer": 0.0, "confirm": 1.0}, "'offer', has a propensity of 0"),
    ({"confirm": 1.0}, "'offer', has a propensity of 0"),
]
LABELS_2: list[tuple[Change, str]] = [
    (at("turns", 1, "goal-labels", "fod", to="thai"), "slot fod"),
    (at("turns", 1, "goal-labels", "food", to=7), "slot food"),
    (at("turns", 1, "requested-slots", to=["fone"]), "slot fone"),
    (at("turns", 1, "method-label", to=None), "method-label"),
    (lambda file: file["turns"][1].pop("semantics"), "'semantics'"),
    (at("turns", 1, "semantics", "json", to=[{"act": "inform"}]), "lacks 'slots'"),
]
ONTOLOGY: list[tuple[str, str]] = [
    ("[]", "Expected `object`"),
    ('{"informable": {}}', "requestable"),
    ('{"informable": {"food": "thai"}, "requestable": []}', "informable"),
    ('{"informable": {}, "requestable": [], "requestable": []}', "'requestable' occurs more than once"),
]


def corpus_rows() -> Iterator[Row]:
    for old, new, place in LOGS:
        yield "dstc1", "one/dstc.log.json", (old, new), place
    for change, place in LABELS:
        yield "dstc1", "one/dstc.labels.json", change, place
    for logged, place in PROPENSITIES:
        change = at("turns", 2, "output", "propensities", to=logged)
        yield "dstc1", "two/dstc.log.json", change, f"two, turn 2 ... {place}"
    for change, place in LABELS_2:
        yield "dstc2", "three/label.json", change, f"three, turn 1 ... {place}"
    for text, place in ONTOLOGY:
        yield "dstc2", "ontology_dstc2.json", text, place


def entry(guid: Any, **others: Any) -> Json:
    return [{"guid": guid, "slot_groundtruth_a-b": "c", "slot_prediction_a-b": "c", **others}]


def replaced(content: Json, place: str) -> tuple[Change, str]:
    return json.dumps(content), place


STATES: dict[str, list[tuple[Change, str]]] = {
    "state-sets": [
        replaced([], "the file has the wrong kind"),
        replaced({}, "no dialogs"),
        replaced({"d": []}, "session d"),
        replaced({"d": {}}, "session d: the dialog has no turns"),
        replaced({"d": {"0": TURN, "2": TURN}}, "turns are missing (expected turns 0 to 1, found no '1')"),
        replaced({"d": {"00": TURN}}, "found '00'"),
        replaced({"d": {"9" * 5000: TURN}}, "session d"),
        replaced({"d": {"0": 7}}, "session d, turn 0: the turn has the wrong kind"),
        replaced({"d": {"0": {"gt": {}}}}, "session d, turn 0: the turn lacks 'pr'"),
        replaced({"d": {"0": {**TURN, "pred": {}}}}, "did you mean 'pr'?"),
        replaced({"d": {"0": {"gt": [], "pr": {}}}}, "session d, turn 0: 'gt' has the wrong kind"),
        replaced({"d": {"0": {"gt": {"hotel": "x"}, "pr": {}}}}, "'gt.hotel' has the wrong kind"),
        replaced({"d": {"0": {"gt": {}, "pr": {"hotel": {"area": 7}}}}}, "slot hotel-area"),
        replaced({"d": {"0": {"gt": {}, "pr": {"hotel": {"area": None}}}}}, "found null"),
        ('{"d": {"0": {"gt": {"a": {"b": "\\ud800"}}, "pr": {}}}}', "tracker.json"),
    ],
    "trade": [
        replaced({"d": {}}, "session d"),
        replaced({"d": {"1": TRADE["d"]["0"]}}, "turns are missing"),
        (at("d", "0", to={"turn_belief": []}), "session d, turn 0 ... lacks 'pred_bs_ptr'"),
        (at("d", "0", "turn_belief", to="x"), "session d, turn 0: 'turn_belief' has the wrong kind"),
        (at("d", "0", "turn_belief", to=["hotel-area"]), "session d, turn 0 ... not a triple"),
        (at("d", "0", "turn_belief", to=[7]), "session d, turn 0 ... not a triple"),
        (at("d", "0", "turn_belief", to=["a-b-c", "a-b-d"]), "slot a-b: the slot has two values"),
        (at("d", "0", to=[]), "session d, turn 0: the turn has the wrong kind"),
    ],
    "trippy": [
        replaced({}, "the file has the wrong kind"),
        replaced([], "no dialogs"),
        replaced([7], "entry 0"),
        replaced([{"slot_prediction_a-b": "c"}], "entry 0 lacks 'guid'"),
        *[replaced(entry(["test", "d", *turn]), "entry 0") for turn in ([], ["x"], [0], ["²"], ["9" * 5000])],
        replaced(2 * entry(["test", "d", "0"]), "session d, turn 0: the turn occurs more"),
        replaced(entry(["t", "d", "0"]) + entry(["t", "d", "2"]), "session d: turns are missing"),
        replaced(entry(["t", "d", "0"], **{"slot_groundtruth_a-b": 7}), "session d, turn 0, slot a-b"),
        replaced(entry(["t", "d", "0"], slot_prediction_hotel="x"), "names no slot"),
        replaced([{"guid": ["t", "d", "0"], "slot_prediction_a-b": "c"}], "begins with 'slot_groundtruth_'"),
        replaced(
            entry(["t", "d", "0"], **{"slot_prediction_x-y": "c", "slot_groundtruht_x-y": "c"}),
            "slot x-y: the entry lacks 'slot_groundtruth_x-y'; did you mean 'slot_groundtruht_x-y'?",
        ),
        replaced(entry(["t", "d", "0"], **{"slot_groundtruth_x-y": "c"}), "lacks 'slot_prediction_x-y'"),
        # Models write much that we do not read; a file that is no JSON is still not to be trusted.
        *[(('"guid"', f'{unread}, "guid"'), "loss") for unread in ('"loss": NaN', '"loss": 1, "loss": 2')],
    ],
    "simpletod": [
        replaced([], "the file has the wrong kind"),
        replaced({"d": []}, "session d"),
        replaced({"d": {"target_turn_belief": []}}, "session d: the dialog lacks 'generated_turn_belief'"),
        (at("d", "generated_turn_belief", to=[]), "session d: gold and prediction differ"),
        (at("d", "target_turn_belief", 0, 0, to="hotel area"), "turn 0: an entry of 'target_turn_belief'"),
        (at("d", "target_turn_belief", 0, 0, to=7), "session d, turn 0"),
        (at("d", "generated_turn_belief", 0, to="hotel area north"), "session d, turn 0"),
    ],
    "multiwoz-eval": [
        (at("pmul1", 0, "state", "hotel", "area", to=7), "session pmul1, turn 0, slot hotel-area"),
        (at("pmul1", 0, to={"states": {}}), "session pmul1, turn 0 ... did you mean 'state'?"),
        (at("pmul1", 0, to=[]), "session pmul1, turn 0: the turn has the wrong kind"),
    ],
}

TWICE: list[Row] = [
    ("dstc1", "tracker.json", ('{"route": "61d"}', '{"route": "61d", "route": "61c"}'), "turn 0, slot route"),
    ("dstc1", "tracker.json", ('"score": 0.25', '"score": 0.25, "score": 0.3'), "turn 0, slot route"),
    ("dstc2", "tracker.json", ('"thai": 0.75', '"thai": 0.75, "thai": 0.5'), "turn 0, slot food"),
    ("dstc2", "tracker.json", ('"phone": 0.25', '"phone": 0.25, "phone": 0.25'), "session one, turn 0"),
    ("dstc2", "tracker.json", ('"food": "greek"', '"food": "greek", "food": "th:ai"'), "turn 0, slot joint"),
    ("state-sets", "tracker.json", ('"area": "south"', '"area": "south", "area": "north"'), "turn 1"),
    ("state-sets", "tracker.json", '{"d": {"0": {"gt": {}, "pr": {}}}, "d": {}}', "'d'"),
]
UNREADABLE: list[tuple[bytes, str]] = [
    (b"", "the file is empty"),
    (b'{"sessions": [{"session-id": "one", ', "the JSON ends too early, line 1 column"),
    (b'{"sessions" [', "malformed"),
    (b"\x00\x01\x02\xff\xfe", "not text"),
    ('{"session-id": "café"}'.encode("latin-1"), "byte 0xe9"),
    (gzip.compress(b'{"sessions": []}', mtime=0)[:-5], "the gzip data is cut off"),
    (gzip.compress(b'{"sessions": []}', mtime=0)[:-5] + b"x" * 5, "the gzip data is corrupt"),
    (b"\x1f\x8b\x08 this is no gzip", "gzip"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"a": 1, "a": 2}', "'a' occurs more than once"),
    (b"null", "found null"),
    (b'"text"', "wrong kind"),
]


def all_rows() -> Iterator[Row]:
    for rows in (score_rows, session_rows, pair_rows, name_rows, corpus_rows):
        yield from rows()
    for form, changes in STATES.items():
        yield from ((form, "tracker.json", change, place) for change, place in changes)
    yield from ((form, name, change, f"more than once ... {place}") for form, name, change, place in TWICE)
    for form in FORMATS:
        for content, place in UNREADABLE:
            inside = form == "trippy" and content.startswith(b'{"a"')
            yield form, "tracker.json", b"[" + content + b"]" if inside else content, place


@pytest.mark.parametrize(("form", "name", "change", "place"), list(all_rows()))
def test_a_spoilt_file_is_refused_at_its_place(
    files: Path, form: str, name: str, change: Change, place: str
) -> None:
    """The parts of a place, which ... divides, are all named."""
    path = spoil(files, form, name, change)
    assert_refused(validate(files, form), path.name, *place.split(" ... "))


def containers(value: Json, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of the objects and arrays of a file, of its first session or dialog only."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    yield keys
    for key, item in items[:1] if keys in ((), ("sessions",)) and "sessions" not in value else items:
        if isinstance(item, dict | list):
            yield from containers(item, (*keys, key))


@pytest.mark.parametrize(("form", "depth"), [("dstc1", 4), ("dstc2", 4), ("state-sets", 2)])
def test_wrong_nesting_at_every_level(files: Path, form: str, depth: int) -> None:
    """Below a turn the turn is named; above it whatever is known."""
    path = files / form / "tracker.json"
    content = json.loads(path.read_text())
    place = "PMUL0001.json, turn" if form == "state-sets" else "session one, turn"
    for keys in containers(content):
        for by in (7, None, [[7]], {"x": {"y": 7}}):
            spoilt = copy.deepcopy(content)
            if keys:
                at(*keys, to=by)(spoilt)
            path.write_text(json.dumps(spoilt if keys else by))
            assert_refused(validate(files, form), "tracker.json", *([place] if len(keys) >= depth else []))


def test_all_problems_at_once(files: Path) -> None:
    change = {"goal-labels": {"fod": {"thai": "x"}}}

    def spoil_all(file: Any) -> None:
        for session in file["sessions"]:
            session["turns"] = [turn | change for turn in session["turns"]]

    spoil(files, "dstc2", "tracker.json", spoil_all)
    outcome = validate(files, "dstc2")
    assert_refused(outcome, "10 errors")
    # Two kinds, each in five turns: a line each, at its first place.
    lines = outcome.output.splitlines()[1:]
    assert [line.partition(":")[0].strip() for line in lines] == ["session one, turn 0, slot fod"] * 2
    assert all(line.endswith("and 4 more like it") for line in lines)
    for form in BELIEFS:

        def spoil_head(file: Any) -> None:
            file.update({"dataset": "dstc9", "extra": 1, "wall-time": "long"})
            file["sessions"][0]["turns"].pop()
            file["sessions"][1]["session-id"] = "four"

        spoil(files, form, "tracker.json", spoil_head)
        assert_refused(validate(files, form), "'dstc9'", "'extra'", "wall-time", "expected 2 turns", "four")
    states = {"one": {"0": {"gt": {"a": {"b": 1, "c": 2}}, "pr": []}}, "two": [], "three": {"x": TURN}}
    spoil(files, "state-sets", "tracker.json", json.dumps(states))
    assert "5 errors" in validate(files, "state-sets").output


def test_bad_labels_of_all_sessions(files: Path) -> None:
    """Some only show when the domain is asked: they name the session's file too, and all come at once."""
    for session in ("one", "two"):
        change = at("turns", 0, "slu-labels", 0, to=slu_label(True, {"rout": "61c"}))
        spoil(files, "dstc1", f"{session}/dstc.labels.json", change)
    assert_refused(validate(files, "dstc1"), "2 errors", "one/dstc.labels.json")


@pytest.mark.parametrize("form", FORMATS)
def test_paths_that_are_no_files(files: Path, form: str) -> None:
    assert_refused(validate(files, form, files / "nowhere.json"), "nowhere.json", "no such file")
    assert_refused(validate(files, form, files), str(files), "this is a directory")
    assert_refused(validate(files, form, files / ("x" * 300)), "xxx")


@pytest.mark.parametrize("form", BELIEFS)
def test_half_a_character(files: Path, form: str) -> None:
    """JSON can spell a lone surrogate, but nothing can print it; it can be reported as JSON."""
    for old in ('"one"', '"thai"' if form == "dstc2" else '"61d"'):
        before = (files / form / "tracker.json").read_bytes()
        spoil(files, form, "tracker.json", (old, '"\\ud800"'))
        assert_refused(validate(files, form), "tracker.json")
        corpus, path = files / form / "corpus", files / form / "tracker.json"
        assert run("validate", "--format", form, "--corpus", corpus, "--json", path).json()["rows"][0][
            "errors"
        ]
        path.write_bytes(before)


@pytest.mark.parametrize("escape", ["\\u003a", "\\u003A", "\\u0041", "\\/", ":", "é"])
def test_good_json_in_an_unusual_spelling_is_good(files: Path, escape: str) -> None:
    for form, old in (("dstc1", "61d"), ("dstc2", "greek"), ("state-sets", "south"), ("state-sets", "hotel")):
        path = files / form / "tracker.json"
        path.write_text(path.read_text().replace(old, f"x{escape}y"))
    for name in ("dstc1/corpus/calls/one/dstc.log.json", "dstc2/corpus/data/Mar13_S0A0/one/label.json"):
        path = files / name
        path.write_text(path.read_text().replace('"session-id": ', f'"asr": "a{escape}b", "session-id": ', 1))
    for form in ("dstc1", "dstc2", "state-sets"):
        assert validate(files, form).code == 0


# Corpora as a whole.


def test_what_is_no_corpus(files: Path) -> None:
    for path in ("nowhere", "tracker.json"):
        assert_refused(validate(files, "dstc2", corpus=files / "dstc2" / path), path)
    corpus = files / "dstc2" / "corpus"
    outcome = run("validate", "--format", "dstc2", "--corpus", corpus, "--dataset", "dstc2_dve")
    assert_refused(outcome, "'dstc2_dve'", "did you mean 'dstc2_dev'?")
    (files / "dstc1" / "corpus" / "config" / "train4.sessions").write_text("x" * 300 + "\n")
    assert_refused(validate(files, "dstc1"), "xxx")
    (corpus / "scripts" / "config" / "ontology_dstc2.json").unlink()
    assert_refused(validate(files, "dstc2"), "no ontology")


@pytest.mark.parametrize(
    ("form", "name"), [("dstc1", "dstc.labels.json"), ("dstc1", "dstc.log.json"), ("dstc2", "label.json")]
)
def test_missing_files(files: Path, form: str, name: str) -> None:
    for path in (files / form).rglob(f"*/{name}"):
        if path.parent.name != "two":
            path.unlink()
    outcome = validate(files, form)
    assert_refused(outcome, f"one/{name}", "there is no such file")
    assert f"two/{name}" not in outcome.text
    assert form == "dstc1" or f"three/{name}" in outcome.text


def test_an_archive_that_is_cut_off(tmp_path: Path) -> None:
    written = write_dstc2(tmp_path, small_dstc2(), archive=True)
    written.corpus.write_bytes(written.corpus.read_bytes()[:-50])
    assert_refused(run("validate", "--format", "dstc2", "--corpus", written.corpus), "tar.gz", "cut off")


def test_two_sessions_with_one_id(files: Path) -> None:
    for name in ("two/dstc.log.json", "two/dstc.labels.json"):
        spoil(files, "dstc1", name, at("session-id", to="one"))
    assert_refused(validate(files, "dstc1"), "calls/two/", "session one")


def test_domains(files: Path) -> None:
    (files / "own.toml").write_text('name = "x"\nslot = []\n')
    said = ("own.toml: line 2, key slot: unknown; did you mean 'slots'?", "key predicates")
    for domain, places in (("own.toml", said), ("buss", ("did you mean 'bus'?",))):
        name = files / domain if domain.endswith("toml") else domain
        corpus = files / "dstc1" / "corpus"
        assert_refused(run("validate", "--format", "dstc1", "--corpus", corpus, "--domain", name), *places)
