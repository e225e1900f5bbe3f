"""Worlds that play one dialog at a time: the toy of the guide from its log to live play, and bad ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.hypotheses import Fill
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.rewards import OutcomeReward
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, ESTIMATORS, LEARNERS, TRACKERS, WORLDS
from extrinsic.simulation import CUT_OFF, GOODBYE, HANG_UP, Turn, find_simulation, play
from extrinsic.simulation.datasets import WorldExpert
from extrinsic.simulation.tracked_dialogs import BeliefState
from extrinsic.trackers.track import track
from extrinsic.value.estimator import EvaluationProblem, LivePlay
from tests.running import run
from tests.simulation.worlds import TOY, Allowed, dialogs_of, load_toy

FOCUS = TRACKERS.get("focus")
REWARD = OutcomeReward()
HELLO = Turn([{"act": "hello", "slots": []}])


@pytest.fixture(autouse=True, scope="module")
def _toy() -> Iterator[None]:
    load_toy()
    yield
    WORLDS.unregister("colours")


def toy() -> Any:
    return WORLDS.get("colours")


def test_the_toy_is_short() -> None:
    assert sum(bool(line.strip()) for line in TOY.read_text().splitlines()) <= 40


@pytest.mark.parametrize("learner", ["kernel_lspi", "fitted_q"])
def test_a_policy_of_the_toy_is_learned_valued_and_played(learner: str) -> None:
    """The same calls as in any other world; a policy that checks before it paints beats the random log."""
    simulation = find_simulation("colours", seed=3)

    def decisions(split: str) -> Transitions:
        corpus = simulation.simulate("colours", split).corpus
        return transitions_of(corpus, track(FOCUS, corpus, "focus"), "compact", REWARD)

    train, test = decisions("train"), decisions("test")
    policy = LEARNERS.get(learner)().fit(train, fit_behaviour(BEHAVIOURS.get("logistic")(), train))
    chances = policy.probabilities(test.states, test.possible)
    assert test.possible is not None
    assert (chances[~test.possible] == 0.0).all()
    stage = LivePlay(LivePolicy("compact", policy), FOCUS, toy(), 300, 7, REWARD)
    problem = EvaluationProblem(test, chances, stage=stage)
    values = {name: ESTIMATORS.get(name).estimate(problem) for name in ("observed", "fqe", "live")}
    assert values["live"].mean > values["observed"].mean + 2.0
    assert values["fqe"].mean == pytest.approx(values["live"].mean, abs=1.5)
    assert values["live"].diagnostics["success"] > 0.9


def test_a_class_and_an_object_are_the_same_world() -> None:
    of_class, of_object = (play(Allowed(), FOCUS, 20, 5, world) for world in (toy(), toy()()))
    assert dialogs_of(of_class) == dialogs_of(of_object)


def test_its_log_is_labelled_and_ended_by_the_system() -> None:
    played = play(Allowed(), FOCUS, 40, 5, toy())
    assert (played.ending == GOODBYE).all()
    corpus = played.corpus
    last = corpus.offsets[1:] - 1
    assert (corpus.predicate[last] == corpus.domain.predicate_names.index("paint")).all()
    assert corpus.outcomes["success"] == tuple(played.outcomes["success"].tolist())
    # Painted right is what the labels call right.
    assert played.output.beliefs.correct[played.output.beliefs.top][last - 1][played.completed].all()


def test_an_expert_of_its_own_conducts_the_log() -> None:
    class Careful(toy()):  # type: ignore[misc]
        def expert(self, beliefs: Any, possible: list[str]) -> dict[str, float]:
            sure = beliefs.best("colour")[1] > 0.8
            return {"paint": 1.0} if sure and "paint" in possible else {"ask": 1.0}

    played = play(WorldExpert(Careful()), FOCUS, 60, 5, Careful())
    assert played.completed.mean() > play(Allowed(), FOCUS, 60, 5, toy()).completed.mean()
    assert np.nanmin(np.where(played.corpus.propensities == 0, 1, played.corpus.propensities)) == 1.0


def test_a_study_and_a_command_take_the_toy(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text("dialogs = 40\n")
    world = ("--world", "colours", "--config", tmp_path / "toy.toml", "--plugin", TOY)
    log = ("--dataset", "colours_test", "--output", tmp_path / "log")
    assert run("simulate", *world, *log).code == 0
    assert (tmp_path / "log" / "config" / "colours_test.sessions").exists()
    (tmp_path / "study.toml").write_text(
        f'name = "toy"\nplugins = ["{TOY}"]\n[simulation]\nworld = "colours"\nconfig = "toy.toml"\n'
        '[trackers]\nbuilt_in = ["focus", "baseline", "vote"]\n[reward]\nkind = "outcome"\namount = 10.0\n'
        '[value]\nestimators = ["live"]\nlive_dialogs = 30\n'
        "[correlation]\nresamples = 100\npermutations = 99\nsubsets = 5\n"
    )
    done = run("run", tmp_path / "study.toml", "--output", tmp_path / "run", "--quiet", "--no-report")
    assert done.code == 0, done.errors
    assert "rl,live" in (tmp_path / "run" / "returns.csv").read_text()


def spoilt(**methods: Callable[..., Any]) -> Any:
    """The toy with some methods replaced."""
    return type("Spoilt", (toy(),), methods)


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ({"act": lambda self, predicate, beliefs: self._turn("ask")}, "another predicate"),
        ({"possible": lambda self, beliefs: []}, "nothing can be done"),
        ({"possible": lambda self, beliefs: ["pant"]}, "there is no predicate 'pant'; did you mean 'paint'"),
        ({"begin": lambda self, seed: None}, "begin returned no Turn"),
        (
            {"begin": lambda self, seed: Turn([("hello", [])])},
            "system acts of the world's begin has the wrong form",
        ),
        (
            {"begin": lambda self, seed: Turn(HELLO.system, [{"score": 1.0}])},
            "N-best list of the world's begin",
        ),
        ({"begin": lambda self, seed: Turn(HELLO.system, goal={"color": "red"})}, "did you mean 'colour'"),
        ({"outcome": lambda self: {}}, "outcomes lack 'success'"),
    ],
)
def test_a_bad_world_is_refused(world: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Allowed(), FOCUS, 10, 5, spoilt(**world))


def test_a_world_that_ends_no_dialog() -> None:
    """Without a cap of its own it is an error with advice; with one, dialogs are cut off."""
    endless = {"possible": lambda self, beliefs: ["ask"]}
    with pytest.raises(UsageError, match=r"not ended after 200 turns.*longest_dialog.*3 of 3 dialogs"):
        play(Allowed(), FOCUS, 3, 5, spoilt(**endless))
    played = play(Allowed(), FOCUS, 3, 5, spoilt(**endless, longest_dialog=6))
    assert (played.ending == CUT_OFF).all()
    assert (np.diff(played.corpus.offsets) == 6).all()


def test_a_caller_who_hangs_up() -> None:
    def act(self: Any, predicate: str, beliefs: Any) -> Turn:
        turn: Turn = self._turn(predicate, "red")
        return Turn(turn.system, turn.nbest, turn.said, turn.goal, ends=True)

    played = play(Allowed(), FOCUS, 5, 5, spoilt(act=act, possible=lambda self, beliefs: ["ask"]))
    assert (played.ending == HANG_UP).all()
    assert (np.diff(played.corpus.offsets) == 2).all()


def test_options_of_a_world_that_it_does_not_take(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text("dialogs = 5\n[options]\nnoise = 0.1\n")
    with pytest.raises(UsageError, match="cannot be made with these options"):
        find_simulation("colours", str(tmp_path / "toy.toml")).world("colours", "test")
    with pytest.raises(UsageError, match="did you mean 'train'"):
        find_simulation("colours").require("colours", "trian")


def test_beliefs_name_what_counts_as_filled() -> None:
    """The values that a world may offer: by the rule that is played under, else the best of each slot."""
    for fill in (None, Fill("argmax"), Fill("threshold"), Fill("threshold", 0.9)):
        seen: list[BeliefState] = []

        class Watched(toy()):  # type: ignore[misc]
            def possible(self, beliefs: BeliefState) -> Any:
                seen.append(beliefs)  # noqa: B023
                return super().possible(beliefs)

        played = play(Allowed(), TRACKERS.get("hwu"), 30, 5, Watched, fill=fill)
        for beliefs in seen:
            best, score = beliefs.best("colour")
            rest = 1.0 - sum(beliefs.goals["colour"].values())
            is_filled = best is not None
            if fill is not None:
                is_filled = score > (rest if fill.rule == "argmax" else fill.threshold)
            assert beliefs.filled == ({"colour": best} if is_filled else {})
        paints = played.corpus.domain.predicate_names.index("paint")
        assert (played.corpus.predicate == paints).any() == any(beliefs.filled for beliefs in seen)
