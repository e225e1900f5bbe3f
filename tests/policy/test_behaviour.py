"""How likely the system was to act in each way: learned, cross-fitted, logged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.errors import UsageError
from extrinsic.policy import calibrated_svm
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.calibrated_svm import CalibratedSVM
from extrinsic.policy.filter import admit
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.logged_propensities import LoggedPropensities
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import BEHAVIOURS
from tests.policy.decisions import decisions, drawn_decisions, known_chances, states_of

LEARNERS = [KernelLogistic(), CalibratedSVM()]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)


def log_loss(chances: Floats, log: Transitions) -> float:
    return float(-np.log(chances[np.arange(len(log)), log.action]).mean())


@every_learner
def test_probabilities(learner: Any) -> None:
    log = drawn_decisions(60)
    everywhere = states_of(np.random.default_rng(1).normal(0, 3, (50, 2)), np.full((50, 2), 7))
    for states in (log.states, everywhere):
        chances = learner.fit(log).probabilities(states)
        assert chances.shape == (len(states), 3)
        assert (chances >= 0.0).all()
        assert chances.sum(axis=1) == pytest.approx(np.ones(len(states)), abs=1e-12)


@every_learner
@pytest.mark.parametrize("n_actions", [2, 3])
def test_known_propensities_are_found(learner: Any, n_actions: int) -> None:
    """On calls never seen: far better than the shares of the actions, and close to the truth."""
    log, new = drawn_decisions(200, n_actions), drawn_decisions(200, n_actions, seed=5)
    found, truth = learner.fit(log).probabilities(new.states), known_chances(new.states, n_actions)
    shares = np.tile(np.bincount(log.action) / len(log), (len(new), 1))
    best, achieved, plain = (log_loss(chances, new) for chances in (truth, found, shares))
    assert plain - best > 0.15
    assert achieved - best < 0.2 * (plain - best)
    assert np.abs(found - truth).mean() < 0.1


@every_learner
def test_cross_fitted_probabilities_are_as_good(learner: Any) -> None:
    log = drawn_decisions(150)
    crossed = learner.cross_fitted(log)
    assert crossed.shape == (len(log), 3)
    assert crossed.sum(axis=1) == pytest.approx(np.ones(len(log)), abs=1e-12)
    shares = np.tile(np.bincount(log.action) / len(log), (len(log), 1))
    assert log_loss(crossed, log) < 0.5 * (log_loss(shares, log) + log_loss(log.propensities, log))
    assert log_loss(learner.fit(log).probabilities(log.states), log) < log_loss(crossed, log)


@every_learner
def test_a_dialog_does_not_see_itself(learner: Any) -> None:
    """Change what was done in one dialog: its own probabilities stay, those of other folds do not."""
    log = drawn_decisions(40)
    own = log.dialog == 7
    changed = replace(log, action=np.where(own, (log.action + 1) % 3, log.action))
    before, after = learner.cross_fitted(log), learner.cross_fitted(changed)
    fold = fold_of_sessions(log.sessions, 5)[log.dialog]
    same = fold == fold[own][0]
    assert before[same].tobytes() == after[same].tobytes()
    assert (before[~same] != after[~same]).any(axis=1).all()


@every_learner
def test_no_more_folds_than_dialogs(learner: Any) -> None:
    log = drawn_decisions(3, length=60)
    assert np.array_equal(learner.cross_fitted(log, 7), learner.cross_fitted(log, 3))
    with pytest.raises(UsageError, match="at least two"):
        learner.cross_fitted(drawn_decisions(1, length=60))


@every_learner
def test_rare_actions_keep_their_share(learner: Any) -> None:
    log = drawn_decisions(60)
    action = log.action.copy()
    action[[10, 100, 200]] = 3
    rare = replace(log, action=action, actions=(*log.actions, "act3", "act4"))
    chances = learner.fit(rare).probabilities(log.states)
    assert chances.shape == (300, 5)
    assert (chances[:, 3] == 3 / 300).all()
    assert (chances[:, 4] == 0.0).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)


@every_learner
def test_one_frequent_action(learner: Any) -> None:
    log = drawn_decisions(20)
    action = np.zeros(100, dtype=np.int64)
    action[:4] = 2
    chances = learner.fit(replace(log, action=action)).probabilities(log.states)
    assert chances == pytest.approx(np.tile([0.96, 0.0, 0.04], (100, 1)))


@every_learner
def test_only_rare_actions(learner: Any) -> None:
    log = drawn_decisions(2, length=4)
    chances = learner.fit(replace(log, action=np.array([0, 1, 1, 1, 2, 2, 0, 1]))).probabilities(log.states)
    assert chances == pytest.approx(np.tile([0.25, 0.5, 0.25], (8, 1)))


def test_two_separate_actions() -> None:
    """The sign tells which."""
    states = states_of(np.zeros((100, 1)), np.arange(100)[:, None] % 2)
    log = decisions(states, np.arange(100) % 2, np.zeros(100), np.arange(100) // 4, 2)
    for learner in LEARNERS:
        chances = learner.fit(log).probabilities(states)
        assert (chances[np.arange(100), log.action] > 0.9).all()


def test_the_widths_of_kernels_matter() -> None:
    """A kernel that sees no differences gives the shares of each sign."""
    log = drawn_decisions(100)
    blind = KernelLogistic(width=1e3).fit(log).probabilities(log.states)
    for sign in range(4):
        rows = (log.states.discrete @ [2, 1]) == sign
        assert np.ptp(blind[rows], axis=0).max() < 1e-3
    assert np.ptp(KernelLogistic(width=1.0).fit(log).probabilities(log.states)[:, 0]) > 0.5


def test_an_svm_has_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrated_svm, "MOST", 50)
    with pytest.raises(UsageError, match=r"choose behaviour 'logistic' \(expected at most 50, found 300\)"):
        CalibratedSVM().fit(drawn_decisions(60))


def test_an_svm_needs_every_action_in_two_dialogs() -> None:
    log = drawn_decisions(2, length=60)
    with pytest.raises(UsageError, match="in one dialog only"):
        CalibratedSVM().fit(replace(log, action=log.dialog))


def test_logged_propensities() -> None:
    log = drawn_decisions(20)
    logged = LoggedPropensities()
    assert np.array_equal(logged.fit(log).probabilities(log.states), log.propensities)
    assert np.array_equal(logged.cross_fitted(log), log.propensities)
    with pytest.raises(UsageError, match="logged decisions only"):
        logged.fit(log).probabilities(log.states.take(np.arange(100)))
    missing = log.propensities.copy()
    missing[[42, 57], 1] = np.nan
    for use in (logged.fit, logged.cross_fitted):
        with pytest.raises(UsageError, match="2 of 100 decisions have no logged propensities") as raised:
            use(replace(log, propensities=missing))
        (problem,) = raised.value.problems
        assert (problem.session, problem.turn) == ("call-00008", log.turn[42])


def test_models_by_name() -> None:
    assert BEHAVIOURS.get("logistic")(width=2.0) == KernelLogistic(width=2.0)
    assert BEHAVIOURS.get("svm")(width=2.0) == CalibratedSVM(width=2.0)
    assert BEHAVIOURS.get("logged")() == LoggedPropensities()
    for name in ("logistic", "svm"):
        with pytest.raises(TypeError, match="depth"):
            BEHAVIOURS.get(name)(depth=4.0)
    with pytest.raises(UsageError, match="no behaviour model 'logistics'; did you mean 'logistic'"):
        BEHAVIOURS.get("logistics")


@every_learner
def test_a_fitted_behaviour_is_the_model_and_its_filter(learner: Any) -> None:
    """Cross-fitted for the log's own states, the whole model elsewhere; admitted is what is likely enough."""
    log, other = drawn_decisions(60), drawn_decisions(20, seed=3)
    behaviour = fit_behaviour(learner, log, threshold=0.3)
    assert np.array_equal(behaviour.chances, learner.cross_fitted(log))
    assert np.array_equal(behaviour.admitted, admit(behaviour.chances, 0.3))
    possible = np.tile([True, True, False], (len(other), 1))
    chances, admitted = behaviour.choices(other.states, possible)
    assert np.array_equal(chances, learner.fit(log).probabilities(other.states))
    assert np.array_equal(admitted, admit(chances, 0.3, possible))
    assert np.array_equal(behaviour.choices(other.states)[1], admit(chances, 0.3))


def test_the_threshold_of_the_logistic_kernel_is_a_share() -> None:
    """The kernel has height 1, so that of nu = 1 nothing is left."""
    log = drawn_decisions(60)
    with pytest.raises(UsageError, match="no point would become a kernel"):
        KernelLogistic(nu=1.0).fit(log)
    assert KernelLogistic().nu == 0.25
    sizes = [len(KernelLogistic(nu=nu).fit(log).model.basis) for nu in (0.01, 0.25, 0.9)]  # type: ignore[attr-defined]
    assert len(log) > sizes[0] > sizes[1] > sizes[2] >= 4
