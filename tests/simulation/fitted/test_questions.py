"""Which concept a system asks for: by preferences where these explain the log, else as the log did."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.simulation.datasets import find_simulation
from extrinsic.simulation.fitted.fitted_world import fit_world
from extrinsic.simulation.fitted.questions import PREFERENCES, Facts, Preference, Questions
from extrinsic.simulation.utterance import NOTHING
from tests.simulation.fitted.logs import bus_world

ORDER = np.array([1.0, 2.0, 3.0, np.inf])


def facts(**changes: object) -> Facts:
    """One turn with four concepts, all heard and asked for once."""
    usual: dict[str, object] = {
        "heard": [True] * 4,
        "score": [0.9, 0.5, 0.7, 0.1],
        "confirmed": [False] * 4,
        "implied": [False] * 4,
        "requests": [1] * 4,
    }
    return Facts(**{name: np.array([value]) for name, value in (usual | changes).items()})


@pytest.mark.parametrize(
    ("preference", "changes", "chosen"),
    [
        (Preference("none", 1, least_sure=True), {}, 1),
        (Preference("none", 1, least_sure=False), {}, 0),
        (Preference("none", 1, least_sure=True), {"heard": [True, True, False, False]}, 2),
        (Preference("none", 1, least_sure=True), {"requests": [0, 1, 1, 0]}, 0),
        (Preference("none", 3, least_sure=True), {"requests": [0, 2, 1, 0]}, 1),
        (Preference("none", 3, least_sure=True), {"requests": [0, 3, 1, 0]}, 2),
        (Preference("none", None, least_sure=True), {"requests": [0, 9, 1, 0]}, 1),
        (Preference("confirmed", 1, least_sure=True), {"confirmed": [False, True, False, False]}, 2),
        (Preference("confirmed", 1, least_sure=True), {"implied": [False, True, False, False]}, 1),
        (Preference("implied", 1, least_sure=True), {"implied": [False, True, False, False]}, 2),
    ],
)
def test_what_comes_first(preference: Preference, changes: dict[str, object], chosen: int) -> None:
    asked_for = ~np.isinf(ORDER)[None]
    assert preference.chosen(facts(**changes), ORDER, asked_for).tolist() == [chosen]


def test_the_rule_of_the_embedded_system_is_found() -> None:
    """Missing before heard, then rarely asked for, then least sure; what is confirmed comes last."""
    preferences = bus_world().rules.questions.preferences
    assert preferences.prefers
    usual = PREFERENCES[preferences.usual]
    assert usual.patience == 1 and usual.least_sure and usual.settled != "none"


def test_a_directed_system_asks_in_its_own_order() -> None:
    """It asks three times before it goes on, and again for what it is least sure of when that was wrong."""
    simulation = find_simulation("bus", None, 11)
    world = fit_world([simulation.simulate("letsgo", split).corpus for split in ("train", "test")])
    questions: Questions = world.rules.questions
    usual = PREFERENCES[questions.preferences.usual]
    assert usual.patience == 3 and not usual.least_sure
    route, origin, destination = (list(world.domain.groups).index(name) for name in ("route", "from", "to"))
    assert questions.order[route] < questions.order[origin] < questions.order[destination]
    assert (questions.preferences.of_kind != NOTHING).mean() > 0.5


def test_a_time_is_asked_for_only_by_a_system_that_cannot_offer_the_next_bus_any_more() -> None:
    """letsgo's asks whether the next few buses will do, and for a date or time after a no or an offer."""
    simulation = find_simulation("bus", None, 11)
    world = fit_world([simulation.simulate("letsgo", split).corpus for split in ("train", "test")])
    groups, names = list(world.domain.groups), world.domain.predicate_names
    if_declined = world.rules.questions.if_declined
    assert if_declined[groups.index("time")] == names.index("next_bus")
    assert (if_declined[[groups.index(name) for name in ("route", "from", "to")]] == NOTHING).all()
    settled = np.zeros((3, len(names)), dtype=bool)
    settled[1, names.index("next_bus")] = True
    closed = world.rules.sequels.closed(np.array([False, False, True]), settled)
    assert closed[:, names.index("next_bus")].tolist() == [False, True, True]
