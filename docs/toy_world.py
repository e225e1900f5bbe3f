"""A world of one's own: somebody thinks of a colour, which a bad ear mishears now and then."""

import random

from extrinsic.domain import Domain, PredicateRule, Slot
from extrinsic.registry import WORLDS
from extrinsic.simulation import Turn

COLOURS = ["red", "green", "blue"]
ACTS = {"hello": "hello", "ask": "request", "check": "expl-conf", "paint": "offer"}
RULES = tuple(PredicateRule(name, (act,)) for name, act in ACTS.items())
ROLES = {"greeting": ("hello",), "offer": ("paint",), "yes_no": ("check",), "end": ("paint",)}


class Colours:
    domain = Domain(
        "colours", "a colour", (Slot("colour"),), {"colour": ("colour",)}, ("colour",), RULES, **ROLES
    )

    def begin(self, seed):
        self.random = random.Random(seed)
        self.goal, self.success = self.random.choice(COLOURS), 0.0
        return self._turn("hello")

    def possible(self, beliefs):
        return ["ask", "check", "paint"] if beliefs.goals["colour"] else ["ask"]

    def act(self, predicate, beliefs):
        value, score = beliefs.best("colour")
        self.success = float(predicate == "paint" and value == self.goal)
        return None if predicate == "paint" else self._turn(predicate, value)

    def outcome(self):
        return {"success": self.success}

    def _turn(self, predicate, value=None):
        answer = {"act": "affirm" if value == self.goal else "negate", "slots": []}
        said = answer if predicate == "check" else {"act": "inform", "slots": [["colour", self.goal]]}
        misheard = {"act": "inform", "slots": [["colour", self.random.choice(COLOURS)]]}
        heard = misheard if self.random.random() < 0.3 else said
        system = {"act": ACTS[predicate], "slots": [["colour", value]]}
        return Turn([system], [{"slu-hyp": [heard], "score": 0.6}], [said], {"colour": self.goal})


WORLDS.register("colours", Colours, "somebody thinks of a colour")
