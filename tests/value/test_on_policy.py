"""Of the logged policy itself, estimators say what was observed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from extrinsic.value.augmented_states import PROXIES, augment
from extrinsic.value.estimators import LSTD_BEHAVIOUR
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.lstd_value import Lstd
from tests.simulation.worlds import expert_play, world
from tests.value.finding import AUGMENTED, find
from tests.value.tables import EXACT_KERNELS, case_of, draw_log


@cache
def calls(tracker: str) -> EvaluationProblem:
    """200 calls of the expert, as a tracker sees them; of a policy that always asks, as if that mattered."""
    corpus = expert_play(world(), 200).corpus
    output = track(TRACKERS.get(tracker), corpus, tracker)
    log = transitions_of(corpus, output)
    proxies = [track(TRACKERS.get(name), corpus, name) for name in PROXIES]
    asks = np.tile(np.array(log.actions) == "request", (len(log), 1)).astype(float)
    return EvaluationProblem(log, asks, augment(log, corpus, output, proxies))


def test_what_the_behaviour_is() -> None:
    case = calls("focus")
    taken = case.behaviour().target
    assert taken.sum(axis=1).tolist() == [1.0] * len(taken)
    assert np.array_equal(taken.argmax(axis=1), case.transitions.action)
    assert case.behaviour(logged=True).target is case.transitions.propensities
    assert case.behaviour().augmented is case.augmented


@pytest.mark.parametrize("name", ["is", "pdis", "wis", "pdwis"])
def test_with_logged_propensities_it_is_exact(name: str) -> None:
    for case in (calls("focus"), case_of(draw_log(50, np.random.default_rng(0)))):
        found = find(name).estimate(case.behaviour(logged=True))
        observed = find("observed").estimate(case)
        assert found.mean == pytest.approx(observed.mean, abs=1e-9)
        assert (found.low, found.high) == pytest.approx((observed.low, observed.high), abs=1e-9)
        assert found.diagnostics["effective_size"] == pytest.approx(case.transitions.n_dialogs)
        assert found.diagnostics["nonzero_share"] == 1.0


def test_lstd_of_what_was_done_is_exact_in_a_table() -> None:
    """Summed over all decisions, Q - Q' is what was earned: first Q's sum to the returns."""
    log = draw_log(60, np.random.default_rng(1))
    found = Lstd(settings=EXACT_KERNELS, of_behaviour=True).estimate(case_of(log))
    assert found.mean == pytest.approx(log.returns().mean(), abs=1e-7)


@pytest.mark.parametrize("tracker", ["focus", "last_turn"])
def test_lstd_behaviour_is_close(tracker: str) -> None:
    """Within 10 of returns that have a standard deviation of some 280."""
    case = calls(tracker)
    found, observed = LSTD_BEHAVIOUR.estimate(case), find("observed").estimate(case)
    assert found.estimator == "lstd_behaviour"
    assert found.mean == pytest.approx(observed.mean, abs=10.0)
    assert (found.low, found.high) == pytest.approx((observed.low, observed.high), abs=20.0)
    assert case.transitions.returns().std() > 150.0


@pytest.mark.parametrize("name", ["lstd", "fqe", "dr", "wdr", *AUGMENTED])
def test_the_others_are_not_far(name: str) -> None:
    case = calls("focus")
    found: Any = find(name).estimate(case.behaviour(logged=True))
    assert found.mean == pytest.approx(case.transitions.returns().mean(), abs=20.0)


def test_the_observed_return_does_not_hang_on_the_policy() -> None:
    case = calls("focus")
    found = find("observed").estimate(case)
    returns = case.transitions.returns()
    assert found.mean == pytest.approx(returns.mean())
    assert (found.low + found.high) / 2 == pytest.approx(returns.mean(), abs=3.0)
    assert found.high - found.low == pytest.approx(2 * 1.96 * returns.std() / np.sqrt(200), rel=0.1)
