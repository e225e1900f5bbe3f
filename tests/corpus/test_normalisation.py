"""Named normalisations: by hand, and the figures of real trackers on their own gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import read_states
from extrinsic.corpus.normalisation import (
    clock_time,
    load_normalisation,
    normalisation_names,
    pattern_time,
    slot_name,
)
from extrinsic.errors import InputError, UsageError
from tests.builders import write_json
from tests.contents import states_content
from tests.real_data import FOLDER
from tests.running import assert_refused, run

NATIVE = FOLDER / "multiwoz" / "native"
needs_native = pytest.mark.skipif(not NATIVE.is_dir(), reason="the native MultiWOZ files are not here")


TIMES: list[tuple[str, str | None, str | None]] = [
    ("morning", "08:00", None), ("noon", "12:00", None), ("by 7:15", "07:15", None),
    ("after 17:00", "17:00", None), ("5 pm", "17:00", None), ("1:30 p.m.", "13:30", None),
    ("9am", "09:00", None), ("1715", "17:15", "1715"), ("7", "07:00", "7"), ("9:05", "09:05", "09:05"),
    ("17 : 15", "17:15", None), ("", "00:00", None), ("17:15.", "17:15", None), ("soon", "soon", "soon"),
    ("x pm", "x", None), ("5pm", None, "17:00"), ("12 pm", None, "12:00"), ("24:30", None, "00:30"),
    ("17.15", None, "17:15"), ("after 9", None, "09:00"), ("at 1715", None, "17:15"),
    ("8 a.m.", None, "08:00"),
]  # fmt: skip
"""What is written, by the clock, by pattern."""


def test_names_of_slots_and_times() -> None:
    for written, name in (
        ("arriveBy", "arrive"),
        ("leaveat", "leave"),
        ("book day", "day"),
        ("bookpeople", "people"),
        ("book_stay", "stay"),
        ("price range", "pricerange"),
        ("food", "food"),
        ("booking", "booking"),
    ):
        assert slot_name(written) == name
    for written, by_clock, by_pattern in TIMES:
        assert by_clock is None or clock_time(written) == by_clock, written
        assert by_pattern is None or pattern_time(written) == by_pattern, written


@pytest.mark.parametrize(
    ("rule", "domain", "slot", "written", "value"),
    [
        ("multiwoz_eval", "hotel", "type", "guest house", "guesthouse"),
        ("multiwoz_eval", "hotel", "parking", "free", "yes"),
        ("multiwoz_eval", "restaurant", "food", " English", "british"),
        ("multiwoz_eval", "attraction", "name", "Scudamores Punt Co", "scudamores punting co"),
        ("multiwoz_eval", "hotel", "area", "don't care", "dontcare"),
        ("multiwoz_eval", "hotel", "area", "center", "center"),
        ("trade", "hotel", "type", "guesthouse", "guest house"),
        ("trade", "hotel", "type", "centre", "none"),
        ("trade", "attraction", "type", "centre", "centre"),
        ("trade", "hotel", "area", "center", "centre"),
        ("trade", "train", "leave", "5 pm", "5 pm"),
        ("trade", "hotel", "stars", "any", "dontcare"),
        ("trippy", "hotel", "internet", "free", "true"),
        ("trippy", "hotel", "pricerange", "inexpensive", "cheap"),
        ("trippy", "attraction", "name", "the ADC theater", "adc theatre"),
        ("strict", "hotel", "type", "guest house", "guest house"),
    ],
)
def test_values(rule: str, domain: str, slot: str, written: str, value: str) -> None:
    assert load_normalisation(rule).value(domain, slot, written) == value


@pytest.mark.parametrize("name", normalisation_names())
def test_a_second_time_changes_nothing(name: str) -> None:
    rule = load_normalisation(name)
    for part in rule.file.rules:
        for slot in part.slots or ("area",):
            domain, _, short = slot.rpartition("-")
            for written in (*part.values, *(value for same in part.same for value in same)):
                value = rule.value(domain, short, written)
                assert rule.value(domain, short, value) == value


STATES: Any = {
    "d": {
        "0": {
            "gt": {"hotel": {"type": "guesthouse", "area": "dontcare", "book day": "monday"}},
            "pr": {"hotel": {"type": "guest house", "bookday": "monday", "area": "north"}},
        }
    }
}


def test_states_are_normalised_on_both_sides(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", STATES)
    kind, day, area = ("hotel", "type"), ("hotel", "day"), ("hotel", "area")
    states = read_states(path, normalise="trade")
    assert states_content(states)["d"] == [
        (
            {kind: "guest house", area: "dontcare", day: "monday"},
            {kind: "guest house", day: "monday", area: "north"},
        )
    ]
    assert (states.n_values_changed, states.value_rules) == (0, "normalise=trade")
    states = read_states(path, normalise="multiwoz_eval", dontcare="drop_gold")
    assert states_content(states)["d"][0][0] == {kind: "guesthouse", day: "monday"}
    assert (states.n_values_changed, states.value_rules) == (1, "normalise=multiwoz_eval,dontcare=drop_gold")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", STATES)
    mine = tmp_path / "mine.toml"
    mine.write_text('[[rules]]\nslots = ["area"]\nvalues = { "north" = "none" }\n')
    outcome = run("score", "--format", "state-sets", path, "--normalise", mine, "--metric", "jga", "--json")
    assert outcome.json()["rows"][0]["changed"] == 1
    assert "values:normalise=mine@" in outcome.json()["signature"]
    mine.write_text('[[rules]]\nslot = ["area"]\n')
    assert_refused(run("score", "--format", "state-sets", path, "--normalise", mine), "mine.toml", "slot")


def test_what_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", STATES)
    with pytest.raises(UsageError, match="did you mean 'trade'"):
        read_states(path, normalise="trad")
    with pytest.raises(UsageError, match="did you mean 'drop'"):
        read_states(path, dontcare="dropp")
    with pytest.raises(UsageError, match="not its file"):
        read_states(path, gold_name="gold24")
    with pytest.raises(InputError, match="no such file"):
        read_states(path, normalise=str(tmp_path / "no.toml"))


@needs_native
@pytest.mark.parametrize(
    ("file", "rule", "jga"),
    [
        ("trade", "strict", 3512 / 7368),  # by plain sets of its own triples
        ("mlcsg", "strict", 3828 / 7368),
        ("mlcsg", "trippy", 0.5204),  # the figure that its authors publish; by TRADE's own rule it is .5195
    ],
)
def test_real_trackers_on_their_own_gold(file: str, rule: str, jga: float) -> None:
    from extrinsic import score

    states = read_states(NATIVE / f"{file}.json.gz", format="trade", normalise=rule)
    (row,) = score(states, metrics="jga").rows
    assert row.value == pytest.approx(jga, abs=5e-5)
