"""Worlds fitted to real calls, played by a model of the logged system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.model import Corpus
from extrinsic.simulation import Play, play
from extrinsic.simulation.fitted.fitted_world import FittedWorld, fit_world
from extrinsic.simulation.fitted.goodness_of_fit import BEST_RIGHT, TURNS, GoodnessOfFit, goodness_of_fit
from extrinsic.value.cloned_system import clone_system
from tests.real_data import ARCHIVE, needs_bus_calls, needs_data, read_bus_calls


@dataclass(frozen=True, eq=False)
class Fitted:
    world: FittedWorld
    played: Play
    fit: GoodnessOfFit


def fitted(train: Corpus, test: Corpus, n_dialogs: int) -> Fitted:
    world = fit_world([train, test])
    clone = clone_system(world)
    played = play(clone.policy, clone.tracker, n_dialogs, 0, clone.world, joint=False)
    return Fitted(world, played, goodness_of_fit(world, played))


@pytest.fixture(scope="module")
def bus() -> Fitted:
    return fitted(read_bus_calls("train3_plain_a"), read_bus_calls("train3_plain_b"), 900)


@pytest.fixture(scope="module")
def restaurants() -> Fitted:
    train, dev = (DSTC2.read_corpus(ARCHIVE, f"dstc2_{part}") for part in ("train", "dev"))
    return fitted(train, dev, 2500)


@needs_bus_calls
def test_real_bus_calls_are_as_long_and_as_well_heard(bus: Fitted) -> None:
    assert not bus.fit.row(TURNS).misfit
    assert not bus.fit.row(BEST_RIGHT).misfit
    assert not bus.fit.row("right value in list").misfit
    assert not bus.fit.row("hang-up after an offer").misfit


@needs_bus_calls
def test_an_offer_of_a_bus_is_for_the_places_that_were_heard(bus: Fitted) -> None:
    turns = bus.world.logs.turns
    assert 0.8 < turns.content[turns.system.offers].mean() < 0.95


@needs_data
def test_a_world_of_restaurants_fits(restaurants: Fitted) -> None:
    fit = restaurants.fit
    assert not fit.misfit
    for act in ("inform", "confirm", "request", "present", "other"):
        assert not fit.row(f"act {act}").misfit
    assert not fit.row("right value in list").misfit


@needs_data
def test_callers_who_are_refused_turn_to_something_else(restaurants: Fitted) -> None:
    callers, corpus = restaurants.world.logs.callers, restaurants.played.corpus
    changed = (callers.later >= 0).any(axis=1).mean()
    goal = corpus.labels.goal  # type: ignore[union-attr]
    other = (goal[1:] != goal[:-1]) & (goal[1:] != 0) & (goal[:-1] != 0)
    turns = np.flatnonzero(other.any(axis=1) & (corpus.turn_in_dialog[1:] > 0))
    share = len(np.unique(corpus.dialog_of_turn[turns])) / corpus.n_dialogs
    assert 0.4 * changed < share < 1.5 * changed


@needs_data
def test_facts_are_told_to_who_asked(restaurants: Fitted) -> None:
    assert 0.75 < restaurants.played.completed.mean() < 0.95
    assert len(set(restaurants.played.corpus.conditions["dialog-manager"])) == 2
