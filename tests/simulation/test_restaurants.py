"""The restaurant world: what must hold of a search with a perfect ear, and of its labels."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import numpy as np

from extrinsic.corpus.labels import GoalLabels
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, play
from extrinsic.simulation.restaurant_database import database
from extrinsic.simulation.restaurant_world import RestaurantSettings
from extrinsic.simulation.values import NOTHING
from tests.simulation.worlds import acts_of_turns

PERFECT: dict[str, Any] = {"recogniser": {"noise": 0.0}, "caller": {"patience": 1e5, "answers": 1.0}}
CERTAIN: dict[str, Any] = {"system": {"main": 1.0, "exploration": 0.0}}


@cache
def played(name: str) -> Play:
    tables = {"perfect": {**PERFECT, **CERTAIN}, "noisy": {"recogniser": {"error": 0.4}}}[name]
    world = msgspec.convert(tables, RestaurantSettings)
    return play(world.policy(), TRACKERS.get("focus"), 150, 4, world)


def test_every_caller_who_is_understood_is_served() -> None:
    assert played("perfect").completed.all()
    assert 0.2 < played("noisy").completed.mean() < 0.95
    assert (played("noisy").outcomes["offered"] >= played("noisy").outcomes["success"]).all()


def test_what_is_understood_is_what_is_labelled() -> None:
    """With a perfect ear, the likeliest values, requests and methods are the labels."""
    corpus, output = played("perfect").corpus, played("perfect").output
    assert isinstance(corpus.labels, GoalLabels)
    assert output.beliefs.correct[output.beliefs.top].all()
    assert output.method.correct[output.method.top].all()
    asked = corpus.labels.requested.any(axis=1)
    assert (output.requested[asked].max(axis=1) == 1.0).all()
    methods = {corpus.vocabulary.text(int(method)) for method in np.unique(corpus.labels.method)}
    assert methods == {"none", "byconstraints", "byname", "byalternatives", "finished"} - {"none"}


def test_offers_fit_what_was_searched_by_and_refusals_are_right() -> None:
    town, corpus = database(), played("perfect").corpus
    kinds, name = set(), corpus.slots.index("name")

    def number(slot: str, value: Any) -> int:
        column = corpus.slots.index(slot)
        return int(town.values.number[column, corpus.vocabulary.find(value)])

    for acts in acts_of_turns(corpus):
        query = np.full((1, len(corpus.slots)), NOTHING)
        for act, pairs in acts:
            for slot, value in pairs:
                if slot in corpus.slots and act in ("inform", "canthelp"):
                    query[0, corpus.slots.index(slot)] = number(slot, value)
        kind = next((act for act, _ in acts if act in ("offer", "canthelp")), None)
        kinds.add(kind)
        if kind == "offer":
            chosen = town.attribute[:, name] == number("name", dict(dict(acts)["offer"])["name"])
            assert town.fits(query)[0, chosen].all()
        elif kind == "canthelp":
            assert not town.fits(query).any()
    assert kinds == {"offer", "canthelp", None}


def test_the_town_is_searched_by_enumeration() -> None:
    town = database()
    generator = np.random.default_rng(1)
    sizes = np.diff(town.values.begin)
    query = town.values.begin[:-1] + (generator.random((50, len(sizes))) * sizes).astype(int)
    query[generator.random(query.shape) < 0.6] = NOTHING
    expected = [
        [
            all(
                value in (NOTHING, free, own)
                for value, free, own in zip(row, town.any_value, place, strict=True)
            )
            for place in town.attribute
        ]
        for row in query
    ]
    assert np.array_equal(town.fits(query), expected)
