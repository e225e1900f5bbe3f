"""`python -m experiments.population`: does what to measure depend on whether the policy learns?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from experiments.figures import begin, plt, save
from experiments.live_cells import (
    METRICS,
    Cell,
    Registered,
    add_runs,
    array_of,
    compute_cells,
    draw_units,
    interval_of,
    r_within,
)
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.arrays import Floats, Ints
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.toml_files import read_toml

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


def compute(output: Path, arguments: argparse.Namespace) -> None:
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
    return tracker.removeprefix("dosed(").rpartition(", temperature=")[0] or tracker


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
        values, drawn = _values(chosen, (*METRICS, "logged", *POLICIES)), _drawn(chosen)
        for policy in POLICIES:
            for metric in (*METRICS, "logged"):
                r, low, high = _with_interval([values[metric], values[policy]], r_within, drawn)
                n_worlds, n_trackers = values[policy].shape
                yield Correlation(world, group, policy, metric, n_worlds, n_trackers, r, low, high)


def contrasts(cells: Sequence[Cell]) -> Iterator[Contrast]:
    for world, group, chosen in grouped(cells):
        names = ("l2", "accuracy", *POLICIES)
        arrays, drawn = list(_values(chosen, names).values()), _drawn(chosen)
        measures = {
            "L2 less accuracy, learned": lambda l2, accuracy, learned, _: _difference(l2, accuracy, learned),
            "L2 less accuracy, fixed": lambda l2, accuracy, _, fixed: _difference(l2, accuracy, fixed),
            "contrast": lambda l2, accuracy, learned, fixed: (
                _difference(l2, accuracy, fixed) - _difference(l2, accuracy, learned)
            ),
        }
        for what, measure in measures.items():
            yield Contrast(world, group, what, *_with_interval(arrays, measure, drawn))
    for world in (*dict.fromkeys(cell.world for cell in cells), BOTH):
        yield from _by_temperature(world, [cell for cell in cells if world in (cell.world, BOTH)])


def _by_temperature(world: str, cells: Sequence[Cell]) -> Iterator[Contrast]:
    """Copies of a tracker that differ in temperature alone, relative to their mean."""
    copied = {base_of(cell.tracker) for cell in cells if base_of(cell.tracker) != cell.tracker}
    chosen = [cell for cell in cells if base_of(cell.tracker) in copied]
    units = [base_of(cell.tracker) for cell in chosen[: array_of(chosen, "l2").shape[1]]]
    arrays = [_less_mean(array, units) for array in _values(chosen, ("l2", *POLICIES)).values()]
    drawn = _drawn(chosen)
    measures = {
        "L2, learned": lambda l2, learned, _: r_within(l2, learned),
        "L2, fixed": lambda l2, _, fixed: r_within(l2, fixed),
        "contrast": lambda l2, learned, fixed: r_within(l2, fixed) - r_within(l2, learned),
        "ratio of deviations": lambda _, learned, fixed: float(fixed.std() / learned.std()),
    }
    for what, measure in measures.items():
        yield Contrast(world, "temperature alone", what, *_with_interval(arrays, measure, drawn))


def _less_mean(values: Floats, units: Sequence[str]) -> Floats:
    """(n_worlds, n_trackers) less the mean of the copies of each tracker."""
    names = list(dict.fromkeys(units))
    member = np.array([[unit == name for unit in units] for name in names], dtype=np.float64)
    return np.asarray(values - (values @ member.T / member.sum(axis=1)) @ member)


def _values(cells: Sequence[Cell], names: Sequence[str]) -> dict[str, Floats]:
    return {name: array_of(cells, name) for name in names}


def _drawn(cells: Sequence[Cell]) -> list[tuple[Ints, Ints]]:
    n_worlds, n_trackers = array_of(cells, "l2").shape
    return draw_units([base_of(cell.tracker) for cell in cells[:n_trackers]], n_worlds)


def _difference(l2: Floats, accuracy: Floats, target: Floats) -> float:
    return r_within(l2, target) - r_within(accuracy, target)


def _with_interval(
    arrays: Sequence[Floats], measure: Callable[..., float], drawn: Sequence[tuple[Ints, Ints]]
) -> tuple[float, float, float]:
    resampled = [measure(*(array[np.ix_(*rows)] for array in arrays)) for rows in drawn]
    return (measure(*arrays), *interval_of(resampled))


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
    text = render(FOLDER / "README.md.j2", correlations=table, contrasts=found)
    (output / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_runs)
