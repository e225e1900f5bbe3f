"""The expert: its probabilities in closed form, and that its actions follow them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.tracking import Heard
from extrinsic.simulation import Expert, ExpertTracker, Moment, Play, play
from extrinsic.simulation.bus.bus_settings import ExpertSettings
from tests.simulation.worlds import PATIENT, PREDICATES, QUIET, expert_play, world

GOODBYE, RESTART = PREDICATES.index("goodbye"), PREDICATES.index("restart")


class Watched:
    """A policy whose decisions are written down."""

    def __init__(self, settings: ExpertSettings) -> None:
        self.expert = Expert(settings)
        self.allowed: list[Bools] = []
        self.offered: list[Bools] = []
        self.chances: list[Floats] = []
        self.main: list[np.ndarray] = []

    def probabilities(self, moment: Moment) -> Floats:
        chances = self.expert.probabilities(moment)
        self.allowed.append(moment.allowed)
        self.offered.append(moment.history.offered)
        self.chances.append(chances)
        self.main.append(self.expert._choice(moment))
        return chances


@pytest.fixture(scope="module")
def watched() -> Watched:
    policy = Watched(ExpertSettings(main=0.8, exploration=0.1))
    play(policy, ExpertTracker(), 800, 3, world(caller={"starts_over": 0.1}, no_connection=0.1))
    return policy


def test_probabilities_in_closed_form(watched: Watched) -> None:
    """main .8 on the rule's choice, .1 on its second, .1 spread over what is sensible."""
    allowed, offered = np.concatenate(watched.allowed), np.concatenate(watched.offered)
    chances, main = np.concatenate(watched.chances), np.concatenate(watched.main)
    assert len(chances) > 3000
    sensible = allowed.copy()
    sensible[~offered, GOODBYE] = False
    sensible[:, RESTART] = False
    rest = chances - 0.1 * sensible / sensible.sum(axis=1, keepdims=True)
    on_main = rest[np.arange(len(main)), main]
    rest[np.arange(len(main)), main] = 0.0
    # The second choice is another act, or the first again.
    two = np.isclose(on_main, 0.8)
    assert (two | np.isclose(on_main, 0.9)).all()
    assert np.allclose(rest.max(axis=1), np.where(two, 0.1, 0.0))
    assert np.allclose(rest.sum(axis=1), np.where(two, 0.1, 0.0))
    assert 0.3 < two.mean() < 1.0


def test_probabilities_sum_to_one_over_what_is_allowed(watched: Watched) -> None:
    allowed, chances = np.concatenate(watched.allowed), np.concatenate(watched.chances)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0).all()
    assert not chances[~allowed].any()
    assert not chances[:, PREDICATES.index("hello")].any()
    # Every act is chosen at some time, those that only the world makes excepted.
    used = {PREDICATES[column] for column in np.flatnonzero(chances.any(axis=0))}
    assert set(PREDICATES) - used == {"hello", "canthelp", "help", "confirm_restart"}


@pytest.fixture(scope="module")
def played() -> Play:
    return expert_play(world(), 2500, 11)


def decisions(played: Play) -> tuple[Floats, np.ndarray]:
    """Propensities and actions of the turns that are decisions."""
    corpus = played.corpus
    decided = corpus.turn_in_dialog > 0
    return corpus.propensities[decided], corpus.predicate[decided]


def test_the_greeting_has_no_propensities(played: Play) -> None:
    corpus = played.corpus
    first = corpus.turn_in_dialog == 0
    assert np.isnan(corpus.propensities[first]).all()
    assert not np.isnan(corpus.propensities[~first]).any()
    assert (corpus.predicate[first] == PREDICATES.index("hello")).all()


def test_actions_are_taken_at_the_logged_rates(played: Play) -> None:
    assert_at_logged_rates(played)


@pytest.mark.parametrize(
    "others", [{"caller": {"starts_over": 0.3}}, {"no_connection": 0.5}], ids=["restart", "canthelp"]
)
def test_so_are_those_of_calls_that_lee_leaves_out(others: dict[str, Any]) -> None:
    assert_at_logged_rates(expert_play(world(**others), 1000, 11))


def assert_at_logged_rates(played: Play) -> None:
    """Per predicate: sum of (1[a] - p) over sqrt of sum p (1 - p), which is about normal."""
    chances, action = decisions(played)
    taken = np.eye(len(PREDICATES))[action]
    assert (chances[np.arange(len(action)), action] > 0).all()
    spread = np.sqrt((chances * (1 - chances)).sum(axis=0))
    for column in np.flatnonzero(spread):
        score = (taken - chances)[:, column].sum() / spread[column]
        assert abs(score) < 4, PREDICATES[column]


def test_propensities_are_calibrated(played: Play) -> None:
    """Chi-square over bins of the logged probability: as many taken as it says."""
    chances, action = decisions(played)
    taken = np.eye(len(PREDICATES), dtype=bool)[action]
    possible = chances > 0
    number = np.digitize(chances[possible], [0.01, 0.015, 0.02, 0.05, 0.08, 0.1, 0.5, 0.86, 0.88, 0.9])
    expected = np.bincount(number, chances[possible], 11)
    variance = np.bincount(number, chances[possible] * (1 - chances[possible]), 11)
    observed = np.bincount(number[taken[possible]], minlength=11)
    used = variance > 5
    assert used.sum() >= 4
    statistic = ((observed - expected)[used] ** 2 / variance[used]).sum()
    assert stats.chi2.sf(statistic, used.sum()) > 1e-4


def test_the_main_act_is_taken_in_some_85_percent(played: Play) -> None:
    """.85, and its part of the .08 of exploration; where the second choice is impossible, .92."""
    chances, action = decisions(played)
    best = chances.max(axis=1)
    assert best.min() >= 0.85
    assert best.max() <= 1.0
    share = (action == chances.argmax(axis=1)).mean()
    assert share == pytest.approx(best.mean(), abs=4 * np.sqrt(0.1 / len(action)))
    assert 0.85 < share < 0.93


def test_a_sure_expert_serves_patient_callers_of_a_perfect_recogniser() -> None:
    """Always by its rules: everybody who answers gets the right bus, and a goodbye after it."""
    sure = world(QUIET, {**PATIENT, "answers": 1.0, "changes_goal": 0.0}, {"main": 1.0, "exploration": 0.0})
    played = expert_play(sure, 300)
    assert played.completed.all()
    assert not played.ending.any()
    chances, action = decisions(played)
    assert (chances[np.arange(len(action)), action] == 1.0).all()
    assert (np.diff(played.corpus.offsets) <= 22).all()


def test_it_gives_up_in_the_end() -> None:
    hopeless = world({"noise": 5.0}, PATIENT, {"gives_up": 9, "main": 1.0, "exploration": 0.0})
    played = expert_play(hopeless, 200)
    lengths = np.diff(played.corpus.offsets)
    assert lengths.max() == 10  # the greeting and eight more, then goodbye
    assert not played.ending.any()


def confirmations(**expert: float) -> dict[str, float]:
    played = expert_play(world(expert=expert), 300)
    _, action = decisions(played)
    return {
        name: float((action == PREDICATES.index(name)).mean()) for name in ("confirm", "implicit_confirm")
    }


def test_thresholds_make_it_confirm_more_or_less() -> None:
    never, usual, always = (confirmations(trusts=trusts) for trusts in (0.0, 0.4, 1.0))
    assert never["confirm"] < usual["confirm"] < always["confirm"]
    never, usual = confirmations(knows=0.0), confirmations()
    assert never["implicit_confirm"] < usual["implicit_confirm"]


def test_its_tracker_by_hand() -> None:
    """max(.999 memory (1 - denied), informed), shared out where the sum exceeds one."""

    class Turn:
        informed = np.array([[[0.2, 0.9, 0.0]]])
        denied = np.array([[[0.0, 0.0, 1.5]]])

    tracker, memory = ExpertTracker(), np.array([[[[0.5, 0.3, 0.8]]]])
    heard: Heard = Turn()  # type: ignore[assignment]
    after = tracker.update(memory, heard)
    assert after.tolist() == [[[[0.5 * 0.999, 0.9, 0.0]]]]
    assert np.allclose(tracker.belief(after, heard), [[[0.4995 / 1.3995, 0.9 / 1.3995, 0.0]]])
    half = np.array([[[[0.25, 0.5, 0.0]]]])
    assert tracker.belief(half, heard).tolist() == half[0].tolist()
