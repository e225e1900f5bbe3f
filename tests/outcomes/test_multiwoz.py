"""Inform and success: by hand in a small town, and equal to the standard evaluator on every real dialog."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.formats.gold_states import read_predictions
from extrinsic.corpus.state_sets import StateReading
from extrinsic.errors import InputError
from extrinsic.outcomes.multiwoz import changed_domains
from extrinsic.outcomes.multiwoz_evaluator import MultiWOZ, Prepared
from extrinsic.outcomes.responses import read_response
from extrinsic.outcomes.venues import is_similar, partial_ratio, read_venues
from extrinsic.registry import FORMATS
from tests.outcomes.town import GOALS, RESPONSES, states, write_responses, write_system, write_task
from tests.real_data import FOLDER

MULTIWOZ = FOLDER / "multiwoz"
needs_swap = pytest.mark.skipif(
    not (MULTIWOZ / "swap" / "outcomes.csv.gz").is_file(), reason="MultiWOZ's swap data is not here"
)
AS_WRITTEN = StateReading()


def evaluate(folder: Path, predicted: Any, responses: Any = RESPONSES, domains: Any = "responses") -> Any:
    """By dialog, (inform, success)."""
    options = {name: str(path) for name, path in write_task(folder).items()}
    generator = write_responses(folder / "responses_mine.json", responses)
    prepared = MultiWOZ(**options, responses=(str(generator),), domains=domains).prepare()
    file = write_system(folder / "system.json", predicted)
    dialogs = list(predicted)
    values = prepared.evaluate(str(file), "multiwoz-eval", AS_WRITTEN, "system", dialogs)
    success, inform = values[:, 0].astype(int)
    return {dialog: (inform[i], success[i]) for i, dialog in enumerate(dialogs)}


NAMES = ["[hotel_name] [hotel_phone]", "[hotel_name] [hotel_ref]"]
NARROW, WIDE, OTHER = (
    {"hotel": state} for state in ({"area": "north", "stars": "2"}, {"area": "north"}, {"area": "west"})
)


@pytest.mark.parametrize(
    ("dialog", "responses", "predicted", "expected"),
    [
        ("d0", ["[hotel_name]", "Booked: [hotel_ref]"], None, (1, 0)),  # the phone number is missing
        # A reference before the booking; nothing was offered; the number of another domain.
        ("d0", ["[hotel_name] [hotel_phone] [hotel_reference]", "Bye."], None, (1, 0)),
        ("d0", ["[hotel_phone]", "[hotel_reference]"], None, (0, 0)),
        ("d2", ["Fine.", "[taxi_phone]"], None, (1, 1)),
        ("d2", ["Fine.", "[hotel_phone]"], None, (1, 0)),
        # The last offer counts unless it includes the one before.
        ("d0", NAMES, [NARROW, {"hotel": {}}], (1, 1)),
        ("d0", NAMES, [WIDE, OTHER], (0, 0)),
        ("d0", NAMES, [OTHER, NARROW], (1, 1)),
    ],
)
def test_responses_decide(
    tmp_path: Path, dialog: str, responses: list[str], predicted: Any, expected: tuple[int, int]
) -> None:
    given = states() if predicted is None else states(**{dialog: predicted})
    found = evaluate(tmp_path, given, RESPONSES | {dialog: responses})
    assert found == dict.fromkeys(GOALS, (1, 1)) | {dialog: expected}  # the others' gold states succeed


@pytest.mark.parametrize(
    ("dialog", "predicted", "expected"),
    [
        ("d0", [{"hotel": {"area": "west"}}] * 2, (0, 0)),  # another venue was offered
        ("d0", [{"hotel": {}}] * 2, (0, 0)),  # no constraint: the one in the west is on offer, too
        ("d0", [{"hotel": {"area": "north", "stars": "2"}}] * 2, (1, 1)),  # fewer venues, all of them right
        ("d0", [{"hotel": {"area": "north", "stars": "3"}}] * 2, (0, 0)),  # none at all
        ("d0", [{"hotel": {"area": "north", "parking": "no"}}] * 2, (1, 1)),  # "?" satisfies everything
        ("d0", [{}, {"hotel": {"area": "north"}}], (0, 0)),  # nothing was offered when the name was said
        ("d1", [{"train": {"day": "monday", "arrive": "10:00"}}], (0, 0)),  # also the later train
        ("d1", [{"train": {"day": "monday", "arrive": "by 7am"}}], (1, 1)),
        ("d1", [{"train": {"day": "friday"}}], (1, 1)),  # the same train on another day is the same identity
        ("d1", [{}], (1, 1)),  # no train was asked for by its id: silence will do
        ("d2", [{}, {}], (1, 1)),  # the goal names the hotel, and taxis have no database
    ],
)
def test_states_decide(tmp_path: Path, dialog: str, predicted: Any, expected: tuple[int, int]) -> None:
    assert evaluate(tmp_path, states(**{dialog: predicted}))[dialog] == expected


def test_domains_by_the_state_or_by_the_response(tmp_path: Path) -> None:
    """Without domains in the placeholders, the standard rule takes the domain that changed last."""
    plain = {
        dialog: [text.replace("hotel_", "value_") for text in turns] for dialog, turns in RESPONSES.items()
    }
    assert evaluate(tmp_path, states(), plain, "states")["d0"] == (1, 1)
    assert evaluate(tmp_path, states(), plain, "responses")["d0"] == (0, 0)


def test_changed_domains() -> None:
    hotel, train = {"hotel": {"area": "north"}}, {"train": {"day": "monday", "leave": "05:00"}}
    assert changed_domains([{}, hotel, hotel | train, hotel | train]) == [
        (),
        ("hotel",),
        ("train",),
        ("train",),
    ]
    # Of two new ones that with more slots; when nothing changes after that, the other.
    assert changed_domains([hotel | train, hotel | train]) == [("train",), ("hotel",)]
    # Of equals the first in the state.
    taxi = {"taxi": {"leave": "05:00"}}
    assert changed_domains([taxi | hotel])[0] == ("taxi",)
    assert changed_domains([hotel | taxi])[0] == ("hotel",)


def test_placeholders() -> None:
    response = read_response("[Hotel_Name]s at [value_address], [restaurant_id] [ref] [value_choice] [train]")
    assert response.mentions == {"name", "address", "reference", "trainid"}
    assert response.named_domains == {"hotel", "restaurant"}
    assert read_response("call [hotel_phone_number]").mentions == frozenset()


def brute_partial_ratio(left: str, right: str) -> int:
    """The bound of any part: at least what is_similar must never exceed."""
    from difflib import SequenceMatcher

    shorter, longer = sorted((left, right), key=len)
    parts = [longer[i : i + len(shorter)] for i in range(len(longer))]
    return round(100 * max(SequenceMatcher(None, shorter, part).ratio() for part in parts))


@pytest.mark.parametrize(
    ("left", "right", "ratio"),
    [
        ("acorn guest house", "acorn guest house", 100),
        ("belfry", "the cambridge belfry", 100),
        ("london kings cross", "london king cross", 94),
        ("ely", "leicester", 33),
        ("", "ely", 0),
    ],
)
def test_partial_ratio(left: str, right: str, ratio: int) -> None:
    assert partial_ratio(left, right) == partial_ratio(right, left) == ratio
    assert is_similar(left, right) == (ratio >= 90)
    if left:
        assert partial_ratio(left, right) <= brute_partial_ratio(left, right)


def test_trains_are_queried_by_rows_and_compared_by_identity(tmp_path: Path) -> None:
    venues = read_venues(write_task(tmp_path)["database"])
    one, two = (venues.query("train", {"leave": time}) for time in ("05:00", "08:00"))
    assert (one.bit_count(), two.bit_count()) == (2, 1)
    assert venues.query("train", {"day": "friday"}) == one & ~two
    assert venues.query("hotel", {"type": "guest house"}).bit_count() == 1
    assert venues.query("hotel", {"area": "dontcare", "colour": "red"}).bit_count() == 3


def test_everything_that_does_not_fit(tmp_path: Path) -> None:
    predicted = states(d1=[{}, {}], d9=[{}])
    with pytest.raises(InputError) as caught:
        evaluate(tmp_path, predicted, {name: turns for name, turns in RESPONSES.items() if name != "d2"})
    text = str(caught.value)
    for part in (
        "d1",
        "expected 2 turns, found 1",
        "responses of 'mine' lack this dialog",
        "d9: there is no goal",
    ):
        assert part in text


def test_a_goal_without_a_database(tmp_path: Path) -> None:
    goals = GOALS | {"d1": {"trane": {"constraints": {}, "requests": [], "book": {}}}}
    options = {name: str(path) for name, path in write_task(tmp_path, goals).items()}
    with pytest.raises(InputError, match=r"session d1: .* 'trane' without a database; did you mean 'train'"):
        MultiWOZ(**options, responses=(str(write_responses(tmp_path / "r.json", RESPONSES)),)).prepare()


@cache
def real_task(*generators: str, domains: Any = "responses") -> Prepared:
    return MultiWOZ(
        goals=str(MULTIWOZ / "dialogs" / "test.json.gz"),
        booked=str(MULTIWOZ / "swap" / "booked_domains.json.gz"),
        database=str(MULTIWOZ / "swap" / "database"),
        responses=tuple(str(MULTIWOZ / "swap" / f"responses_{name}.json.gz") for name in generators),
        domains=domains,
    ).prepare()


def standard_outcomes(part: str) -> dict[str, dict[str, tuple[int, int]]]:
    """By system and dialog, (success, inform) by the standard evaluator."""
    outcomes: dict[str, dict[str, tuple[int, int]]] = {}
    with gzip.open(MULTIWOZ / part / "outcomes.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            verdict = int(row["success"]), int(row["inform"])
            outcomes.setdefault(row["system"], {})[row["dialogue"]] = verdict
    return outcomes


def differences(prepared: Prepared, path: Path, expected: dict[str, tuple[int, int]]) -> Iterator[str]:
    dialogs = [
        dialog
        for dialog in read_predictions(FORMATS.get("state-sets"), path, AS_WRITTEN)
        if dialog in expected
    ]
    values = prepared.evaluate(str(path), "state-sets", AS_WRITTEN, path.stem, dialogs)[:, 0]
    reference = np.array([expected[dialog] for dialog in dialogs]).T
    return (dialogs[number] for number in np.flatnonzero((values != reference).any(axis=0)))


@needs_swap
def test_every_dialog_of_the_swap() -> None:
    """22 trackers x 942 dialogs under DARD's best agents."""
    prepared, n_dialogs = real_task("dard_domain_best_agents"), 0
    for system, expected in standard_outcomes("swap").items():
        n_dialogs += len(expected)
        path = MULTIWOZ / "trackers_2.1" / f"{system}.json.gz"
        assert list(differences(prepared, path, expected)) == [], system
    assert n_dialogs == 22 * 942


@needs_swap
@pytest.mark.parametrize("system", ["augpt", "pptod", "soloist", "ubar"])
def test_every_dialog_of_the_end_to_end_systems(system: str) -> None:
    """The systems whose responses are there, by the standard rule for the domains of a response."""
    prepared = real_task(system, domains="states")
    path = MULTIWOZ / "end_to_end" / f"{system}.json.gz"
    assert list(differences(prepared, path, standard_outcomes("end_to_end")[system])) == []
