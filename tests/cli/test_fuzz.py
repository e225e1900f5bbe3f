"""Whatever stands in a file, `validate` finds it good or says what is wrong: exit code 0 or 2, never 1."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Json, write_dstc1, write_dstc2
from tests.running import run
from tests.samples import small_dstc1, small_dstc2, small_state_sets

TRADE = {"d": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-a-b"], "x": [1.5]}}}
SLOTS = {"slot_prediction_hotel-area": "§§x", "slot_groundtruth_hotel-area": "x"}
TRIPPY = [{"guid": ["test", "d", str(turn)], **SLOTS} for turn in range(2)]
SIMPLETOD = {"d": {"target_turn_belief": [["hotel area x"]], "generated_turn_belief": [["train book day x"]]}}

TRACKERS: dict[str, Json] = {
    "dstc1": small_dstc1().tracker,
    "dstc2": small_dstc2().tracker,
    "state-sets": small_state_sets().states,
    "trade": TRADE,
    "trippy": TRIPPY,
    "simpletod": SIMPLETOD,
}
CORPUS_FILES = [
    ("dstc1", "calls/one/dstc.log.json"),
    ("dstc1", "calls/two/dstc.labels.json"),
    ("dstc2", "data/Mar13_S0A0/one/log.json"),
    ("dstc2", "data/Mar13_S0A0/one/label.json"),
    ("dstc2", "scripts/config/ontology_dstc2.json"),
]

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([10**400, -(10**25), 2**63, 2**64]),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["", "0", "1", "²", "9" * 5000, "-", "a-b", "a-b-c", "one", "route", ":", "\ud800"]),
)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@st.composite
def mutations(draw: st.DrawFn, value: Json) -> Json:
    """The value with a node or two replaced, dropped, renamed, repeated, or another node put there."""
    holder = [copy.deepcopy(value)]
    for _ in range(draw(st.integers(1, 2))):
        everywhere = list(places(holder))[1:]
        *path, last = draw(st.sampled_from(everywhere))
        node: Any = holder
        for key in path:
            node = node[key]
        kind = draw(st.sampled_from(["replace", "replace", "drop", "rename", "copy", "repeat"]))
        if kind == "drop" and path:
            del node[last]
        elif kind == "rename" and isinstance(node, dict):
            node[draw(st.text(max_size=3) | st.sampled_from(["slots", "joint", "0", "\ud800"]))] = node.pop(
                last
            )
        elif kind == "repeat" and isinstance(node, list) and path:
            node.append(copy.deepcopy(node[last]))
        elif kind == "copy":
            other: Any = holder
            for key in draw(st.sampled_from(everywhere)):
                other = other[key]
            node[last] = copy.deepcopy(other)
        else:
            node[last] = draw(anything)
    return holder[0]


@cache
def corpora(root: Path) -> dict[str, Path]:
    return {
        "dstc1": write_dstc1(root / "dstc1", small_dstc1()).corpus,
        "dstc2": write_dstc2(root / "dstc2", small_dstc2()).corpus,
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def check(root: Path, form: str, path: Path) -> None:
    corpus = ["--corpus", corpora(root)[form]] if form in corpora(root) else []
    outcome = run("validate", "--format", form, *corpus, path)
    assert outcome.code in (0, 2), outcome.text
    assert "Traceback" not in outcome.text
    assert outcome.code == 0 or outcome.text.strip()


@pytest.mark.parametrize("form", sorted(TRACKERS))
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_mutated_tracker_files(root: Path, form: str, data: st.DataObject) -> None:
    path = root / f"{form}.json"
    path.write_text(json.dumps(data.draw(mutations(TRACKERS[form]))))
    check(root, form, path)


@pytest.mark.parametrize("form", sorted(TRACKERS))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_tracker_files_with_bytes_gone_wrong(root: Path, form: str, data: st.DataObject) -> None:
    """Cut, overwritten or repeated somewhere in the middle of the text."""
    good = json.dumps(TRACKERS[form]).encode()
    begin = data.draw(st.integers(0, len(good) - 1))
    end = data.draw(st.integers(begin, min(begin + 20, len(good))))
    twice = good[begin:end] * 2
    noise = data.draw(
        st.binary(max_size=4) | st.sampled_from([b"\\u003a", b'"', b"NaN", b"1e999", b"\\ud800", twice])
    )
    path = root / f"{form}.json"
    path.write_bytes(good[:begin] + noise + good[end:])
    check(root, form, path)


@pytest.mark.parametrize(("form", "name"), CORPUS_FILES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_mutated_corpus_files(root: Path, form: str, name: str, data: st.DataObject) -> None:
    path = corpora(root)[form] / name
    good = path.read_text()
    try:
        path.write_text(json.dumps(data.draw(mutations(json.loads(good)))))
        tracker = root / f"{form}_good.json"
        tracker.write_text(json.dumps(TRACKERS[form]))
        check(root, form, tracker)
    finally:
        path.write_text(good)
