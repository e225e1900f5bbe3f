"""Under a fill rule a system offers what counts as filled and nothing else.

So a reward by beliefs is the reward of what was offered, which is computed here once more: from the arguments
of the last offer that callers heard, and from the labels; beliefs are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats, Ids, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import load_domain
from extrinsic.corpus.hypotheses import Fill, rank_dstc1, rank_dstc2
from extrinsic.policy.rewards import Reward, fill_of, is_decision, returns
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, find_simulation, play
from extrinsic.simulation.bus_world import BusDialogs
from extrinsic.simulation.group_tops import filled_values, group_tops
from extrinsic.simulation.restaurant_world import RestaurantDialogs
from extrinsic.simulation.world import Dialogs, LockstepWorld
from extrinsic.trackers.tracking import StepBelief
from tests.simulation.worlds import Allowed, acts_of_turns, world

RULES = ("argmax", "threshold", "threshold:0.8")
N_DIALOGS = 150

Offers = dict[int, Ids]
"""Of every dialog with an offer, the values (n_slots) of the last one; NONE for nothing."""


class Heard:
    """Notes what callers are offered, at every turn of dialogs of a kind."""

    def __init__(
        self, patch: pytest.MonkeyPatch, kind: type[Dialogs], values: Callable[[Any, Any], Ids]
    ) -> None:
        self.last: Offers = {}
        spoken: Any = kind._exchange  # type: ignore[attr-defined]

        def exchange(dialogs: Any, rows: Ints, turn: Any, said: Any, *more: Any) -> Any:
            offer = [dialogs.name(name) for name in dialogs.values.domain.offer]
            for row in np.flatnonzero(np.isin(said.predicate, offer)):
                self.last[int(rows[row])] = values(dialogs, said)[row]
            return spoken(dialogs, rows, turn, said, *more)

        patch.setattr(kind, "_exchange", exchange)


def reward_of_offers(corpus: Corpus, offers: Offers, reward: Reward) -> Floats:
    """(n_dialogs,) what was offered last, by the labels; every concept, and every decision."""
    names, earned = list(corpus.domain.groups), np.zeros(corpus.n_dialogs)
    for dialog in range(corpus.n_dialogs):
        begin, end = corpus.offsets[dialog], corpus.offsets[dialog + 1]
        total = reward.turn * float(is_decision(corpus)[begin:end].sum())
        offered = [
            turn
            for turn in range(begin, end)
            if corpus.domain.predicate_names[corpus.predicate[turn]] in corpus.domain.offer
        ]
        for concept in range(len(names)):
            slots = corpus.domain.group_columns(corpus.slots)[concept]
            value = [
                (slot, offers[dialog][slot]) for slot in slots if offered and offers[dialog][slot] != NONE
            ]
            assert len(value) <= 1
            if value:
                ((slot, identity),) = value
                right = is_correct(corpus, offered[-1] - 1, slot, identity)
                total += reward.correct if right else reward.incorrect
            elif any(not is_correct(corpus, end - 1, slot, NONE) for slot in slots):
                total += reward.empty_ended if corpus.system_ended[dialog] else reward.empty
            else:
                total += {"zero": 0.0, "correct": reward.correct}[reward.absent]
        earned[dialog] = total
    return earned


def is_correct(corpus: Corpus, turn: int, slot: int, value: int) -> bool:
    right = corpus.truth.is_correct(np.array([turn]), np.array([slot]), np.array([value], dtype=np.int32))
    return bool(right[0])


def played_by(policy: Any, tracker: str, in_world: LockstepWorld, reward: Reward) -> tuple[Play, Floats]:
    fill = fill_of(reward)
    played = play(policy, TRACKERS.get(tracker), N_DIALOGS, 11, in_world, joint=False, fill=fill)
    return played, returns(played.corpus, reward(played.corpus, played.output))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tracker", ["rank_only", "focus", "bayes_low"])
def test_bus(tracker: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = world({"noise": 1.5}, no_connection=0.05)
    heard = Heard(monkeypatch, BusDialogs, lambda dialogs, said: dialogs._identities(said.offer))
    reward = Reward.of(noisy.domain, fill=rule)
    for policy in (noisy.policy(), Allowed()):
        heard.last.clear()
        played, earned = played_by(policy, tracker, noisy, reward)
        assert reward_of_offers(played.corpus, heard.last, reward) == pytest.approx(earned)
        assert_places_are_named(played.corpus, heard.last)


def assert_places_are_named(corpus: Corpus, offers: Offers) -> None:
    """The acts of the last offer name the places that it is for; nothing is offered without both."""
    acts, words = acts_of_turns(corpus), corpus.vocabulary
    for dialog, values in offers.items():
        turns = range(corpus.offsets[dialog], corpus.offsets[dialog + 1])
        spoken = [act for turn in turns for act in acts[turn] if act[0] == "schedule"][-1][1]
        places = {
            (f"result.{slot}", words.value(int(values[column])))
            for column, slot in enumerate(corpus.slots)
            if slot.startswith(("from.", "to.")) and values[column] != NONE
        }
        assert len(places) == 2 and places <= set(spoken)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tracker", ["rank_only", "focus"])
def test_restaurants(tracker: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search by name alone leaves the other concepts out, and the reward does not know of names."""
    quiet: Any = find_simulation("restaurants", seed=3).world("quiet", "test")
    heard = Heard(monkeypatch, RestaurantDialogs, lambda dialogs, said: dialogs._identities(said.query))
    reward = Reward.of(quiet.domain, fill=rule)
    played, earned = played_by(quiet.policy(), tracker, quiet, reward)
    name = played.corpus.slots.index("name")
    other = [dialog for dialog in range(N_DIALOGS) if heard.last.get(dialog, [NONE] * 4)[name] == NONE]
    assert len(other) > 0.8 * N_DIALOGS
    mine = reward_of_offers(played.corpus, heard.last, reward)
    assert mine[other] == pytest.approx(earned[other])


DOMAIN = load_domain("restaurants")


@pytest.mark.parametrize(
    ("rule", "score", "dstc1", "dstc2"),
    [
        ("argmax", [0.6, 0.3], 7, 7),
        ("argmax", [0.3, 0.2], NONE, NONE),  # None has .5
        ("argmax", [0.5, 0.0], NONE, 7),  # None has as much: before its equals in DSTC1, after them in DSTC2
        ("argmax", [0.3, 0.4], 8, 8),
        ("threshold", [0.5, 0.1], NONE, NONE),
        ("threshold", [0.51, 0.1], 7, 7),
        ("threshold:0.2", [0.3, 0.1], 7, 7),  # None is the best hypothesis, the best value is above .2
    ],
)
def test_what_counts_as_filled_by_hand(rule: str, score: list[float], dstc1: int, dstc2: int) -> None:
    values = np.zeros((1, 4, 2), dtype=np.int32) + np.array([7, 8], dtype=np.int32)
    scores = np.zeros((1, 4, 2))
    scores[0, 3] = score
    for rank, expected in ((rank_dstc1, dstc1), (rank_dstc2, dstc2)):
        step = StepBelief(values, scores)
        filled = filled_values(
            DOMAIN,
            DOMAIN.slot_names,
            step,
            rank,
            [Fill.parse(rule)],
            np.zeros(len(step.score), dtype=np.int64),
        )
        assert filled.value.tolist() == [[NONE, NONE, NONE, expected]]
        assert filled.groups.value[0].tolist() == [NONE, expected, NONE]  # food, area, pricerange


DIALOGS: list[dict[str, dict[int, float]]] = [
    {"from.desc": {5: 0.2, 6: 0.3}, "from.monument": {7: 0.4}, "route": {8: 0.1}},
    {"to.neighborhood": {9: 0.5}, "time": {10: 0.25, 11: 0.25}},  # of equals the first
    {"from.monument": {7: 0.4}, "from.desc": {5: 0.4, 6: 0.4}, "route": {8: 0.0}},  # no score, no value
]
"""Slot -> value -> score, in places by order."""


def test_the_best_of_each_group() -> None:
    domain = load_domain("bus")
    value = np.zeros((len(DIALOGS), len(domain.slots), 4), dtype=np.int32)
    score = np.zeros(value.shape)
    for row, slots in enumerate(DIALOGS):
        for slot, values in slots.items():
            places = (row, domain.slot_names.index(slot), slice(len(values)))
            value[places], score[places] = list(values), list(values.values())
    tops = group_tops(domain, domain.slot_names, StepBelief(value, score))
    assert [
        {
            group: (domain.slot_names[tops.slot[row, column]], int(tops.value[row, column]))
            for column, group in enumerate(domain.groups)
            if tops.value[row, column]
        }
        for row in range(3)
    ] == [
        {"from": ("from.monument", 7), "route": ("route", 8)},
        {"to": ("to.neighborhood", 9), "time": ("time", 10)},
        {"from": ("from.desc", 5)},
    ]
    assert tops.score[0].tolist() == [0.4, 0.0, 0.1, 0.0, 0.0]
    assert tops.score[1].sum() == 0.75
