"""What every world has to keep, the embedded one and one of somebody else, known by its entry point only."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError
from extrinsic.policy.features import find_features
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.observations import observations_of_corpus
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS, WORLDS
from extrinsic.simulation import (
    CUT_OFF,
    GOODBYE,
    HANG_UP,
    Dialogs,
    LockstepWorld,
    Moment,
    Play,
    Policy,
    describe,
    play,
)
from extrinsic.simulation.chance import Chance
from extrinsic.trackers.track import track
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.live import LivePlay
from tests.policy.decisions import drawn_decisions
from tests.policy.learning import learn
from tests.policy.players import Witness
from tests.simulation.test_play import dialogs_of, first_lists
from tests.value.finding import find

KINDS = ("bus", "restaurants", "pizza")
N_DIALOGS = 40

pytestmark = pytest.mark.usefixtures("plugged")


@pytest.fixture(params=KINDS)
def simulation(request: pytest.FixtureRequest) -> Any:
    return WORLDS.get(request.param).read(None, 5)


@pytest.fixture
def world(simulation: Any) -> LockstepWorld:
    in_world: LockstepWorld = simulation.world(*simulation.corpora()[-1])
    return in_world


@pytest.fixture
def pizza() -> Any:
    return WORLDS.get("pizza").read(None, 5).world("orders", "test")


class Allowed:
    """Anything that is possible; the larger the power, the rather the later predicates."""

    def __init__(self, power: float = 0.0) -> None:
        self.power = power

    def probabilities(self, moment: Moment) -> Floats:
        weight = moment.allowed * np.arange(1.0, 1.0 + moment.allowed.shape[1]) ** self.power
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def played_in(world: LockstepWorld, policy: Policy | None = None, rng: Any = 3, tracker: str = "hwu") -> Play:
    n_dialogs = len(rng.key) if isinstance(rng, Chance) else N_DIALOGS
    return play(policy or Allowed(), TRACKERS.get(tracker), n_dialogs, rng, world)


def test_every_world_is_tested_here() -> None:
    assert set(WORLDS.names()) == set(KINDS)


def test_corpora_are_named_and_identified(simulation: Any) -> None:
    corpora = simulation.corpora()
    identities = {simulation.identity(*corpus) for corpus in corpora}
    assert len(identities) == len(set(corpora)) == len(corpora) >= 2
    again = type(simulation).read(None, 5)
    assert {again.identity(*corpus) for corpus in corpora} == identities
    assert {type(simulation).read(None, 6).identity(*corpus) for corpus in corpora}.isdisjoint(identities)
    assert pickle.loads(pickle.dumps(simulation)).identity(*corpora[0]) == simulation.identity(*corpora[0])
    assert (simulation.seed, type(simulation).read(None, 6).seed) == (5, 6)
    for wrong in ((corpora[0][0], "trein"), ("nothing", corpora[0][1])):
        with pytest.raises(UsageError, match=r"did you mean|there (is|are) no"):
            simulation.require(*wrong)
        with pytest.raises(UsageError):
            simulation.world(*wrong)


def test_a_corpus_is_the_same_whoever_makes_it(simulation: Any) -> None:
    dataset, split = simulation.corpora()[-1]
    played = simulation.simulate(dataset, split)
    assert type(simulation).read(None, 5).simulate(dataset, split).corpus.signature == played.corpus.signature
    assert type(simulation).read(None, 6).simulate(dataset, split).corpus.signature != played.corpus.signature
    assert played.corpus.dataset == f"{dataset}_{split}"
    assert 0.3 < describe(played).completed < 1.0
    labels = played.corpus.labels
    right = labels.correct if isinstance(labels, LabelEvents) else labels.goal != NONE
    assert right.any()
    assert not right.all()


def test_every_policy_and_tracker_meets_the_same_callers(world: LockstepWorld) -> None:
    plays = [
        played_in(world),
        played_in(world, Allowed(power=2.0)),
        played_in(world, tracker="baseline"),
    ]
    assert first_lists(plays[0]) == first_lists(plays[1]) == first_lists(plays[2])
    assert dialogs_of(plays[0]) != dialogs_of(plays[1])
    assert first_lists(plays[0]) != first_lists(played_in(world, rng=4))


def test_a_dialog_is_the_same_alone_and_in_company(world: LockstepWorld) -> None:
    chance = Chance.of(N_DIALOGS, "company")
    together = dialogs_of(played_in(world, rng=chance))
    assert dialogs_of(played_in(world, rng=chance)) == together
    order = np.array([7, 0, N_DIALOGS - 1])
    assert dialogs_of(played_in(world, rng=chance.take(order))) == [together[number] for number in order]


def test_what_is_logged_is_what_was_possible_and_done(world: LockstepWorld) -> None:
    witness = Witness(Allowed(), find_features("compact"))
    corpus = played_in(world, witness).corpus
    assert corpus.propensities is not None
    decisions = corpus.turn_in_dialog > 0
    assert np.isnan(corpus.propensities[~decisions]).all()
    done = corpus.predicate[decisions]
    assert (done >= 0).all()
    assert (corpus.propensities[decisions][np.arange(len(done)), done] > 0).all()
    assert np.allclose(corpus.propensities[decisions].sum(axis=1), 1.0)
    assert len(np.concatenate(witness.chances)) == decisions.sum()


def test_what_is_not_possible_is_refused(world: LockstepWorld) -> None:
    class Reckless:
        def probabilities(self, moment: Moment) -> Floats:
            return np.full(moment.allowed.shape, 1.0 / moment.allowed.shape[1])

    with pytest.raises(UsageError, match="not allowed"):
        played_in(world, Reckless())


def test_every_dialog_ends(world: LockstepWorld) -> None:
    played = played_in(world)
    length = np.diff(played.corpus.offsets)
    assert length.max() <= world.longest_dialog
    assert (length[played.ending == CUT_OFF] == world.longest_dialog).all()
    assert set(played.ending.tolist()) <= {GOODBYE, HANG_UP, CUT_OFF}


def test_a_dialog_that_nobody_ends_is_cut_off(pizza: Any) -> None:
    class Asks:
        def probabilities(self, moment: Moment) -> Floats:
            return np.eye(moment.allowed.shape[1])[
                [moment.domain.predicate_names.index("request")] * len(moment.dialogs)
            ]

    played = played_in(replace(pizza, patience=1_000_000, longest_dialog=6), Asks())
    assert (played.ending == CUT_OFF).all()
    assert (np.diff(played.corpus.offsets) == 6).all()


@pytest.mark.parametrize("tracker", ["baseline", "hwu"])
def test_live_beliefs_and_states_are_those_on_file(world: LockstepWorld, tracker: str) -> None:
    """Requests and conditions included, where a world has them."""
    features = find_features(("slot_scores", "requested", "requested_slots", "method", "top_values"))
    witness = Witness(Allowed(), features)
    played = played_in(world, witness, tracker=tracker)
    stored = track(TRACKERS.get(tracker), played.corpus, tracker)
    assert stored.given.value.tobytes() == played.output.given.value.tobytes()
    assert stored.given.score.tobytes() == played.output.given.score.tobytes()
    assert stored.requested.tobytes() == played.output.requested.tobytes()
    assert stored.given_method.score.tobytes() == played.output.given_method.score.tobytes()
    for dialogs, turn, live in witness.seen:
        turns = played.corpus.offsets[dialogs] + turn - 1
        on_file = features(observations_of_corpus(played.corpus, played.output, turns))
        on_file.require_like(live)
        assert np.abs(on_file.continuous - live.continuous).max() <= 1e-12
        assert np.array_equal(on_file.discrete, live.discrete)


def test_a_policy_sees_the_requests_and_conditions_of_a_world(pizza: Any) -> None:
    witness = Witness(Allowed(), find_features("compact"))
    played = played_in(pizza, witness)
    states = [seen for _, _, seen in witness.seen]
    for name in ("requested", "condition.branch"):
        column = states[0].discrete_names.index(name)
        assert len({int(value) for seen in states for value in seen.discrete[:, column]}) == 2
    assert set(played.corpus.conditions["branch"]) == {"north", "south"}
    assert played.corpus.requestable == ("price",)
    assert {0.0, 0.8} <= set(played.output.requested.ravel().tolist())


def test_a_policy_is_learned_and_valued_live_in_any_world(simulation: Any) -> None:
    """The same code for every world, from its corpus to the live value."""
    if isinstance(simulation.dialogs, int):  # pizza's own 60 teach too little
        simulation = replace(simulation, dialogs=300)
    dataset, split = simulation.corpora()[-2:][0]
    tracker, world = TRACKERS.get("hwu"), simulation.world(dataset, split)
    corpus = simulation.simulate(dataset, split).corpus
    policy = learn(transitions_of(corpus, track(tracker, corpus, "hwu")))
    log = drawn_decisions(3)
    values = [
        find("live").estimate(
            EvaluationProblem(
                log,
                np.full((len(log), 3), 1 / 3),
                stage=LivePlay(decides, tracker, world, 100, 7),
            )
        )
        for decides in (LivePolicy("compact", policy), Allowed())
    ]
    assert values[0].mean > values[1].mean
    assert (values[0].n, values[0].estimator) == (100, "live")


class Spoilt(Dialogs):
    """The dialogs of a world, but for what one method returns."""

    def __init__(self, inner: Dialogs, method: str, spoil: Callable[[Any], Any]) -> None:
        self.inner, self.method, self.spoil = inner, method, spoil

    def _spoilt(self, method: str, value: Any) -> Any:
        return self.spoil(value) if method == self.method else value

    @property
    def outcomes(self) -> Any:
        return self._spoilt("outcomes", self.inner.outcomes)

    @property
    def conditions(self) -> Any:
        return self._spoilt("conditions", self.inner.conditions)

    def greet(self) -> Any:
        return self._spoilt("greet", self.inner.greet())

    def possible(self, view: Any) -> Any:
        return self._spoilt("possible", self.inner.possible(view))

    def act(self, moment: Any, predicate: Any) -> Any:
        return self._spoilt("act", self.inner.act(moment, predicate))

    def carried_out(self, moment: Any, chances: Any) -> Any:
        return self._spoilt("carried_out", chances)


class SpoiltWorld:
    """A world whose dialogs are spoilt."""

    def __init__(self, world: Any, method: str, spoil: Callable[[Any], Any]) -> None:
        self.world, self.method, self.spoil = world, method, spoil

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def begin(self, chance: Chance) -> Dialogs:
        return Spoilt(self.world.begin(chance), self.method, self.spoil)


def part(name: str, spoil: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda exchange: replace(exchange, **{name: spoil(getattr(exchange, name))})


@pytest.mark.parametrize(
    ("method", "spoil", "message"),
    [
        ("possible", lambda allowed: allowed[:, :-1], r"possible has the wrong shape.*\(40, 5\).*\(40, 4\)"),
        ("possible", lambda allowed: allowed[:-1], r"possible has the wrong shape.*\(40, 5\).*\(39, 5\)"),
        ("possible", lambda allowed: allowed.astype(int), "possible is not an array of booleans.*int64"),
        ("possible", lambda allowed: None, r"possible has the wrong shape.*found \(\)"),
        ("possible", lambda allowed: allowed & False, "possible leaves nothing to do"),
        (
            "outcomes",
            lambda outcomes: {"success": outcomes["success"][1:]},
            r"outcomes.\['success'\] has the wrong shape.*\(40,\).*\(39,\)",
        ),
        ("outcomes", lambda _: {}, "outcomes lack 'success'"),
        ("carried_out", lambda chances: chances[0], r"carried_out has the wrong shape.*\(40, 5\).*\(5,\)"),
        ("conditions", lambda _: {"branch": ("north",)}, r"conditions\['branch'\] has the wrong length"),
        ("greet", lambda _: None, "greet returned no Exchange.*NoneType"),
        (
            "greet",
            part("system", lambda acts: acts.take(np.arange(3))),
            r"greet.system.offsets.*\(41,\).*\(4,\)",
        ),
        (
            "act",
            part("nbest", lambda lists: lists.take(np.arange(3))),
            r"act.nbest.offsets has the wrong shape",
        ),
        ("act", part("goal", lambda goal: goal[:, 0]), r"act.goal has the wrong shape.*\(40, 2\).*\(40,\)"),
        (
            "act",
            part("said", lambda said: said[:, :1]),
            r"act.said has the wrong shape.*\(40, 2\).*\(40, 1\)",
        ),
        ("act", part("ending", lambda ending: ending[None]), r"act.ending has the wrong shape"),
        (
            "act",
            part("restart", lambda restart: restart.astype(int)),
            "act.restart is not an array of booleans",
        ),
        ("act", part("said_acts", lambda _: None), "act.said_acts.offsets has the wrong shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    pizza: Any, method: str, spoil: Callable[[Any], Any], message: str
) -> None:
    """By the name of the method, with both shapes."""
    with pytest.raises(UsageError, match=message):
        played_in(SpoiltWorld(pizza, method, spoil))
