"""`python -m experiments.truth [CONFIG] [--output DIR]`: what estimators say against what live play says."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.tables import rounded, write_csv
from experiments.truth.cells import Cell, run_cell
from experiments.truth.figure import draw
from experiments.truth.summary import summarise
from experiments.truth.text import describe
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.parallel import run_in_parallel
from extrinsic.toml_files import read_toml

FOLDER = Path(__file__).parent


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is played and estimated; see config.toml."""

    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    features: str
    proxies: tuple[str, ...]
    misspecified_proxies: tuple[str, ...]
    n_live: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.truth", description=__doc__)
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"))
    parser.add_argument("--output", default=str(FOLDER))
    arguments = parser.parse_args()
    config, folder = read_toml(arguments.config, Config), Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    common = (config.features, config.proxies, config.misspecified_proxies, config.n_live)
    cells = [
        (Cell(seed, dataset, tracker, *common),)
        for seed in config.seeds
        for dataset in config.datasets
        for tracker in config.trackers
    ]
    done = run_in_parallel(run_cell, cells, os.cpu_count() or 1)
    rows = [row for part in show_progress(done, len(cells), "cell", _place) for row in part]
    summary = summarise(rounded(rows))
    write_csv(folder / "estimates.csv", rows)
    write_csv(folder / "summary.csv", summary)
    draw(rows, folder / "truth.svg")
    noise = float(np.mean([row["live_half_width"] for row in rounded(rows)]))
    (folder / "README.md").write_text(describe(rounded(summary), noise, folder / "tried.csv"))
    print_table(summary, {key: key for key in summary[0]}, sys.stdout)
    print(f"half the 95 % interval of a live return, on average: {noise:.1f}")


def _place(rows: list[dict[str, Any]]) -> str:
    return " ".join(str(rows[0][key]) for key in ("seed", "dataset", "tracker"))


if __name__ == "__main__":
    main()
