"""Contexts of callers, and whose answers are given in them."""

from __future__ import annotations

import numpy as np

from extrinsic.simulation.fitted.caller_states import FEATURES
from extrinsic.simulation.fitted.logged_answers import FEWEST, LEVELS, in_rare_contexts
from tests.simulation.fitted.logs import bus_world


def test_an_answer_comes_from_a_turn_of_the_same_context() -> None:
    world = bus_world()
    turns = world.logs.turns
    rows = np.flatnonzero(turns.own)[:500]
    draw = np.random.default_rng(1).random(len(rows))
    chosen, level = world.answers.choose(turns.context[rows], turns.dialog[rows], draw)
    for number, names in enumerate(LEVELS):
        columns = [FEATURES.index(name) for name in names]
        at_level = level == number
        np.testing.assert_array_equal(
            turns.context[chosen[at_level]][:, columns], turns.context[rows[at_level]][:, columns]
        )


def test_a_context_is_rare_if_few_turns_were_like_it() -> None:
    world = bus_world()
    turns = world.logs.turns
    usable = turns.own | ~turns.content
    _, inverse, counts = np.unique(turns.context[usable], axis=0, return_inverse=True, return_counts=True)
    rare = in_rare_contexts(world.answers, turns.context[usable])
    np.testing.assert_array_equal(rare, counts[inverse.ravel()] < FEWEST)


def test_well_heard_callers_answer_like_well_heard_ones() -> None:
    world = bus_world()
    # Of what the greeting asks for nothing: the level on the whole.
    error, turns = world.logs.callers.error[:, -1], world.logs.turns
    callers = np.array([error.argmin(), error.argmax()]).repeat(200)
    context = np.tile(turns.context[turns.turn == 0][0], (400, 1))
    chosen, _ = world.answers.choose(context, callers, np.random.default_rng(2).random(400))
    donors = error[turns.dialog[chosen]]
    assert donors[:200].max() < donors[200:].min()
