"""The expert that made the corpus: a tracker and handwritten rules, with some randomness."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.history import AFFIRMED, NOT_ASKED
from extrinsic.corpus.tracking import Heard
from extrinsic.simulation.bus.bus_settings import ExpertSettings, SystemSettings
from extrinsic.simulation.bus.system import heard_groups, needed
from extrinsic.simulation.exploration import exploring
from extrinsic.simulation.world import Moment

HEARD_FROM = 0.3
"""After an offer, a no or a value heard with more than this score is an objection."""


FADES = 0.999


class ExpertTracker:
    """The expert's own tracker: the highest score a value was informed with, less what was denied since.

    Of equal scores the later wins: at every mention of a slot its old scores decay a little.
    """

    planes = 1

    def update(self, memory: Floats, heard: Heard) -> Floats:
        spoken = (heard.informed > 0.0).any(axis=-1, keepdims=True)
        old = memory[0] * (1.0 - np.minimum(heard.denied, 1.0)) * np.where(spoken, FADES, 1.0)
        return np.asarray(np.maximum(old, heard.informed)[None])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] / np.maximum(memory[0].sum(axis=-1, keepdims=True), 1.0))


class Expert:
    """The first rule that applies, its second choice, or anything sensible (see `exploring`)."""

    def __init__(
        self,
        settings: ExpertSettings,
        system: SystemSettings = SystemSettings(),  # noqa: B008 - frozen
    ) -> None:
        self.settings, self.system = settings, system

    def probabilities(self, moment: Moment) -> Floats:
        settings = self.settings
        main = self._choice(moment)
        second = self._second(moment, main)
        return exploring(main, second, self._sensible(moment), settings.main, settings.exploration)

    def _choice(self, moment: Moment) -> Ints:
        """(m,) the choice of the first rule that applies."""
        settings, history, tops = self.settings, moment.history, moment.tops
        name = moment.domain.predicate_names.index
        required, asked_enough = needed(self.system, moment), self._asked_enough(moment)
        has_value = heard_groups(self.system, moment)
        loose = has_value & ~moment.confirmed
        unsure = loose & (tops.score < settings.trusts)
        too_weak = loose & required & (tops.score < settings.offers) & ~moment.implied
        lacks = np.asarray((required & ~has_value & ~asked_enough).any(axis=1))
        unspoken = loose & ~moment.implied & (tops.score < settings.knows)
        places = moment.allowed[:, name("offer")]
        objects = (history.negates > HEARD_FROM) | (history.informs > HEARD_FROM)
        was_offer = history.predicate == name("offer")
        patient = history.streak < 2
        if self.system.next_bus == "after":
            browsing: list[tuple[Bools, str]] = [
                ((history.answer == AFFIRMED) & places, "offer"),
                ((history.answer != NOT_ASKED) & ~objects, "goodbye"),
                ((history.answer != NOT_ASKED) & (history.informs <= HEARD_FROM), "goodbye"),
                (was_offer & ~objects, "next_bus"),
            ]
            before_offer: list[tuple[Bools, str]] = []
        else:
            asks = moment.allowed[:, name("next_bus")]
            was_browsing = was_offer | (history.predicate == name("help"))
            undone = was_browsing & (history.negates > HEARD_FROM)
            browsing = [
                ((history.answer == AFFIRMED) & places, "offer"),
                (undone, "request"),
                (was_browsing & moment.allowed[:, name("help")], "help"),
                (was_browsing & places, "offer"),
            ]
            before_offer = [(asks, "next_bus")]
        rules: list[tuple[Bools, str]] = [
            (moment.allowed[:, name("restart")], "restart"),
            (history.turn >= settings.gives_up, "goodbye"),
            *browsing,
            (~has_value.any(axis=1) & (history.turn == 1), "open_request"),
            (unsure.any(axis=1) & patient, "confirm"),
            (lacks & unspoken.any(axis=1), "implicit_confirm"),
            (lacks, "request"),
            (too_weak.any(axis=1) & patient, "confirm"),
            *before_offer,
            (places, "offer"),
        ]
        # A system that never hangs up, or asks no open question, skips the rule.
        rules = [
            (when & moment.allowed[:, name(act)] | (act == "request") & when, act) for when, act in rules
        ]
        return np.select([when for when, _ in rules], [name(act) for _, act in rules], name("request"))

    def _second(self, moment: Moment, main: Ints) -> Ints:
        """(m,) the second choice, where it is possible."""
        name = moment.domain.predicate_names.index
        instead = {
            "open_request": "request",
            "request": "open_request",
            "confirm": "implicit_confirm",
            "implicit_confirm": "confirm",
            "offer": "confirm",
            "next_bus": "goodbye" if self.system.next_bus == "after" else "offer",
            "goodbye": "next_bus",
            "restart": "restart",
        }
        table = np.arange(len(moment.domain.predicate_names))
        for act, other in instead.items():
            table[name(act)] = name(other)
        second = table[main]
        possible = moment.allowed[np.arange(len(main)), second]
        return np.where(possible, second, main)

    def _sensible(self, moment: Moment) -> Bools:
        """(m, n_predicates) what exploration may choose: not goodbye before an offer, no restart."""
        name = moment.domain.predicate_names.index
        sensible = moment.allowed.copy()
        sensible[:, name("goodbye")] &= moment.history.offered
        sensible[:, name("restart")] = False
        return sensible

    def _asked_enough(self, moment: Moment) -> Bools:
        """(m, n_groups) whether the group was requested so often that the expert proceeds without it."""
        columns = moment.domain.group_columns(moment.slots)
        n_requests = [moment.history.requests[:, slots].max(axis=1) for slots in columns]
        return np.stack(n_requests, axis=1) >= self.settings.asks_again
