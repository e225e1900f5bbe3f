"""`python -m experiments.uncertainty [CONFIG] [--output DIR]`: do intervals and p-values keep their word?"""

from __future__ import annotations

import argparse
import os
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from experiments.tables import rounded, write_csv
from experiments.uncertainty import coverage, differences, independent, null
from experiments.uncertainty.figure import draw
from experiments.uncertainty.text import describe
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.toml_files import read_toml

FOLDER = Path(__file__).parent

Pair = tuple[float, float, float]
Rows = list[dict[str, Any]]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is simulated; see config.toml."""

    seed: int
    n_trackers: tuple[int, ...]
    populations: tuple[str, ...]
    correlations: tuple[float, ...]
    studies: int
    resamples: int
    null_worlds: tuple[tuple[str, float], ...]
    interactions: tuple[float, ...]
    null_studies: int
    permutations: int
    pairs: tuple[Pair, ...]
    pair_studies: int
    pair_permutations: int
    n_points: tuple[int, ...]
    zou_pairs: tuple[Pair, ...]
    zou_studies: int


def cells_of(config: Config) -> dict[str, list[Any]]:
    """The cells of each table, numbered through: a cell's random numbers depend on seed and number."""
    parts: dict[str, list[tuple[Any, ...]]] = {
        "coverage": list(product(config.populations, config.n_trackers, config.correlations)),
        "null": list(product(config.null_worlds, config.n_trackers, config.interactions)),
        "differences": list(product(config.pairs, config.n_trackers)),
        "independent": list(product(config.zou_pairs, config.n_points)),
    }
    numbers = iter(range(sum(map(len, parts.values()))))
    seed = config.seed
    return {
        "coverage": [
            coverage.Cell(seed, next(numbers), population, n, r, config.studies, config.resamples)
            for population, n, r in parts["coverage"]
        ],
        "null": [
            null.Cell(
                seed,
                next(numbers),
                population,
                n,
                interaction,
                noise_r,
                config.null_studies,
                config.permutations,
            )
            for (population, noise_r), n, interaction in parts["null"]
        ],
        "differences": [
            differences.Cell(
                seed,
                next(numbers),
                n,
                r_a,
                r_b,
                r_ab,
                config.pair_studies,
                config.pair_permutations,
                config.resamples,
            )
            for (r_a, r_b, r_ab), n in parts["differences"]
        ],
        "independent": [
            independent.Cell(seed, next(numbers), n, r_a, r_b, r_ab, config.zou_studies)
            for (r_a, r_b, r_ab), n in parts["independent"]
        ],
    }


def run_cell(table: str, cell: Any) -> tuple[str, Rows]:
    modules = {"coverage": coverage, "null": null, "differences": differences, "independent": independent}
    return table, modules[table].run_cell(cell)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.uncertainty", description=__doc__)
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"))
    parser.add_argument("--output", default=str(FOLDER))
    arguments = parser.parse_args()
    config, folder = read_toml(arguments.config, Config), Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Rows] = {name: [] for name in cells_of(config)}
    tasks = [(table, cell) for table, cells in cells_of(config).items() for cell in cells]
    done = run_in_parallel(run_cell, tasks, os.cpu_count() or 1)
    for table, rows in show_progress(done, len(tasks), "cell", lambda step: step[0]):
        tables[table] += rows
    for table, rows in tables.items():
        write_csv(folder / f"{table}.csv", rows)
    write_texts({table: rounded(rows) for table, rows in tables.items()}, config, folder)


def write_texts(tables: dict[str, Rows], config: Config, folder: Path) -> None:
    """From the tables as they are stored."""
    draw(tables["coverage"], folder / "uncertainty.svg")
    (folder / "README.md").write_text(describe(tables, config.seed))


if __name__ == "__main__":
    main()
