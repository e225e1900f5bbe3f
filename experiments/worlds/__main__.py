"""`python -m experiments.worlds`: how much of a metric's correlation is the world's."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from experiments.figures import begin, plt, save
from experiments.live_cells import METRICS, Cell, World, add_runs, array_of, compute_cells
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.arrays import Floats
from extrinsic.registry import WORLDS
from extrinsic.simulation.world_files import draw_worlds, read_drawn
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import Count, Whole, read_toml
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import jackknife_influence, without_each

FOLDER = Path(__file__).parent
POLICIES = ("learned", "fixed")
LEAD = "l2 less accuracy"
COLOURS = {"learned": "#0072B2", "fixed": "#D55E00"}


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See registered.toml."""

    seed: Whole
    draws: Count
    base: dict[str, str]


class WorldCorrelation(msgspec.Struct, frozen=True):
    """z = atanh(r) of a metric with the return of a policy over the trackers of one world.

    error: of z, by leaving out trackers.   predicted: the mean z of all other worlds (leave one out).
    """

    world: str
    dataset: str
    policy: str
    metric: str
    r: float
    z: float
    error: float
    predicted: float


class Varying(msgspec.Struct, frozen=True):
    """A random-effects summary: z_w = mean + world_w + noise_w; r: of the mean, with an interval.

    between: the standard deviation of worlds, in z.   share: of the variance of z_w that is the worlds'.
    new_low, new_high: the interval of r in a new world.   left_out_error: |z - predicted|, mean.
    lead, lead_low, lead_high: of z over that of JGA in the same world.
    """

    policy: str
    metric: str
    n_worlds: int
    r: float
    low: float
    high: float
    between: float
    share: float
    new_low: float
    new_high: float
    left_out_error: float
    lead: float
    lead_low: float
    lead_high: float


class PropertyEffect(msgspec.Struct, frozen=True):
    """How the lead of L2 over accuracy (z) moves with a property of worlds, in standard deviations of it."""

    world: str
    policy: str
    property: str
    n_worlds: int
    r: float
    low: float
    high: float


def compute(output: Path, arguments: argparse.Namespace) -> None:
    drawn = read_toml(FOLDER / "registered.toml", Drawn)
    worlds = [
        World(kind, name, drawn.seed)
        for kind, base in drawn.base.items()
        for name in draw_worlds([base], drawn.draws, WORLDS.get(kind).read().properties, {}, drawn.seed)
    ]
    study = read_study(FOLDER / "config.toml")
    compute_cells(study, worlds, output, arguments.runs / FOLDER.name)
    write_summaries(output)


def write_summaries(output: Path) -> None:
    """Of the rounded numbers: anybody can make them again from the table."""
    cells = read_rows(output / "cells.csv", Cell)
    rows = list(world_rows(cells))
    write_rows(output / "correlations.csv", rows, WorldCorrelation, decimals=3)
    write_rows(output / "varying.csv", list(varying(rows)), Varying, decimals=3)
    write_rows(output / "properties.csv", list(properties(rows)), PropertyEffect, decimals=3)


def world_rows(cells: Sequence[Cell]) -> Iterator[WorldCorrelation]:
    """Every metric in every world, and the lead of L2 over accuracy."""
    places = list(dict.fromkeys((cell.world, cell.dataset) for cell in cells))
    names = tuple(METRICS)
    metrics = np.stack([array_of(cells, name) for name in names])
    for policy in POLICIES:
        target = array_of(cells, policy)
        z, error = (np.empty((len(names) + 1, len(places))) for _ in range(2))
        for number in range(len(places)):
            points = metrics[:, [number]], target[None, [number]]
            r, left_out = correlate(*points, "pearson", "within"), without_each(*points, "pearson", "within")
            made = jackknife_influence(r, left_out, True)
            lead = np.arctanh(left_out[:, names.index("l2")]) - np.arctanh(
                left_out[:, names.index("accuracy")]
            )
            z[:-1, number], error[:-1, number] = np.arctanh(r[:, 0]), made.error[:, 0]
            z[-1, number] = z[names.index("l2"), number] - z[names.index("accuracy"), number]
            n = len(lead)
            error[-1, number] = np.sqrt((n - 1) / n * ((lead - lead.mean()) ** 2).sum())
        others = (z.sum(axis=1, keepdims=True) - z) / (len(places) - 1)
        for row, name in enumerate((*names, LEAD)):
            for number, (world, dataset) in enumerate(places):
                value = float(z[row, number])
                yield WorldCorrelation(
                    world,
                    dataset,
                    policy,
                    name,
                    float(np.tanh(value)),
                    value,
                    float(error[row, number]),
                    float(others[row, number]),
                )


def varying(rows: Sequence[WorldCorrelation]) -> Iterator[Varying]:
    """Means over worlds, which are the sample and count alike; a new world's r includes its trackers' noise.

    Weights by the worlds' own errors would favour those with a high r: there the errors of z are smaller.
    """
    from scipy.stats import t

    table = Selection(rows)
    for policy in POLICIES:
        jga = np.array(table.where(policy=policy, metric="jga").column("z"))
        for metric in table.distinct("metric"):
            chosen = table.where(policy=policy, metric=metric)
            z, error, predicted = (np.array(chosen.column(name)) for name in ("z", "error", "predicted"))
            n, mean, spread = len(z), float(z.mean()), float(z.std(ddof=1))
            likely = float(t.ppf(0.975, n - 1))
            r, low, high, new_low, new_high = (
                float(np.tanh(mean + way * likely * spread))
                for way in (0.0, -(n**-0.5), n**-0.5, -((1 + 1 / n) ** 0.5), (1 + 1 / n) ** 0.5)
            )
            between = max(0.0, spread**2 - float(np.mean(error**2)))
            lead = z - jga
            half = likely * float(lead.std(ddof=1)) / n**0.5
            away = float(np.abs(z - predicted).mean())
            yield Varying(
                policy,
                metric,
                n,
                r,
                low,
                high,
                between**0.5,
                between / spread**2,
                new_low,
                new_high,
                away,
                float(lead.mean()),
                float(lead.mean()) - half,
                float(lead.mean()) + half,
            )


def properties(rows: Sequence[WorldCorrelation]) -> Iterator[PropertyEffect]:
    """r over worlds of the lead with each property that was drawn."""
    table = Selection(rows).where(metric=LEAD)
    for world in table.distinct("world"):
        known = WORLDS.get(world).read().properties
        for policy in POLICIES:
            chosen = table.where(world=world, policy=policy).rows
            z = np.array([row.z for row in chosen])
            drawn = [read_drawn(row.dataset, known)[1] for row in chosen]
            for name in drawn[0]:
                value = np.array([each[name] for each in drawn])
                if np.ptp(value) > 0.0:
                    yield PropertyEffect(world, policy, name, len(chosen), *_r_with_interval(value, z))


def _r_with_interval(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Fisher's interval: worlds are drawn independently."""
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.96 / max(len(x) - 3, 1) ** 0.5
    return r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def draw(rows: Selection[WorldCorrelation], varied: Selection[Varying], path: Path) -> None:
    """Each world's r of L2 and accuracy under both policies, and the interval of a new world."""
    begin()
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.4), sharey=True)
    for panel, policy in zip(panels, POLICIES, strict=True):
        for place, metric in enumerate(METRICS):
            points = rows.where(policy=policy, metric=metric).column("r")
            (row,) = varied.where(policy=policy, metric=metric).rows
            panel.plot([row.new_low, row.new_high], [place, place], color="#bbbbbb", linewidth=4)
            panel.plot([row.low, row.high], [place, place], color=COLOURS[policy], linewidth=2)
            panel.scatter(points, [place] * len(points), s=9, color="#333333", zorder=3)
        panel.set_yticks(range(len(METRICS)), list(METRICS))
        panel.set(title=f"{policy} policy", xlabel="r within a world")
    panels[0].invert_yaxis()
    save(figure, path)


def write_texts(tables: Path, output: Path) -> None:
    rows = Selection(read_rows(tables / "correlations.csv", WorldCorrelation))
    varied = Selection(read_rows(tables / "varying.csv", Varying))
    draw(rows, varied, output / "worlds.svg")
    n_worlds, n_trackers = array_of(read_rows(tables / "cells.csv", Cell), "l2").shape
    text = render(
        FOLDER / "README.md.j2",
        rows=rows,
        varying=varied,
        properties=Selection(read_rows(tables / "properties.csv", PropertyEffect)),
        lead=LEAD,
        n_worlds=n_worlds,
        n_trackers=n_trackers,
    )
    (output / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_runs)
