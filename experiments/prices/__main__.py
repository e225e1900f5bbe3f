"""`python -m experiments.prices`: what a unit of each kind of error costs, and a metric made of it."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.data import require
from experiments.dstc1.tables import PolicyValue
from experiments.dstc2.tables import Gain
from experiments.figures import begin, plt, save
from experiments.live_cells import (
    KINDS,
    METRICS,
    Cell,
    Registered,
    Weights,
    add_runs,
    array_of,
    compute_cells,
    scores_of,
    with_interval,
)
from experiments.main import run_experiment
from experiments.population.__main__ import FOLDER as POPULATION
from experiments.population.__main__ import base_of
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.correlation.prices import Price, disagreement, price_of, priced_form, relative_prices
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.stored_scores import ScoreTask
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.toml_files import read_toml

FOLDER = Path(__file__).parent
CONFIGS = FOLDER.parents[1] / "configs"
POLICIES = ("learned", "fixed")
OUTCOMES = tuple(f"{policy}{part}" for policy in POLICIES for part in ("", "_served", "_turns"))
SCORES = {"temperature=0.5": "overconfident", "temperature=2": "underconfident", "none=-0.5": "less None"}
"""Doses that are a kind of their own, of dose 1."""

RIVALS = ("jga", "accuracy", "l2", "gca", "fga", "logged")
COLOURS = {"learned": "#0072B2", "fixed": "#D55E00"}


class PriceRow(msgspec.Struct, frozen=True):
    """What a whole dose of an error changes in an outcome or a metric, over trackers x worlds; `Price`."""

    of: str
    kind: str
    value: float
    low: float
    high: float
    n: int
    bend: float | None
    share: float
    """Of what all kinds cost together."""


class Blindness(msgspec.Struct, frozen=True):
    """How much more of a metric's price an error has than of the return's: below 0 the metric is blind."""

    policy: str
    metric: str
    kind: str
    difference: float


class Designed(msgspec.Struct, frozen=True):
    """The metric that the prices of a policy make."""

    policy: str
    form: str
    wrong: float
    missed: float
    overshot: float
    stale: float


class Tested(msgspec.Struct, frozen=True):
    """r of a metric with a return within worlds; lead: of `priced` over it, with an interval."""

    world: str
    policy: str
    metric: str
    n_worlds: int
    n_trackers: int
    r: float
    low: float
    high: float
    lead: float
    lead_low: float
    lead_high: float


class RealCell(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker on real calls; learned: the estimated value of the policy learned on it."""

    world: str
    dataset: str
    seed: int = 0
    tracker: str
    accuracy: float
    l2: float
    jga: float
    gca: float
    fga: float
    wrong: float
    missed: float
    overshot: float
    stale: float
    logged: float
    learned: float


def compute(output: Path, arguments: argparse.Namespace) -> None:
    registered = read_toml(FOLDER / "registered.toml", Registered)
    study = read_study(FOLDER / "config.toml")
    compute_cells(study, registered.worlds, output, arguments.runs / FOLDER.name)
    write_rows(output / "real.csv", list(real_cells()), RealCell, decimals=5)
    write_summaries(output)


def write_summaries(output: Path) -> None:
    """Of the rounded numbers: anybody can make them again from the tables."""
    prices = price_rows(read_rows(output / "cells.csv", Cell))
    write_rows(output / "prices.csv", prices, PriceRow, decimals=3)
    write_rows(output / "blind.csv", list(blindness(prices)), Blindness, decimals=3)
    metrics = [designed(policy, prices) for policy in POLICIES]
    write_rows(output / "designed.csv", metrics, Designed, decimals=3)
    unseen: list[Any] = [
        cell for cell in read_rows(POPULATION / "cells.csv", Cell) if base_of(cell.tracker) == cell.tracker
    ]
    rows = list(tested(unseen, metrics))
    rows += tested(read_rows(output / "real.csv", RealCell), metrics[:1])
    write_rows(output / "tested.csv", rows, Tested, decimals=3)


def dose_of(tracker: str) -> tuple[str, str, float]:
    """The base tracker, the kind of error and the dose; no kind: the tracker as it is."""
    match = re.fullmatch(r"dosed\((.+), (\w+)=([-\d.]+)\)", tracker)
    if match is None:
        return tracker, "", 0.0
    base, kind, dose = match.groups()
    own = SCORES.get(f"{kind}={dose}")
    return (base, own, 1.0) if own else (base, kind, float(dose))


def price_rows(cells: Sequence[Cell]) -> list[PriceRow]:
    """Of every outcome, metric and rate of errors."""
    trackers = [dose_of(cell.tracker) for cell in cells[: array_of(cells, "l2").shape[1]]]
    bases = list(dict.fromkeys(base for base, _, _ in trackers))
    kinds = list(dict.fromkeys(kind for _, kind, _ in trackers if kind))
    rows = []
    for name in (*OUTCOMES, *METRICS, *KINDS):
        values = array_of(cells, name)
        without = np.concatenate([values[:, trackers.index((base, "", 0.0))] for base in bases])
        prices = {}
        for kind in kinds:
            doses = sorted({dose for _, other, dose in trackers if other == kind})
            outcomes = np.stack(
                [
                    np.concatenate([values[:, trackers.index((base, kind, dose))] for base in bases])
                    for dose in doses
                ]
            )
            prices[kind] = price_of(doses, outcomes, without)
        shares = relative_prices({kind: price.value for kind, price in prices.items()})
        rows += [
            PriceRow(name, kind, price.value, price.low, price.high, price.n, bend(price), shares[kind])
            for kind, price in prices.items()
        ]
    return rows


def bend(price: Price) -> float | None:
    """Undefined where the error changes nothing."""
    return None if math.isnan(price.bend) else price.bend


def blindness(prices: Sequence[PriceRow]) -> Iterator[Blindness]:
    table = Selection(prices)
    for policy in POLICIES:
        wanted = {row.kind: row.value for row in table.where(of=policy).rows}
        for metric in METRICS:
            own = {row.kind: row.value for row in table.where(of=metric).rows}
            for kind, difference in disagreement(own, wanted).items():
                yield Blindness(policy, metric, kind, difference)


def designed(policy: str, prices: Sequence[PriceRow]) -> Designed:
    """A dose places errors, and errors cost: the price of one error a turn is the ratio of both."""
    table, costs = Selection(prices), {}
    for kind in KINDS:
        (cost,), (placed,) = (table.where(of=name, kind=kind).rows for name in (policy, kind))
        costs[kind] = cost.value / placed.value if placed.value > 0.0 else 0.0
    form = priced_form(costs)
    weights = relative_prices({kind: min(cost, 0.0) for kind, cost in costs.items()})
    return Designed(policy, form, *(abs(weights[kind]) for kind in KINDS))


def tested(cells: Sequence[Any], metrics: Sequence[Designed]) -> Iterator[Tested]:
    """The designed metric of each policy and its rivals, in worlds and on trackers that it never saw."""
    for world in dict.fromkeys(cell.world for cell in cells):
        chosen = [cell for cell in cells if cell.world == world]
        n_worlds, n_trackers = array_of(chosen, "l2").shape
        weights = Weights.draw([cell.tracker for cell in chosen[:n_trackers]], n_worlds)
        for metric in metrics:
            values = {name: array_of(chosen, name) for name in RIVALS}
            values["priced"] = -sum(getattr(metric, kind) * array_of(chosen, kind) for kind in KINDS)
            target = array_of(chosen, metric.policy)
            r = {name: weights.r(value, target) for name, value in values.items()}
            for name in ("priced", *RIVALS):
                lead = with_interval(r["priced"] - r[name])
                shape = (n_worlds, n_trackers)
                yield Tested(world, metric.policy, name, *shape, *with_interval(r[name]), *lead)


def real_cells() -> Iterator[RealCell]:
    """Real calls: the trackers of the studies of DSTC1 and DSTC2, with the values that they stored."""
    metrics = read_study(FOLDER / "config.toml").metrics
    values = {
        (row.dataset, row.tracker): (row.logged, row.rl)
        for row in read_rows(FOLDER.parent / "dstc1" / "values.csv", PolicyValue)
        if (row.fill, row.estimator) == ("argmax", "mean_augmented")
    }
    gains = {
        row.tracker: (row.behaviour, row.rl)
        for row in read_rows(FOLDER.parent / "dstc2" / "gains.csv", Gain)
        if (row.manager, row.absent, row.fill) == ("seen", "correct", "argmax")
    }
    for corpus in ("dstc1", "dstc2"):
        require(corpus)
        settings = msgspec.structs.replace(read_study(CONFIGS / f"{corpus}.toml"), metrics=metrics)
        tasks = [task for bundle in make_schedule(settings).bundles for task in bundle]
        cells = []
        for task in tasks:
            if not isinstance(task, ScoreTask):
                continue
            for dataset, scores in scores_of(task).items():
                value = values.get((dataset, task.tracker)) if corpus == "dstc1" else gains.get(task.tracker)
                if value is not None and not task.system.degenerate:
                    place = {"world": corpus, "dataset": dataset, "tracker": task.tracker}
                    row = {**scores, **place, "logged": value[0], "learned": value[1]}
                    cells.append(msgspec.convert(row, RealCell))
        yield from sorted(cells, key=lambda cell: cell.dataset)


def draw(prices: Selection[PriceRow], path: Path) -> None:
    """What each kind of error costs in return, under both policies; and each metric's own shares."""
    begin()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0), width_ratios=(1.0, 1.3))
    kinds = prices.distinct("kind")
    for shift, policy in ((-0.15, "learned"), (0.15, "fixed")):
        rows = prices.where(of=policy).rows
        value = np.array([row.value for row in rows])
        ends = np.abs([[row.low - row.value, row.high - row.value] for row in rows]).T
        place = np.arange(len(kinds)) + shift
        left.errorbar(value, place, xerr=ends, fmt="o", markersize=4, color=COLOURS[policy], label=policy)
    left.set_yticks(range(len(kinds)), kinds)
    left.invert_yaxis()
    left.axvline(0.0, color="#cccccc", linewidth=0.8)
    left.set(xlabel="change of the live return by a whole dose")
    left.legend(frameon=False)
    shown = (*POLICIES, *METRICS)
    shares = np.array([[row.share for row in prices.where(of=name).rows] for name in shown])
    largest = float(np.abs(shares).max())
    right.imshow(shares, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
    right.set_xticks(range(len(kinds)), kinds, rotation=45, ha="right")
    right.set_yticks(range(len(shown)), shown)
    for (row, column), share in np.ndenumerate(shares):
        right.text(column, row, f"{share:.2f}", ha="center", va="center", fontsize=6.5)
    right.set(title="share of the price")
    save(figure, path)


def write_texts(tables: Path, output: Path) -> None:
    prices = Selection(read_rows(tables / "prices.csv", PriceRow))
    draw(prices, output / "prices.svg")
    text = render(
        FOLDER / "README.md.j2",
        prices=prices,
        blind=Selection(read_rows(tables / "blind.csv", Blindness)),
        designed=Selection(read_rows(tables / "designed.csv", Designed)),
        tested=Selection(read_rows(tables / "tested.csv", Tested)),
        outcomes=OUTCOMES,
        rivals=RIVALS,
    )
    (output / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_runs)
