"""Live play: a policy with a tracker against simulated callers, all dialogs in lockstep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.mentions import predicate_of_turns
from extrinsic.corpus.requests import RequestBelief
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError
from extrinsic.registry import WORLDS
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.record import Record, Step
from extrinsic.simulation.single_world import World, lockstep_form
from extrinsic.simulation.tracked_dialogs import TrackedDialogs, rule_of
from extrinsic.simulation.world import (
    CUT_OFF,
    GOES_ON,
    NUMBERS,
    Exchange,
    LockstepWorld,
    Moment,
    Policy,
    outcomes_of,
    possible_in,
    require_array,
    require_exchange,
)
from extrinsic.storage import content_hash
from extrinsic.trackers.tracking import StepBelief, Tracker

CLOSE = 1e-5
"""How far the probabilities of a policy may be from 1 in sum."""


def decide(
    policy: Policy,
    moment: Moment,
    chance: Chance,
    carried_out: Callable[[Moment, Floats], Floats] | None = None,
) -> tuple[Ints, Floats]:
    """(m,) the predicates drawn, and (m, n_predicates) the probabilities they were drawn from.

    chance: of these m dialogs.   carried_out: how a world replaces what was chosen, if it does.
    """
    chances = require_chances(policy.probabilities(moment), moment.allowed)
    if carried_out is not None:
        chances = carried_out(moment, chances)
    draw = chance.uniform("policy", moment.turn)
    predicate = (np.cumsum(chances, axis=1) <= draw[:, None]).sum(axis=1)
    # Rounding may leave the sum just below 1: then the last possible predicate is meant.
    return np.minimum(predicate, (np.arange(chances.shape[1]) * (chances > 0)).max(axis=1)), chances


def require_chances(chances: Floats, allowed: Bools) -> Floats:
    """The probabilities of a policy; UsageError where they are invalid or not allowed."""
    if chances.shape != allowed.shape:
        raise UsageError(
            "a policy gave probabilities of the wrong shape",
            expected=str(allowed.shape),
            found=str(chances.shape),
        )
    if not (np.abs(chances.sum(axis=1) - 1.0) <= CLOSE).all() or (chances < 0).any():
        raise UsageError("the probabilities of a policy must be at least 0 and sum to 1")
    if (chances[~allowed] > 0).any():
        raise UsageError("a policy chose what is not allowed at that moment")
    return chances


DEFAULT_WORLD = ("bus", "ds1", "test")
"""The kind of world, dataset and split that are played by default."""


@dataclass(frozen=True, eq=False)
class Play:
    """Dialogs as played.

    corpus: as if logged and labelled.   output: the tracker's beliefs.
    ending (n_dialogs,): GOODBYE, HANG_UP or CUT_OFF.   outcomes: per name (n_dialogs,), `success` among them.
    said_rank (k,): for every value a caller said, its rank in the N-best list, -1 if it is not listed.
    list_size (l,): the size of every N-best list of a turn in which the caller said a value.
    """

    corpus: Corpus
    output: TrackerOutput
    ending: Ints
    outcomes: Mapping[str, Floats]
    said_rank: Ints
    list_size: Ints

    @property
    def completed(self) -> Bools:
        """(n_dialogs,) whether the caller reached the goal."""
        return np.asarray(self.outcomes["success"] > 0.5)


def play(
    policy: Policy,
    tracker: Tracker | Sequence[Tracker],
    n_dialogs: int,
    rng: int | np.random.Generator | Chance,
    world: World | LockstepWorld | None = None,
    *,
    dataset: str = "live",
    joint: bool = True,
    fill: Fill | Sequence[Fill | None] | None = None,
) -> Play:
    """Play n dialogs of a policy that sees a tracker's beliefs, in a world (DS1's by default).

    A world that plays one dialog at a time may be given as an object, which is copied, or as its class.

    `rng` determines the callers: the same number (or a generator in the same state) gives the same callers,
    with the same draws at every turn, whatever policy and tracker they meet.
    tracker: of several, each tracks an equal part of the dialogs.
    joint: whether the output has joint hypotheses, which metrics need and rewards do not.
    fill: the rule by which a reward counts concepts as filled (`fill_of`): the system then offers what counts
    as filled and nothing else, so that the reward judges what was offered. Without a rule it offers the best
    values, whatever their scores, as the experts of the logs do. Of several rules, each is for an equal part
    of the dialogs; all of them have one, or none has.
    """
    if n_dialogs < 1:
        raise UsageError("at least one dialog has to be played", found=str(n_dialogs))
    kind, *corpus_name = DEFAULT_WORLD
    played_world = lockstep_form(WORLDS.get(kind).read().world(*corpus_name) if world is None else world)
    chance = _chance_of(n_dialogs, rng)
    rules = fill if isinstance(fill, Sequence) else (fill,)
    fills = tuple(rule for rule in rules if rule is not None)
    if fills and len(fills) != len(rules):
        raise UsageError("dialogs played together have a fill rule each, or none of them has one")
    trackers = tuple(tracker) if isinstance(tracker, Sequence) else (tracker,)
    if joint and len({rule_of(each) for each in trackers}) > 1:
        raise UsageError("joint hypotheses of trackers played together need one rule; say joint=False")
    lockstep = _LockstepPlay(policy, trackers, played_world, chance, fills)
    active, turn = np.arange(n_dialogs), 0
    while len(active):
        active = lockstep.step(active, turn)
        turn += 1
    outcomes = outcomes_of(lockstep.dialogs, n_dialogs)
    signature = content_hash(played_world.signature(), chance.key.tobytes())
    corpus = lockstep.record.corpus(dataset, signature, lockstep.ending, outcomes)
    return Play(
        corpus=corpus,
        output=lockstep.record.output(corpus, "live", rule_of(trackers[0]) if joint else None),
        ending=lockstep.ending,
        outcomes=outcomes,
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
    return callers(n_dialogs, int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng)


def callers(n_dialogs: int, seed: int) -> Chance:
    """The draws of the callers that live play meets under a seed."""
    return Chance.of(n_dialogs, "live", seed)


class _LockstepPlay:
    """The state of live play: the world's dialogs, as the system tracks them, and the record."""

    def __init__(
        self,
        policy: Policy,
        trackers: tuple[Tracker, ...],
        world: LockstepWorld,
        chance: Chance,
        fills: tuple[Fill, ...],
    ) -> None:
        self.policy, self.world, self.chance = policy, world, chance
        n_dialogs = len(chance.key)
        self.dialogs = world.begin(chance)
        self.conditions = self.dialogs.conditions
        for name, values in self.conditions.items():
            if len(values) != n_dialogs:
                raise UsageError(
                    f"the world's conditions[{name!r}] has the wrong length",
                    expected=str(n_dialogs),
                    found=str(len(values)),
                )
        self.tracked = TrackedDialogs(world, trackers, n_dialogs, fills)
        self.ending: Ints = np.full(n_dialogs, CUT_OFF, dtype=np.int64)
        self.belief: StepBelief | None = None
        self.record = Record(world, self.conditions)

    def step(self, active: Ints, turn: int) -> Ints:
        """One turn of each active dialog: the system speaks, the caller answers. Returns the active ones."""
        exchange, predicate, chances, possible = self._exchange(active, turn)
        belief, evidence = self.tracked.hear(
            active, exchange.system, exchange.nbest, exchange.restart, predicate
        )
        requests = RequestBelief(self.tracked.requested[active], self.tracked.method[active])
        self.record.add(Step(active, exchange, chances, possible, evidence, belief, requests))

        goes_on = exchange.ending == GOES_ON
        self.ending[active[~goes_on]] = exchange.ending[~goes_on]
        goes_on &= turn + 1 < self.world.longest_dialog
        self.belief = belief.take(goes_on)
        return np.asarray(active[goes_on])

    def _exchange(self, active: Ints, turn: int) -> tuple[Exchange, Ints, Floats, Bools]:
        """A turn, its predicates, their probabilities, and which were possible.

        A greeting is not a decision: its probabilities are NaN, and nothing is said to be impossible.
        """
        domain, n_dialogs = self.world.domain, len(active)
        if self.belief is None:
            exchange = self.dialogs.greet()
            require_exchange("greet", exchange, n_dialogs, self.world)
            predicate = predicate_of_turns(domain, exchange.system, self.world.vocabulary).astype(np.int64)
            shape = (n_dialogs, len(domain.predicate_names))
            return exchange, predicate, np.full(shape, np.nan), np.ones(shape, dtype=bool)
        view = self.tracked.view(active, turn, self.belief, self.conditions)
        moment = view.moment(possible_in(self.dialogs, view))
        predicate, chances = decide(self.policy, moment, self.chance.take(active), self._carried_out)
        exchange = self.dialogs.act(moment, predicate)
        require_exchange("act", exchange, n_dialogs, self.world)
        return exchange, predicate, chances, moment.allowed | (chances > 0.0)

    def _carried_out(self, moment: Moment, chances: Floats) -> Floats:
        carried_out = self.dialogs.carried_out(moment, chances)
        require_array("carried_out", "", carried_out, moment.allowed.shape, NUMBERS)
        return carried_out
