"""The expert of the bus world, whose decisions on its own tracker's beliefs made the datasets."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.history import AFFIRMED, NOT_ASKED
from extrinsic.simulation.bus_system import SystemSettings
from extrinsic.simulation.slot_filling import HEARD_FROM, RuleExpert
from extrinsic.simulation.world import Moment
from extrinsic.simulation.world_files import Settings
from extrinsic.trackers.tracking import Heard
from extrinsic.typed_files import Count, Share


class ExpertSettings(Settings, frozen=True):
    """How the system that made the corpus decides, on its own tracker's scores."""

    main: Share = 0.85
    exploration: Share = 0.08
    """Share of random decisions among the possible ones; what main leaves besides is the second choice."""
    trusts: Share = 0.70
    """A value scored below this is confirmed explicitly before anything else."""
    offers: Share = 0.80
    """A required value scored below this is confirmed before an offer."""
    knows: Share = 0.90
    """A value scored below this is confirmed implicitly, while asking for the next; 0: never."""
    asks_again: Count = 2
    """How often it asks for the same thing before it goes on without."""
    gives_up: Count = 22
    """The turn at which it says goodbye in any case."""


class ExpertTracker:
    """The expert's own tracker: the highest score a value was informed with, less what was denied since.

    Of equal scores the later wins: at every mention of a slot its old scores decay a little.
    """

    planes, fades = 1, 0.999

    def update(self, memory: Floats, heard: Heard) -> Floats:
        spoken = (heard.informed > 0.0).any(axis=-1, keepdims=True)
        old = memory[0] * (1.0 - np.minimum(heard.denied, 1.0)) * np.where(spoken, self.fades, 1.0)
        return np.asarray(np.maximum(old, heard.informed)[None])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] / np.maximum(memory[0].sum(axis=-1, keepdims=True), 1.0))


class Expert(RuleExpert):
    """The expert whose calls a dataset holds."""

    def __init__(
        self,
        settings: ExpertSettings,
        system: SystemSettings = SystemSettings(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(settings.main, settings.exploration)
        self.settings, self.system = settings, system
        self.instead = {
            "open_request": "request",
            "request": "open_request",
            "confirm": "implicit_confirm",
            "implicit_confirm": "confirm",
            "offer": "confirm",
            "next_bus": "goodbye" if system.next_bus == "after" else "offer",
            "goodbye": "next_bus",
        }

    def rules(self, moment: Moment) -> list[tuple[Bools, str]]:
        settings, history, tops = self.settings, moment.history, moment.tops
        name = moment.domain.predicate_names.index
        required, asked_enough = self.system.needed(moment), self._asked_enough(moment)
        has_value = self.system.heard(moment)
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
        return [
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

    def sensible(self, moment: Moment) -> Bools:
        """Not goodbye before an offer, no restart."""
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
