"""`python -m experiments.truth.tried`: variants of the default estimators, on a seed used while building.

What helped became the default; this is what else was tried, with its figures, in tried.csv.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.tables import write_csv
from experiments.truth.cells import Cell, Prepared, prepare
from experiments.truth.summary import summarise
from extrinsic.cli.progress import show_progress
from extrinsic.cli.text_tables import print_table
from extrinsic.parallel import run_in_parallel
from extrinsic.policy.states import States
from extrinsic.registry import ESTIMATORS
from extrinsic.toml_files import read_toml
from extrinsic.value.estimators import Estimator
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fqe import Fqe, TreeSettings
from extrinsic.value.lstd_value import Lstd
from extrinsic.value.q_function import KernelSettings

SEED = 7


def without(states: States, unwanted: Callable[[str], bool]) -> States:
    """States without some of their continuous columns."""
    kept = [number for number, name in enumerate(states.continuous_names) if not unwanted(name)]
    names = tuple(states.continuous_names[number] for number in kept)
    return replace(states, continuous=states.continuous[:, kept], continuous_names=names)


def lstd(**parameters: float) -> Lstd:
    return Lstd("lstd_augmented", KernelSettings(**parameters), augmented=True)


def trees(**parameters: int) -> Fqe:
    return Fqe("fqe_augmented", TreeSettings(**parameters), augmented=True)


def is_worth(name: str) -> bool:
    return name == "worth"


def is_proxy(name: str) -> bool:
    return name.startswith("proxy")


def nothing(name: str) -> bool:
    return False


VARIANTS: dict[str, tuple[Estimator, Callable[[str], bool]]] = {
    "observed": (ESTIMATORS.get("observed"), nothing),
    "lstd_augmented": (lstd(), nothing),
    "lstd, proxies without worth": (lstd(), is_worth),
    "lstd, worth without proxies": (lstd(), is_proxy),
    "lstd, ridge 300": (lstd(ridge=300.0), nothing),
    "lstd, ridge 1000": (lstd(ridge=1000.0), nothing),
    "lstd, width 1.5": (lstd(width=1.5), nothing),
    "lstd, width 3": (lstd(width=3.0), nothing),
    "lstd, gamma .97": (lstd(gamma=0.97), nothing),
    "fqe_augmented": (trees(), nothing),
    "fqe, proxies without worth": (trees(), is_worth),
    "fqe, worth without proxies": (trees(), is_proxy),
    "fqe, leaves of 20": (trees(smallest_leaf=20), nothing),
    "fqe, 100 trees": (trees(trees=100), nothing),
}


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    """A row for every variant."""
    prepared: Prepared = prepare(cell)
    rows = []
    for name, (estimator, unwanted) in VARIANTS.items():
        augmented = without(prepared.case.augmented, unwanted)  # type: ignore[arg-type]
        value = estimator.estimate(
            EvaluationProblem(prepared.case.transitions, prepared.case.target, augmented)
        )
        rows.append(
            {
                **prepared.where,
                "estimator": name,
                "value": value.mean,
                "low": value.low,
                "high": value.high,
                **prepared.truth,
                "on_policy_gap": np.nan,
                "flags": "",
            }
        )
    return rows


def main() -> None:
    from experiments.truth.__main__ import FOLDER, Config

    config = read_toml(FOLDER / "config.toml", Config)
    common = (config.features, config.proxies, config.misspecified_proxies, config.n_live)
    cells = [(Cell(SEED, dataset, name, *common),) for dataset in config.datasets for name in config.trackers]
    done = run_in_parallel(run_cell, cells, os.cpu_count() or 1)
    parts = show_progress(done, len(cells), "cell", lambda rows: f"{rows[0]['dataset']} {rows[0]['tracker']}")
    summary = summarise([row for part in parts for row in part])
    told = ("estimator", "cells", "bias", "rmse", "r", "r_core", "coverage")
    write_csv(Path(FOLDER) / "tried.csv", [{key: row[key] for key in told} for row in summary])
    print_table(summary, {key: key for key in told}, sys.stdout)


if __name__ == "__main__":
    main()
