"""Where in a dialog mistakes occur, and sentinels: what a good metric should not depend on.

Traits describe dialogs, not trackers: a dialog without a mistake has none, and neither direction is better.
Sentinels know nothing of a tracker; what they reach is the floor of a study. The length of a dialog and the
number of its gold slots are the same for all systems: they correlate with outcomes where dialogs are pooled,
because long dialogs fail more often. A constant with noise differs by chance alone.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Mean, check_choice, ratio
from extrinsic.metrics.state_items import StateItems
from extrinsic.storage import content_hash


def mistakes(items: StateItems) -> Floats:
    """(n_turns,) changes that were missed, wrong or overshot, as granular change accuracy counts them."""
    counts = items.changes.counts
    return np.asarray(counts[:, 1] + counts[:, 2] + counts[:, 3] + counts[:, 4])


@dataclass(frozen=True)
class DialogTrait(Mean):
    """The mean over dialogs with a mistake of a number that describes the dialog."""

    kind: ClassVar[str] = "state"
    whole_dialogs: ClassVar[bool] = True
    citation: ClassVar[str] = "Aksu & Chen 2024, eq. 7-10; and its earlier version, section 6.3"
    higher_is_better: ClassVar[bool | None] = None
    positional: ClassVar[str | None] = "form"

    form: str = "2024"

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", str(self.form))
        check_choice(self.name, "form", self.form, ("2024", "2023"))

    @abstractmethod
    def dialog_values(self, items: StateItems) -> Floats:
        """(n_dialogs,) the trait of each dialog, NaN without a mistake."""

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): the trait, and whether the dialog has one."""
        values = self.dialog_values(items)
        has = ~np.isnan(values)
        return np.stack([np.where(has, values, 0.0), has], axis=1)


@dataclass(frozen=True)
class TailOrientation(DialogTrait):
    name: ClassVar[str] = "tail_orientation"
    formula: ClassVar[str] = (
        "2024: (mean turn of the mistakes - (n-1)/2) / n; 2023: sum of (turn - (n-1)/2) over mistakes / n"
    )

    def dialog_values(self, items: StateItems) -> Floats:
        wrong = mistakes(items)
        n_turns = np.diff(items.offsets)
        middle = (n_turns - 1) / 2
        total = items.sum_by_dialog(wrong)
        turns = items.sum_by_dialog(wrong * items.turn_in_dialog)
        if self.form == "2024":
            return (ratio(turns, total) - middle) / n_turns
        return np.where(total > 0, (turns - total * middle) / n_turns, np.nan)


@dataclass(frozen=True)
class NonUniformity(DialogTrait):
    name: ClassVar[str] = "non_uniformity"
    formula: ClassVar[str] = "2024: sum |m_t - E| / E; 2023: sum (m_t - E)^2; E the mean mistakes of a turn"

    def dialog_values(self, items: StateItems) -> Floats:
        wrong = mistakes(items)
        n_turns = np.diff(items.offsets)
        expected = items.sum_by_dialog(wrong) / n_turns
        difference = wrong - np.repeat(expected, n_turns)
        if self.form == "2024":
            return ratio(items.sum_by_dialog(np.abs(difference)), expected)
        return np.where(expected > 0, items.sum_by_dialog(difference**2), np.nan)


@dataclass(frozen=True)
class FirstError(DialogTrait):
    """`form`: `turn` is the index of the first turn that does not match, `relative` that over n - 1."""

    name: ClassVar[str] = "first_error"
    formula: ClassVar[str] = "mean over dialogs with an error of the first turn with G_t != P_t"
    citation: ClassVar[str] = "Kim et al. 2022, Fig. 1"

    form: str = "turn"

    def __post_init__(self) -> None:
        check_choice(self.name, "form", self.form, ("turn", "relative"))

    def dialog_values(self, items: StateItems) -> Floats:
        n_turns = np.diff(items.offsets)
        position = np.where(items.match, len(items.match), items.turn_in_dialog)
        first = np.minimum.reduceat(position, items.offsets[:-1])
        first_error = np.where(first < n_turns, first.astype(np.float64), np.nan)
        return first_error if self.form == "turn" else first_error / np.maximum(n_turns - 1, 1)


SENTINELS = ("length", "slots", "noise")


@dataclass(frozen=True)
class Sentinel(Mean):
    """`length`: turns of a dialog; `slots`: gold slots at its end; `noise`: 1 + N(0, .01)."""

    name: ClassVar[str] = "sentinel"
    formula: ClassVar[str] = "mean over dialogs of what says nothing about the tracker"
    citation: ClassVar[str] = "Mathur et al. 2020 (metrics that should lose)"
    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"
    whole_dialogs: ClassVar[bool] = True

    which: str

    def __post_init__(self) -> None:
        check_choice(self.name, "kind", self.which, SENTINELS)
        object.__setattr__(self, "higher_is_better", self.which == "noise")

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): the value of each dialog, and 1."""
        n_dialogs = len(items.offsets) - 1
        if self.which == "length":
            values = np.diff(items.offsets).astype(np.float64)
        elif self.which == "slots":
            values = items.n_gold[items.offsets[1:] - 1].astype(np.float64)
        else:
            # Drawn by what was predicted: the same for the same states, another for any others.
            key = int(
                content_hash("sentinel", np.ascontiguousarray(items.given_predicted).tobytes())[:16], 16
            )
            rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(key,)))
            values = 1.0 + 0.01 * rng.standard_normal(n_dialogs)
        return np.stack([values, np.ones(n_dialogs)], axis=1)
