"""`python -m experiments.population`: does what to measure depend on whether the policy learns?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from experiments.figures import begin, plt, save
from experiments.live_cells import (
    METRICS,
    Cell,
    Registered,
    Weights,
    add_runs,
    array_of,
    compute_cells,
    with_interval,
)
from experiments.main import run_experiment
from experiments.population.power import BestSet, LeeFinding, compute_power
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.arrays import Floats
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml

R = TypeVar("R", bound=msgspec.Struct)

FOLDER = Path(__file__).parent
POLICIES = ("learned", "fixed")
GROUPS = ("all", "without copies")
BOTH = "both"
COLOURS = {"learned": "#0072B2", "fixed": "#D55E00"}


class Correlation(msgspec.Struct, frozen=True):
    """A metric with the live return of a policy, within worlds, over trackers and worlds drawn anew."""

    world: str
    group: str
    policy: str
    metric: str
    n_worlds: int
    n_trackers: int
    r: float
    low: float
    high: float


class Contrast(msgspec.Struct, frozen=True):
    """What registered.toml names: a difference, with its interval; `above 0` confirms."""

    world: str
    group: str
    what: str
    value: float
    low: float
    high: float


def add_options(parser: argparse.ArgumentParser) -> None:
    add_runs(parser)
    parser.add_argument(
        "--power",
        type=Path,
        metavar="RUN",
        help="instead: best sets and Lee's findings of configs/population.toml, which is run in RUN",
    )


def compute(output: Path, arguments: argparse.Namespace) -> None:
    if arguments.power:
        compute_power(output, arguments.power)
        return
    registered = read_toml(FOLDER / "registered.toml", Registered)
    compute_cells(read_study(FOLDER / "config.toml"), registered.worlds, output, arguments.runs / FOLDER.name)
    write_summaries(output)


def write_summaries(output: Path) -> None:
    """Of the rounded numbers: anybody can make them again from the table."""
    cells = read_rows(output / "cells.csv", Cell)
    write_rows(output / "correlations.csv", list(correlations(cells)), Correlation, decimals=3)
    write_rows(output / "contrasts.csv", list(contrasts(cells)), Contrast, decimals=3)


def base_of(tracker: str) -> str:
    """What a recalibrated copy is a copy of; a tracker is its own base."""
    return tracker.removeprefix("recalibrated(").rpartition(", temperature=")[0] or tracker


def grouped(cells: Sequence[Cell]) -> Iterator[tuple[str, str, list[Cell]]]:
    """The cells of each kind of world, and of both; with and without recalibrated copies."""
    for world in (*dict.fromkeys(cell.world for cell in cells), BOTH):
        for group in GROUPS:
            chosen = [cell for cell in cells if world in (cell.world, BOTH)]
            if group != "all":
                chosen = [cell for cell in chosen if base_of(cell.tracker) == cell.tracker]
            yield world, group, chosen


def correlations(cells: Sequence[Cell]) -> Iterator[Correlation]:
    for world, group, chosen in grouped(cells):
        weights = _weights(chosen)
        for policy in POLICIES:
            target = array_of(chosen, policy)
            for metric in (*METRICS, "logged"):
                r, low, high = with_interval(weights.r(array_of(chosen, metric), target))
                yield Correlation(world, group, policy, metric, *_shape(chosen), r, low, high)


def contrasts(cells: Sequence[Cell]) -> Iterator[Contrast]:
    for world, group, chosen in grouped(cells):
        weights = _weights(chosen)
        l2, accuracy, learned, fixed = (array_of(chosen, name) for name in ("l2", "accuracy", *POLICIES))
        by_learned = weights.r(l2, learned) - weights.r(accuracy, learned)
        by_fixed = weights.r(l2, fixed) - weights.r(accuracy, fixed)
        yield Contrast(world, group, "L2 less accuracy, learned", *with_interval(by_learned))
        yield Contrast(world, group, "L2 less accuracy, fixed", *with_interval(by_fixed))
        yield Contrast(world, group, "contrast", *with_interval(by_fixed - by_learned))
    for world in (*dict.fromkeys(cell.world for cell in cells), BOTH):
        yield from _by_temperature(world, [cell for cell in cells if world in (cell.world, BOTH)])


def _by_temperature(world: str, cells: Sequence[Cell]) -> Iterator[Contrast]:
    """Copies of a tracker that differ in temperature alone, relative to their mean."""
    copied = {base_of(cell.tracker) for cell in cells if base_of(cell.tracker) != cell.tracker}
    chosen = [cell for cell in cells if base_of(cell.tracker) in copied]
    weights, units = _weights(chosen), _units(chosen)
    l2, learned, fixed = (_less_mean(array_of(chosen, name), units) for name in ("l2", *POLICIES))
    by_learned, by_fixed = weights.r(l2, learned), weights.r(l2, fixed)
    ratio = np.sqrt(weights.products(fixed, fixed) / weights.products(learned, learned))
    measures = {"L2, learned": by_learned, "L2, fixed": by_fixed, "contrast": by_fixed - by_learned}
    for what, drawn in (measures | {"ratio of deviations": ratio}).items():
        yield Contrast(world, "temperature alone", what, *with_interval(drawn))


def _less_mean(values: Floats, units: Sequence[str]) -> Floats:
    """(n_worlds, n_trackers) less the mean of the copies of each tracker."""
    names = list(dict.fromkeys(units))
    member = np.array([[unit == name for unit in units] for name in names], dtype=np.float64)
    return np.asarray(values - (values @ member.T / member.sum(axis=1)) @ member)


def _shape(cells: Sequence[Cell]) -> tuple[int, int]:
    n_worlds, n_trackers = array_of(cells, "l2").shape
    return n_worlds, n_trackers


def _units(cells: Sequence[Cell]) -> list[str]:
    return [base_of(cell.tracker) for cell in cells[: _shape(cells)[1]]]


def _weights(cells: Sequence[Cell]) -> Weights:
    return Weights.draw(_units(cells), _shape(cells)[0])


def draw(table: Selection[Correlation], path: Path) -> None:
    """Every metric's r under both policies, a panel for each world."""
    begin()
    worlds = [world for world in table.distinct("world") if world != BOTH]
    figure, panels = plt.subplots(1, len(worlds), figsize=(9.0, 3.6), sharex=True, sharey=True)
    for panel, world in zip(panels, worlds, strict=True):
        for shift, policy in ((-0.15, "learned"), (0.15, "fixed")):
            rows = table.where(world=world, policy=policy, group="all").rows
            place = np.arange(len(rows)) + shift
            r = np.array([row.r for row in rows])
            ends = np.abs([[row.low - row.r, row.high - row.r] for row in rows]).T
            panel.errorbar(
                r, place, xerr=ends, fmt="o", markersize=4, color=COLOURS[policy], label=f"{policy} policy"
            )
        panel.set_yticks(range(len(rows)), [row.metric for row in rows])
        panel.set(title=world, xlabel="r with the live return")
        panel.axvline(0.0, color="#cccccc", linewidth=0.8)
    panels[0].invert_yaxis()
    panels[0].legend(loc="lower left", frameon=False)
    save(figure, path)


def write_texts(tables: Path, output: Path) -> None:
    table = Selection(read_rows(tables / "correlations.csv", Correlation))
    draw(table, output / "population.svg")
    found = Selection(read_rows(tables / "contrasts.csv", Contrast))
    cells = read_rows(tables / "cells.csv", Cell)
    n_worlds, n_trackers = _shape(cells)
    n_copies = sum(base_of(cell.tracker) != cell.tracker for cell in cells[:n_trackers])
    n_bases = len({base_of(cell.tracker) for cell in cells if base_of(cell.tracker) != cell.tracker})
    text = render(
        FOLDER / "README.md.j2",
        correlations=table,
        contrasts=found,
        worlds=found.distinct("world"),
        kinds=[world for world in found.distinct("world") if world != BOTH],
        n_members=n_trackers - n_copies - n_bases,
        n_bases=n_bases,
        n_worlds=n_worlds,
        best_sets=_if_there(tables / "best_sets.csv", BestSet),
        findings=_if_there(tables / "findings.csv", LeeFinding),
    )
    (output / "README.md").write_text(text)


def _if_there(path: Path, row: type[R]) -> Selection[R]:
    """The rows of a table that takes a long run; none where it was not made."""
    return Selection(read_rows(path, row) if path.exists() else [])


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
