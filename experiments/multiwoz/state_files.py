"""What follows from files of states alone: what normalisation does, and two files, paired."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from experiments.main import require
from extrinsic.corpus.formats import read_state_file, stem
from extrinsic.corpus.state_sets import StateReading, StateSets
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import Source, measure
from extrinsic.registry import FORMATS
from extrinsic.study.paired_scores import paired_scores, sources_of

PAIR = ("mlcsg", "trade_dadamrx")
PAIRED_METRICS = ("jga", "slot_f1", "fga(0.5)", "gca", "turn_match")
SEED = 1
RULES = (
    ("strict", "keep"),
    ("strict", "drop"),
    ("trade", "drop"),
    ("trippy", "drop"),
    ("multiwoz_eval", "drop"),
)
OWN_RULES = tuple((rule, "keep") for rule in ("strict", "trade", "trippy", "multiwoz_eval"))
"""On a file's own gold, as published figures were computed: dontcare is a value."""


class Normalised(msgspec.Struct, frozen=True, kw_only=True):
    """JGA in percent of a file as its authors wrote it; changed: how many predicted values a rule changed.

    own: on the gold in the file itself, else on MultiWOZ 2.1's or 2.4's.
    """

    tracker: str
    gold: str
    rule: str
    dontcare: str
    jga: float
    changed: int
    n_predicted: int


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Two trackers on the same dialogs, as `extrinsic score A B --paired` has them."""

    metric: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def read(path: Path, form: str = "state-sets", reading: StateReading | None = None) -> StateSets:
    return read_state_file(FORMATS.get(form), str(path), stem(path), reading or StateReading())


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
    (row,) = measure(Source(None, states), [parse_metric("jga")], [1], ["all"])
    right, turns = np.asarray(row.statistics).sum(axis=0)
    return Normalised(
        tracker=stem(path).removesuffix("_dst"),
        gold=gold,
        rule=rule,
        dontcare=dontcare,
        jga=float(100.0 * right / turns),
        changed=states.n_values_changed,
        n_predicted=states.n_predicted,
    )


def paired_rows() -> Iterator[Paired]:
    folder = require("multiwoz") / "trackers_2.1"
    first, second = sources_of([(read(folder / f"{name}.json.gz"), None) for name in PAIR])
    metrics = [parse_metric(name) for name in PAIRED_METRICS]
    for row in paired_scores(first, second, metrics, [1], ["all"], seed=SEED):
        numbers = (row.first, row.second, row.difference, row.low, row.high, row.p)
        a, b, difference, low, high, p = (float(number or 0.0) for number in numbers)
        yield Paired(metric=row.metric, first=a, second=b, difference=difference, low=low, high=high, p=p)
