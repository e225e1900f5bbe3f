"""Error levels of callers: against levels that are known, and against shares, which vary too much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from extrinsic.arrays import Floats, Ints
from extrinsic.simulation.fitted.logged_callers import (
    WrongTurns,
    beta_of_levels,
    drawn_levels,
    error_levels,
    likeness_of_concepts,
)

N_CALLERS = 4000


def heard(levels: Floats, rng: np.random.Generator, most: int = 6) -> tuple[Ints, Ints]:
    """Turns with a value, and how many of them are wrong, of callers with given levels."""
    n_turns = rng.integers(1, most + 1, levels.shape)
    return rng.binomial(n_turns, levels), n_turns


def one_log(n_callers: int = N_CALLERS) -> Ints:
    return np.zeros(n_callers, dtype=np.int64)


def test_the_distribution_of_levels_is_found() -> None:
    rng = np.random.default_rng(0)
    wrong, n_turns = heard(rng.beta(2.0, 3.0, N_CALLERS), rng)
    a, b = beta_of_levels(wrong, n_turns, one_log())
    assert (a[0], b[0]) == (pytest.approx(2.0, rel=0.15), pytest.approx(3.0, rel=0.15))


def test_calls_that_end_early_because_they_are_heard_well_do_not_mislead_it() -> None:
    """A caller who is heard rightly twice hangs up, so that shares of wrong turns are too high."""
    rng = np.random.default_rng(1)
    levels = rng.beta(2.0, 3.0, N_CALLERS)
    is_wrong = rng.random((N_CALLERS, 30)) < levels[:, None]
    n_turns = np.argmax(np.cumsum(~is_wrong, axis=1) >= 2, axis=1) + 1
    wrong = n_turns - 2
    usable = np.cumsum(~is_wrong, axis=1)[:, -1] >= 2
    a, b = beta_of_levels(wrong[usable], n_turns[usable], one_log(int(usable.sum())))
    assert wrong[usable].sum() / n_turns[usable].sum() > 0.45
    assert a[0] / (a[0] + b[0]) == pytest.approx(0.4, abs=0.02)


def test_logs_that_clearly_differ_have_means_of_their_own() -> None:
    rng = np.random.default_rng(2)
    log = np.repeat([0, 1], N_CALLERS // 2)
    wrong, n_turns = heard(np.where(log == 0, 0.1, 0.3) * np.ones(N_CALLERS), rng)
    a, b = beta_of_levels(wrong, n_turns, log)
    assert (a / (a + b))[[0, -1]] == pytest.approx([0.1, 0.3], abs=0.02)
    wrong, n_turns = heard(np.full(N_CALLERS, 0.2), rng)
    a, b = beta_of_levels(wrong, n_turns, log)
    assert len(np.unique(a)) == 1


def test_drawn_levels_vary_as_true_ones_do_and_shares_more() -> None:
    rng = np.random.default_rng(3)
    levels = rng.beta(2.0, 3.0, N_CALLERS)
    wrong, n_turns = heard(levels, rng)
    no_scores = np.zeros((N_CALLERS, 2))
    tables = (np.stack([wrong] * 2, 1), np.stack([n_turns] * 2, 1), no_scores, no_scores)
    drawn = error_levels(WrongTurns(*tables, one_log()))[0][:, -1]
    assert drawn.var() == pytest.approx(levels.var(), rel=0.1)
    assert (wrong / n_turns).var() > 1.5 * levels.var()
    # Among callers with the same level, answers are wrong as often as it says: no oftener for the unlucky.
    high = drawn > 0.6
    assert wrong[high].sum() / n_turns[high].sum() == pytest.approx(drawn[high].mean(), abs=0.03)


def test_without_scores_levels_are_those_of_the_beta_distribution() -> None:
    rng = np.random.default_rng(5)
    wrong, n_turns = heard(rng.beta(2.0, 3.0, N_CALLERS), rng)
    a, b, draw = np.full(N_CALLERS, 2.0), np.full(N_CALLERS, 3.0), rng.random(N_CALLERS)
    drawn = drawn_levels(a, b, wrong, n_turns, np.zeros(N_CALLERS), 0.0, draw)
    assert drawn == pytest.approx(beta.ppf(draw, a + wrong, b + n_turns - wrong), abs=0.01)


@pytest.mark.parametrize("between", [0.0, 0.1])
def test_low_scores_show_who_is_badly_heard(between: float) -> None:
    """Drawn levels stand to scores as the true ones do, and are nearer to them than those without scores;
    between: by how much callers differ in scores alone."""
    rng = np.random.default_rng(6)
    levels = rng.beta(2.0, 3.0, N_CALLERS)
    wrong, n_turns = heard(levels, rng)
    a, b, draw = np.full(N_CALLERS, 2.0), np.full(N_CALLERS, 3.0), rng.random(N_CALLERS)
    noise = between * rng.normal(size=N_CALLERS) + 0.1 * rng.normal(size=N_CALLERS) / np.sqrt(n_turns)
    surplus = -0.4 * (levels - (a + wrong / n_turns) / (a + b + 1.0)) + noise
    drawn, blind = (drawn_levels(a, b, wrong, n_turns, surplus, within, draw) for within in (0.01, 0.0))
    assert np.cov(drawn, surplus)[0, 1] == pytest.approx(np.cov(levels, surplus)[0, 1], rel=0.2)
    assert drawn.var() == pytest.approx(levels.var(), rel=0.1)
    near, far = (np.corrcoef(found, levels)[0, 1] for found in (drawn, blind))
    assert near > far + (0.04 if between else 0.2)


def test_names_that_are_never_understood_show_in_the_concept() -> None:
    rng = np.random.default_rng(4)
    whole = np.full((N_CALLERS, 1), 0.3)
    alike = np.repeat(whole, 3, axis=1)
    apart = np.where(rng.random((N_CALLERS, 3)) < 0.3, 0.95, 0.02)
    found = [likeness_of_concepts(*heard(levels, rng), whole[:, 0]) for levels in (alike, apart)]
    assert found[0] > 50.0
    assert found[1] < 2.0
