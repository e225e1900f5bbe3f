"""A world of one's own, found by its entry point: people who order a pizza, and an ear that mishears them."""

import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from extrinsic.corpus.acts import NONE, Vocabulary
from extrinsic.corpus.domain import Condition, Domain, PredicateRule, Slot
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.registry import TRACKERS
from extrinsic.simulation import GOES_ON, GOODBYE, HANG_UP, Dialogs, Exchange, play
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.single_world import acts_of_json, nbest_of_json
from extrinsic.storage import content_hash, encode_json

VALUES = {"size": ("small", "medium", "large"), "topping": ("olives", "tuna", "salami", "cheese")}
SLOTS = tuple(VALUES)
HELLO, BYE, OFFER, CONFIRM, REQUEST = range(5)
DOMAIN = Domain(
    name="pizza",
    description="orders of pizza by telephone",
    slots=tuple(Slot(name) for name in SLOTS),
    groups={name: (name,) for name in SLOTS},
    required=SLOTS,
    predicates=(
        PredicateRule("hello", ("hello",)),
        PredicateRule("goodbye", ("bye",)),
        PredicateRule("offer", ("offer",)),
        PredicateRule("confirm", ("expl-conf",)),
        PredicateRule("request", ("request",)),
    ),
    greeting=("hello",),
    offer=("offer",),
    yes_no=(),
    end=("goodbye",),
    conditions=(Condition("branch", "branch", in_state=True),),
    state=("requested",),
    requestable=("price",),
    reward={"absent": "zero"},
)
VOCABULARY = Vocabulary()


@dataclass(frozen=True)
class PizzaWorld:
    noise: float = 0.3
    patience: int = 10
    longest_dialog: int = 15

    domain, slots, requestable, vocabulary = DOMAIN, SLOTS, ("price",), VOCABULARY

    def signature(self):
        return content_hash("pizza", encode_json(asdict(self)))

    def begin(self, chance):
        return Orders(self, chance)


class Orders(Dialogs):
    """n people on the telephone; goal (n, 2): the position of the value that each wants of each slot."""

    def __init__(self, world, chance):
        self.world, self.chance, n_dialogs = world, chance, len(chance.key)
        sizes = [len(values) for values in VALUES.values()]
        self.goal = (chance.uniform("goal", 0, (len(SLOTS),)) * sizes).astype(int)
        self.branch = np.where(chance.uniform("branch", 0) < 0.5, "north", "south")
        self.served = np.zeros(n_dialogs, dtype=bool)
        self.wanted = np.full((n_dialogs, len(SLOTS)), NONE, dtype=np.int32)

    @property
    def outcomes(self):
        return {"success": self.served.astype(float)}

    @property
    def conditions(self):
        return {"branch": tuple(self.branch.tolist())}

    def greet(self):
        dialogs = np.arange(len(self.goal))
        return self._exchange(dialogs, 0, [("hello", [])] * len(dialogs))

    def possible(self, view):
        filled = view.tops.value != NONE
        possible = np.zeros((len(view.dialogs), len(DOMAIN.predicate_names)), dtype=bool)
        possible[:, REQUEST] = True
        possible[:, CONFIRM] = filled.any(axis=1)
        possible[:, OFFER] = filled.all(axis=1)
        possible[:, BYE] = view.history.offered
        return possible

    def act(self, moment, predicate):
        tops, acts = moment.tops, []
        for row, chosen in enumerate(predicate):
            filled = tops.value[row] != NONE
            pairs = [(SLOTS[i], VOCABULARY.value(tops.value[row, i])) for i in np.flatnonzero(filled)]
            weakest = int(tops.score[row].argmin())
            doubtful = int(np.where(filled, tops.score[row], np.inf).argmin())
            said = {
                BYE: ("bye", []),
                OFFER: ("offer", pairs),
                CONFIRM: ("expl-conf", [pair for pair in pairs if pair[0] == SLOTS[doubtful]]),
                REQUEST: ("request", [("slot", SLOTS[weakest])]),
            }
            acts.append(said[chosen])
        return self._exchange(moment.dialogs, moment.turn, acts)

    def _exchange(self, dialogs, turn, acts):
        """The callers' answers; every draw is by dialog, turn and purpose."""
        dice = self.chance.take(dialogs)
        misheard = dice.uniform("ear", turn) < self.world.noise
        other, asks = dice.uniform("other", turn), dice.uniform("price", turn) < 0.4
        goal, said = (np.full((len(dialogs), len(SLOTS)), NONE, dtype=np.int32) for _ in range(2))
        turn_of_each = np.broadcast_to(turn, len(dialogs))
        ending = np.where(turn_of_each < self.world.patience, GOES_ON, HANG_UP)
        lists, truth = [], []
        for row, (name, pairs) in enumerate(acts):
            wanted = {slot: VALUES[slot][self.goal[dialogs[row], i]] for i, slot in enumerate(SLOTS)}
            wrong = [slot for slot, value in pairs if slot in wanted and wanted[slot] != value]
            mentioned = {"hello": SLOTS[:1], "request": [value for _, value in pairs]}.get(name, wrong)
            common = [_act("negate")] if wrong else [_act("affirm")] if name == "expl-conf" else []
            common += [_act("request", ("slot", "price"))] if name == "offer" and asks[row] else []
            true = [*common, *(_act("inform", (slot, wanted[slot])) for slot in mentioned)]
            misheard_values = [(slot, _other(slot, wanted[slot], other[row])) for slot in mentioned]
            false = [*common, *(_act("inform", pair) for pair in misheard_values)]
            heard = [(0.5, false), (0.3, true)] if misheard[row] else [(0.8, true)]
            lists.append([{"slu-hyp": hypothesis, "score": score} for score, hypothesis in heard])
            truth.append(true)
            said[row] = [VOCABULARY.id(wanted[slot]) if slot in mentioned else NONE for slot in SLOTS]
            goal[row] = np.where(said[row] != NONE, said[row], self.wanted[dialogs[row]])
            self.wanted[dialogs[row]] = goal[row]
            self.served[dialogs[row]] |= name == "offer" and not wrong
            ending[row] = GOODBYE if name == "bye" else ending[row]
        return Exchange(
            system=acts_of_json([[_act(name, *pairs)] for name, pairs in acts], VOCABULARY),
            nbest=nbest_of_json(lists, VOCABULARY),
            goal=goal,
            said=said,
            ending=ending,
            restart=np.zeros(len(dialogs), dtype=bool),
            said_acts=acts_of_json(truth, VOCABULARY),
        )


def _act(name, *pairs):
    return {"act": name, "slots": [list(pair) for pair in pairs]}


def _other(slot, value, draw):
    """Another value of the slot."""
    others = [other for other in VALUES[slot] if other != value]
    return others[int(draw * len(others))]


class Clerk:
    """Confirms what is doubtful, asks for what is missing, offers the rest; at times does anything."""

    def probabilities(self, moment):
        enough = (moment.tops.score > 0.6).all(axis=1)
        doubtful = (moment.tops.value != NONE) & (moment.tops.score <= 0.6)
        chosen = np.where(enough, OFFER, np.where(doubtful.any(axis=1), CONFIRM, REQUEST))
        chosen = np.where(moment.history.predicate == OFFER, BYE, chosen)
        blind = moment.allowed / moment.allowed.sum(axis=1, keepdims=True)
        return 0.8 * np.eye(moment.allowed.shape[1])[chosen] + 0.2 * blind


@dataclass(frozen=True)
class PizzaSimulation:
    """One dataset, `orders`, with a training and a test split."""

    seed: int = 1
    dialogs: int = 60
    settings: PizzaWorld = PizzaWorld()

    @staticmethod
    def read(config=None, seed=None):
        simulation = PizzaSimulation()
        if config is not None:
            simulation = replace(simulation, **tomllib.loads(Path(config).read_text()))
        return simulation if seed is None else replace(simulation, seed=seed)

    def corpora(self):
        return [("orders", "train"), ("orders", "test")]

    def require(self, dataset, split):
        if (dataset, split) not in self.corpora():
            name, names = f"{dataset}_{split}", ["_".join(corpus) for corpus in self.corpora()]
            raise UsageError(f"there are no dialogs {name!r}; {did_you_mean(name, names)}")

    def world(self, dataset, split="test"):
        self.require(dataset, split)
        return self.settings

    def simulate(self, dataset, split):
        dice = Chance.of(self.dialogs, self.seed, dataset, split)
        world, tracker = self.world(dataset, split), TRACKERS.get("focus")
        return play(Clerk(), tracker, self.dialogs, dice, world, dataset=f"{dataset}_{split}")

    def identity(self, dataset, split):
        self.require(dataset, split)
        return content_hash("pizza", encode_json(self.plain()), dataset, split)

    def plain(self):
        return asdict(self)
