"""Live play: the same callers for everybody, the same dialog in any company, the same beliefs as on file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Tracker
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Expert, ExpertTracker, Moment, Play, Policy, play
from extrinsic.simulation.bus.bus_settings import ExpertSettings
from extrinsic.simulation.chance import Chance
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.track import track
from tests.contents import hypotheses_content
from tests.simulation.players import Always, Uniform
from tests.simulation.worlds import (
    NOISY,
    PATIENT,
    PREDICATES,
    acts_of_turns,
    expert_play,
    lists_of_turns,
    world,
)

RULE_TRACKERS = [name for name in TRACKERS.names() if isinstance(TRACKERS.get(name), BuiltInTracker)]


def dialogs_of(played: Play) -> list[dict[str, Any]]:
    """Everything about each dialog, but its session id."""
    corpus = played.corpus
    n_slots = len(corpus.slots)
    beliefs = hypotheses_content(played.output.given, corpus.vocabulary)
    acts, lists = acts_of_turns(corpus), lists_of_turns(corpus)
    found = []
    for dialog in range(corpus.n_dialogs):
        begin, end = corpus.offsets[dialog : dialog + 2]
        found.append(
            {
                "system": acts[begin:end],
                "nbest": lists[begin:end],
                "beliefs": beliefs[begin * n_slots : end * n_slots],
                "propensities": corpus.propensities[begin:end].tobytes(),
                "restart": corpus.restart[begin:end].tolist(),
                "possible": corpus.possible[begin:end].tobytes(),
                "labels": [
                    column.tolist()
                    for column in vars(corpus.labels.take(np.arange(begin, end))).values()
                    if isinstance(column, np.ndarray)
                ],
                "end": (int(played.ending[dialog]), bool(played.completed[dialog])),
            }
        )
    return found


@pytest.mark.parametrize(
    ("policy", "tracker"),
    [
        (Expert(ExpertSettings()), ExpertTracker()),
        (Uniform(), TRACKERS.get("focus")),
        (Uniform(), TRACKERS.get("yarbus")),
    ],
    ids=["expert", "focus", "yarbus"],
)
def test_a_dialog_is_the_same_alone_and_in_any_company(policy: Policy, tracker: Tracker) -> None:
    """Bit for bit: what is said, understood, believed and logged."""
    chance = Chance.of(400, "company")
    together = dialogs_of(play(policy, tracker, 400, chance, NOISY))
    for number in (0, 7, 123, 399):
        (alone,) = dialogs_of(play(policy, tracker, 1, chance.take(np.array([number])), NOISY))
        assert alone == together[number]
    order = np.array([399, 5, 123, 6, 0])
    assert dialogs_of(play(policy, tracker, 5, chance.take(order), NOISY)) == [together[i] for i in order]


@pytest.mark.parametrize("name", RULE_TRACKERS)
def test_every_tracker_believes_the_same_alone_and_in_company(name: str) -> None:
    """Also about dialogs with more values than the table of candidates first has room for."""
    tracker, chance = TRACKERS.get(name), Chance.of(25, "crowd")
    crowded = world({"noise": 2.0, "lengthens": 5.0}, PATIENT, longest_dialog=10)
    together = play(Uniform(), tracker, 25, chance, crowded).output
    for number in (0, 24):
        alone = play(Uniform(), tracker, 1, chance.take(np.array([number])), crowded).output.given
        expected = together.take([number]).given
        assert np.array_equal(alone.value, expected.value)
        assert np.array_equal(alone.score, expected.score)


def test_the_first_dialogs_are_the_same_however_many_there_are() -> None:
    few, many = (dialogs_of(expert_play(NOISY, n, 5)) for n in (20, 60))
    assert few == many[:20]


def first_lists(played: Play) -> list[Any]:
    """What was understood in answer to the greeting, which is the same whatever comes later."""
    lists = lists_of_turns(played.corpus)
    return [lists[turn] for turn in played.corpus.offsets[:-1]]


def test_every_policy_and_tracker_meets_the_same_callers() -> None:
    plays = [
        play(policy, TRACKERS.get(tracker), 150, 8, NOISY)
        for policy, tracker in (
            (Expert(ExpertSettings()), "focus"),
            (Uniform(), "focus"),
            (Uniform(), "vote"),
        )
    ]
    assert first_lists(plays[0]) == first_lists(plays[1]) == first_lists(plays[2])
    assert dialogs_of(plays[0]) != dialogs_of(plays[1])
    assert first_lists(plays[0]) != first_lists(play(Uniform(), TRACKERS.get("vote"), 150, 9, NOISY))


def given_of(corpus: Corpus, output: Any) -> Any:
    return output.given.offsets.tobytes(), output.given.value.tobytes(), output.given.score.tobytes()


@pytest.mark.parametrize("name", RULE_TRACKERS)
def test_live_beliefs_are_those_on_the_stored_corpus(name: str) -> None:
    """Bit for bit."""
    tracker = TRACKERS.get(name)
    played = play(Uniform(), tracker, 60, 2, world(caller=PATIENT, longest_dialog=12))
    stored = track(tracker, played.corpus, name)
    assert given_of(played.corpus, played.output) == given_of(played.corpus, stored)
    assert len(played.output.given.value) > 1000


def test_joint_beliefs_are_those_on_the_stored_corpus() -> None:
    played = play(Uniform(), TRACKERS.get("focus"), 60, 2, NOISY)
    stored = track(TRACKERS.get("focus"), played.corpus, "focus")
    found, expected = played.output.joint, stored.joint
    for name in ("offsets", "assignment", "none", "score", "correct"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert len(found.score) > 300
    assert np.array_equal(played.output.given.score, stored.given.score)


def test_calls_are_signed_by_what_was_said() -> None:
    """The same callers, but other policies, trackers or dialogs."""
    some = [(Uniform(), "focus", 8), (Always("request"), "focus", 8), (Uniform(), "focus", 9)]
    plays = [play(policy, TRACKERS.get(tracker), 20, rng, NOISY) for policy, tracker, rng in some]
    again = play(Uniform(), TRACKERS.get("focus"), 20, 8, NOISY)
    assert again.corpus.signature == plays[0].corpus.signature
    assert again.output.signature == plays[0].output.signature
    assert len({played.corpus.signature for played in plays}) == 3
    assert len({played.output.signature for played in plays}) == 3


def test_a_tracker_has_to_learn_first() -> None:
    with pytest.raises(UsageError, match=r"cannot track; call tracker.fit\(\[corpus\]\) first"):
        play(Uniform(), TRACKERS.get("logistic"), 5, 1)
    with pytest.raises(UsageError, match=r"cannot track$"):
        play(Uniform(), object(), 5, 1)  # type: ignore[arg-type]


def test_live_beliefs_over_restarts() -> None:
    restless = world(caller={"starts_over": 0.3})
    played = play(Expert(ExpertSettings()), TRACKERS.get("focus"), 200, 2, restless)
    assert played.corpus.restart.any()
    stored = track(TRACKERS.get("focus"), played.corpus, "focus")
    assert given_of(played.corpus, played.output) == given_of(played.corpus, stored)


class Faulty:
    """A policy that gives what it is told to give."""

    def __init__(self, spoil: Any) -> None:
        self.spoil = spoil

    def probabilities(self, moment: Moment) -> Floats:
        chances = Always("request").probabilities(moment)
        return np.asarray(self.spoil(chances))


def _all_on(name: str) -> Any:
    return lambda chances: np.eye(len(PREDICATES))[[PREDICATES.index(name)] * len(chances)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_all_on("next_bus"), "not allowed"),
        (_all_on("hello"), "not allowed"),
        (_all_on("restart"), "not allowed"),
        (lambda chances: chances[:, :-1], "wrong shape"),
        (lambda chances: chances[:-1], "wrong shape"),
        (lambda chances: chances[0], "wrong shape"),
        (lambda chances: chances * np.nan, "sum to 1"),
        (lambda chances: chances * 0.5, "sum to 1"),
        (lambda chances: chances * 0.0, "sum to 1"),
        (
            lambda chances: chances + np.eye(1, chances.shape[1]) - np.eye(1, chances.shape[1], 1),
            "at least 0",
        ),
    ],
)
def test_a_faulty_policy_is_refused(spoil: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Faulty(spoil), ExpertTracker(), 5, 1)


@pytest.mark.parametrize("n_dialogs", [0, -3])
def test_at_least_one_dialog(n_dialogs: int) -> None:
    with pytest.raises(UsageError, match="at least one dialog"):
        play(Uniform(), ExpertTracker(), n_dialogs, 1)


def test_a_generator_gives_callers_by_its_state() -> None:
    first, again, further = (
        first_lists(play(Uniform(), ExpertTracker(), 20, rng))
        for rng in (np.random.default_rng(3), np.random.default_rng(3), np.random.default_rng(4))
    )
    assert first == again != further
    rng = np.random.default_rng(3)
    assert first_lists(play(Uniform(), ExpertTracker(), 20, rng)) == first
    assert first_lists(play(Uniform(), ExpertTracker(), 20, rng)) != first  # the generator has moved on


def test_dice_for_another_number_of_dialogs_are_refused() -> None:
    with pytest.raises(UsageError):
        play(Uniform(), ExpertTracker(), 5, Chance.of(3, "x"))
    with pytest.raises(UsageError):
        play(Uniform(), ExpertTracker(), 3, Chance.of(5, "x"))
