"""Checks of the turns of a DSTC2 tracker file."""

from __future__ import annotations

from typing import Any

from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.model import Corpus
from extrinsic.errors import did_you_mean

TURN_KEYS = ("goal-labels", "goal-labels-joint", "method-label", "requested-slots")


def check_turn(checker: Checker, value: Any, corpus: Corpus) -> None:
    turn = checker.object(value, "the turn")
    if not isinstance(value, dict):
        return
    checker.only(turn, TURN_KEYS, "the turn")
    goals = checker.member(turn, "goal-labels", "the turn")
    if goals is not Missing:
        for slot, distribution in checker.object(goals, "'goal-labels'").items():
            slot_checker = checker.at(slot=slot)
            slot_checker.known(slot, corpus.slots, "slot in 'goal-labels'")
            _check_distribution(slot_checker, distribution, "the distribution of the slot")
    if "goal-labels-joint" in turn:
        _check_joint(checker.at(slot="joint"), turn["goal-labels-joint"], corpus)
    method = checker.member(turn, "method-label", "the turn")
    if method is not Missing:
        slot_checker = checker.at(slot="method")
        _check_distribution(slot_checker, method, "'method-label'")
        methods = corpus.ontology.get("method", ())
        for name in method if isinstance(method, dict) and methods else ():
            if name not in methods:
                slot_checker.report(f"unknown method {name!r}; {did_you_mean(name, methods)}")
    requested = checker.member(turn, "requested-slots", "the turn")
    if requested is not Missing:
        for slot, score in checker.object(requested, "'requested-slots'").items():
            slot_checker = checker.at(slot=slot)
            slot_checker.known(slot, corpus.requestable, "slot in 'requested-slots'")
            slot_checker.score(score)


def _check_distribution(checker: Checker, value: Any, what: str) -> None:
    for name, score in checker.object(value, what).items():
        checker.score(score, f"the score of {name!r}")


def _check_joint(checker: Checker, value: Any, corpus: Corpus) -> None:
    for number, hypothesis in enumerate(checker.array(value, "'goal-labels-joint'")):
        hypothesis_name = f"joint hypothesis {number}"
        entry = checker.object(hypothesis, hypothesis_name)
        if not isinstance(hypothesis, dict):
            continue
        checker.only(entry, ("slots", "score"), hypothesis_name)
        slots = checker.member(entry, "slots", hypothesis_name)
        if slots is not Missing:
            for slot, slot_value in checker.object(slots, f"the slots of {hypothesis_name}").items():
                checker.known(slot, corpus.slots, f"slot in {hypothesis_name}")
                checker.text(slot_value, f"the value of {slot!r} in {hypothesis_name}")
        score = checker.member(entry, "score", hypothesis_name)
        if score is not Missing:
            checker.score(score, f"the score of {hypothesis_name}")
