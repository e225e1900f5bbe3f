"""The restaurant world: its dialogs in lockstep, its settings, and the simulation of a settings file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.history import wording_of
from extrinsic.corpus.tracking import Tracker
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.domain import Domain
from extrinsic.registry import TRACKERS
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.drawn_worlds import Properties, Property
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.restaurants.database import BYE, Database, database
from extrinsic.simulation.restaurants.diners import Diners, HostTurn
from extrinsic.simulation.restaurants.host import Host, acts_of, possible, realise
from extrinsic.simulation.restaurants.restaurant_settings import DinerSettings, HostSettings, SearchSettings
from extrinsic.simulation.settings import RECOGNISER_PROPERTIES, RecogniserSettings, Settings
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import GOES_ON, HANG_UP, Dialogs, Exchange, Moment, View
from extrinsic.simulation.world_files import FileSimulation, plain, read_worlds
from extrinsic.storage import content_hash, encode_json


class RestaurantDialogs(Dialogs):
    """n calls; place (n,): the restaurant that was last offered, NOTHING for none."""

    def __init__(
        self, diners: Diners, recogniser: Recogniser, town: Database, settings: HostSettings
    ) -> None:
        self.diners, self.recogniser, self.town, self.settings = diners, recogniser, town, settings
        self.place: Ints = np.full(len(diners.goal), NOTHING, dtype=np.int64)

    @property
    def outcomes(self) -> dict[str, Floats]:
        """success: a right place was offered, and all that the caller asked of it was told; offered: the
        first half of that."""
        offered = self.diners.place != NOTHING
        return {"success": self.diners.served.astype(np.float64), "offered": offered.astype(np.float64)}

    def greet(self) -> Exchange:
        dialogs = np.arange(len(self.place))
        domain = self.town.values.domain
        welcome = np.full(len(dialogs), domain.predicate_names.index("welcome"), dtype=np.int64)
        return self._exchange(dialogs, 0, HostTurn.of(welcome, len(domain.slots)), None)

    def possible(self, view: View) -> Bools:
        return possible(self.town, self.settings, view, self.place[view.dialogs])

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        system = realise(self.town, self.settings, predicate, moment, self.place[moment.dialogs])
        offers = system.place != NOTHING
        self.place[moment.dialogs[offers]] = system.place[offers]
        return self._exchange(moment.dialogs, moment.turn, system, moment.history.wording)

    def _exchange(
        self, dialogs: Ints, turn: TurnNumber, system: HostTurn, before: np.ndarray | None
    ) -> Exchange:
        """The system speaks, the callers answer; before (m,): the wording of the system's last turn."""
        town = self.town
        acts = acts_of(town, town.values.domain.predicate_names, system)
        repeated = np.zeros(len(dialogs), dtype=bool) if before is None else wording_of(acts) == before
        answer = self.diners.respond(dialogs, turn, system, repeated)
        return Exchange(
            system=acts,
            nbest=town.callers.nbest(self.recogniser.hear(dialogs, turn, answer)),
            goal=self._identities(self.diners.stated[dialogs]),
            said=self._identities(answer.value),
            ending=np.where(answer.hangs_up, HANG_UP, GOES_ON),
            restart=np.zeros(len(dialogs), dtype=bool),
            said_acts=town.callers.said(town.values, answer),
        )

    def _identities(self, number: Ints) -> Ids:
        """Numbers of values -> their ids, NONE for nothing."""
        return np.where(number == NOTHING, NONE, self.town.values.identity[number]).astype(np.int32)


class RestaurantSettings(Settings, frozen=True):
    """The world of restaurant calls: what callers look for, how they behave, the recogniser, the system."""

    search: SearchSettings = SearchSettings()
    caller: DinerSettings = DinerSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    system: HostSettings = HostSettings()
    longest_dialog: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 30

    @property
    def domain(self) -> Domain:
        return database().values.domain

    @property
    def slots(self) -> tuple[str, ...]:
        return self.domain.slot_names

    @property
    def requestable(self) -> tuple[str, ...]:
        return self.domain.requestable

    @property
    def vocabulary(self) -> Vocabulary:
        return database().values.vocabulary

    @property
    def known_values(self) -> list[Ids]:
        return database().values.by_slot

    def signature(self) -> str:
        return content_hash("restaurants", encode_json(plain(self)))

    def begin(self, chance: Chance) -> RestaurantDialogs:
        town = database()
        diners = Diners(self.search, self.caller, town, chance)
        recogniser = Recogniser(self.recogniser, town.values, chance, (1, BYE))
        return RestaurantDialogs(diners, recogniser, town, self.system)

    def policy(self) -> Host:
        """The expert whose calls a dataset holds."""
        return Host(database(), self.system)

    def tracker(self) -> Tracker:
        tracker: Tracker = TRACKERS.get("focus")
        return tracker


def _slots(number: float) -> dict[str, Any]:
    """Every caller looks for so many of food, area and price range."""
    order = ("food", "area", "pricerange")
    return {"search": {slot: 1.0 if slot in order[: int(number)] else 0.0 for slot in order}}


PROPERTIES = {
    part.name: part
    for part in (
        *RECOGNISER_PROPERTIES,
        Property(
            "patience",
            "turns until the average caller hangs up",
            1.0,
            100.0,
            (7.0, 16.0),
            lambda value: {"caller": {"patience": value}},
        ),
        Property("slots", "how many things callers look for", 1, 3, (1, 3), _slots, whole=True),
        Property(
            "caution",
            "a score below this is confirmed",
            0.0,
            1.0,
            (0.25, 0.75),
            lambda value: {"system": {"trusts": value}},
        ),
    )
}


class RestaurantSimulation(FileSimulation[RestaurantSettings], frozen=True):
    """The datasets of restaurant calls that a settings file describes."""

    properties: ClassVar[Properties] = PROPERTIES

    @staticmethod
    def embedded() -> Path:
        return Path(__file__).with_name("restaurant_worlds.toml")

    @classmethod
    def of_file(cls, path: str | Path) -> RestaurantSimulation:
        return RestaurantSimulation(*read_worlds(path, RestaurantSettings, RestaurantSimulation.check))

    @staticmethod
    def check(world: RestaurantSettings, report: Callable[[str], None]) -> None:
        if world.system.main + world.system.exploration > 1.0 + 1e-12:
            report("system.main and system.exploration sum above 1")
