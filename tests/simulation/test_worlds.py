"""What every world has to keep: the embedded ones, one that is known by its entry point only, and the toy of
the guide, which plays one dialog at a time; and calls of the embedded ones, which stay what they were."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.acts import NONE
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.corpus.labels import LabelEvents
from extrinsic.errors import UsageError
from extrinsic.metrics.scoring import score
from extrinsic.policy.features import find_features
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.observations import observations_of_corpus
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS, WORLDS
from extrinsic.simulation import (
    CUT_OFF,
    GOODBYE,
    HANG_UP,
    LockstepWorld,
    Play,
    Policy,
    describe,
    find_simulation,
    play,
)
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.single_world import lockstep_form
from extrinsic.simulation.world_files import draw_worlds
from extrinsic.trackers.track import track
from extrinsic.value.estimator import EvaluationProblem, LivePlay
from tests.contents import corpus_content, output_content
from tests.metrics.reading import assert_same, keyed
from tests.policy.decisions import drawn_decisions, learn
from tests.simulation.worlds import NOISY, Allowed, Always, Witness, dialogs_of, first_lists, load_toy, world
from tests.value.tables import find

KINDS = ("bus", "restaurants", "pizza", "colours")
FORMATS = {form.name: form for form in (DSTC1, DSTC2)}
RULE_TRACKERS = [name for name in TRACKERS.names() if not hasattr(TRACKERS.get(name), "fit")]
N_DIALOGS = 40


@pytest.fixture(scope="module", autouse=True)
def _worlds(plugged: None) -> None:
    load_toy()


@pytest.fixture(params=KINDS)
def simulation(request: pytest.FixtureRequest) -> Any:
    return find_simulation(request.param, None, 5)


@pytest.fixture
def in_world(simulation: Any) -> LockstepWorld:
    return lockstep_form(simulation.world(*simulation.corpora()[-1]))


@pytest.fixture
def pizza() -> Any:
    return WORLDS.get("pizza").read(None, 5).world("orders", "test")


def played_in(
    in_world: LockstepWorld, policy: Policy | None = None, rng: Any = 3, tracker: str = "hwu"
) -> Play:
    n_dialogs = len(rng.key) if isinstance(rng, Chance) else N_DIALOGS
    return play(policy or Allowed(), TRACKERS.get(tracker), n_dialogs, rng, in_world, dataset="live")


def test_every_world_is_tested_here() -> None:
    assert set(WORLDS.names()) == set(KINDS)


def test_corpora_are_named_and_identified(simulation: Any) -> None:
    kind = next(name for name in KINDS if find_simulation(name, None, 5) == simulation)
    again, other = (find_simulation(kind, None, seed) for seed in (5, 6))
    corpora = simulation.corpora()
    identities = {simulation.identity(*corpus) for corpus in corpora}
    assert len(identities) == len(set(corpora)) == len(corpora) >= 2
    assert {again.identity(*corpus) for corpus in corpora} == identities
    assert {other.identity(*corpus) for corpus in corpora}.isdisjoint(identities)
    assert pickle.loads(pickle.dumps(simulation)).identity(*corpora[0]) == simulation.identity(*corpora[0])
    assert (simulation.seed, other.seed) == (5, 6)
    for wrong in ((corpora[0][0], "trein"), ("nothing", corpora[0][1])):
        with pytest.raises(UsageError, match=r"did you mean|there (is|are) no|has no dialogs"):
            simulation.require(*wrong)
        with pytest.raises(UsageError):
            simulation.world(*wrong)
    dataset, split = corpora[-1]
    played = simulation.simulate(dataset, split)
    assert played.corpus.dataset == f"{dataset}_{split}"
    assert again.simulate(dataset, split).corpus.signature == played.corpus.signature
    assert other.simulate(dataset, split).corpus.signature != played.corpus.signature
    assert 0.1 < describe(played).completed < 1.0
    labels = played.corpus.labels
    right = labels.correct if isinstance(labels, LabelEvents) else labels.goal != NONE
    assert right.any()
    assert not right.all()


def test_every_policy_and_tracker_meets_the_same_callers(in_world: LockstepWorld) -> None:
    plays = [
        played_in(in_world),
        played_in(in_world, Allowed(power=2.0)),
        played_in(in_world, tracker="baseline"),
    ]
    assert first_lists(plays[0]) == first_lists(plays[1]) == first_lists(plays[2])
    assert dialogs_of(plays[0]) != dialogs_of(plays[1])
    other = played_in(in_world, rng=4)
    assert first_lists(plays[0]) != first_lists(other)
    signatures = {(some.corpus.signature, some.output.signature) for some in (*plays, other)}
    assert len(signatures) == 4
    assert played_in(in_world).output.signature == plays[0].output.signature


def assert_same_alone(in_world: LockstepWorld, n_dialogs: int, tracker: str) -> None:
    """Bit for bit: what is said, understood, believed and logged."""
    chance = Chance.of(n_dialogs, "company")
    together = dialogs_of(played_in(in_world, rng=chance, tracker=tracker))
    order = np.array([7, 0, n_dialogs - 1])
    some = dialogs_of(played_in(in_world, rng=chance.take(order), tracker=tracker))
    assert some == [together[number] for number in order]
    (alone,) = dialogs_of(played_in(in_world, rng=chance.take(order[:1]), tracker=tracker))
    assert alone == together[7]
    few = chance.take(np.arange(9))
    assert dialogs_of(played_in(in_world, rng=few, tracker=tracker)) == together[:9]


def test_a_dialog_is_the_same_alone_and_in_company(in_world: LockstepWorld) -> None:
    assert_same_alone(in_world, N_DIALOGS, "hwu")


@pytest.mark.parametrize("tracker", RULE_TRACKERS)
def test_live_beliefs_are_those_on_the_stored_corpus(tracker: str) -> None:
    played = played_in(world(caller={"starts_over": 1.0, "patience": 8.0}), tracker=tracker)
    assert played.corpus.restart.any()
    stored = track(TRACKERS.get(tracker), played.corpus, tracker)
    assert output_content(stored, played.corpus) == output_content(played.output, played.corpus)


def test_what_is_logged_is_what_was_possible_and_done(in_world: LockstepWorld) -> None:
    witness = Witness(Allowed(), find_features("compact"))
    corpus = played_in(in_world, witness).corpus
    assert corpus.propensities is not None and corpus.possible is not None
    decisions = corpus.turn_in_dialog > 0
    assert np.isnan(corpus.propensities[~decisions]).all()
    done, chances = corpus.predicate[decisions], corpus.propensities[decisions]
    assert (done >= 0).all()
    assert (chances[np.arange(len(done)), done] > 0).all()
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert not chances[~corpus.possible[decisions]].any()
    assert len(np.concatenate(witness.chances)) == decisions.sum()


def test_every_dialog_ends(in_world: LockstepWorld) -> None:
    played = played_in(in_world)
    length = np.diff(played.corpus.offsets)
    assert length.max() <= in_world.longest_dialog
    assert (length[played.ending == CUT_OFF] == in_world.longest_dialog).all()
    assert set(played.ending.tolist()) <= {GOODBYE, HANG_UP, CUT_OFF}
    assert set(played.outcomes["success"].tolist()) <= {0.0, 1.0}


def test_a_dialog_that_nobody_ends_is_cut_off(pizza: Any) -> None:
    played = played_in(replace(pizza, patience=1_000_000, longest_dialog=6), Always("request"))
    assert (played.ending == CUT_OFF).all()
    assert (np.diff(played.corpus.offsets) == 6).all()


def test_what_is_saved_is_what_was_played(in_world: LockstepWorld, tmp_path: Path) -> None:
    """The same columns, and the same scores of the same tracker."""
    assert_saved_as_played(in_world, tmp_path)


def test_so_are_calls_with_restarts_and_apologies(tmp_path: Path) -> None:
    assert_saved_as_played(NOISY, tmp_path)


def assert_saved_as_played(in_world: LockstepWorld, folder: Path) -> None:
    played = played_in(in_world, tracker="focus")
    form, corpus = FORMATS[in_world.domain.log_format], played.corpus
    form.write_corpus(corpus, folder)
    read = form.read_corpus(folder, "live", in_world.domain)
    # A condition of the domain that no call has is read as one that every call lacks.
    conditions = {name: values for name, values in read.conditions.items() if set(values) != {None}}
    assert corpus_content(replace(read, conditions=conditions)) == corpus_content(corpus)
    assert (read.format, read.domain) == (corpus.format, corpus.domain)
    assert np.array_equal(read.propensities, corpus.propensities, equal_nan=True)  # type: ignore[arg-type]
    form.write_tracker(played.output, corpus, folder / "focus.json")
    output = form.read_tracker(folder / "focus.json", read)
    # The ontology of a simulated world lists no values: a warning says so.
    assert {problem.severity for problem in output.problems} <= {"warning"}
    again = track(TRACKERS.get("focus"), read, "focus")
    contents = [output_content(some, read)["given"] for some in (output, again)]
    assert contents == [output_content(played.output, corpus)["given"]] * 2
    rows = [keyed(score(*pair).rows) for pair in ((read, output), (corpus, played.output))]
    assert_same(rows[0], rows[1], tolerance=0.0)


@pytest.mark.parametrize("tracker", ["baseline", "hwu"])
def test_live_beliefs_and_states_are_those_on_file(in_world: LockstepWorld, tracker: str) -> None:
    """Requests and conditions included, where a world has them."""
    features = find_features(("slot_scores", "requested", "requested_slots", "method", "top_values"))
    witness = Witness(Allowed(), features)
    played = played_in(in_world, witness, tracker=tracker)
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


def test_a_policy_is_learned_and_valued_live_in_any_world(simulation: Any) -> None:
    """The same code for every world, from its corpus to the live value."""
    if isinstance(getattr(simulation, "dialogs", None), int):  # pizza's own 60 teach too little
        simulation = replace(simulation, dialogs=300)
    dataset, split = simulation.corpora()[-2]
    tracker, in_world = TRACKERS.get("hwu"), simulation.world(dataset, split)
    corpus = simulation.simulate(dataset, split).corpus
    policy = learn(transitions_of(corpus, track(tracker, corpus, "hwu")))
    log = drawn_decisions(3)
    stages = (
        LivePlay(decides, tracker, in_world, 100, 7) for decides in (LivePolicy("compact", policy), Allowed())
    )
    chances = np.full((len(log), 3), 1 / 3)
    values = [find("live").estimate(EvaluationProblem(log, chances, stage=stage)) for stage in stages]
    assert values[0].mean > values[1].mean
    assert (values[0].n, values[0].estimator) == (100, "live")


def test_every_drawn_world_can_be_simulated(simulation: Any) -> None:
    if not hasattr(simulation, "properties"):
        pytest.skip("this kind of world is not drawn")
    base = simulation.corpora()[-1][0]
    names = draw_worlds([base], 3, simulation.properties, {})
    assert len({simulation.identity(name, "train") for name in (base, *names)}) == 4
    for name in names:
        assert simulation.simulate(name, "train").corpus.dataset == f"{name}_train"


def part(name: str, spoil: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda exchange: replace(exchange, **{name: spoil(getattr(exchange, name))})


@pytest.mark.parametrize(
    ("method", "spoil", "message"),
    [
        ("possible", lambda allowed: allowed[:, :-1], r"possible has the wrong shape.*\(40, 5\).*\(40, 4\)"),
        ("possible", lambda allowed: allowed[:-1], r"possible has the wrong shape.*\(40, 5\).*\(39, 5\)"),
        ("possible", lambda allowed: allowed.astype(int), "possible is not an array of booleans.*int64"),
        ("possible", lambda allowed: allowed & False, "possible leaves nothing to do"),
        (
            "outcomes",
            lambda of: {"success": of["success"][1:]},
            r"\['success'\] has the wrong shape.*\(39,\)",
        ),
        ("outcomes", lambda _: {}, "outcomes lack 'success'"),
        ("carried_out", lambda chances: chances[0], r"carried_out has the wrong shape.*\(40, 5\).*\(5,\)"),
        ("conditions", lambda _: {"branch": ("north",)}, r"conditions\['branch'\] has the wrong length"),
        ("greet", lambda _: None, "greet returned no Exchange.*NoneType"),
        ("greet", part("system", lambda acts: acts.take(np.arange(3))), r"greet.system.offsets.*\(4,\)"),
        ("act", part("goal", lambda goal: goal[:, 0]), r"act.goal has the wrong shape.*\(40, 2\).*\(40,\)"),
        ("act", part("ending", lambda ending: ending[None]), r"act.ending has the wrong shape"),
        ("act", part("restart", lambda flags: flags.astype(int)), "act.restart is not an array of booleans"),
        ("act", part("said_acts", lambda _: None), "act.said_acts.offsets has the wrong shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    pizza: Any, method: str, spoil: Callable[[Any], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name of the method, with both shapes."""
    kind = type(pizza.begin(Chance.of(1, "pizza")))
    plain: Any = getattr(kind, method)
    if isinstance(plain, property):
        changed: Any = property(lambda dialogs: spoil(plain.fget(dialogs)))
    else:

        def changed(*arguments: Any) -> Any:
            return spoil(plain(*arguments))

    monkeypatch.setattr(kind, method, changed)
    with pytest.raises(UsageError, match=message):
        played_in(pizza)


DIGESTS = {
    "bus:ds1": "1b790132cf5960bab627",
    "bus:ds3": "866e99b49a1317700358",
    "bus:letsgo": "a0c781d107bd1622e15e",
    "bus:cambridge": "a6e58e70c286d5bbb0d1",
    "restaurants:quiet": "24acbc56729bb4bc22cf",
    "restaurants:noisy": "19937e31de302c34b922",
    "restaurants:noisy(noise=0.3, slots=2, caution=0.6)": "cc6b51551ad1333953a3",
    "bus:letsgo(patience=9, boldness=2, calibration=0.2)": "e538d88e210f7c5f20f4",
}

EVERYTHING = world(
    {"long_lists": 0.2, "rejects": 0.1, "single": 0.3},
    {"starts_over": 0.2, "undoes": 0.4, "browses": 0.5, "says_bye": 0.5, "changes_goal": 0.1},
    no_connection=0.2,
    system={"opening": "directed", "help": True, "ignores": 0.2, "unless_next_bus": ["route"]},
)
"""Every way of the bus world at once, those that no dataset has included."""


def digest(played: Play) -> str:
    """Of everything said, heard, believed and logged; words as text, numbers to six decimals."""
    corpus, output, hashed = played.corpus, played.output, hashlib.sha256()

    def texts(ids: np.ndarray) -> bytes:
        return "|".join(corpus.vocabulary.text(int(identity)) for identity in ids.ravel()).encode()

    for acts in (corpus.system, corpus.nbest.acts):
        for words in (acts.name, acts.slot, acts.value):
            hashed.update(texts(words))
        hashed.update(repr((acts.offsets.tolist(), acts.pair_offsets.tolist())).encode())
    hashed.update(texts(output.given.value) + repr(output.given.offsets.tolist()).encode())
    for numbers in (corpus.nbest.score, corpus.propensities, output.given.score):
        assert numbers is not None
        hashed.update(repr(np.round(np.nan_to_num(numbers, nan=-1.0), 6).tolist()).encode())
    labels = corpus.labels
    if isinstance(labels, LabelEvents):
        hashed.update(texts(labels.value) + repr((labels.turn.tolist(), labels.correct.tolist())).encode())
    else:
        hashed.update(texts(labels.goal) + texts(labels.method) + repr(labels.requested.tolist()).encode())
    hashed.update(repr((played.ending.tolist(), played.completed.tolist())).encode())
    return hashed.hexdigest()[:20]


@pytest.mark.parametrize("dataset", DIGESTS)
def test_the_experts_calls_are_what_they_were(dataset: str) -> None:
    kind, _, name = dataset.partition(":")
    in_world: Any = find_simulation(kind).world(name, "test")
    assert digest(play(in_world.policy(), in_world.tracker(), 40, 17, in_world)) == DIGESTS[dataset]


def test_calls_with_every_way_at_once_are_what_they_were() -> None:
    digests = [
        digest(play(policy, EVERYTHING.tracker(), 60, 17, EVERYTHING))
        for policy in (Allowed(), EVERYTHING.policy())
    ]
    assert digests == ["d80f9ca2305674027bdc", "99ae0a967a6ccc4f5fb8"]
