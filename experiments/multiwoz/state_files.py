"""What follows from files of states and outcomes alone: systems as points, normalisation, a paired score."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.data import require
from experiments.multiwoz.tables import Between, Generator, Normalised, Paired, System
from extrinsic.corpus.formats import read_state_file, stem
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import Source, measure
from extrinsic.outcomes.multiwoz_evaluator import MultiWOZ, evaluate_system
from extrinsic.registry import FORMATS
from extrinsic.study.paired_scores import paired_scores, sources_of
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import jackknife_interval, without_each

FIXED = "dard_mistral_single"
"""The tracker under whose states DARD's generators are compared; by the data's README the best one."""

PAIR = ("mlcsg", "trade_dadamrx")
PAIRED_METRICS = ("jga", "slot_f1", "fga(0.5)", "gca", "turn_match")
RULES = (
    ("strict", "keep"),
    ("strict", "drop"),
    ("trade", "drop"),
    ("trippy", "drop"),
    ("multiwoz_eval", "drop"),
)
OWN_RULES = tuple((rule, "keep") for rule in ("strict", "trade", "trippy", "multiwoz_eval"))
"""On a file's own gold, as published figures were computed: dontcare is a value."""


def read(path: Path, form: str = "state-sets", reading: StateReading | None = None) -> StateSets:
    return read_state_file(FORMATS.get(form), str(path), stem(path), reading or StateReading())


def jga_by_dialog(states: StateSets) -> np.ndarray:
    """(n_dialogs, 2) how many turns are right, and how many there are."""
    (row,) = measure(Source(None, states), [parse_metric("jga")], [1], ["all"])
    return np.asarray(row.statistics)


def system_rows() -> Iterator[System]:
    """The thirteen systems, each on all the dialogs that it has."""
    folder = require("multiwoz")
    reached: dict[str, list[tuple[float, float]]] = {}
    with gzip.open(folder / "end_to_end" / "outcomes.csv.gz", "rt") as lines:
        for line in csv.DictReader(lines):
            reached.setdefault(line["system"], []).append((float(line["success"]), float(line["inform"])))
    for system, outcomes in sorted(reached.items()):
        states = read(folder / "trackers_2.1" / f"e2e_{system.removesuffix('-e2e')}.json.gz")
        right, turns = jga_by_dialog(states).T
        success, inform = np.mean(outcomes, axis=0).tolist()
        yield System(
            system=system,
            flags=tuple(suspicion.rule for suspicion in states.suspicions),
            n_dialogs=states.n_dialogs,
            jga=float((right / turns).mean()),
            jga_turns=float(right.sum() / turns.sum()),
            success=success,
            inform=inform,
        )


def between_rows(systems: Sequence[System]) -> Iterator[Between]:
    """All systems; without those whose states are the gold; without all that a rule flags."""
    groups = {
        "all": systems,
        "without `gold`": [row for row in systems if "gold" not in row.flags],
        "core": [row for row in systems if not row.flags],
    }
    for name, rows in groups.items():
        success = np.array([[[row.success for row in rows]]])
        for average, field in (("dialogs", "jga"), ("turns", "jga_turns")):
            jga = np.array([[[getattr(row, field) for row in rows]]])
            r = correlate(jga, success, "pearson", "within")[0]
            left_out = without_each(jga, success, "pearson", "within")[:, 0]
            low, high = jackknife_interval(r, left_out)
            yield Between(
                systems=name,
                n=len(rows),
                average=average,
                r=float(r[0]),
                low=float(low[0]),
                high=float(high[0]),
                lowest=float(left_out.min()),
                without=rows[int(left_out.argmin())].system,
            )


def generator_rows() -> Iterator[Generator]:
    """DARD's six generators under the same states in two spellings, by the standard evaluator."""
    folder = require("multiwoz")
    files = sorted(str(path) for path in (folder / "swap").glob("responses_dard_*.json.gz"))
    goals, booked = folder / "dialogs" / "test.json.gz", folder / "swap" / "booked_domains.json.gz"
    prepared = MultiWOZ(str(goals), str(booked), str(folder / "swap" / "database"), tuple(files)).prepare()
    spellings = {
        "native": ("multiwoz-eval", folder / "native" / f"{FIXED}_model_dst.json.gz"),
        "normalised": ("state-sets", folder / "trackers_2.1" / f"{FIXED}.json.gz"),
    }
    for states, (form, path) in spellings.items():
        for row in evaluate_system(prepared, FORMATS.get(form), str(path), FIXED, StateReading(), str(goals)):
            if row.domain == "all":
                yield Generator(
                    states=states, generator=row.generator, inform=row.inform, success=row.success
                )


def normalisation_rows() -> Iterator[Normalised]:
    """The eight files in their authors' spelling, on both golds and on their own."""
    folder = require("multiwoz")
    for path in sorted((folder / "native").glob("*.json.gz")):
        form = "trade" if stem(path) in ("mlcsg", "trade") else "multiwoz-eval"
        for gold in ("2.1", "2.4"):
            for rule, dontcare in RULES:
                name = f"gold{gold.replace('.', '')}"
                reading = StateReading(str(folder / "dialogs" / "test.json.gz"), None, rule, dontcare, name)
                yield _normalised(path, form, gold, rule, dontcare, reading)
        for rule, dontcare in OWN_RULES if form == "trade" else ():
            yield _normalised(path, form, "own", rule, dontcare, StateReading(None, None, rule, dontcare))


def _normalised(
    path: Path, form: str, gold: str, rule: str, dontcare: str, reading: StateReading
) -> Normalised:
    states = read(path, form, reading)
    right, turns = jga_by_dialog(states).sum(axis=0)
    return Normalised(
        tracker=stem(path).removesuffix("_dst"),
        gold=gold,
        rule=rule,
        dontcare=dontcare,
        jga=float(100.0 * right / turns),
        changed=states.n_values_changed,
        n_predicted=states.n_predicted,
    )


def paired_rows(seed: int) -> Iterator[Paired]:
    folder = require("multiwoz") / "trackers_2.1"
    first, second = sources_of([(read(folder / f"{name}.json.gz"), None) for name in PAIR])
    metrics = [parse_metric(name) for name in PAIRED_METRICS]
    for row in paired_scores(first, second, metrics, [1], ["all"], seed=seed):
        numbers = (row.first, row.second, row.difference, row.low, row.high, row.p)
        a, b, difference, low, high, p = (float(number or 0.0) for number in numbers)
        yield Paired(metric=row.metric, first=a, second=b, difference=difference, low=low, high=high, p=p)
