"""Systems by dialogs: what every metric says of each, and what came of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

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
FINAL = "last turn: "
"""Before the name of a metric that is read off the last turn alone."""

OTHERS = "others: "
"""Before an outcome: the share of the other systems that had it on the same dialog."""

DIFFICULTY = ("domains", "gold slots", "turns")
"""What all systems meet alike: domains and slots of the gold state at the end, turns of the dialog."""

LAST = 3
"""The schedule of last turns."""

SEARCHED = {
    "attraction": ("area", "name", "type"),
    "hotel": ("area", "internet", "name", "parking", "pricerange", "stars", "type"),
    "restaurant": ("area", "food", "name", "pricerange"),
    "train": ("arrive", "day", "departure", "destination", "leave"),
}
"""The slots by which the evaluator searches its database; those of bookings and taxis it never looks at."""

PARTS = {"searched: ": True, "not searched: ": False}
OF_PARTS = ("jga", "slot_accuracy")

METRICS = tuple(name for name in STATE_SETS.metrics if parse_metric(name).higher_is_better is not None)
"""Traits of a dialog's mistakes have no better direction, and are left out as `extrinsic run` does."""


@dataclass(frozen=True, eq=False)
class Grid:
    """values (n_names, n_systems, n_dialogs), NaN where a system lacks a dialog; higher is better.

    present (n_systems, n_dialogs): there is a state and an outcome. no_value: by name, how many of the cells
    that are there have no value (then the cell is left out for all names, so that all speak of the same).
    """

    systems: tuple[str, ...]
    dialogs: tuple[str, ...]
    names: tuple[str, ...]
    values: Floats
    present: Bools
    no_value: Mapping[str, int]

    def at(self, name: str) -> int:
        return self.names.index(name)

    def of(self, name: str) -> Floats:
        """(n_systems, n_dialogs)"""
        return np.asarray(self.values[self.at(name)])

    def take(self, dialogs: Bools) -> Grid:
        """The chosen dialogs alone."""
        chosen = tuple(self.dialogs[i] for i in np.flatnonzero(dialogs))
        return replace(
            self, dialogs=chosen, values=self.values[:, :, dialogs], present=self.present[:, dialogs]
        )


def read_all_states() -> dict[str, StateSets]:
    files = sorted((require("multiwoz") / "end_to_end").glob("*.json.gz"))
    return {file.name.split(".")[0]: extrinsic.read_states(file) for file in files}


def read_outcomes() -> dict[tuple[str, str], dict[str, float]]:
    """By (system, dialog)."""
    path: Path = require("multiwoz") / "end_to_end" / "outcomes.csv.gz"
    rows = csv.DictReader(io.StringIO(read_bytes(str(path)).decode()))
    return {(row["system"], row["dialogue"]): {name: float(row[name]) for name in OUTCOMES} for row in rows}


def build_grid(
    states: Mapping[str, StateSets], outcomes: Mapping[tuple[str, str], Mapping[str, float]]
) -> Grid:
    systems = tuple(states)
    dialogs = tuple(sorted({dialog for of in states.values() for dialog in of.dialogs}))
    final = tuple(FINAL + name for name in METRICS if not parse_metric(name).whole_dialogs)
    parts = tuple(part + name for part in PARTS for name in OF_PARTS)
    scored = (*METRICS, *final, *parts)
    names = (*scored, *OUTCOMES, *(OTHERS + name for name in OUTCOMES), *DIFFICULTY)
    values = np.full((len(names), len(systems), len(dialogs)), np.nan)
    present = np.zeros((len(systems), len(dialogs)), dtype=bool)
    place = {dialog: number for number, dialog in enumerate(dialogs)}
    for row, (system, of) in enumerate(states.items()):
        columns = [place[dialog] for dialog in of.dialogs]
        for name, found in _of_dialogs(of).items():
            values[names.index(name), row, columns] = found
        for column, dialog in enumerate(dialogs):
            came = outcomes.get((system, dialog))
            present[row, column] = came is not None and dialog in of.dialogs
            for name in OUTCOMES if came is not None else ():
                values[names.index(name), row, column] = came[name] if came else np.nan
    no_value = {name: int((present & np.isnan(values[names.index(name)])).sum()) for name in scored}
    present &= ~np.isnan(values[: len(scored)]).any(axis=0)
    for name in OUTCOMES:
        values[names.index(OTHERS + name)] = _of_others(values[names.index(name)], present)
    return Grid(systems, dialogs, names, np.where(present, values, np.nan), present, no_value)


def _of_dialogs(states: StateSets) -> dict[str, Floats]:
    """(n_dialogs,) of every name that the states alone decide: metrics by the sums of each dialog by itself.

    A mean over turns is that of the dialog's turns, a ratio of counts that of the dialog's counts.
    """
    metrics = [parse_metric(name) for name in METRICS]
    found = {
        (FINAL if measured.schedule == LAST else "") + str(measured.metric): measured.metric.values(
            measured.statistics
        )
        for measured in measure(Source(None, states), metrics, [1, LAST])
    }
    for part, searched in PARTS.items():
        some = [parse_metric(name) for name in OF_PARTS]
        for measured in measure(Source(None, _only(states, searched)), some):
            found[part + str(measured.metric)] = measured.metric.values(measured.statistics)
    ends = states.gold[states.offsets[1:] - 1] > GIVEN_NONE
    domain_of = np.array([domain for domain, _ in states.slots])
    by_domain = [ends[:, domain_of == domain].any(axis=1) for domain in states.domains]
    found["domains"] = np.sum(by_domain, axis=0).astype(float)
    found["gold slots"] = ends.sum(axis=1).astype(float)
    found["turns"] = np.diff(states.offsets).astype(float)
    return found


def _only(states: StateSets, searched: bool) -> StateSets:
    """The states without the other slots."""
    columns = [
        column
        for column, (domain, slot) in enumerate(states.slots)
        if (slot in SEARCHED.get(domain, ())) == searched
    ]
    return replace(
        states,
        slots=tuple(states.slots[column] for column in columns),
        gold=states.gold[:, columns],
        predicted=states.predicted[:, columns],
        in_gold=states.in_gold[columns],
    )


def _of_others(outcome: Floats, present: Bools) -> Floats:
    """(n_systems, n_dialogs) the mean of the other systems on the same dialog."""
    known = np.where(present, outcome, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((known.sum(axis=0) - known) / (present.sum(axis=0) - present))
