"""A world of one's own: somebody thinks of a colour, which a bad ear mishears now and then."""

import random

from extrinsic.corpus.domain import Domain, PredicateRule, Slot
from extrinsic.registry import WORLDS
from extrinsic.simulation import Turn

COLOURS = ["red", "green", "blue"]
ACTS = {"hello": "hello", "ask": "request", "check": "expl-conf", "paint": "offer"}
RULES = tuple(PredicateRule(name, (act,)) for name, act in ACTS.items())
ROLES = {"greeting": ("hello",), "offer": ("paint",), "yes_no": ("check",), "end": ("paint",)}


class Colours:
    domain = Domain(
        "colours", "a game", (Slot("colour"),), {"colour": ("colour",)}, ("colour",), RULES, **ROLES
    )

    def begin(self, seed):
        self.random = random.Random(seed)
        self.goal, self.success = self.random.choice(COLOURS), 0.0
        return self._turn("hello")

    def possible(self, beliefs):
        heard, filled = bool(beliefs.goals["colour"]), "colour" in beliefs.filled
        return ["ask"] + ["check"] * heard + ["paint"] * filled

    def act(self, predicate, beliefs):
        value, _ = beliefs.best("colour")
        self.success = float(predicate == "paint" and value == self.goal)
        return None if predicate == "paint" else self._turn(predicate, value)

    def outcome(self):
        return {"success": self.success}

    def _turn(self, predicate, value=None):
        answer = _act("affirm" if value == self.goal else "negate")
        said = answer if predicate == "check" else _act("inform", self.goal)
        heard = _act("inform", self.random.choice(COLOURS)) if self.random.random() < 0.3 else said
        nbest = [{"slu-hyp": [heard], "score": 0.6}]
        return Turn([_act(ACTS[predicate], value)], nbest, [said], {"colour": self.goal})


def _act(name, value=None):
    return {"act": name, "slots": [["colour", value]] if value else []}


WORLDS.register("colours", Colours, "somebody thinks of a colour")
