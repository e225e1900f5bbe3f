"""The recogniser: exact without noise, worse with more of it, and each kind of error by itself."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats, Ints
from extrinsic.simulation.bus_callers import GoalSettings, draw_goals
from extrinsic.simulation.bus_system import CONFUSABLE
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.recogniser import Recogniser, RecogniserSettings
from extrinsic.simulation.values import NO, NOTHING, SILENT, YES, Lists, Utterance
from tests.simulation.worlds import BUS, GROUPS

N = 2_000
ALL = np.arange(N)
ERRORS = ("deletion", "insertion", "cross_slot", "yes_no")


def recogniser(**changed: Any) -> Recogniser:
    return Recogniser(RecogniserSettings(**changed), BUS, Chance.of(N, "recogniser"), CONFUSABLE)


def only(error: str | None = None, amount: float = 1.0) -> dict[str, float]:
    """Settings with one kind of error beside taking a value for its neighbour, or none."""
    return {name: amount if name == error else 0.0 for name in ERRORS}


def utterance(value: Ints, answer: int | Ints = SILENT) -> Utterance:
    none = np.zeros(len(value), dtype=bool)
    return Utterance(value, np.broadcast_to(np.asarray(answer), (len(value),)), none, none)


@pytest.fixture(scope="module")
def wishes() -> Ints:
    """Two places, and for some a route, a date and a time."""
    return draw_goals(GoalSettings(), BUS, Chance.of(N, "wishes"))


def said_codes(row: Ints) -> list[int]:
    return sorted(int(code) for code in row if code != NOTHING)


def all_codes(lists: Lists) -> list[list[tuple[float, list[int]]]]:
    """Of every list, (score, codes) of its hypotheses."""
    pairs = (zip(*row, strict=True) for row in zip(lists.score, lists.content, strict=True))
    return [[(float(score), said_codes(content)) for score, content in row if score > 0] for row in pairs]


def test_without_noise_just_what_was_said(wishes: Ints) -> None:
    answer = np.where(ALL % 3 == 0, YES, np.where(ALL % 3 == 1, NO, SILENT))
    lists = recogniser(noise=0.0).hear(ALL, 0, utterance(wishes, answer))
    for row, heard in enumerate(all_codes(lists)):
        spoken = said_codes(wishes[row])
        if answer[row] != SILENT:
            spoken.append(len(BUS) + int(answer[row]))
        assert heard == [(1.0, sorted(spoken))]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"noise": 2.0},
        {"noise": 0.0},
        {"longest": 1},
        {"longest": 10, "lengthens": 9.0},
        {"boldness": 4.0},
        {"discrimination": 0.0},
        {"boldness": 0.2, "discrimination": 1.0},
    ],
)
def test_lists_are_sound(wishes: Ints, changed: dict[str, Any]) -> None:
    """Scores in (0, 1], descending, at most 1 in sum; no two hypotheses of a list say the same."""
    heard = recogniser(**changed)
    for turn in range(2):
        lists = heard.hear(ALL, turn, utterance(wishes, YES))
        assert (lists.score >= 0).all()
        assert (np.diff(lists.score, axis=1) <= 0).all()
        assert lists.score.sum(axis=1).max() <= 1.0 + 1e-9
        sizes = (lists.score > 0).sum(axis=1)
        assert sizes.max() <= heard.settings.longest
        for hypotheses in all_codes(lists):
            contents = [tuple(content) for _, content in hypotheses]
            assert len(set(contents)) == len(contents) > 0
    if not changed:
        assert set(sizes) >= {1, 2, 3, 4, 5, 6}


def rank_1(heard: Recogniser, wishes: Ints) -> float:
    """How often the best hypothesis has the place of departure as it was said."""
    lists = heard.hear(ALL, 0, utterance(wishes))
    return float((lists.content[:, 0] == wishes[:, :1]).any(axis=1).mean())


def test_more_noise_more_errors(wishes: Ints) -> None:
    levels = [recogniser(noise=noise).level for noise in (0.0, 0.5, 1.0, 2.0)]
    for less, more in pairwise(levels):
        assert (less <= more).all()
        assert less.mean() < more.mean()
    right = [rank_1(recogniser(noise=noise), wishes) for noise in (0.0, 0.5, 1.0, 2.0)]
    assert right[0] == 1.0
    assert right == sorted(right, reverse=True)
    assert right[0] - right[-1] > 0.5


def test_error_levels_are_beta(wishes: Ints) -> None:
    """Mean m and variance m (1 - m) / (c + 1)."""
    level = recogniser(error=0.3, concentration=9.0).level
    assert level.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.021 / N))
    assert level.var() == pytest.approx(0.021, rel=0.15)
    # The best hypothesis is wrong as often as the level says, when nothing else goes wrong.
    heard = recogniser(error=0.3, concentration=9.0, **only())
    assert rank_1(heard, wishes) == pytest.approx(0.7, abs=0.05)


def wrong_best(lists: Lists, said: Ints) -> Ints:
    """(N,) the value that the best hypothesis has instead of the one said, NOTHING where it is right."""
    best = lists.content[:, 0].max(axis=1)
    return np.where(best == said, NOTHING, best)


def departures(wishes: Ints) -> Ints:
    """The place of departure, and nothing else."""
    return np.where(np.arange(len(GROUPS)) == 0, wishes, NOTHING)


def test_half_of_all_mistakes_are_one_of_the_two_nearest(wishes: Ints) -> None:
    said = departures(wishes)
    wrong = wrong_best(recogniser(noise=1.5, **only()).hear(ALL, 0, utterance(said)), said[:, 0])
    mistaken = wrong != NOTHING
    nearness = (BUS.neighbour[said[mistaken, 0]] == wrong[mistaken, None]).argmax(axis=1)
    assert mistaken.sum() > 500
    assert (nearness < 2).mean() == pytest.approx(0.5, abs=0.06)


def agreement(persistence: float, wishes: Ints) -> float:
    """How often two mistakes of a caller about the same value are the same mistake."""
    heard = recogniser(persistence=persistence, noise=1.5, **only())
    value = departures(wishes)
    mistakes = [wrong_best(heard.hear(ALL, turn, utterance(value)), value[:, 0]) for turn in range(4)]
    pairs = [(first, second) for first, second in combinations(mistakes, 2)]
    both = [(first != NOTHING) & (second != NOTHING) for first, second in pairs]
    same = [(first == second)[where].mean() for (first, second), where in zip(pairs, both, strict=True)]
    return float(np.mean(same))


def test_a_habit_persists(wishes: Ints) -> None:
    none, usual, always = (agreement(persistence, wishes) for persistence in (0.0, 0.6, 1.0))
    assert none < usual - 0.1 < usual < always - 0.1


def values_heard(lists: Lists) -> tuple[Ints, Ints]:
    """(row, value) of every value in every hypothesis."""
    row, place, column = np.nonzero(lists.content != NOTHING)
    present = lists.score[row, place] > 0
    code = lists.content[row, place, column]
    kept = present & (code < len(BUS))
    return row[kept], code[kept]


def groups_missing(lists: Lists, wishes: Ints) -> int:
    """In how many hypotheses a group that was spoken of has no value at all."""
    missing = 0
    for row, found in enumerate(all_codes(lists)):
        spoken = {group for group, value in enumerate(wishes[row]) if value != NOTHING}
        for _, content in found:
            have = {int(BUS.group[BUS.slot[code]]) for code in content if code < len(BUS)}
            missing += len(spoken - have)
    return missing


def measures(changed: dict[str, Any], wishes: Ints) -> Floats:
    """Deletions; values of groups nobody spoke of, and of other slots than anything said; swapped answers."""
    lists = recogniser(**changed).hear(ALL, 0, utterance(wishes, YES))
    row, value = values_heard(lists)
    strangers = wishes[row, BUS.group[BUS.slot[value]]] == NOTHING
    slots = np.where(wishes != NOTHING, BUS.slot[np.maximum(wishes, 0)], -1)
    crossings = ~(slots[row] == BUS.slot[value][:, None]).any(axis=1)
    swaps = (lists.content == len(BUS) + NO) & (lists.score > 0)[..., None]
    return np.array([groups_missing(lists, wishes), strangers.sum(), crossings.sum(), swaps.sum()])


def test_without_any_of_the_four_errors_only_neighbours_are_heard(wishes: Ints) -> None:
    changed = {**only(), "noise": 1.5}
    assert measures(changed, wishes).tolist() == [0, 0, 0, 0]
    row, value = values_heard(recogniser(**changed).hear(ALL, 0, utterance(wishes)))
    said = wishes[row, BUS.group[BUS.slot[value]]]
    is_neighbour = (BUS.neighbour[said] == value[:, None]).any(axis=1)
    assert ((value == said) | is_neighbour).all()
    assert 0.2 < is_neighbour.mean() < 0.9


@pytest.mark.parametrize(
    ("error", "happens", "never"),
    [
        ("deletion", [0], [1, 2, 3]),
        ("insertion", [1, 2], [0, 3]),
        ("cross_slot", [2], [3]),
        ("yes_no", [3], [0, 1, 2]),
    ],
)
def test_each_error_by_itself(wishes: Ints, error: str, happens: list[int], never: list[int]) -> None:
    found = measures({**only(error), "noise": 1.5}, wishes)
    assert (found[happens] > 100).all()
    assert (found[never] == 0).all()


def test_scores_tell_right_from_wrong_as_much_as_they_are_set_to(wishes: Ints) -> None:
    """The mean score of right best hypotheses less that of wrong ones."""
    apart = []
    for discrimination in (0.0, 0.5, 1.0):
        heard = recogniser(discrimination=discrimination, **only())
        one = departures(wishes)
        lists = heard.hear(ALL, 0, utterance(one))
        right = wrong_best(lists, one[:, 0]) == NOTHING
        apart.append(lists.score[right, 0].mean() - lists.score[~right, 0].mean())
    assert apart == sorted(apart)
    assert apart[2] > apart[0] + 0.2


def test_a_caller_is_heard_the_same_whoever_else_calls(wishes: Ints) -> None:
    heard, some = recogniser(), np.array([900, 3, 42])
    together = heard.hear(ALL, 5, utterance(wishes, NO))
    few = heard.hear(some, 5, utterance(wishes[some], NO))
    assert np.array_equal(few.content, together.content[some])
    assert np.array_equal(few.score, together.score[some])
