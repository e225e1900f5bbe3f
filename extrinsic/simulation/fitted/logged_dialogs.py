"""Logs as the fitted world uses them: callers with goals, and the turns that they answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, joined_offsets
from extrinsic.corpus.labels import GoalLabels, LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Tracker, turns_in_step
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.caller_states import ANNOYANCES, FEATURES, REACTED_TO, CallerStates
from extrinsic.simulation.fitted.coded_acts import CodedActs, Lists, code_lists, code_said
from extrinsic.simulation.fitted.doubtful_offers import (
    JudgedOffers,
    MissProbabilities,
    mentioned_by,
    miss_probabilities,
)
from extrinsic.simulation.fitted.hidden_wishes import (
    content_with,
    untold_wishes,
    wish_if_asked,
    wish_probabilities,
)
from extrinsic.simulation.fitted.logged_callers import (
    LoggedCallers,
    WrongTurns,
    changes_of_goal,
    error_levels,
    goals_of,
    wanted_by,
    wishes_of,
    wrong_turns,
)
from extrinsic.simulation.fitted.logged_values import LoggedValues, number_values
from extrinsic.simulation.fitted.standing_in import LoggedTops, best_tracker, never_asked, with_unnamed
from extrinsic.simulation.fitted.system_turns import (
    LabelledValues,
    SystemMentions,
    SystemTurns,
    claims_of,
    read_system_turns,
    system_mentions,
)
from extrinsic.simulation.utterance import NOTHING


@dataclass(frozen=True, eq=False)
class LoggedTurns:
    """n turns of logs, dialog by dialog.

    dialog, turn (n,): the dialog, and the number within it.   is_last (n,).   own (n,): of the last log.
    system: what the system said.   context (n, len(FEATURES)).   about, asked, wrong: see Contexts.
    content (n,), worn (n, len(ANNOYANCES)), wishes_left (n,): after what the system said.
    now (n, len(REACTED_TO)): what it just did.
    told (n, n_concepts): before it.   mentioned (n, n_concepts): by the best hypothesis.
    lists: the N-best lists.   said: what was truly said, None where labels do not tell.
    """

    dialog: Ints
    turn: Ints
    is_last: Bools
    own: Bools
    system: SystemTurns
    context: Ints
    about: Ints
    asked: Ints
    wrong: Bools
    content: Bools
    worn: Floats
    now: Bools
    wishes_left: Bools
    told: Bools
    mentioned: Bools
    lists: Lists
    said: CodedActs | None


@dataclass(frozen=True, eq=False)
class Logs:
    """Some logs of one task; the last is the one whose dialogs policies are valued on.

    corpora: the logs, in one vocabulary.   first (n_logs + 1,): the first dialog of each.
    unasked (n_concepts,): what the system never asks for.
    misses: how often callers mind what is doubtful about an offer.
    tracker: the name of the one that stands for the system's own.   tops: its beliefs before each turn.
    agreement: the share of confirmed and offered values that are its best ones.
    """

    corpora: tuple[Corpus, ...]
    values: LoggedValues
    callers: LoggedCallers
    turns: LoggedTurns
    first: Ints
    unasked: Bools
    misses: MissProbabilities
    tracker: str
    tops: LoggedTops
    agreement: float


def read_logs(corpora: Sequence[Corpus], trackers: Mapping[str, Tracker]) -> Logs:
    """Read logs of one domain, the last of them the one that policies are valued on.

    trackers: of which the one whose best values agree most with those that the system confirmed and offered
    stands for the system's own.
    """
    logs = _in_one_vocabulary(corpora)
    domain, slots, words = logs[-1].domain, logs[-1].slots, logs[-1].vocabulary
    mentions = [system_mentions(log) for log in logs]
    values = number_values(domain, slots, words, _all_mentions(logs, mentions))
    systems = [read_system_turns(log, values, said) for log, said in zip(logs, mentions, strict=True)]
    tracker, tops, agreement = best_tracker(logs, values, systems, trackers)
    systems = with_unnamed(len(domain.groups), systems, tops)
    unasked = never_asked(values.n_concepts, systems)
    goals = [goals_of(log, values) for log in logs]
    lists = [code_lists(log, values, goal) for log, (goal, _) in zip(logs, goals, strict=True)]
    mentioned = [of_log.mentioned(values.n_concepts) for of_log in lists]
    wanted = [
        wanted_by(log, values, goal[0], of_log) for log, goal, of_log in zip(logs, goals, lists, strict=True)
    ]
    first = np.cumsum([0, *(log.n_dialogs for log in logs)])
    if isinstance(logs[-1].labels, LabelEvents):
        offsets = joined_offsets([log.offsets for log in logs])
        chance = Chance.of(int(first[-1]), "untold wishes")
        untold = untold_wishes(offsets, np.concatenate(mentioned), unasked, chance)
        wanted = [of_log | untold[a:b] for of_log, a, b in zip(wanted, first, first[1:], strict=False)]
    wishes = [wishes_of(log) for log in logs]
    indifferent = [values.is_dontcare(goal) for goal, _ in goals]
    answers = [_true_answers(log, values, goal) for log, (goal, _) in zip(logs, goals, strict=True)]
    spoken_of = [
        None if said is None else mentioned_by(said, heard.shape)
        for said, heard in zip(answers, mentioned, strict=True)
    ]
    judged = [
        _judged(log, values, system, of_wanted, of_indifferent, heard if said is None else said)
        for log, system, of_wanted, of_indifferent, said, heard in zip(
            logs, systems, wanted, indifferent, spoken_of, mentioned, strict=True
        )
    ]
    misses = miss_probabilities(JudgedOffers.joined(judged))
    parts = [
        _turns(log, values, unasked, offers, minded, of_wishes, of_lists, of_mentioned, said, log is logs[-1])
        for log, offers, minded, of_wishes, of_lists, of_mentioned, said in zip(
            logs,
            judged,
            (offers.minded(misses) for offers in judged),
            wishes,
            lists,
            mentioned,
            answers,
            strict=True,
        )
    ]
    turns, known = _joined(parts, first), np.concatenate(wanted)
    may_want = wish_probabilities(len(known), turns.dialog, turns.asked, turns.told, turns.mentioned, known)
    if_asked = wish_if_asked(len(known), turns.dialog, turns.asked, turns.told, may_want)
    without = np.concatenate([content_with(log, values.n_concepts) for log in logs]) & ~known
    may_want[without] = if_asked[without] = 0.0
    pleased = np.bincount(turns.dialog, turns.content, minlength=len(known)) > 0
    # Who was content with an offer that left something out does not want it; of others nobody knows. But who
    # was asked for a time is no sample: it had turned down the next bus.
    open_ = ~pleased[:, None] & ~_asked_if_declined(logs[-1].domain, values.n_concepts)
    may_want = np.where(open_, np.maximum(may_want, if_asked), may_want)
    counts = [wrong_turns(log, of_log, values.n_concepts) for log, of_log in zip(logs, lists, strict=True)]
    error, heard_apart = error_levels(WrongTurns.joined(counts))
    callers = LoggedCallers(
        goal=np.concatenate([goal for goal, _ in goals]),
        answered=_told_when_asked(turns, known.shape),
        later=np.concatenate([later for _, later in goals]),
        wanted=known,
        indifferent=np.concatenate(indifferent),
        may_want=may_want,
        if_asked=if_asked,
        wishes=np.concatenate(wishes),
        pleased=pleased,
        error=error,
        heard_apart=heard_apart,
    )
    joined = LoggedTops(*(np.concatenate(parts_of) for parts_of in zip(*tops, strict=True)))
    return Logs(tuple(logs), values, callers, turns, first, unasked, misses, tracker, joined, agreement)


def _told_when_asked(turns: LoggedTurns, shape: tuple[int, ...]) -> Bools:
    """(n_dialogs, n_concepts) whether a concept was first told in answer to a question for it."""
    answered = np.zeros(shape, dtype=bool)
    asked = np.flatnonzero(turns.asked != NOTHING)
    concept = turns.asked[asked]
    told = turns.mentioned[asked, concept] & ~turns.told[asked, concept]
    answered[turns.dialog[asked[told]], concept[told]] = True
    return answered


def _in_one_vocabulary(corpora: Sequence[Corpus]) -> list[Corpus]:
    words = corpora[-1].vocabulary
    if all(corpus.vocabulary is words for corpus in corpora):
        return list(corpora)
    words = Vocabulary()
    return [corpus.in_vocabulary(words) for corpus in corpora]


def _all_mentions(logs: Sequence[Corpus], mentions: Sequence[SystemMentions]) -> list[tuple[Ints, Ids]]:
    """(slots, values) of everything heard, labelled or said by the system."""
    pairs: list[tuple[Ints, Ids]] = []
    for log, said in zip(logs, mentions, strict=True):
        item = np.repeat(np.arange(len(log.evidence.offsets) - 1), np.diff(log.evidence.offsets))
        pairs.append((item % log.evidence.n_slots, log.evidence.value))
        pairs += [(part.slot, part.value) for part in (said.explicit, said.implicit, said.offered)]
        if isinstance(log.labels, LabelEvents):
            pairs.append((log.labels.slot, log.labels.value))
        else:
            goal = log.labels.goal
            slot = np.tile(np.arange(goal.shape[1], dtype=np.int64), len(goal))
            pairs.append((slot, goal.ravel()))
    return pairs


def _true_answers(log: Corpus, values: LoggedValues, goal: Ints) -> CodedActs | None:
    """What was truly said at every turn; None where labels do not hold it."""
    heard = log.labels.heard if isinstance(log.labels, GoalLabels) else None
    return None if heard is None else code_said(log, values, goal, heard)


def _judged(
    log: Corpus,
    values: LoggedValues,
    system: SystemTurns,
    wanted: Bools,
    indifferent: Bools,
    mentioned: Bools,
) -> JudgedOffers:
    """The system's turns beside the labels; wanted, indifferent (n_dialogs, n_concepts).

    mentioned (n_turns, n_concepts): what callers speak of, or are heard to where labels do not tell.
    """
    dialog = log.dialog_of_turn
    return JudgedOffers(
        system,
        right=LabelledValues(values, log, _turns_before(log)).of_offers(system.offered),
        wanted=wanted[dialog],
        indifferent=indifferent[dialog],
        mentioned=mentioned,
    )


def _turns_before(log: Corpus) -> Ints:
    """(n_turns,) the turn before each: what the system says is judged by what was wanted before the answer,
    which may bring another wish."""
    return np.maximum(np.arange(log.n_turns) - 1, log.offsets[:-1][log.dialog_of_turn])


def _turns(
    log: Corpus,
    values: LoggedValues,
    unasked: Bools,
    judged: JudgedOffers,
    minded: Bools,
    wishes: Bools,
    lists: Lists,
    mentioned: Bools,
    answers: CodedActs | None,
    own: bool,
) -> LoggedTurns:
    """The turns of one log, with the state of the callers at each."""
    system, first = judged.system, log.offsets[:-1]
    wanted, indifferent = judged.wanted[first], judged.indifferent[first]
    claims = claims_of(
        required_concepts(log, values),
        system,
        judged.wanted,
        judged.indifferent,
        LabelledValues(values, log, _turns_before(log)),
        minded,
    )
    repeated, changes = log.history.streak > 1, changes_of_goal(log)
    states = CallerStates(log.domain, values, unasked, wanted, indifferent, wishes)
    n_turns, n_concepts = log.n_turns, values.n_concepts
    context = np.zeros((n_turns, len(FEATURES)), dtype=np.int64)
    about, asked = (np.full(n_turns, NOTHING, dtype=np.int64) for _ in range(2))
    content, wishes_left = (np.zeros(n_turns, dtype=bool) for _ in range(2))
    worn, told = np.zeros((n_turns, len(ANNOYANCES))), np.zeros((n_turns, n_concepts), dtype=bool)
    now = np.zeros((n_turns, len(REACTED_TO)), dtype=bool)
    for callers, turns in turns_in_step(log.offsets, np.arange(log.n_dialogs)):
        told[turns] = states.told[callers]
        said, wrong = system.take(turns), claims.take(turns)
        seen = states.take_in(callers, said, wrong, repeated[turns], changes[turns])
        context[turns], about[turns], asked[turns] = seen.table, seen.about, seen.asked
        content[turns], worn[turns] = states.content[callers], states.worn[callers]
        now[turns] = seen.now
        wishes_left[turns] = states.wishes_left(callers)
        states.hear(callers, mentioned[turns])
    is_last = np.zeros(n_turns, dtype=bool)
    is_last[log.offsets[1:] - 1] = True
    context[:, FEATURES.index("ends")] = is_last
    return LoggedTurns(
        dialog=log.dialog_of_turn,
        turn=log.turn_in_dialog,
        is_last=is_last,
        own=np.full(n_turns, own),
        system=system,
        context=context,
        about=about,
        asked=asked,
        wrong=claims.offered,
        content=content,
        worn=worn,
        now=now,
        wishes_left=wishes_left,
        told=told,
        mentioned=mentioned,
        lists=lists,
        said=answers,
    )


def _asked_if_declined(domain: Domain, n_concepts: int) -> Bools:
    """(n_concepts,) the concepts that a system needs only of who turns down something else."""
    only = [group in domain.required_unless for group in domain.groups]
    return np.pad(np.array(only, dtype=bool), (0, n_concepts - len(only)))


def required_concepts(log: Corpus, values: LoggedValues) -> Bools:
    """(n_concepts,) the concepts without which an offer is no use."""
    required = np.zeros(values.n_concepts, dtype=bool)
    # Where goals are labelled whether heard or not, an offer is judged by what it was made for.
    if isinstance(log.labels, LabelEvents):
        required[: len(log.domain.groups)] = [group in log.domain.required for group in log.domain.groups]
    return required


def _joined(parts: Sequence[LoggedTurns], first: Ints) -> LoggedTurns:
    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    said = [part.said for part in parts]
    return LoggedTurns(
        dialog=np.concatenate([part.dialog + begin for part, begin in zip(parts, first[:-1], strict=True)]),
        system=SystemTurns.joined([part.system for part in parts]),
        lists=Lists.joined([part.lists for part in parts]),
        said=None if any(part is None for part in said) else CodedActs.joined([p for p in said if p]),
        **{
            name: column(name)
            for name in (
                "turn",
                "is_last",
                "own",
                "context",
                "about",
                "asked",
                "wrong",
                "content",
                "worn",
                "now",
                "wishes_left",
                "told",
                "mentioned",
            )
        },
    )
