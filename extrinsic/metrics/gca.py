"""Granular change accuracy: every change of the state is judged once; and the counts behind it and FGA."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric, check_choice
from extrinsic.metrics.state_items import StateItems


@lru_cache(maxsize=100_000)
def edit_similarity(first: str, second: str) -> float:
    """1 - edits / length of the longer: insertions, deletions and substitutions of letters (Levenshtein)."""
    if first == second:
        return 1.0
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            substituted = diagonal + (letter != other)
            diagonal = row[j]
            row[j] = min(substituted, row[j] + 1, row[j - 1] + 1)
    return 1.0 - row[-1] / max(len(first), len(second))


def word_similarity(first: str, second: str) -> float:
    """Twice the words that both have over the words of both, repeated ones counted (Dice)."""
    one, other = Counter(first.split()), Counter(second.split())
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else float(first == second)


SIMILARITIES: dict[str, Callable[[str, str], float]] = {"edit": edit_similarity, "words": word_similarity}


VALUE_TO_LABEL = 10 / 11
"""Values weigh ten times as much as labels."""

PLAIN = 0.9


@dataclass(frozen=True)
class GranularChangeAccuracy(Metric):
    """`weights`: `counts` weighs precisions by the predicted changes and recalls by the gold ones (the form
    that reproduces the tables); `plain` uses .9 / .1 alone, as in the 2024 text.
    `drops`: a slot that both sides drop in one turn counts as correct and as missed (`twice`, as published)
    or just as correct (`once`).
    `similarity`: credit for a wrong value that resembles the gold one. A wrong change counts as s of a
    correct one and 1 - s of a wrong one: `edit` (s = 1 - edits / length of the longer), `words` (Dice).
    """

    name: ClassVar[str] = "gca"
    formula: ClassVar[str] = (
        "(P + G) / (a P/VP + a G/VR + (1-a) P/LP + (1-a) G/LR), P = C+W+O, G = C+W+M, VP = C/P, VR = C/G, "
        "LP = (C+W)/P, LR = (C+W)/G, a = 10/11"
    )
    citation: ClassVar[str] = "Aksu & Chen 2024"
    kind: ClassVar[str] = "state"
    whole_dialogs: ClassVar[bool] = True

    weights: str = "counts"
    drops: str = "twice"
    similarity: str = "none"

    def __post_init__(self) -> None:
        check_choice(self.name, "weighting", self.weights, ("counts", "plain"))
        check_choice(self.name, "way to count drops", self.drops, ("twice", "once"))
        check_choice(self.name, "similarity", self.similarity, ("none", *SIMILARITIES))

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 4): correct, wrong, missed, overshot changes."""
        counts = items.changes.counts
        missed = counts[:, 2] + (counts[:, 4] if self.drops == "twice" else 0.0)
        kinds = np.stack([counts[:, 0], counts[:, 1], missed, counts[:, 3]], axis=1)
        if self.similarity != "none":
            credit = items.changes.credit(SIMILARITIES[self.similarity])
            kinds[:, 0] += credit
            kinds[:, 1] -= credit
        return items.sum_by_dialog(np.where(items.scheduled[:, None], kinds, 0.0))

    def values(self, totals: Any) -> Floats:
        correct, wrong, missed, overshot = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        predicted, gold = correct + wrong + overshot, correct + wrong + missed
        if self.weights == "counts":
            alpha, of_predicted, of_gold = VALUE_TO_LABEL, predicted, gold
        else:
            alpha, of_predicted, of_gold = PLAIN, np.ones_like(predicted), np.ones_like(gold)
        with np.errstate(divide="ignore", invalid="ignore"):
            value_part = alpha * (of_predicted * predicted + of_gold * gold) / correct
            label_part = (1 - alpha) * (of_predicted * predicted + of_gold * gold) / (correct + wrong)
            values = (of_predicted + of_gold) / (value_part + label_part)
        # Without a correct change one of the four rates is 0, and so is the mean; without any change
        # there is nothing to judge.
        values = np.where(correct > 0, values, 0.0)
        return np.where(correct + wrong + missed + overshot > 0, values, np.nan)


CHANGES = ("correct", "wrong", "missed", "overshot")
ERRORS = ("own", "carried")


@dataclass(frozen=True)
class Count(Metric):
    """A count; the value is the sum over dialogs."""

    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"

    which: str

    def values(self, totals: Any) -> Floats:
        return np.asarray(totals, dtype=np.float64)[..., 0]


@dataclass(frozen=True)
class ChangeCount(Count):
    name: ClassVar[str] = "changes"
    formula: ClassVar[str] = "number of changes that granular change accuracy judges so"
    citation: ClassVar[str] = "Aksu & Chen 2024, Algorithm 1"
    whole_dialogs: ClassVar[bool] = True

    drops: str = "twice"

    def __post_init__(self) -> None:
        check_choice(self.name, "kind", self.which, CHANGES)
        check_choice(self.name, "way to count drops", self.drops, ("twice", "once"))
        object.__setattr__(self, "higher_is_better", self.which == "correct")

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 1)"""
        column = CHANGES.index(self.which)
        return GranularChangeAccuracy(drops=self.drops).statistics(items)[:, column : column + 1]


@dataclass(frozen=True)
class TurnErrorCount(Count):
    """`own`: turns that went wrong by themselves (type 1); `carried`: through an earlier turn (type 2)."""

    name: ClassVar[str] = "turn_errors"
    formula: ClassVar[str] = "number of turns with that type of error"
    citation: ClassVar[str] = "Dey et al. 2022, Algorithm 1"
    higher_is_better: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        check_choice(self.name, "type", self.which, ERRORS)

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 1)"""
        own = items.local_errors(literal=False)
        wrong = own if self.which == "own" else ~items.match & ~own
        return np.asarray(items.sum_by_dialog(wrong & items.scheduled))[:, None]
