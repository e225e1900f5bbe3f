"""A world fitted to logs: in it a tracker and a policy can be tried out on the callers of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.history import wording_of
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Tracker
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.domain import Domain
from extrinsic.registry import TRACKERS
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.fitted.argument_fitting import fit_arguments
from extrinsic.simulation.fitted.argument_rules import ArgumentRules
from extrinsic.simulation.fitted.caller_states import FEATURES, CallerStates, Contexts
from extrinsic.simulation.fitted.confusions import ConfusedTurn, Confusions, fit_confusions
from extrinsic.simulation.fitted.form_reading import read_forms
from extrinsic.simulation.fitted.hang_ups import HangUps, fit_hang_ups
from extrinsic.simulation.fitted.log_checks import require_logs
from extrinsic.simulation.fitted.logged_answers import LoggedAnswers, Speakers, Spoken, speak
from extrinsic.simulation.fitted.logged_dialogs import Logs, read_logs, required_concepts
from extrinsic.simulation.fitted.played_goals import PlayedGoals
from extrinsic.simulation.fitted.refusals import Refusals, fit_refusals
from extrinsic.simulation.fitted.sequels import place_of
from extrinsic.simulation.fitted.system_turns import RightValues, SystemTurns, claims_of
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import GOES_ON, GOODBYE, HANG_UP, Dialogs, Exchange, Moment, View
from extrinsic.storage import content_hash

RARE_CONTEXTS = "rare_contexts"
"""The outcome that counts the answers whose whole context was logged too seldom."""

STANDING_IN = ("focus", "baseline", "hwu")
"""The trackers that may stand for the logged system's own."""


@dataclass(frozen=True, eq=False)
class FittedWorld:
    """A world of the callers of some logs, in lockstep form (see `extrinsic.simulation.world`).

    reply_weights (2, n_predicates + 1, n_replies, n_predicates): by place and reply (see `Sequels`), how much
    likelier a predicate is than a policy has it that does not see what callers reply; None changes nothing.
    """

    logs: Logs
    rules: ArgumentRules
    answers: LoggedAnswers
    hang_ups: HangUps
    confusions: Confusions
    refusals: Refusals
    longest_dialog: int
    reply_weights: Floats | None = None

    @property
    def domain(self) -> Domain:
        return self.logs.corpora[-1].domain

    @property
    def slots(self) -> tuple[str, ...]:
        return self.logs.corpora[-1].slots

    @property
    def requestable(self) -> tuple[str, ...]:
        return self.logs.corpora[-1].requestable

    @property
    def vocabulary(self) -> Vocabulary:
        return self.logs.values.vocabulary

    @cached_property
    def offers(self) -> Bools:
        """(n_predicates,) which predicates present a result."""
        return np.isin(self.domain.predicate_names, self.domain.offer)

    @cached_property
    def required(self) -> Bools:
        return required_concepts(self.logs.corpora[-1], self.logs.values)

    @property
    def labels_goals(self) -> bool:
        """Whether labels hold what was truly said, as DSTC2's do."""
        return isinstance(self.logs.corpora[-1].labels, GoalLabels)

    def signature(self) -> str:
        return content_hash("fitted", *(log.signature for log in self.logs.corpora))

    def begin(self, chance: Chance) -> FittedDialogs:
        return FittedDialogs(self, chance)

    def callers_of(self, n_dialogs: int) -> Ints:
        """(n_dialogs,) with which caller of the logs each played dialog is: with all of them, in turn."""
        return np.arange(n_dialogs) % len(self.logs.callers.error)


def fit_world(logs: Sequence[Corpus], trackers: Mapping[str, Tracker] | None = None) -> FittedWorld:
    """Fit a world to logs of one domain, with N-best lists, labels and the system's acts.

    The last log is the one that policies are valued on: how long content callers stay is learned from it
    alone, everything else from all of them.
    trackers: which may stand for the system's own, where the rules for the arguments of its acts are learned.

    >>> world = fit_world([train, test])                                     # doctest: +SKIP
    >>> play(policy, tracker, 10_000, 0, world).outcomes["success"].mean()   # doctest: +SKIP
    """
    require_logs(logs)
    chosen = {name: TRACKERS.get(name) for name in STANDING_IN} if trackers is None else trackers
    read = read_logs(logs, chosen)
    domain = read.corpora[-1].domain
    by_system = np.array([domain.predicate_names.index(name) for name in domain.end], dtype=np.int64)
    lengths = np.concatenate([np.diff(log.offsets) for log in read.corpora])
    return FittedWorld(
        logs=read,
        rules=fit_arguments(read, read_forms(read)),
        answers=LoggedAnswers(read),
        hang_ups=fit_hang_ups(read, by_system),
        confusions=fit_confusions(read),
        refusals=fit_refusals(read),
        longest_dialog=max(int(lengths.max()), 2),
    )


class FittedDialogs(Dialogs):
    """n dialogs: dialog i is with the caller of the i-th logged one, and so on in turn.

    caller (n,): of the logs.   goals: what they want.   stated (n, n_concepts): what they have said so far.
    states: what has happened to them.   fresh (n, n_concepts): what the last answer was about.
    reply (n,): the last one.   settled (n, n_predicates): see `Sequels`.
    n_rare (n,): how many answers were to a context that was logged too seldom.
    """

    def __init__(self, world: FittedWorld, chance: Chance) -> None:
        self.world, self.chance = world, chance
        logs, n_dialogs = world.logs, len(chance.key)
        self.caller: Ints = world.callers_of(n_dialogs)
        self.goals = PlayedGoals(logs, self.caller, chance, world.confusions.longest)
        self.stated: Ints = np.full_like(self.goals.value, NOTHING)
        self.states = CallerStates(
            world.domain,
            logs.values,
            logs.unasked,
            self.goals.wanted,
            logs.values.is_dontcare(self.goals.value),
            self._wishes(),
        )
        self.fresh: Bools = np.zeros_like(self.goals.wanted)
        self.reply: Ints = np.zeros(n_dialogs, dtype=np.int64)
        self.settled: Bools = np.zeros((n_dialogs, len(world.domain.predicate_names)), dtype=bool)
        self.n_rare: Floats = np.zeros(n_dialogs)

    def _wishes(self) -> Bools:
        """(n, n_requestable) what callers want to know: who never could ask wants what some other did."""
        callers = self.world.logs.callers
        pleased = np.flatnonzero(callers.pleased)
        who = self.caller
        if len(pleased):
            other = pleased[(self.chance.uniform("wishes", 0) * len(pleased)).astype(np.int64)]
            who = np.where(callers.pleased[who], who, other)
        return callers.wishes[who]

    @property
    def outcomes(self) -> dict[str, Floats]:
        """success: a right offer was made, and all that the caller asked of it was told.
        rare_contexts: how many answers were to a context that was logged fewer than FEWEST times."""
        return {"success": self.states.served.astype(np.float64), RARE_CONTEXTS: self.n_rare}

    @property
    def conditions(self) -> dict[str, tuple[str | None, ...]]:
        logs = self.world.logs.corpora
        # Only what is known in advance: who ended a call is not.
        names = [condition.name for condition in self.world.domain.conditions]
        names = [name for name in names if all(name in log.conditions for log in logs)]
        table = {name: [value for log in logs for value in log.conditions[name]] for name in names}
        return {name: tuple(values[caller] for caller in self.caller) for name, values in table.items()}

    def greet(self) -> Exchange:
        dialogs = np.arange(len(self.caller))
        return self._exchange(dialogs, 0, *self.world.rules.greeting(len(dialogs)), None)

    def possible(self, view: View) -> Bools:
        return self.world.rules.possible(view, self.reply[view.dialogs], self.settled[view.dialogs])

    def carried_out(self, moment: Moment, chances: Floats) -> Floats:
        weights = self.world.reply_weights
        if weights is None:
            return chances
        weighted = chances * weights[(*place_of(moment.history), self.reply[moment.dialogs])]
        return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        rules = self.world.rules
        draw = self.chance.take(moment.dialogs).uniform("question", moment.turn)
        fresh, settled = self.fresh[moment.dialogs], self.settled[moment.dialogs]
        said, feasible = rules.realise(moment, predicate, self.world.offers, fresh, settled, draw)
        suits = self._right_values(moment.dialogs).of_offers(said.offered) | (said.offered == NOTHING)
        suits |= ~self.states.wanted[moment.dialogs] | self.states.indifferent[moment.dialogs]
        refuses = said.offers & self.world.refusals.refused(said.offered, suits.all(axis=1))
        said = replace(said, refuses=refuses, offers=said.offers & ~refuses)
        return self._exchange(
            moment.dialogs, moment.turn, *rules.worded(said, feasible), moment.history.wording
        )

    def _exchange(
        self, dialogs: Ints, turn: TurnNumber, said: SystemTurns, form: Ints, before: np.ndarray | None
    ) -> Exchange:
        """The system speaks, the callers answer; before (m,): the wording of the system's last turn."""
        world, chance = self.world, self.chance.take(dialogs)
        system = world.rules.forms.worded(said, form)
        repeated = np.zeros(len(dialogs), dtype=bool) if before is None else wording_of(system) == before
        comes_up = self.goals.come_up(dialogs, said.asked, self.states.wanted[dialogs])
        self.states.wanted[dialogs[comes_up], said.asked[comes_up]] = True
        right = self._right_values(dialogs)
        wanted, indifferent = self.states.wanted[dialogs], self.states.indifferent[dialogs]
        minded = world.logs.misses.drawn(said.offered, said.refuses, indifferent, chance)
        claims = claims_of(world.required, said, wanted, indifferent, right, minded)
        refused = said.refuses & ~claims.offered.any(axis=1)
        nothing_for = np.where(refused[:, None], said.offered, NOTHING)
        moves = self.goals.turn_away(dialogs, turn, nothing_for, world.refusals.turned_away)
        self.states.change(dialogs, moves)
        self.states.indifferent[dialogs] = world.logs.values.is_dontcare(self.goals.value[dialogs])
        changes: Bools = np.asarray(moves.any(axis=1))
        contexts = self.states.take_in(dialogs, said, claims, repeated, changes)
        goodbye = np.isin(said.predicate, world.rules.ends)
        hangs_up = self._hangs_up(dialogs, turn, contexts, chance) & ~goodbye
        contexts.table[:, FEATURES.index("ends")] = hangs_up | goodbye
        answer = self._answer(dialogs, turn, contexts, chance)
        self.states.hear(dialogs, answer.mentioned)
        self.fresh[dialogs] = answer.mentioned
        goal = self.goals.value[dialogs]
        self.stated[dialogs] = np.where(answer.said, goal, self.stated[dialogs])
        shown = self.stated if world.labels_goals else self.goals.value
        return Exchange(
            system=system,
            nbest=answer.nbest,
            goal=self._of_slots(shown[dialogs]),
            said=self._of_slots(np.where(answer.said, goal, NOTHING)),
            ending=np.where(goodbye, GOODBYE, np.where(hangs_up, HANG_UP, GOES_ON)),
            restart=np.zeros(len(dialogs), dtype=bool),
            said_acts=answer.said_acts,
        )

    def _right_values(self, dialogs: Ints) -> RightValues:
        logs = self.world.logs
        return RightValues(logs.values, self.goals.value[dialogs])

    def _hangs_up(self, dialogs: Ints, turn: TurnNumber, contexts: Contexts, chance: Chance) -> Bools:
        states = self.states
        hazard = self.world.hang_ups.hazard(
            np.broadcast_to(np.asarray(turn) == 0, len(dialogs)),
            states.content[dialogs],
            states.wishes_left(dialogs),
            contexts.table[:, FEATURES.index("predicate")] - 1,
            contexts.now,
            states.worn[dialogs],
        )
        return np.asarray(chance.uniform("hangs up", turn) < hazard)

    def _answer(self, dialogs: Ints, turn: TurnNumber, contexts: Contexts, chance: Chance) -> Spoken:
        world, states = self.world, self.states
        logged, level = world.answers.choose(
            contexts.table, self.caller[dialogs], chance.uniform("answer", turn)
        )
        self.n_rare[dialogs] += level > 0
        sequels, predicate = world.rules.sequels, contexts.table[:, FEATURES.index("predicate")] - 1
        self.reply[dialogs] = sequels.reply[logged]
        self.settled[dialogs, predicate] |= sequels.settles[logged]
        left = states.wishes[dialogs] & ~states.informed[dialogs]
        n_facts = max(left.shape[1], 1)
        speakers = Speakers(
            goal=self.goals.value[dialogs],
            told=states.told[dialogs],
            wants=states.wanted[dialogs] & ~states.indifferent[dialogs],
            wish=_first_set(left),
            confused=ConfusedTurn(world.confusions, self.goals.wrong[dialogs], chance, turn),
            other_fact=(chance.uniform("other fact", turn) * n_facts).astype(np.int64),
        )
        return speak(world.logs, logged, contexts, speakers)

    def _of_slots(self, number: Ints) -> Ids:
        """(m, n_concepts) numbers of values -> (m, n_slots) their ids, NONE in all other slots."""
        values = self.world.logs.values
        table = np.full((len(number), len(values.slots)), NONE, dtype=np.int32)
        row, concept = np.nonzero(number != NOTHING)
        chosen = number[row, concept]
        table[row, values.slot[chosen]] = values.identity[chosen]
        return table


def _first_set(flags: Bools) -> Ints:
    """(m,) the first column that is set, NOTHING where none is."""
    if not flags.shape[1]:
        return np.full(len(flags), NOTHING, dtype=np.int64)
    return np.where(flags.any(axis=1), flags.argmax(axis=1), NOTHING)
