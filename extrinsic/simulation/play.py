"""Live play: a policy with a tracker against simulated callers, all dialogs in lockstep."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.evidence import gather_evidence
from extrinsic.corpus.group_tops import group_tops
from extrinsic.corpus.history import History
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.predicates import predicate_of_turns
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.tracking import StepBelief, Tracker, Tracking
from extrinsic.errors import UsageError
from extrinsic.registry import WORLDS
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.record import Record, Step
from extrinsic.simulation.world import (
    BOOLS,
    CUT_OFF,
    GOES_ON,
    NUMBERS,
    Exchange,
    Moment,
    Policy,
    View,
    World,
    require_array,
    require_exchange,
)
from extrinsic.storage import content_hash

DEFAULT_WORLD = ("bus", "ds1", "test")
"""The kind of world, dataset and split that are played by default."""


@dataclass(frozen=True, eq=False)
class Play:
    """Dialogs as played.

    corpus: as if logged and labelled.   output: the tracker's beliefs.
    ending (n_dialogs,): GOODBYE, HANG_UP or CUT_OFF.   completed (n_dialogs,): the caller reached the goal.
    said_rank (k,): for every value a caller said, its rank in the N-best list, -1 if it is not listed.
    list_size (l,): the size of every N-best list of a turn in which the caller said a value.
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
    world: World | None = None,
    *,
    dataset: str = "live",
) -> Play:
    """Play n dialogs of a policy that sees a tracker's beliefs, in a world (DS1's by default).

    `rng` determines the callers: the same number (or a generator in the same state) gives the same callers,
    with the same draws at every turn, whatever policy and tracker they meet.
    """
    if n_dialogs < 1:
        raise UsageError("at least one dialog has to be played", found=str(n_dialogs))
    kind, *corpus_name = DEFAULT_WORLD
    played_world: World = WORLDS.get(kind).read().world(*corpus_name) if world is None else world
    chance = _chance_of(n_dialogs, rng)
    lockstep = _LockstepPlay(policy, tracker, played_world, chance)
    active, turn = np.arange(n_dialogs), 0
    while len(active):
        active = lockstep.step(active, turn)
        turn += 1
    completed = lockstep.dialogs.completed
    require_array("completed", "", completed, (n_dialogs,), BOOLS)
    signature = content_hash(played_world.signature(), chance.key.tobytes())
    corpus = lockstep.record.corpus(dataset, signature, lockstep.ending)
    return Play(
        corpus=corpus,
        output=lockstep.record.output(corpus, "live"),
        ending=lockstep.ending,
        completed=completed,
        said_rank=lockstep.record.ranks_of_said(),
        list_size=lockstep.record.list_sizes(),
    )


def _chance_of(n_dialogs: int, rng: int | np.random.Generator | Chance) -> Chance:
    if isinstance(rng, Chance):
        if len(rng.key) != n_dialogs:
            n_rows = str(len(rng.key))
            raise UsageError(
                "this Chance is for another number of dialogs", expected=str(n_dialogs), found=n_rows
            )
        return rng
    number = int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    return Chance.of(n_dialogs, "live", number)


class _LockstepPlay:
    """The state of live play: the world's dialogs, the tracker, the policy and the record."""

    def __init__(self, policy: Policy, tracker: Tracker, world: World, chance: Chance) -> None:
        self.policy, self.world, self.chance = policy, world, chance
        n_dialogs, n_slots = len(chance.key), len(world.slots)
        self.dialogs = world.begin(chance)
        self.conditions = self.dialogs.conditions
        for name, values in self.conditions.items():
            if len(values) != n_dialogs:
                raise UsageError(
                    f"the world's conditions[{name!r}] has the wrong length",
                    expected=str(n_dialogs),
                    found=str(len(values)),
                )
        self.tracking = Tracking(tracker, n_dialogs, n_slots)
        self.history = History.of(n_dialogs, n_slots)
        self.requested: Floats = np.zeros((n_dialogs, len(world.requestable)))
        self.ending: Ints = np.full(n_dialogs, CUT_OFF, dtype=np.int64)
        self.belief: StepBelief | None = None
        self.record = Record(world, self.conditions)

    def step(self, active: Ints, turn: int) -> Ints:
        """One turn of each active dialog: the system speaks, the caller answers. Returns the active ones."""
        world = self.world
        exchange, predicate, chances = self._exchange(active, turn)
        evidence = gather_evidence(
            world.domain, world.slots, world.vocabulary, exchange.system, exchange.nbest, exchange.restart
        )
        belief = self.tracking.step(active, evidence)
        self.history.step(world.domain, active, predicate, exchange.system, evidence)
        self.record.add(Step(active, exchange, chances, evidence, belief))

        goes_on = exchange.ending == GOES_ON
        self.ending[active[~goes_on]] = exchange.ending[~goes_on]
        goes_on &= turn + 1 < world.longest_dialog
        self.belief = belief.take(goes_on)
        if exchange.requested is not None:
            self.requested[active] = exchange.requested
        return np.asarray(active[goes_on])

    def _exchange(self, active: Ints, turn: int) -> tuple[Exchange, Ints, Floats]:
        """A turn, its predicates, and their probabilities (NaN for a greeting, which is not a decision)."""
        domain, n_dialogs = self.world.domain, len(active)
        if self.belief is None:
            exchange = self.dialogs.greet()
            require_exchange("greet", exchange, n_dialogs, self.world)
            predicate = predicate_of_turns(domain, exchange.system, self.world.vocabulary).astype(np.int64)
            return exchange, predicate, np.full((n_dialogs, len(domain.predicate_names)), np.nan)
        moment = self._moment(active, turn, self.belief)
        chances = self.policy.probabilities(moment)
        _require_chances(chances, moment.allowed)
        chances = self.dialogs.carried_out(moment, chances)
        require_array("carried_out", "", chances, moment.allowed.shape, NUMBERS)
        draw = self.chance.take(active).uniform("policy", turn)
        predicate = (np.cumsum(chances, axis=1) <= draw[:, None]).sum(axis=1)
        # Rounding may leave the sum just below 1: then the last possible predicate is meant.
        predicate = np.minimum(predicate, (np.arange(chances.shape[1]) * (chances > 0)).max(axis=1))
        exchange = self.dialogs.act(moment, predicate)
        require_exchange("act", exchange, n_dialogs, self.world)
        return exchange, predicate, chances

    def _moment(self, active: Ints, turn: int, belief: StepBelief) -> Moment:
        world = self.world
        view = View(
            domain=world.domain,
            slots=world.slots,
            vocabulary=world.vocabulary,
            dialogs=active,
            turn=turn,
            belief=belief,
            tops=group_tops(world.domain, world.slots, belief),
            history=self.history.take(active),
            requested=self.requested[active],
            conditions={
                name: tuple(values[dialog] for dialog in active) for name, values in self.conditions.items()
            },
        )
        allowed = self.dialogs.possible(view)
        require_array("possible", "", allowed, (len(active), len(world.domain.predicate_names)), BOOLS)
        if not allowed.any(axis=1).all():
            raise UsageError(
                "the world's possible leaves nothing to do in some dialog; a world must end a dialog or let "
                "the system act"
            )
        return Moment(**{field.name: getattr(view, field.name) for field in fields(view)}, allowed=allowed)


def _require_chances(chances: Floats, allowed: Bools) -> None:
    """Raise UsageError where a policy's probabilities are invalid or not allowed."""
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
