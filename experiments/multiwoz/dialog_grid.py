"""Systems by dialogs: the value of every metric on each, and the outcome."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import extrinsic
from experiments.data import require
from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.conventions import STATE_SETS
from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets
from extrinsic.metrics.measuring import measure
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.sources import Source
from extrinsic.storage import read_bytes

OUTCOMES = ("success", "inform")

METRICS = tuple(name for name in STATE_SETS.metrics if parse_metric(name).higher_is_better is not None)
"""Traits of a dialog's mistakes have no better direction, and are left out as `extrinsic run` does."""

LAST_TURN = "last turn: "
"""Before the name of a metric that is computed on the last turn alone."""

TURN_METRICS = tuple(name for name in METRICS if not parse_metric(name).whole_dialogs)
"""Those that a single turn has."""

OTHERS = "others: "
"""Before an outcome: the share of the other systems that had it on the same dialog."""

DIFFICULTY = ("domains", "gold slots", "turns")
"""What all systems meet alike: domains and slots of the gold state at the end, turns of the dialog."""

SEARCHED_SLOTS = {
    "attraction": ("area", "name", "type"),
    "hotel": ("area", "internet", "name", "parking", "pricerange", "stars", "type"),
    "restaurant": ("area", "food", "name", "pricerange"),
    "train": ("arrive", "day", "departure", "destination", "leave"),
}
"""The slots by which the evaluator searches its database; those of bookings and taxis it never looks at."""

SLOT_PARTS = {"searched: ": True, "not searched: ": False}
PART_METRICS = ("jga", "slot_accuracy")
ALL_TURNS, LAST = 1, 3
"""Schedules."""


@dataclass(frozen=True, eq=False)
class Grid:
    """values (n_names, n_systems, n_dialogs), NaN where a system lacks a dialog; higher is better.

    present (n_systems, n_dialogs): there is a state and an outcome. n_undefined: points with a metric that is
    undefined, counted once for each metric; they are not present for any.
    """

    systems: tuple[str, ...]
    dialogs: tuple[str, ...]
    names: tuple[str, ...]
    values: Floats
    present: Bools
    n_undefined: int = 0

    def __getitem__(self, name: str) -> Floats:
        """(n_systems, n_dialogs)"""
        return np.asarray(self.values[self.names.index(name)])

    def pairs(self, metric: str, outcome: str) -> list[tuple[Floats, Floats]]:
        """Of each system, a metric's values and the outcomes (n_dialogs,) of the dialogs that it has."""
        columns = zip(self[metric], self[outcome], self.present, strict=True)
        return [(values[present], outcomes[present]) for values, outcomes, present in columns]


def read_all_states() -> dict[str, StateSets]:
    files = sorted((require("multiwoz") / "end_to_end").glob("*.json.gz"))
    return {file.name.split(".")[0]: extrinsic.read_states(file) for file in files}


def read_outcomes() -> dict[tuple[str, str], tuple[float, ...]]:
    """In the order of OUTCOMES, by (system, dialog)."""
    path = require("multiwoz") / "end_to_end" / "outcomes.csv.gz"
    rows = csv.DictReader(io.StringIO(read_bytes(str(path)).decode()))
    return {(row["system"], row["dialogue"]): tuple(float(row[name]) for name in OUTCOMES) for row in rows}


def build_grid(
    states: Mapping[str, StateSets], outcomes: Mapping[tuple[str, str], tuple[float, ...]]
) -> Grid:
    dialogs = tuple(sorted({dialog for system_states in states.values() for dialog in system_states.dialogs}))
    numbers = {dialog: number for number, dialog in enumerate(dialogs)}
    by_name: dict[str, Floats] = {}
    shape = len(states), len(dialogs)
    for s, (system, system_states) in enumerate(states.items()):
        columns = [numbers[dialog] for dialog in system_states.dialogs]
        missing = (np.nan,) * len(OUTCOMES)
        logged = np.array([outcomes.get((system, dialog), missing) for dialog in system_states.dialogs]).T
        scores = dialog_scores(system_states) | dict(zip(OUTCOMES, logged, strict=True))
        for name, values in scores.items():
            by_name.setdefault(name, np.full(shape, np.nan))[s, columns] = values
    scored = np.array([by_name[name] for name in by_name if name not in (*OUTCOMES, *DIFFICULTY)])
    logged_present = ~np.isnan(by_name[OUTCOMES[0]])
    present = logged_present & ~np.isnan(scored).any(axis=0)
    for outcome in OUTCOMES:
        by_name[OTHERS + outcome] = mean_of_others(by_name[outcome], present)
    values = np.where(present, np.array(list(by_name.values())), np.nan)
    n_undefined = int((logged_present & np.isnan(scored)).sum())
    return Grid(tuple(states), dialogs, tuple(by_name), values, present, n_undefined)


def dialog_scores(states: StateSets) -> dict[str, Floats]:
    """By name, (n_dialogs,): metrics from the sums of each dialog by itself, and what makes it difficult.

    A mean over turns is that of the dialog's turns, a ratio of counts that of the dialog's counts.
    """

    def measured(part: StateSets, names: Sequence[str], schedule: int, prefix: str) -> dict[str, Floats]:
        rows = measure(Source(None, part), [parse_metric(name) for name in names], [schedule])
        return {prefix + str(row.metric): row.metric.values(row.statistics) for row in rows}

    scores = measured(states, METRICS, ALL_TURNS, "") | measured(states, TURN_METRICS, LAST, LAST_TURN)
    for prefix, searched in SLOT_PARTS.items():
        scores |= measured(_slot_part(states, searched), PART_METRICS, ALL_TURNS, prefix)
    filled = states.gold[states.offsets[1:] - 1] > GIVEN_NONE
    slot_domains = np.array([domain for domain, _ in states.slots])
    by_domain = [filled[:, slot_domains == domain].any(axis=1) for domain in states.domains]
    difficulty = np.sum(by_domain, axis=0), filled.sum(axis=1), np.diff(states.offsets)
    return scores | {name: each.astype(float) for name, each in zip(DIFFICULTY, difficulty, strict=True)}


def _slot_part(states: StateSets, searched: bool) -> StateSets:
    """The states with the slots that are searched, or with the others."""
    is_searched = np.array([slot in SEARCHED_SLOTS.get(domain, ()) for domain, slot in states.slots])
    columns = np.flatnonzero(is_searched == searched)
    return replace(
        states,
        slots=tuple(states.slots[column] for column in columns),
        gold=states.gold[:, columns],
        predicted=states.predicted[:, columns],
        in_gold=states.in_gold[columns],
    )


def mean_of_others(outcome: Floats, present: Bools) -> Floats:
    """(n_systems, n_dialogs) the mean of the other systems on the same dialog."""
    filled = np.where(present, outcome, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((filled.sum(axis=0) - filled) / (present.sum(axis=0) - present))
