"""Rewards: Lee's, with named options for what the paper leaves open; the log's own; a dialog's outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import REWARD_CHOICES, Domain
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, UsageError, did_you_mean

RewardFunction = Callable[[Corpus, TrackerOutput], Floats]
"""(corpus, output) -> (n_turns,) the reward of every turn; a custom reward is such a function.

The registry REWARDS contains frozen configs that are such functions: their fields are the keys of [reward].
A config may have `of(domain, **options)` to choose what fits the domain.
"""

NO_TURN = -1


@dataclass(frozen=True)
class Reward:
    """Each concept filled correctly earns `correct`, wrongly `incorrect`; a wanted but empty one
    `empty_ended` if the system ended the call, else `empty`; each decision costs `turn`.

    fill:   when a belief counts as filled (argmax | threshold[:x]); it can decide which metric predicts best.
    when:   which belief is judged: the last one, or the one that the first (last) offer was based on. A call
            without an offer has filled nothing. The reward comes at the end of the call: at the offer's own
            turn, a policy would learn to collect logged offers in hindsight.
    absent: a concept in neither goal nor belief: `zero`, or the same as `correct`, or the same as a wanted
            one, `empty` ("every empty concept", Lee 2014). With zero and empty, every further concept pays,
            and a policy learns to ask for more than callers want.
    concepts: `groups` of slots that stand in for each other, or every one of the `slots` (Lee's nine).
    """

    correct: float = 100.0
    incorrect: float = -200.0
    empty_ended: float = -300.0
    empty: float = -50.0
    turn: float = -20.0
    fill: str = "argmax"
    when: str = "last_offer"
    absent: str = "correct"
    concepts: str = "groups"

    def __post_init__(self) -> None:
        Fill.parse(self.fill)
        for name, choices in REWARD_CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise UsageError(f"there is no reward.{name} {value!r}; {did_you_mean(value, choices)}")
        _require_finite(self.correct, self.incorrect, self.empty_ended, self.empty, self.turn)

    @staticmethod
    def of(domain: Domain, **choices: Any) -> Reward:
        """The reward with the defaults of a domain and the given options."""
        names = [field.name for field in fields(Reward)]
        for name in (*domain.reward, *choices):
            if name not in names:
                raise UsageError(f"a reward has no option {name!r}; {did_you_mean(name, names)}")
        return Reward(**{**domain.reward, **choices})

    def __call__(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        """(n_turns,) the reward of every turn: a constant per decision, the rest at the last turn."""
        output.require_about(corpus)
        return _by_turn(corpus, self.turn, self.final(corpus, output))

    def final(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        """(n_dialogs,) the reward of the concepts."""
        last = corpus.offsets[1:] - 1
        empty = np.where(corpus.system_ended, self.empty_ended, self.empty)
        return self._points(corpus, output, self._judged_turn(corpus), self._wanted(corpus, last), empty)

    def worth(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        """(n_turns,) the reward of the concepts if the belief after each turn were the one that is judged.

        Uses the labels up to that turn, and assumes that the call has not ended: nothing from later turns.
        """
        turn = np.arange(corpus.n_turns)
        empty = np.full(len(turn), self.empty)
        return self._points(corpus, output, turn, self._wanted(corpus, turn), empty)

    def _points(
        self, corpus: Corpus, output: TrackerOutput, turn: Ints, wanted: Bools, empty: Floats
    ) -> Floats:
        """(k,) the reward of the concepts after given turns; wanted (k, n_concepts), empty (k,)."""
        filled, right = self._filled(corpus, output, turn)
        of_filled = np.where(right, self.correct, self.incorrect)
        of_empty = np.where(wanted | (self.absent == "empty"), empty[:, None], self._of_absent)
        return np.asarray(np.where(filled, of_filled, of_empty).sum(axis=1))

    def feasible(self, domain: Domain, shortest: int, longest: int) -> tuple[float, float]:
        """The lowest and highest return of a call with that many decisions."""
        kinds = (self.correct, self.incorrect, self.empty, self.empty_ended, self._of_absent)
        costs = (self.turn * shortest, self.turn * longest)
        n_concepts = len(self._concepts(domain, domain.slot_names))
        return min(kinds) * n_concepts + min(costs), max(kinds) * n_concepts + max(costs)

    @property
    def _of_absent(self) -> float:
        return {"zero": 0.0, "correct": self.correct, "empty": self.empty}[self.absent]

    def _concepts(self, domain: Domain, slots: Sequence[str]) -> list[list[int]]:
        """Where the slots of each concept stand among the slots of a corpus."""
        if self.concepts == "groups":
            return domain.group_columns(slots)
        return [[slots.index(name)] for name in domain.slot_names]

    def _judged_turn(self, corpus: Corpus) -> Ints:
        """(n_dialogs,) the turn whose belief is judged; NO_TURN where nothing was ever offered."""
        if self.when == "terminal":
            return corpus.offsets[1:] - 1
        offers = np.flatnonzero(is_role(corpus, corpus.domain.offer))
        dialog = corpus.dialog_of_turn[offers]
        turn = np.full(corpus.n_dialogs, NO_TURN, dtype=np.int64)
        # Assignment by index keeps the last; an offer is made on the belief after the turn before it.
        order = slice(None, None, -1 if self.when == "first_offer" else 1)
        turn[dialog[order]] = offers[order] - 1
        return np.where(turn >= corpus.offsets[:-1], turn, NO_TURN)

    def _filled(self, corpus: Corpus, output: TrackerOutput, turn: Ints) -> tuple[Bools, Bools]:
        """(n_dialogs, n_concepts) whether a concept is filled at the turn, and whether correctly."""
        beliefs = output.marginals(corpus)
        n_slots = len(corpus.slots)
        # Of several filled slots of a group the one with the best value counts.
        value, score = (column.reshape(-1, n_slots)[turn] for column in Fill.parse(self.fill).filled(beliefs))
        concepts = self._concepts(corpus.domain, corpus.slots)
        filled = np.zeros((len(turn), len(concepts)), dtype=bool)
        right = filled.copy()
        for concept, columns in enumerate(concepts):
            slot = np.array(columns)[score[:, columns].argmax(axis=1)]
            chosen = value[np.arange(len(turn)), slot]
            filled[:, concept] = (chosen != NONE) & (turn != NO_TURN)
            right[:, concept] = corpus.truth.is_correct(np.maximum(turn, 0), slot, chosen)
        return filled, right

    def _wanted(self, corpus: Corpus, turn: Ints) -> Bools:
        """(n_dialogs, n_concepts) whether some value of the concept was right at the turn, by the labels."""
        n_slots = len(corpus.slots)
        slot = np.tile(np.arange(n_slots), len(turn))
        nothing = np.full(len(slot), NONE, dtype=np.int32)
        wanted = ~corpus.truth.is_correct(np.repeat(turn, n_slots), slot, nothing).reshape(-1, n_slots)
        concepts = self._concepts(corpus.domain, corpus.slots)
        return np.stack([wanted[:, columns].any(axis=1) for columns in concepts], axis=1)


def _require_finite(*amounts: float) -> None:
    if not np.isfinite(amounts).all():
        raise UsageError("the amounts of a reward must be finite", found=str(amounts))


def _by_turn(corpus: Corpus, price: float, final: Floats) -> Floats:
    """(n_turns,) a price for each decision, and what a dialog came to (n_dialogs,) at its last turn."""
    earned = np.where(is_decision(corpus), price, 0.0)
    earned[corpus.offsets[1:] - 1] += final
    return earned


def is_role(corpus: Corpus, names: tuple[str, ...]) -> Bools:
    """(n_turns,) whether the system's turn has one of the predicates."""
    return np.isin(corpus.predicate, [corpus.domain.predicate_names.index(name) for name in names])


def is_decision(corpus: Corpus) -> Bools:
    """(n_turns,) whether the turn is a decision; a greeting is not."""
    return ~is_role(corpus, corpus.domain.greeting)


def returns(corpus: Corpus, reward: Floats) -> Floats:
    """(n_dialogs,) the undiscounted sum of the rewards of each dialog's turns."""
    return np.add.reduceat(reward, corpus.offsets[:-1])


def fill_of(reward: RewardFunction | None) -> Fill | None:
    """The rule by which a reward counts concepts as filled; None for one that does not judge beliefs.

    What is played for this reward must follow it: a system does not offer what counts as empty.
    """
    rule = getattr(reward, "fill", None)
    return Fill.parse(rule) if isinstance(rule, str) else None


def make_reward(kind: Any, domain: Domain, options: Mapping[str, object]) -> RewardFunction:
    """Make a reward of a kind with options, through its `of(domain, ...)` if it has one."""
    make = getattr(kind, "of", None)
    reward: RewardFunction = kind(**options) if make is None else make(domain, **options)
    return reward


@dataclass(frozen=True)
class LoggedReward:
    """The number that the log has at each turn (`reward` of a log of JSON lines), whatever the tracker.

    scale: it is multiplied by this.
    """

    scale: float = 1.0

    def __call__(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        if corpus.rewards is None:
            raise UsageError(
                f"the corpus {corpus.dataset!r} has no rewards of its own",
                expected='a log of JSON lines with "reward" on every line, or another [reward] kind',
            )
        return corpus.rewards * self.scale


@dataclass(frozen=True)
class OutcomeReward:
    """`amount` times an outcome at the end of the dialog, and `turn` for each decision.

    outcome: of the corpus, from its labels (DSTC2's `success`), from `outcomes` of its logs, or from the
    world that is played; from 0 to 1.
    """

    outcome: str = "success"
    amount: float = 20.0
    turn: float = -1.0

    def __post_init__(self) -> None:
        _require_finite(self.amount, self.turn)

    def __call__(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        """(n_turns,) the reward of every turn."""
        if self.outcome not in corpus.outcomes:
            hint = did_you_mean(self.outcome, corpus.outcomes) if corpus.outcomes else "it has none"
            raise UsageError(f"the corpus {corpus.dataset!r} has no outcome {self.outcome!r}; {hint}")
        outcome = np.array(corpus.outcomes[self.outcome])
        missing = np.flatnonzero(~np.isfinite(outcome))
        if len(missing):
            message = f"the outcome {self.outcome!r} is missing"
            raise InputError(
                Problem(message, session=corpus.sessions[dialog], expected="a number") for dialog in missing
            )
        return _by_turn(corpus, self.turn, self.amount * outcome)

    def feasible(self, domain: Domain, shortest: int, longest: int) -> tuple[float, float]:
        """The lowest and highest return of a call with that many decisions."""
        costs = (self.turn * shortest, self.turn * longest)
        return min(0.0, self.amount) + min(costs), max(0.0, self.amount) + max(costs)
