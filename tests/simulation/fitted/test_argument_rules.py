"""The rules for arguments that a fitted world learns, where the system that made the log is known."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.simulation import play
from extrinsic.simulation.datasets import find_simulation, logged_policy
from extrinsic.simulation.fitted.fitted_world import FittedWorld, fit_world
from tests.simulation.fitted.logs import Masked, bus_world

IGNORES = 0.20
"""Below this score the systems of both embedded worlds do not act on a value."""


@pytest.fixture(scope="module")
def restaurants() -> FittedWorld:
    simulation = find_simulation("restaurants", None, 11)
    return fit_world([simulation.simulate("noisy", split).corpus for split in ("train", "test")])


def test_the_score_from_which_values_are_acted_on_is_found(restaurants: FittedWorld) -> None:
    for world in (restaurants, bus_world()):
        assert world.rules.heard_from == pytest.approx(IGNORES, abs=0.01)


def test_an_offer_needs_both_places_and_a_confirmation_nothing() -> None:
    world = bus_world()
    needed = dict(zip(world.domain.predicate_names, world.rules.needed, strict=True))
    assert needed["offer"].tolist() == [True, True, False, False, False]
    assert not needed["confirm"].any() and not needed["implicit_confirm"].any()


def test_who_names_a_restaurant_is_offered_it_as_often_as_in_the_log(restaurants: FittedWorld) -> None:
    """A name is a slot of no group, and the only one that these callers mention at first."""
    expert, tracker = logged_policy(find_simulation("restaurants", None, 11).world("noisy", "test"))
    assert expert is not None and tracker is not None
    played = play(Masked(expert), tracker, 1800, 0, restaurants, joint=False).corpus
    present, name = restaurants.domain.predicate_names.index("present"), restaurants.slots.index("name")
    shares = []
    for corpora in (restaurants.logs.corpora, (played,)):
        chosen = []
        for corpus in corpora:
            evidence = corpus.evidence
            item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
            best = item[evidence.rank == 0]
            heard = np.zeros((corpus.n_turns, evidence.n_slots), dtype=bool)
            heard[best // evidence.n_slots, best % evidence.n_slots] = True
            first = corpus.offsets[:-1]
            only_name = heard[first, name] & (heard[first].sum(axis=1) == 1) & (np.diff(corpus.offsets) > 1)
            chosen.append(corpus.predicate[first[only_name] + 1] == present)
        shares.append(np.concatenate(chosen))
    logged, fitted = shares
    assert min(len(logged), len(fitted)) > 20
    noise = np.sqrt(logged.var() / len(logged) + fitted.var() / len(fitted))
    assert abs(logged.mean() - fitted.mean()) < 3.0 * noise
