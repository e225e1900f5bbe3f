"""Dialogs played in a world that was fitted to the log of a simulated one."""

from __future__ import annotations

import numpy as np

from extrinsic.simulation.fitted.confusions import fit_confusions
from extrinsic.simulation.fitted.fitted_world import RARE_CONTEXTS
from extrinsic.simulation.fitted.logged_dialogs import read_logs
from extrinsic.trackers.rules import Focus
from tests.simulation.fitted.logs import bus_world, expert_calls, rotating_calls
from tests.simulation.worlds import acts_of_turns, lists_of_turns


def test_every_turn_has_the_predicate_that_was_chosen() -> None:
    corpus = rotating_calls(200).corpus
    decides = corpus.turn_in_dialog > 0
    assert corpus.propensities is not None
    np.testing.assert_array_equal(corpus.predicate[decides], corpus.propensities.argmax(axis=1)[decides])
    assert len(np.unique(corpus.predicate)) >= 7


def test_the_same_seed_gives_the_same_calls_whatever_their_number() -> None:
    one, again, more = rotating_calls(60), rotating_calls(60), rotating_calls(90)
    assert one.corpus.signature == again.corpus.signature
    first = more.corpus.take(np.arange(60))
    assert acts_of_turns(first) == acts_of_turns(one.corpus)
    assert lists_of_turns(first) == lists_of_turns(one.corpus)
    assert rotating_calls(60, seed=1).corpus.signature != one.corpus.signature


def test_wrong_values_come_back_as_often_as_logged() -> None:
    world, played = bus_world(), expert_calls()
    of_log = fit_confusions(world.logs)
    of_play = fit_confusions(read_logs([played.corpus.take(np.arange(600))], {"focus": Focus()}))
    assert abs(of_play.coincides - of_log.coincides) < 0.02
    assert abs(of_play.coincides_weighted - of_log.coincides_weighted) < 0.03
    assert abs(of_play.stays_first - of_log.stays_first) < 0.06


def test_rare_contexts_are_counted_per_dialog() -> None:
    played = expert_calls()
    counts = played.outcomes[RARE_CONTEXTS]
    assert ((counts >= 0) & (counts <= np.diff(played.corpus.offsets))).all()
    assert 0.0 < counts.sum() / played.corpus.n_turns < 0.1


def test_callers_come_in_turn() -> None:
    world = bus_world()
    n_callers = len(world.logs.callers.error)
    np.testing.assert_array_equal(world.callers_of(2 * n_callers + 1)[[0, n_callers, -1]], [0, 0, 0])
