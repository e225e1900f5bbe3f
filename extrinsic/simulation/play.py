"""Live play: a policy on a tracker against simulated callers, all dialogs in lockstep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.evidence import gather_evidence
from extrinsic.corpus.group_tops import group_tops
from extrinsic.corpus.history import History, wording_of
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.nbest import NBest
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.tracking import StepBelief, Tracker, Tracking
from extrinsic.errors import UsageError
from extrinsic.simulation.bus_ontology import Values, bus_ontology
from extrinsic.simulation.caller import Callers
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.record import Record, Step
from extrinsic.simulation.speech import acts_of, nbest_of
from extrinsic.simulation.system import Moment, Policy, SystemTurn, greeting, possible, realise
from extrinsic.simulation.world_settings import WorldSettings, read_simulation
from extrinsic.storage import content_hash

GOODBYE, HANG_UP, CUT_OFF = 0, 1, 2
"""How a call ends: the system says goodbye, the caller hangs up, or the line is cut at the longest length."""


@dataclass(frozen=True, eq=False)
class Play:
    """Dialogs as played.

    corpus: as if logged and labelled.   output: what the tracker believed.
    ending (n_dialogs,): GOODBYE, HANG_UP or CUT_OFF.   completed (n_dialogs,): the right bus was offered.
    said_rank (k,): for every value a caller said, its place in the list, -1 for nowhere.
    list_size (l,): the number of hypotheses of every list that should hold something.
    """

    corpus: Corpus
    output: TrackerOutput
    ending: Ints
    completed: Bools
    said_rank: Ints
    list_size: Ints


def play(
    policy: Policy,
    tracker: Tracker,
    n_dialogs: int,
    rng: int | np.random.Generator | Chance,
    world: WorldSettings | None = None,
    *,
    dataset: str = "live",
) -> Play:
    """Play n dialogs of a policy that sees a tracker's beliefs, in a world (DS1's by default).

    The callers are those that `rng` says: the same number (or a generator in the same state) gives the same
    callers, with the same dice at every turn, whatever policy and tracker they meet.
    """
    if n_dialogs < 1:
        raise UsageError("at least one dialog has to be played", found=str(n_dialogs))
    world = read_simulation().world("ds1") if world is None else world
    chance = _chance_of(n_dialogs, rng)
    table = _Table(policy, tracker, world, chance)
    active, turn = np.arange(n_dialogs), 0
    while len(active):
        active = table.step(active, turn)
        turn += 1
    corpus = table.record.corpus(dataset, content_hash(world.signature(), chance.key.tobytes()))
    return Play(
        corpus=corpus,
        output=table.record.output(corpus, "live"),
        ending=table.ending,
        completed=table.callers.served,
        said_rank=table.record.ranks_of_said(),
        list_size=table.record.list_sizes(),
    )


def _chance_of(n_dialogs: int, rng: int | np.random.Generator | Chance) -> Chance:
    if isinstance(rng, Chance):
        if len(rng.key) != n_dialogs:
            found = str(len(rng.key))
            raise UsageError("these are the dice of other dialogs", expected=str(n_dialogs), found=found)
        return rng
    number = int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    return Chance.of(n_dialogs, "live", number)


class _Table:
    """Everybody at the table: callers, recogniser, tracker, policy, and who writes it all down."""

    def __init__(self, policy: Policy, tracker: Tracker, world: WorldSettings, chance: Chance) -> None:
        self.policy, self.world, self.chance = policy, world, chance
        self.values: Values = bus_ontology()
        self.name = self.values.domain.predicate_names.index
        n_dialogs, n_slots = len(chance.key), len(self.values.domain.slot_names)
        self.callers = Callers(world, self.values, chance)
        self.recogniser = Recogniser(world.recogniser, self.values, chance)
        self.tracking = Tracking(tracker, n_dialogs, n_slots)
        self.history = History.of(n_dialogs, n_slots)
        self.startover: Bools = np.zeros(n_dialogs, dtype=bool)
        self.ending: Ints = np.full(n_dialogs, CUT_OFF, dtype=np.int64)
        self.belief: StepBelief | None = None
        self.record = Record(self.values)

    def step(self, active: Ints, turn: int) -> Ints:
        """One turn of each active dialog: the system speaks, the caller answers. Returns who goes on."""
        values, domain = self.values, self.values.domain
        said, chances = self._system_turn(active, turn)
        system = acts_of(values, said)
        restart = said.predicate == self.name("restart")
        self.callers.begin_anew(active[restart])
        repeated = (wording_of(system) == self.history.wording[active]) & (turn > 0)
        answer = self.callers.respond(active, turn, said, repeated)
        nbest = nbest_of(values, self.recogniser.hear(active, turn, answer))
        evidence = gather_evidence(domain, domain.slot_names, values.vocabulary, system, nbest, restart)
        belief = self.tracking.step(active, evidence)
        self.history.step(domain, active, said.predicate, system, evidence)
        self.startover[active] = _in_best(nbest, values.vocabulary.find("startover"))
        goal = self.callers.goal[active]
        self.record.add(Step(active, system, nbest, restart, chances, evidence, belief, goal, answer.value))

        goodbye = said.predicate == self.name("goodbye")
        self.ending[active[goodbye]] = GOODBYE
        self.ending[active[answer.hangs_up & ~goodbye]] = HANG_UP
        goes_on = ~goodbye & ~answer.hangs_up & (turn + 1 < self.world.longest_dialog)
        self.belief = belief.take(goes_on)
        return np.asarray(active[goes_on])

    def _system_turn(self, active: Ints, turn: int) -> tuple[SystemTurn, Floats]:
        """What the system says, and how likely each predicate was; a greeting is no decision (NaN)."""
        values, domain = self.values, self.values.domain
        if self.belief is None:
            unknown = np.full((len(active), len(domain.predicate_names)), np.nan)
            return greeting(values, len(active)), unknown
        history = self.history.take(active)
        tops = group_tops(domain, domain.slot_names, self.belief)
        allowed = possible(values, tops, history, self.startover[active])
        moment = Moment(domain, domain.slot_names, active, self.belief, tops, history, allowed)
        chances = self.policy.probabilities(moment)
        _require_chances(chances, allowed)
        chances = self._with_connections(chances, moment)
        draw = self.chance.take(active).uniform("policy", turn)
        predicate = (np.cumsum(chances, axis=1) <= draw[:, None]).sum(axis=1)
        # Rounding may leave the sum just below 1: then the last possible predicate is meant.
        predicate = np.minimum(predicate, (np.arange(chances.shape[1]) * (chances > 0)).max(axis=1))
        return realise(values, predicate, moment), chances

    def _with_connections(self, chances: Floats, moment: Moment) -> Floats:
        """Where no bus runs between the places believed in, what would be an offer is an apology."""
        if self.world.no_connection == 0.0:
            return chances
        offer, canthelp = self.name("offer"), self.name("canthelp")
        groups = list(self.values.domain.groups)
        offered = realise(self.values, np.full(len(chances), offer), moment).offer
        start, end = (offered[:, groups.index(side)] for side in ("from", "to"))
        draw = Chance.of(1, "connections").uniform_at("connection", 0, (start * len(self.values) + end)[None])
        fails = draw[0] < self.world.no_connection
        chances = chances.copy()
        chances[fails, canthelp], chances[fails, offer] = chances[fails, offer], 0.0
        return chances


def _in_best(nbest: NBest, word: int) -> Bools:
    """(m,) whether the best hypothesis of each turn holds the act."""
    holds = nbest.acts.owners_where(nbest.acts.name == word)
    heard = np.diff(nbest.offsets) > 0
    heard[heard] = holds[nbest.offsets[:-1][heard]]
    return heard


def _require_chances(chances: Floats, allowed: Bools) -> None:
    """A policy that does what cannot be done is a mistake of its author, best told at once."""
    if chances.shape != allowed.shape:
        raise UsageError(
            "a policy gave probabilities of the wrong shape",
            expected=str(allowed.shape),
            found=str(chances.shape),
        )
    if not np.allclose(chances.sum(axis=1), 1.0) or (chances < 0).any():
        raise UsageError("the probabilities of a policy must be at least 0 and sum to 1")
    if (chances[~allowed] > 0).any():
        raise UsageError("a policy chose what is not allowed at that moment")
