"""N-best lists in code: what is right and which of the wrong values; and spelled out for a caller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.acts import NBest
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.mentions import SlotNames, mentions_of_acts, requested_slot
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.caller_states import Contexts
from extrinsic.simulation.fitted.coded_acts import RIGHT, VALUE, spelled_out
from extrinsic.simulation.fitted.confusions import ConfusedTurn, Confusions
from extrinsic.simulation.fitted.logged_answers import Speakers, speak
from extrinsic.simulation.fitted.logged_dialogs import Logs, read_logs
from extrinsic.simulation.utterance import NOTHING
from extrinsic.trackers.rules import Focus
from tests.simulation.fitted.logs import bus_logs, expert_calls

POOL = 40


def logged() -> Logs:
    return read_logs(bus_logs()[1:], {"focus": Focus()})


def values_of_phrases(logs: Logs) -> Ints:
    """(k,) the value that each phrase truly had, NOTHING for phrases without."""
    log, lists = logs.corpora[0], logs.turns.lists
    order = np.lexsort((-log.nbest.score, log.nbest.turn_of_hypothesis()))
    acts = log.nbest.acts.take(order)
    user = log.domain.user
    asked = requested_slot(log.system, log.vocabulary)[lists.turn_of_hypothesis]
    names = SlotNames(log.domain, log.slots, log.vocabulary)
    mentions = mentions_of_acts(names, acts, (*user.inform, *user.deny), asked=asked)
    in_order = np.argsort(mentions.act, kind="stable")
    number = np.full(len(lists.acts.kind), NOTHING)
    number[lists.acts.kind == VALUE] = logs.values.number(mentions.slot, mentions.value)[in_order]
    return number


def assert_same_evidence(one: Evidence, other: Evidence) -> None:
    for name in ("offsets", "value", "rank"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("informed", "denied", "affirms", "negates"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name))


def test_a_list_spelled_out_with_its_own_values_is_the_same_list() -> None:
    logs = logged()
    log, lists = logs.corpora[0], logs.turns.lists
    number = np.maximum(values_of_phrases(logs), 0)
    everything = np.ones(len(number), dtype=bool)
    acts = spelled_out(lists.acts, logs.values, (), number, np.zeros_like(number), everything)
    again = replace(
        log, nbest=NBest(lists.offsets, lists.score, np.zeros(len(lists.score), dtype=bool), acts)
    )
    assert_same_evidence(again.evidence, log.evidence)


def test_a_list_given_to_its_own_caller_is_the_same_list() -> None:
    logs = logged()
    log, lists, turns = logs.corpora[0], logs.turns.lists, logs.turns
    phrases = np.flatnonzero(lists.acts.kind == VALUE)
    number = values_of_phrases(logs)[phrases]
    turn = lists.turn_of_hypothesis[lists.acts.owner[phrases]]
    about, code = lists.acts.about[phrases], lists.acts.code[phrases]
    goal = np.full((log.n_turns, logs.values.n_concepts), NOTHING)
    wrong = np.full((*goal.shape, 2, POOL), NOTHING)
    right = code == RIGHT
    goal[turn[right], about[right]] = number[right]
    elsewhere, place = (code < RIGHT).astype(np.int64), np.maximum(np.abs(code) - 1, 0)
    wrong[turn[~right], about[~right], elsewhere[~right], place[~right]] = number[~right]
    nobody = np.full(log.n_turns, NOTHING)
    # In a usual list every wrong value stands at its own place.
    usual = Confusions(POOL, POOL, 1.0, 1.0, 0.0, 0.0, 0.0)
    confused = ConfusedTurn(usual, wrong, Chance.of(log.n_turns, "turns"), 0)
    speakers = Speakers(goal, turns.told, logs.callers.wanted[turns.dialog], nobody, confused, nobody)
    contexts = Contexts(turns.context, turns.about, turns.asked, turns.wrong, turns.now)
    spoken = speak(logs, np.arange(log.n_turns), contexts, speakers)
    # A code stands for one value: hypotheses with two wrong values of one concept are the exception.
    told = np.where(right, goal[turn, about], wrong[turn, about, elsewhere, place])
    kept = np.setdiff1d(np.arange(log.n_turns), turn[told != number])
    assert len(kept) > 0.99 * log.n_turns
    again = replace(log, nbest=spoken.nbest).evidence
    assert_same_evidence(again.take(kept), log.evidence.take(kept))
    np.testing.assert_array_equal(spoken.mentioned[kept], turns.mentioned[kept])


def test_a_stop_that_is_taken_for_a_neighborhood_stays_in_that_slot() -> None:
    """As many wrong values stand in another slot than the caller's as in the log."""
    shares = []
    for corpus in (bus_logs()[1], expert_calls().corpus):
        logs = read_logs([corpus], {"focus": Focus()})
        acts = logs.turns.lists.acts
        wrong = acts.code[(acts.kind == VALUE) & (acts.code != RIGHT)]
        shares.append((float(np.mean(wrong < RIGHT)), len(wrong)))
    (logged, n_logged), (fitted, _) = shares
    assert logged > 0.01
    # Wrong values come in lists of several: a tenth of them counts.
    assert abs(logged - fitted) < 3.0 * np.sqrt(logged * (1.0 - logged) / (0.1 * n_logged))
