"""The table of a fitted world beside its log."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.reward import Reward, returns
from extrinsic.registry import TRACKERS
from extrinsic.simulation.fitted.goodness_of_fit import (
    BEST_RIGHT,
    DECISIVE,
    RETURN,
    TURNS,
    FitRow,
    GoodnessOfFit,
    goodness_of_fit,
)
from extrinsic.trackers.track import track
from tests.simulation.fitted.logs import bus_logs, bus_world, expert_calls, rotating_calls


def test_the_logged_policy_is_at_home_in_the_fitted_world() -> None:
    played, test = expert_calls(), bus_logs()[1]
    turns_of_log, turns_of_play = (np.diff(corpus.offsets) for corpus in (test, played.corpus))
    fit = goodness_of_fit(bus_world(), played, -1.0 * turns_of_play, -1.0 * turns_of_log)
    assert not fit.misfit
    assert sum(row.misfit for row in fit.rows) <= 1
    assert fit.row(RETURN).logged == pytest.approx(-turns_of_log.mean())
    assert fit.row(TURNS).logged == pytest.approx(turns_of_log.mean())
    shares = [row.logged or 0.0 for row in fit.rows if row.measure.startswith("act ")]
    assert sum(shares) == pytest.approx(1.0)


def test_an_interval_is_that_of_a_mean_over_dialogs() -> None:
    lengths = np.diff(bus_logs()[1].offsets)
    row = goodness_of_fit(bus_world(), expert_calls()).row(TURNS)
    half = 1.96 * lengths.std() / np.sqrt(len(lengths))
    assert (row.low, row.high) == pytest.approx((lengths.mean() - half, lengths.mean() + half))


def test_another_policy_is_a_misfit() -> None:
    played, log = rotating_calls(800), bus_logs()[1]
    reward = Reward.of(log.domain)
    earned = returns(played.corpus, reward(played.corpus, track(TRACKERS.get("hwu"), played.corpus, "hwu")))
    logged = returns(log, reward(log, track(TRACKERS.get("hwu"), log, "hwu")))
    fit = goodness_of_fit(bus_world(), played, earned, logged)
    assert fit.misfit
    assert fit.row(RETURN).misfit
    assert fit.row("act open_request").misfit


def test_without_returns_the_row_is_empty() -> None:
    row = goodness_of_fit(bus_world(), expert_calls()).row(RETURN)
    assert (row.logged, row.fitted, row.misfit) == (None, None, False)


@pytest.mark.parametrize("measure", ["act confirm", *DECISIVE])
def test_only_decisive_measures_decide(measure: str) -> None:
    row = FitRow(measure=measure, logged=0.0, low=-1.0, high=1.0, fitted=3.0, misfit=True)
    assert GoodnessOfFit((row,)).misfit == (measure in DECISIVE)
    assert measure in str(GoodnessOfFit((row,)))


def test_returns_of_another_number_of_dialogs_are_refused() -> None:
    with pytest.raises(UsageError, match="one number a dialog"):
        goodness_of_fit(bus_world(), expert_calls(), np.zeros(3))
    assert BEST_RIGHT in DECISIVE


def test_too_few_dialogs_are_refused() -> None:
    with pytest.raises(UsageError, match="too few"):
        goodness_of_fit(bus_world(), rotating_calls(20))
