"""Simulated studies of known truth: what the verdict says of each, and whether it is true."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import msgspec
import numpy as np

from experiments.selection import Selection
from experiments.uncertainty.worlds import QUALITIES, SHAPES, World
from extrinsic.arrays import Floats
from extrinsic.verdict.bounds import bounds
from extrinsic.verdict.choices import pair_sums
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import (
    draw_permutations,
    jackknife_interval,
    permutation_test,
    without_each,
)

DECLARED = 10
"""The first of the metrics, of as many clusters as there are."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is simulated; see config.toml."""

    seed: int
    kept_seed: int
    kept_shapes: tuple[str, ...]
    n_systems: tuple[int, ...]
    n_datasets: tuple[int, ...]
    n_metrics: tuple[int, ...]
    studies: int
    studies_of_most: int
    development_studies: int
    development_of_most: int
    draws: int
    margin: float
    permutations: int

    def worlds(self, kept: bool) -> list[tuple[str, str]]:
        """Shapes and qualities; without the kept ones while the procedure is developed."""
        return list(product((s for s in SHAPES if kept or s not in self.kept_shapes), QUALITIES))


class Cell(msgspec.Struct, frozen=True):
    """What the verdict says over studies of one kind: shares of the studies.

    promised: less than a coin loses.   held: nothing is promised, or the recommended metric loses no more
    than its bound.   bound: the median of the bound, of what a coin loses; 1 where nothing is promised.
    as_good, worse: how many metrics are called so.   false_as_good: some metric is called as good and costs
    more than the margin more than the recommended one; false_worse: one is called worse and does not cost
    more.   needed: the median of how many times as many systems are asked for.
    r_held: the interval of Pearson's r of the first metric holds the population's.   p_05: its p is at most
    .05.
    """

    shape: str
    quality: str
    n_systems: int
    n_datasets: int
    studies: int
    promised: float
    held: float
    bound: float
    as_good: float
    worse: float
    false_as_good: float
    false_worse: float
    needed: float | None
    r_held: float
    p_05: float


def cell_rows(config: Config, kept: bool, shape: str, quality: str) -> list[Cell]:
    """All sizes of the studies of a world; each draws its own random numbers."""
    key = [
        config.kept_seed if kept else config.seed,
        list(SHAPES).index(shape),
        list(QUALITIES).index(quality),
    ]
    truths = [truth_of(World(shape, quality, m, 1), np.random.default_rng(key)) for m in config.n_metrics]
    rows = []
    for n, d in product(config.n_systems, config.n_datasets):
        few, many = (config.studies_of_most, config.studies)
        if not kept:
            few, many = config.development_of_most, config.development_studies
        n_studies = few if n == max(config.n_systems) else many
        found = []
        for number in range(n_studies):
            of = number % len(config.n_metrics)
            rng = np.random.default_rng([*key, n, d, number])
            world = World(shape, quality, config.n_metrics[of], d)
            found.append(study_of(world, n, rng, truths[of], config, f"{key} {n} {d} {number}"))
        table = np.array(found)
        means = dict(zip(NUMBERS, np.nanmean(table[:, :-1], axis=0).tolist(), strict=True))
        needed = table[np.isfinite(table[:, -1]), -1]
        means["bound"] = float(np.median(table[:, NUMBERS.index("bound")]))
        asked = float(np.median(needed)) if len(needed) else None
        rows.append(Cell(shape, quality, n, d, n_studies, **means, needed=asked))
    return rows


NUMBERS = (
    *("promised", "held", "bound", "as_good", "worse", "false_as_good", "false_worse"),
    *("r_held", "p_05"),
)


class Truth(msgspec.Struct, frozen=True):
    """Over the whole population: lost (M,), a coin's loss, and Pearson's r of the first metric."""

    lost: Floats
    coin: float
    r: float


MANY = 30_000
"""Systems of the draw from which the truth is taken."""


def truth_of(world: World, rng: np.random.Generator) -> Truth:
    """By a draw of MANY systems; the datasets of a world are alike, so that one is enough."""
    scores, values, _ = world.draw(MANY, rng, apart=True)
    sums = pair_sums(scores, values)
    n_pairs = MANY * (MANY - 1)
    earned, possible = (each.sum(axis=(1, 2)) / n_pairs for each in (sums.earned, sums.possible))
    if world.quality == "unrelated":
        # By construction, and not but for the draw.
        earned = np.zeros_like(earned)
    r = float(correlate(scores[:1], values[None], "pearson", "within").item())
    return Truth(possible - earned, float(possible[0]), r)


def study_of(
    world: World, n: int, rng: np.random.Generator, truth: Truth, config: Config, identity: str
) -> list[float]:
    """The numbers of one study, as in `Cell`."""
    scores, values, families = world.draw(n, rng)
    made = bounds(
        scores,
        values,
        declared=np.arange(world.n_metrics) < DECLARED,
        identity=identity,
        seed=0,
        margin=config.margin,
        draws=config.draws,
        families=families if world.shape == "families" else None,
    )
    first = made.first
    assert first is not None
    promised = not np.isnan(made.bound[first])
    groups = np.array(made.groups)
    more = truth.lost - truth.lost[first]
    good, worse = groups == "as good", groups == "worse"
    wrong = (more > config.margin * truth.coin)[good].any(), (more <= 0)[worse].any()
    possible = float(pair_sums(values[None], values).possible[0].sum(axis=-1).mean() / (n * (n - 1)))
    bound = made.bound[first] / possible if promised else 1.0
    held = not promised or truth.lost[first] <= made.bound[first]
    x, y = scores[:1], values[None]
    low, high = jackknife_interval(
        correlate(x, y, "pearson", "within"), without_each(x, y, "pearson", "within"), heavy_tails=True
    )
    test = permutation_test(x, y, "pearson", "within", draw_permutations(identity, n, config.permutations, 0))
    r_held, p = low.item() <= truth.r <= high.item(), test.p.item()
    numbers = [promised, held, bound, good.sum(), worse.sum(), *wrong, r_held, p <= 0.05]
    return [*map(float, numbers), made.needed / n if made.needed else np.nan]


class Line(msgspec.Struct, frozen=True):
    """A shape and a number of systems, over all qualities but `unrelated` (promises: idle; p-values: p_05).

    lowest: the cell in which the promise was held least often, and how often.   given: of the studies that
    promise, how many hold it; NaN where too few promise.   bound: of the cells where the best cluster has a
    share of .9, the middle one.
    """

    shape: str
    n_systems: int
    studies: int
    promised: float
    held: float
    given: float
    lowest: float
    lowest_at: str
    bound: float
    as_good: float
    worse: float
    false_as_good: float
    false_worse: float
    idle: float
    needed: float
    r_held: float
    p_05: float


FEW = 0.05


def lines_of(cells: Sequence[Cell]) -> list[Line]:
    lines = []
    for shape, n in dict.fromkeys((cell.shape, cell.n_systems) for cell in cells):
        of = [cell for cell in cells if (cell.shape, cell.n_systems) == (shape, n)]
        idle = Selection([cell for cell in of if cell.quality == "unrelated"])
        rest = Selection([cell for cell in of if cell.quality != "unrelated"])
        lowest = min(rest.rows, key=lambda cell: cell.held)
        names = ("promised", "held", "as_good", "worse", "false_as_good", "false_worse", "r_held")
        means = {name: rest.mean(name) for name in names}
        asked = [cell.needed for cell in rest.rows if cell.needed is not None]
        few = means["promised"] < FEW
        lines.append(
            Line(
                shape,
                n,
                sum(cell.studies for cell in rest.rows),
                **means,
                given=np.nan if few else 1.0 - (1.0 - means["held"]) / means["promised"],
                lowest=lowest.held,
                lowest_at=f"{lowest.quality}, {lowest.n_datasets}",
                bound=float(np.median(rest.where(quality="good").column("bound"))),
                idle=idle.mean("promised"),
                needed=float(np.median(asked)) if asked else np.nan,
                p_05=idle.mean("p_05"),
            )
        )
    return lines
