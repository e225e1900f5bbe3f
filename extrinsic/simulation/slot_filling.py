"""The frame of both embedded worlds: callers with goals and patience, an expert by rules, calls in lockstep.

A world brings four things: its goals, what its callers say (`PatientCallers`), what its system can do and
says (`SlotFillingDialogs`), the rules of its expert (`RuleExpert`); its settings are a `SlotFillingWorld`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from scipy.special import gammaincinv

from extrinsic.arrays import Bools, Floats, Ids, Ints, is_among
from extrinsic.corpus.acts import NONE, Acts, NBest, Vocabulary
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.history import wording_of
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.recogniser import RECOGNISER_PROPERTIES, Recogniser
from extrinsic.simulation.values import NOTHING, Phrases, Utterance, Values
from extrinsic.simulation.world import GOES_ON, GOODBYE, HANG_UP, Dialogs, Exchange, Moment
from extrinsic.simulation.world_files import Endless, Positive, Properties, Property, Settings, plain
from extrinsic.storage import content_hash, encode_json
from extrinsic.typed_files import Share

HEARD_FROM = 0.3
"""To an expert: after an offer, a no, a value or a request with more than this score is an answer to it."""


class PatientCallerSettings(Settings, frozen=True):
    """How callers behave. Annoyances are counted in turns of patience."""

    patience: Endless = 14.0
    """Turns until the average caller hangs up; `inf` for callers who never do."""
    patience_shape: Positive = 4.0
    """The larger, the more alike callers are in patience."""
    answers: Share = 0.95
    """Probability of answering at all."""
    opens_with: Share = 0.50
    """At an open question: each further thing wanted is said, too."""
    over_informs: Share = 0.20
    """At any other question: the same."""
    corrects_denied: Share = 0.60
    """Having said no to a confirmation, says the right value, too."""


class Predicates(Protocol):
    """What the system says to m callers: at least the predicate (m,); the rest is the world's."""

    @property
    def predicate(self) -> Ints: ...


T = TypeVar("T", bound=Predicates)


class PatientCallers(ABC, Generic[T]):
    """n callers, each with a goal and patience.

    goal (n, n_concepts): the number of the value wanted, NOTHING for no preference.   patience, worn (n,): in
    turns; a caller whose patience is worn out hangs up.
    """

    def __init__(self, values: Values, goal: Ints, settings: PatientCallerSettings, chance: Chance) -> None:
        self.values, self.goal, self.chance = values, goal, chance
        self.worn: Floats = np.zeros(len(goal))
        shape, mean = settings.patience_shape, settings.patience
        drawn = gammaincinv(shape, chance.uniform("patience", 0)) * mean / shape
        self.patience: Floats = np.where(np.isinf(mean), np.inf, drawn)

    @property
    @abstractmethod
    def outcomes(self) -> dict[str, Floats]:
        """Per name (n,) how the calls turned out so far."""

    @abstractmethod
    def respond(self, dialogs: Ints, turn: TurnNumber, system: T, repeated: Bools) -> Utterance:
        """The answers of the chosen callers. repeated (m,): the system repeated itself exactly."""

    def hears(self, system: T, *predicates: str) -> Bools:
        """(m,) whether what the system says is one of these."""
        names = self.values.domain.predicate_names
        return is_among(system.predicate, [names.index(predicate) for predicate in predicates])

    def labelled(self, dialogs: Ints) -> Ints:
        """(m, n_concepts) the values that labels call right."""
        return self.goal[dialogs]


class SlotFillingDialogs(Dialogs, Generic[T]):
    """n calls; a world adds what its system can do and says, and what it remembers of each call.

    phrases: what callers may say.
    """

    def __init__(
        self, values: Values, callers: PatientCallers[T], recogniser: Recogniser, phrases: Phrases
    ) -> None:
        self.values, self.callers, self.recogniser, self.phrases = values, callers, recogniser, phrases
        self.name = values.domain.predicate_names.index
        self._ends = [self.name(predicate) for predicate in values.domain.end]

    @property
    def outcomes(self) -> dict[str, Floats]:
        return self.callers.outcomes

    @abstractmethod
    def greeting(self, n_dialogs: int) -> T:
        """The system's first turn."""

    @abstractmethod
    def decided(self, moment: Moment, predicate: Ints) -> T:
        """The system's turns of the chosen predicates, their arguments taken from the beliefs."""

    @abstractmethod
    def acts_of(self, system: T) -> Acts:
        """What the system says, as acts."""

    def restarts(self, dialogs: Ints, system: T) -> Bools:
        """(m,) in which calls the system forgets everything and begins anew."""
        return np.zeros(len(dialogs), dtype=bool)

    def understand(self, dialogs: Ints, nbest: NBest) -> None:
        """Remember of the callers' answers what is no slot's value."""

    def greet(self) -> Exchange:
        n_dialogs = len(self.callers.goal)
        return self._exchange(np.arange(n_dialogs), 0, self.greeting(n_dialogs), None)

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        system = self.decided(moment, predicate)
        return self._exchange(moment.dialogs, moment.turn, system, moment.history.wording)

    def _exchange(self, dialogs: Ints, turn: TurnNumber, system: T, before: np.ndarray | None) -> Exchange:
        """The system speaks, the callers answer; before (m,): the wording of the system's last turn."""
        acts = self.acts_of(system)
        restart = self.restarts(dialogs, system)
        repeated = np.zeros(len(dialogs), dtype=bool) if before is None else wording_of(acts) == before
        answer = self.callers.respond(dialogs, turn, system, repeated)
        nbest = self.phrases.nbest(self.recogniser.hear(dialogs, turn, answer))
        self.understand(dialogs, nbest)
        goodbye = is_among(system.predicate, self._ends)
        return Exchange(
            system=acts,
            nbest=nbest,
            goal=self._identities(self.callers.labelled(dialogs)),
            said=self._identities(answer.value),
            ending=np.where(goodbye, GOODBYE, np.where(answer.hangs_up, HANG_UP, GOES_ON)),
            restart=restart,
            said_acts=self.phrases.said(self.values, answer) if self.values.domain.requestable else None,
        )

    def _identities(self, number: Ints) -> Ids:
        """(m, n_concepts) numbers of values -> (m, n_slots) their ids, NONE in all other slots."""
        identity = np.full((len(number), len(self.values.domain.slots)), NONE, dtype=np.int32)
        row, concept = np.nonzero(number != NOTHING)
        chosen = number[row, concept]
        identity[row, self.values.slot[chosen]] = self.values.identity[chosen]
        return identity


class RuleExpert(ABC):
    """The system that made a corpus: the first of its rules that applies; now and then its second choice, or
    anything sensible, so that its log can teach.

    P(a) = main [a is the rule's] + rest [a is the second choice] + exploration / |sensible|.
    instead: the second choice for a predicate; the same again for those left out.
    """

    instead: Mapping[str, str]

    def __init__(self, main: float, exploration: float) -> None:
        self.main, self.exploration = main, exploration

    @abstractmethod
    def rules(self, moment: Moment) -> list[tuple[Bools, str]]:
        """(m,) when each rule applies, and its predicate; of several the first that is allowed counts."""

    def sensible(self, moment: Moment) -> Bools:
        """(m, n_predicates) what exploration may choose."""
        return moment.allowed

    def choice(self, moment: Moment) -> Ints:
        """(m,) the rules' choice; a request where none applies."""
        name = moment.domain.predicate_names.index
        rules = [(when & moment.allowed[:, name(act)], name(act)) for when, act in self.rules(moment)]
        return np.select([when for when, _ in rules], [act for _, act in rules], name("request"))

    def probabilities(self, moment: Moment) -> Floats:
        """(m, n_predicates)"""
        main = self.choice(moment)
        names, rows = moment.domain.predicate_names, np.arange(len(main))
        second = np.array([names.index(self.instead.get(name, name)) for name in names])[main]
        second = np.where(moment.allowed[rows, second], second, main)
        blind = np.where(self.sensible(moment), 1.0, 0.0)
        chances: Floats = self.exploration * blind / blind.sum(axis=1, keepdims=True)
        np.add.at(chances, (rows, main), self.main)
        np.add.at(chances, (rows, second), 1.0 - self.exploration - self.main)
        return chances


class SlotFillingWorld(Settings, frozen=True):
    """The settings of a world, which are the world; what is here is the same for every `SettledWorld`."""

    kind: ClassVar[str]
    """In the signature; it differs between worlds of equal settings."""

    @property
    def values(self) -> Values:
        raise NotImplementedError

    @property
    def domain(self) -> Domain:
        return self.values.domain

    @property
    def slots(self) -> tuple[str, ...]:
        return self.domain.slot_names

    @property
    def requestable(self) -> tuple[str, ...]:
        return self.domain.requestable

    @property
    def vocabulary(self) -> Vocabulary:
        return self.values.vocabulary

    def signature(self) -> str:
        return content_hash(self.kind, encode_json(plain(self)))


def properties_of(*own: Property) -> Properties:
    """What worlds of a kind can be drawn by: the recogniser's properties and the kind's own."""
    return {part.name: part for part in (*RECOGNISER_PROPERTIES, *own)}


def patience(low: float, high: float) -> Property:
    """How patient callers are, drawn from a range by default."""
    what = "turns until the average caller hangs up"
    return Property("patience", what, 1.0, 100.0, (low, high), "caller.patience")
