"""The system of the bus world at play: what it says, offers and asks, setting by setting; its expert."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

import extrinsic
from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.registry import TRACKERS
from extrinsic.simulation import (
    Expert,
    ExpertTracker,
    Moment,
    Play,
    play,
    read_simulation,
)
from extrinsic.simulation.bus_callers import draw_goals
from extrinsic.simulation.bus_expert import ExpertSettings
from extrinsic.simulation.bus_world import WorldSettings
from extrinsic.simulation.chance import Chance
from extrinsic.trackers.track import track
from extrinsic.trackers.tracking import Heard
from tests.contents import acts_content
from tests.simulation.worlds import (
    BUS,
    CERTAIN,
    PREDICATES,
    QUIET,
    acts_of_turns,
    expert_play,
    group_column,
    lists_of_turns,
    world,
)

RESTLESS = world(caller={"starts_over": 0.3})
UNCONNECTED = world(no_connection=0.5)


def predicates(corpus: Corpus, name: str) -> Ints:
    """The turns of a predicate."""
    return np.flatnonzero(corpus.predicate == PREDICATES.index(name))


def goals_of(in_world: WorldSettings, n_dialogs: int, rng: int) -> Ints:
    return draw_goals(in_world.goal, BUS, Chance.of(n_dialogs, "live", rng))


def test_labels_are_of_the_callers_goals() -> None:
    """A value informed, or confirmed by a yes, is labelled once: right if it is what the caller wants."""
    steady = world(caller={"changes_goal": 0.0})
    corpus, wanted = expert_play(steady, 200, 4).corpus, goals_of(steady, 200, 4)
    labels, evidence = corpus.labels, corpus.evidence
    number = BUS.number[labels.slot, labels.value]
    right = wanted[corpus.dialog_of_turn[labels.turn], BUS.group[labels.slot]] == number
    assert np.array_equal(labels.correct, right)
    assert 0.2 < right.mean() < 0.9
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    heard = evidence.informed > 0
    expected = sorted(zip(item[heard].tolist(), evidence.value[heard].tolist(), strict=True))
    assert (
        sorted(zip((labels.turn * 9 + labels.slot).tolist(), labels.value.tolist(), strict=True)) == expected
    )


@pytest.mark.parametrize("opening", ["open", "directed"])
def test_openings_and_restarts(opening: str) -> None:
    """The system begins anew just after it heard the wish in its best hypothesis, as it began the call."""
    settings = world(caller={"starts_over": 0.5, "patience": 20.0}, system={"opening": opening})
    corpus = expert_play(settings, 150).corpus
    acts, lists = acts_of_turns(corpus), lists_of_turns(corpus)
    asks = ("open-request", []) if opening == "open" else ("request", [("from", None)])
    assert all(acts[turn] == [("hello", []), asks] for turn in corpus.offsets[:-1])
    restarts = np.flatnonzero(corpus.restart)
    assert len(restarts) > 20
    assert restarts.tolist() == predicates(corpus, "restart").tolist()
    for turn in restarts:
        assert acts[turn] == [("restart", []), asks]
        assert ("restart", []) in lists[turn - 1][0][2]


def test_some_places_may_not_be_connected() -> None:
    """As in real calls: both places, the destination confirmed implicitly, and asked for again."""
    corpus = expert_play(UNCONNECTED).corpus
    acts, refused = acts_of_turns(corpus), predicates(corpus, "canthelp")
    for (apology, places), (name, confirmed), asked in (acts[turn] for turn in refused):
        assert (apology, name, asked) == ("canthelp.no_connection", "impl-conf", ("request", [("to", None)]))
        assert [slot.split(".")[0] for slot, _ in places] == ["from", "to"]
        assert confirmed == places[1:]
    assert 0.3 < len(refused) / (len(refused) + len(predicates(corpus, "offer"))) < 0.8
    # An apology is logged with the probability of the offer it stands for.
    assert corpus.propensities is not None
    assert (corpus.propensities[refused, PREDICATES.index("canthelp")] > 0).all()
    assert not len(predicates(expert_play(world(no_connection=1.0), 50).corpus, "offer"))


def test_offers_are_for_the_values_believed_best() -> None:
    """With a perfect recogniser, for the caller's own; when the bus leaves comes first."""
    steady = world(QUIET, {"changes_goal": 0.0, "answers": 1.0}, CERTAIN)
    corpus, wanted = expert_play(steady, 100, 4).corpus, goals_of(steady, 100, 4)
    for turn in predicates(corpus, "offer"):
        (pairs,) = (pairs for name, pairs in acts_of_turns(corpus)[turn] if name == "schedule")
        goal = wanted[corpus.dialog_of_turn[turn]]
        places = [int(goal[group_column(side)]) for side in ("from", "to")]
        named = {(f"result.{slot}", value) for place in places for slot, value in pairs_of(place)}
        assert named <= set(pairs)
        parts = [f"result.from.time.{part}" for part in ("hour", "minute", "ampm")]
        assert [slot for slot, _ in pairs[:3]] == parts


def pairs_of(number: int) -> list[tuple[Any, Any]]:
    rows, word = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1]), BUS.vocabulary.value
    columns = (BUS.pair_slot[rows].tolist(), BUS.pair_value[rows].tolist())
    return [(word(slot), word(value)) for slot, value in zip(*columns, strict=True)]


LETSGO = read_simulation().world("letsgo")


@pytest.fixture(scope="module")
def letsgo() -> Play:
    return expert_play(LETSGO, 300, 3)


def test_browsing(letsgo: Play) -> None:
    """A request for another bus gets an offer that says which, and it is another one; else there is help."""
    corpus = letsgo.corpus
    acts, offers = acts_of_turns(corpus), predicates(corpus, "offer")
    follows = {turn: pairs[0][1] for turn in offers for name, pairs in acts[turn] if name == "impl-conf"}
    counts = Counter(follows.values())
    assert set(counts) == {"want-next-bus", "nextbus", "prevbus", "repeat"}
    assert counts["nextbus"] > counts["repeat"] > counts["prevbus"]
    compared = 0
    for turn, name in follows.items():
        if turn - 1 in offers and name in ("nextbus", "repeat"):
            before, now = (dict(acts[at][-1][1]) for at in (turn - 1, turn))
            if all(before[f"result.{side}.desc"] == now[f"result.{side}.desc"] for side in ("from", "to")):
                parts = [f"result.from.time.{part}" for part in ("hour", "minute", "ampm")]
                assert all(before[part] == now[part] for part in parts) is (name == "repeat")
                compared += 1
    assert compared > 20
    helps = predicates(corpus, "help")
    assert len(helps) > 100
    browsing = [PREDICATES.index(name) for name in ("offer", "help")]
    assert np.isin(corpus.predicate[helps - 1], browsing).all()
    assert all(acts[turn] == [("sorry", [])] for turn in helps)
    hypotheses = acts_content(corpus.nbest.acts, corpus.vocabulary)
    assert "goback" in {name for acts in hypotheses for name, _ in acts}  # for a no and the right value
    assert max(map(len, hypotheses)) == 1


class Watched(Expert):
    """An expert whose decisions are written down."""

    def __init__(self, settings: ExpertSettings) -> None:
        super().__init__(settings)
        self.seen: list[tuple[Any, ...]] = []

    def probabilities(self, moment: Moment) -> Floats:
        chances = super().probabilities(moment)
        self.seen.append((moment.allowed, moment.history.offered, chances, self.choice(moment)))
        return chances


def test_probabilities_in_closed_form() -> None:
    """main .8 on the rule's choice, .1 on its second, .1 spread over what is sensible."""
    policy = Watched(ExpertSettings(main=0.8, exploration=0.1))
    play(policy, ExpertTracker(), 800, 3, world(caller={"starts_over": 0.1}, no_connection=0.1))
    allowed, offered, chances, main = (np.concatenate(column) for column in zip(*policy.seen, strict=True))
    assert len(chances) > 3000
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert not chances[~allowed].any()
    sensible = allowed.copy()
    sensible[~offered, PREDICATES.index("goodbye")] = False
    sensible[:, PREDICATES.index("restart")] = False
    rest = chances - 0.1 * sensible / sensible.sum(axis=1, keepdims=True)
    on_main = rest[np.arange(len(main)), main]
    rest[np.arange(len(main)), main] = 0.0
    # The second choice is another act, or the first again.
    two = np.isclose(on_main, 0.8)
    assert (two | np.isclose(on_main, 0.9)).all()
    assert np.allclose(rest.max(axis=1), np.where(two, 0.1, 0.0))
    assert np.allclose(rest.sum(axis=1), np.where(two, 0.1, 0.0))
    assert 0.3 < two.mean() < 1.0
    # Every act is chosen at some time, those that only the world makes excepted.
    used = {PREDICATES[column] for column in np.flatnonzero(chances.any(axis=0))}
    assert set(PREDICATES) - used == {"hello", "canthelp", "help", "confirm_restart"}


@pytest.mark.parametrize("in_world", [world(), RESTLESS, UNCONNECTED], ids=["usual", "restart", "canthelp"])
def test_actions_are_taken_at_the_logged_rates(in_world: WorldSettings) -> None:
    """Per predicate: sum of (1[a] - p) over sqrt of sum p (1 - p), normal; and chi-square over bins."""
    corpus = expert_play(in_world, 1500, 11).corpus
    assert corpus.propensities is not None
    decided = corpus.turn_in_dialog > 0
    chances, action = corpus.propensities[decided], corpus.predicate[decided]
    taken = np.eye(len(PREDICATES), dtype=bool)[action]
    assert (chances[taken] > 0).all()
    spread = np.sqrt((chances * (1 - chances)).sum(axis=0))
    used = spread > 0
    assert (np.abs((taken - chances).sum(axis=0)[used] / spread[used]) < 4).all()
    probability, was_taken = chances[chances > 0], taken[chances > 0]
    number = np.digitize(probability, [0.01, 0.015, 0.02, 0.05, 0.08, 0.1, 0.5, 0.86, 0.88, 0.9])
    expected, variance = (
        np.bincount(number, weights, 11) for weights in (probability, probability * (1 - probability))
    )
    observed, used = np.bincount(number[was_taken], minlength=11), variance > 5
    assert used.sum() >= 4
    statistic = ((observed - expected)[used] ** 2 / variance[used]).sum()
    assert stats.chi2.sf(statistic, used.sum()) > 1e-4


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


def accuracy(played: Play, name: str, component: str = "joint") -> float:
    output = track(TRACKERS.get(name), played.corpus, name)
    scores = extrinsic.score(played.corpus, output, metrics=["accuracy"], schedules=[3])
    (row,) = [row for row in scores.rows if row.component == component]
    assert row.n > played.corpus.n_dialogs / 3
    assert row.value is not None
    return row.value


@pytest.fixture(scope="module")
def louder() -> list[Play]:
    return [expert_play(world({"noise": noise}), 600, 22) for noise in (0.0, 0.5, 1.0, 1.5, 2.0)]


@pytest.mark.parametrize("name", ["baseline", "focus"])
@pytest.mark.parametrize("component", ["joint", "from.desc"])
def test_more_noise_less_accuracy_and_fewer_buses(louder: list[Play], name: str, component: str) -> None:
    accuracies = [accuracy(played, name, component) for played in louder]
    assert accuracies[0] == 1.0
    assert (np.diff(accuracies) < 0).all()
    assert (np.diff([played.completed.mean() for played in louder]) < 0).all()
