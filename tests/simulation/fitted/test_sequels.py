"""What may follow what, learned from a log whose system is known."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.corpus.history import History
from extrinsic.simulation import read_simulation, simulate
from extrinsic.simulation.fitted.fitted_world import FittedWorld, fit_world
from extrinsic.simulation.fitted.hidden_wishes import content_with


@pytest.fixture(scope="module")
def world() -> FittedWorld:
    """Of the calls of letsgo, whose system acts on a command or a no only if its score is above .95."""
    simulation = read_simulation()
    return fit_world([simulate(simulation, "letsgo", split).corpus for split in ("train", "test")])


def _after(world: FittedWorld, predicate: str, reply: str, is_sure: bool, offered: bool) -> set[str]:
    """What is possible after a turn of the log with such a reply."""
    sequels, turns = world.rules.sequels, world.logs.turns
    names, score = turns.lists.replies()
    number = world.domain.predicate_names.index(predicate)
    alike = (names == world.vocabulary.find(reply)) & ((score > sequels.sure_from) == is_sure)
    place = np.flatnonzero(alike & (turns.system.predicate == number))[:1]
    history = History.of(1, len(world.slots))
    history.predicate[:], history.offered[:] = number, offered
    nothing = np.zeros((1, len(world.domain.predicate_names)), dtype=bool)
    possible = sequels.possible(history, sequels.reply[place], nothing)[0]
    return {name for name, flag in zip(world.domain.predicate_names, possible, strict=True) if flag}


def test_the_score_from_which_the_system_acts_is_found(world: FittedWorld) -> None:
    assert world.rules.sequels.sure_from == 0.95


def test_a_command_is_carried_out_when_it_was_surely_heard(world: FittedWorld) -> None:
    assert "help" not in _after(world, "offer", "nextbus", is_sure=True, offered=True)
    assert "offer" in _after(world, "offer", "nextbus", is_sure=True, offered=True)
    assert "offer" not in _after(world, "offer", "nextbus", is_sure=False, offered=True)


def test_a_question_with_a_sure_answer_is_not_asked_again(world: FittedWorld) -> None:
    sequels, names = world.rules.sequels, world.domain.predicate_names
    assert [name for name, once in zip(names, sequels.once, strict=True) if once] == ["next_bus"]
    history = History.of(1, len(world.slots))
    settled = np.array([[name == "next_bus" for name in names]])
    reply = np.zeros(1, dtype=np.int64)
    nothing = np.zeros_like(settled)
    number = names.index("next_bus")
    assert sequels.possible(history, reply, nothing)[0, number] or sequels.follows[0, :, number].any()
    assert not sequels.possible(history, reply, settled)[0, number]


def test_who_takes_the_next_bus_wants_no_other_time(world: FittedWorld) -> None:
    logs = world.logs
    without = np.concatenate([content_with(log, logs.values.n_concepts) for log in logs.corpora])
    groups = list(world.domain.groups)
    assert without.any(axis=0)[: len(groups)].tolist() == [name == "time" for name in groups]
    open_ = without & ~logs.callers.wanted
    assert not logs.callers.may_want[open_].any() and not logs.callers.if_asked[open_].any()
