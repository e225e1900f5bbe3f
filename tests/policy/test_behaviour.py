"""How likely the system was to act in each way, learned and cross-fitted; the filter; doing as it did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

from extrinsic.arrays import Floats
from extrinsic.corpus.corpus import fold_of_sessions
from extrinsic.errors import UsageError
from extrinsic.policy import calibrated_svm
from extrinsic.policy.behaviour import admit, fit_behaviour
from extrinsic.policy.calibrated_svm import CalibratedSVM
from extrinsic.policy.features import States
from extrinsic.policy.imitation import Imitation, SupervisedPolicy
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernels import Gaussian, state_gram
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import BEHAVIOURS
from tests.policy.decisions import TableModel, drawn_decisions, known_chances, states_of

MODELS = [BEHAVIOURS.get(name)() for name in BEHAVIOURS.names()]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def log_loss(chances: Floats, log: Transitions) -> float:
    return float(-np.log(chances[np.arange(len(log)), log.action]).mean())


@every_model
@pytest.mark.parametrize("n_actions", [2, 3])
def test_known_propensities_are_learned(model: Any, n_actions: int) -> None:
    """On calls never seen far better than the shares of the actions and close to the truth; and where nobody
    has been, probabilities."""
    log, new = drawn_decisions(200, n_actions), drawn_decisions(200, n_actions, seed=5)
    fitted = model.fit(log)
    learned, truth = fitted.probabilities(new.states), known_chances(new.states, n_actions)
    shares = np.tile(np.bincount(log.action) / len(log), (len(new), 1))
    best, achieved, plain = (log_loss(chances, new) for chances in (truth, learned, shares))
    assert plain - best > 0.15
    assert achieved - best < 0.2 * (plain - best)
    assert np.abs(learned - truth).mean() < 0.1
    nowhere = states_of(np.random.default_rng(1).normal(0, 3, (50, 2)), np.full((50, 2), 7))
    for chances in (learned, fitted.probabilities(nowhere)):
        assert (chances >= 0.0).all()
        assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)), abs=1e-12)


@every_model
def test_a_fitted_behaviour_is_the_model_and_its_filter(model: Any) -> None:
    """Cross-fitted for the log's own states, the whole model elsewhere; admitted is what is likely enough."""
    log, other = drawn_decisions(150), drawn_decisions(20, seed=3)
    behaviour, fitted = fit_behaviour(model, log, threshold=0.3), model.fit(log)
    crossed = model.cross_fitted(log)
    assert crossed.shape == (len(log), 3)
    assert crossed.sum(axis=1) == pytest.approx(np.ones(len(log)), abs=1e-12)
    shares = np.tile(np.bincount(log.action) / len(log), (len(log), 1))
    assert log_loss(crossed, log) < 0.5 * (log_loss(shares, log) + log_loss(log.propensities, log))
    assert log_loss(fitted.probabilities(log.states), log) < log_loss(crossed, log)
    assert np.array_equal(behaviour.chances, crossed)
    assert np.array_equal(behaviour.admitted, admit(crossed, 0.3))
    for possible in (None, np.tile([True, True, False], (len(other), 1))):
        chances, admitted = behaviour.choices(other.states, possible)
        assert np.array_equal(chances, fitted.probabilities(other.states))
        assert np.array_equal(admitted, admit(chances, 0.3, possible))


@every_model
def test_a_dialog_does_not_see_itself(model: Any) -> None:
    """Change what was done in one dialog: its own probabilities stay, those of other folds do not."""
    log = drawn_decisions(40)
    own = log.dialog == 7
    changed = replace(log, action=np.where(own, (log.action + 1) % 3, log.action))
    before, after = model.cross_fitted(log), model.cross_fitted(changed)
    fold = fold_of_sessions(log.sessions, 5)[log.dialog]
    same = fold == fold[own][0]
    assert before[same].tobytes() == after[same].tobytes()
    assert (before[~same] != after[~same]).any(axis=1).all()


@every_model
def test_rare_actions_keep_their_share(model: Any) -> None:
    log = drawn_decisions(60)
    action = log.action.copy()
    action[[10, 100, 200]] = 3
    rare = replace(log, action=action, actions=(*log.actions, "act3", "act4"))
    chances = model.fit(rare).probabilities(log.states)
    assert chances.shape == (300, 5)
    assert (chances[:, 3] == 3 / 300).all()
    assert (chances[:, 4] == 0.0).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)


@pytest.mark.parametrize(
    ("plain", "higher", "same", "tolerance"),
    [
        # In the dual, scaling K by p^2 scales the bound C of p^2 alpha: K p^2 with C is K with p^2 C. As
        # close as the machine's own tolerance.
        (CalibratedSVM(), {"height": 4.0}, {"penalty": 4.0**2}, 5e-3),
        # phi p^2 with weights w / p^2 says the same, and its penalty |w|^2 / 2C weighs 1 / p^4 as much. The
        # dictionary is the same where nu is scaled, too. As close as its optimiser comes.
        (KernelLogistic(), {"height": 2.0, "nu": 0.25 * 2.0**2}, {"penalty": 3.0 * 2.0**4}, 0.02),
    ],
)
def test_a_higher_kernel_is_a_larger_penalty(
    plain: Any, higher: dict[str, float], same: dict[str, float], tolerance: float
) -> None:
    """Lee's classifier has the kernel of his model."""
    log = drawn_decisions(60)
    low, high, penal = (
        replace(plain, **changes).fit(log).probabilities(log.states) for changes in ({}, higher, same)
    )
    assert high == pytest.approx(penal, abs=tolerance)
    assert np.abs(high - low).max() > 0.05
    assert (plain.height, replace(plain, height=1.0)) == (1.0, plain)


def test_an_svm_has_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    log = drawn_decisions(2, length=60)
    with pytest.raises(UsageError, match="in one dialog only"):
        CalibratedSVM().fit(replace(log, action=log.dialog))
    monkeypatch.setattr(calibrated_svm, "MOST", 50)
    with pytest.raises(UsageError, match=r"choose behaviour 'logistic' \(expected at most 50, found 300\)"):
        CalibratedSVM().fit(drawn_decisions(60))


@pytest.mark.parametrize("n_actions", [2, 3, 5])
def test_a_calibrated_machine(n_actions: int) -> None:
    """Its probabilities against predict_proba of the object that it was made of."""
    log, elsewhere = drawn_decisions(60, n_actions), drawn_decisions(20, n_actions, seed=9).states
    kernel = Gaussian(1.0, 0.7)
    folds = [
        (np.flatnonzero(log.dialog % 3 != part), np.flatnonzero(log.dialog % 3 == part)) for part in range(3)
    ]
    machine = CalibratedClassifierCV(SVC(kernel="precomputed"), ensemble=False, cv=folds)
    machine.fit(state_gram(kernel, log.states, log.states), log.action)
    expected = machine.predict_proba(state_gram(kernel, elsewhere, log.states))
    fitted = calibrated_svm._Fitted.of(kernel, log.states, machine)
    assert fitted.probabilities(elsewhere) == pytest.approx(expected, abs=1e-12)
    whole = CalibratedSVM().fit(log).probabilities(elsewhere)
    assert whole.sum(axis=1) == pytest.approx(np.ones(len(elsewhere)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, np.ndarray]:
    """Probabilities with ties and zeros, and what is possible: at least one action in every state."""
    n, n_actions = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    odds = draw(arrays.arrays(float, (n, n_actions), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    odds[odds.sum(axis=1) == 0.0] = 1.0
    possible = draw(arrays.arrays(bool, (n, n_actions)))
    possible[np.arange(n), draw(st.lists(st.integers(0, n_actions - 1), min_size=n, max_size=n))] = True
    return odds / odds.sum(axis=1, keepdims=True), possible


@given(tables(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.99]))
def test_every_state_keeps_an_action(table: tuple[Floats, np.ndarray], threshold: float) -> None:
    chances, possible = table
    for allowed in (None, possible):
        admitted = admit(chances, threshold, allowed)
        for row, (chance, kept) in enumerate(zip(chances.tolist(), admitted.tolist(), strict=True)):
            can = [True] * len(chance) if allowed is None else allowed[row].tolist()
            likely = [p > threshold and ok for p, ok in zip(chance, can, strict=True)]
            if any(likely):
                assert kept == likely
            else:
                best = max(p for p, ok in zip(chance, can, strict=True) if ok)
                (only,) = [i for i, flag in enumerate(kept) if flag]
                assert can[only]
                assert chance[only] == best


def test_by_hand() -> None:
    chances = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    assert admit(chances, 0.2).tolist() == [[True, True, False]] * 2
    possible = np.array([[False, True, True], [False, False, True]])
    assert admit(chances, 0.2, possible).tolist() == [[False, True, False], [False, False, True]]
    assert chances.tolist() == [[0.5, 0.3, 0.2]] * 2  # left alone


@pytest.mark.parametrize(
    ("chances", "threshold", "possible", "message"),
    [
        *[
            ([[1.0]], threshold, None, r"must lie in \[0, 1\)")
            for threshold in (-0.01, 1.0, 2.0, float("nan"))
        ],
        *[([[0.5, 0.5], [number, 0.5]], 0.1, None, "finite") for number in (float("nan"), float("inf"))],
        ([[0.5, 0.5]] * 2, 0.1, [[True, False], [False, False]], "nothing at all can be done"),
    ],
)
def test_what_cannot_be_filtered(chances: Any, threshold: float, possible: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        admit(np.array(chances), threshold, None if possible is None else np.array(possible))


def states_alone(n: int) -> States:
    """Told apart by their sign and nothing else."""
    return states_of(np.zeros((n, 0)), np.arange(n)[:, None])


@given(tables())
def test_supervised_policies(table: tuple[Floats, np.ndarray]) -> None:
    """The likeliest of what is possible; or the probabilities themselves, scaled to what is."""
    chances, possible = table
    states = states_alone(len(chances))
    for allowed in (None, possible):
        mask = np.ones_like(possible) if allowed is None else allowed
        best = SupervisedPolicy(TableModel(chances)).probabilities(states, allowed)
        drawn = SupervisedPolicy(TableModel(chances), sampled=True).probabilities(states, allowed)
        for found in (best, drawn):
            assert found.sum(axis=1) == pytest.approx(np.ones(len(chances)))
            assert (found >= 0.0).all()
            assert not found[~mask].any()
        assert set(np.unique(best)) <= {0.0, 1.0}
        for row in range(len(chances)):
            can = chances[row] * mask[row]
            assert chances[row, best[row].argmax()] == can.max()
            expected = can / can.sum() if can.sum() > 0 else None
            assert expected is None or drawn[row] == pytest.approx(expected)
            assert expected is not None or sorted(set(drawn[row])) in ([0.0, 1.0], [1.0])


def test_a_threshold_leaves_out_what_is_unlikely() -> None:
    """Of a draw; the likeliest is the likeliest. Where nothing is above it, the likeliest is left."""
    states = states_alone(2)
    model = TableModel(np.array([[0.6, 0.3, 0.1], [0.4, 0.3, 0.3]]))
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.25).probabilities(states)
    assert drawn == pytest.approx(np.array([[2 / 3, 1 / 3, 0.0], [0.4, 0.3, 0.3]]))
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.5).probabilities(states)
    assert drawn.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    best = SupervisedPolicy(model, threshold=0.7).probabilities(states)
    assert best.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    possible = np.array([[False, True, True], [True, True, True]])
    drawn = SupervisedPolicy(model, sampled=True, threshold=0.25).probabilities(states, possible)
    assert drawn == pytest.approx(np.array([[0.0, 1.0, 0.0], [0.4, 0.3, 0.3]]))


@pytest.mark.parametrize("sampled", [False, True])
def test_imitation_does_what_the_log_does(sampled: bool) -> None:
    log = drawn_decisions(60)
    behaviour = fit_behaviour(KernelLogistic(), log, 0.2)
    learned = Imitation(sampled).fit(log, behaviour)
    chances, admitted = behaviour.choices(log.states)
    drawn = np.where(admitted, chances, 0.0)
    expected = drawn / drawn.sum(axis=1, keepdims=True) if sampled else np.eye(3)[chances.argmax(axis=1)]
    assert learned.probabilities(log.states) == pytest.approx(expected)
    agreement = (behaviour.chances.argmax(axis=1) == log.action).mean()
    assert learned.diagnostics["agreement"] == agreement > 0.4
