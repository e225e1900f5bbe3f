"""`extrinsic simulate`: write the corpora of a world, an embedded one or another, as DSTC1 or DSTC2 files."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from extrinsic.cli.output import print_rows, print_table, say
from extrinsic.cli.progress import show_progress
from extrinsic.errors import OutputError, UsageError, did_you_mean
from extrinsic.parallel import run_in_parallel
from extrinsic.plugins import load_plugins, loaded_plugins
from extrinsic.policy.rewards import Reward, returns
from extrinsic.registry import FORMATS
from extrinsic.simulation import Play, Simulation, describe, find_simulation
from extrinsic.storage import content_hash, decode_json, encode_json, read_bytes, sign, write_atomic

RECORD = "simulation.json"
HEADS = {name: name for name in ("dataset", "dialogs", "turns")}
HEADS |= {"turns_per_dialog": "turns/dialog", "lee_turns_per_dialog": "Lee 2014", "rank_1": "rank 1"}
HEADS |= {"in_list": "in list", "list_size": "N-best", "hang_ups": "hang-ups", "completed": "completed"}
HEADS |= {"expert_return": "expert's return"}


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    simulation = find_simulation(arguments.world, arguments.config)
    chosen = _choose(simulation, arguments.dataset)
    folder = Path(arguments.output)
    world = content_hash("simulation", encode_json(simulation.plain()))[:12]
    form = simulation.world(*chosen[0]).domain.log_format
    signature = sign(command=arguments.command, format=form, seed=simulation.seed, world=world)
    before = _claim(folder, signature)
    source = (loaded_plugins(), arguments.world, arguments.config)
    tasks = [(*source, dataset, split, folder) for dataset, split in chosen]
    done = run_in_parallel(_write, tasks, arguments.n_jobs)
    # Written before the work, so that it can be resumed in this directory if it is interrupted.
    _write_record(folder, signature, simulation, before)
    rows = list(
        show_progress(done, len(tasks), arguments.command, lambda row: str(row["dataset"]), arguments.quiet)
    )
    _write_record(folder, signature, simulation, before | {row["dataset"]: row for row in rows})
    if arguments.json:
        print_rows(signature, rows, sys.stdout)
    else:
        print_table(rows, HEADS, sys.stdout)
        say(f"{sum(row['dialogs'] for row in rows):,} calls in {folder}")
    return 0


def _choose(simulation: Simulation, names: list[str] | None) -> list[tuple[str, str]]:
    """The (dataset, split) pairs that the names stand for; all of them without names."""
    corpora = simulation.corpora()
    if not names:
        return corpora
    full = [f"{dataset}_{split}" for dataset, split in corpora]
    choices = [*dict.fromkeys(dataset for dataset, _ in corpora), *full]
    for name in names:
        if name not in choices:
            raise UsageError(f"there is no dataset {name!r}; {did_you_mean(name, choices)}")
    return [
        (dataset, split) for dataset, split in corpora if dataset in names or f"{dataset}_{split}" in names
    ]


def _claim(folder: Path, signature: str) -> dict[str, Any]:
    """The rows of the datasets that the directory holds already.

    A directory that holds anything else is refused: two worlds in one directory are not a corpus.
    """

    if folder.exists() and not folder.is_dir():
        raise OutputError("this is a file", path=str(folder), expected="a directory, or nothing")
    if not folder.exists() or not any(folder.iterdir()):
        return {}
    path = folder / RECORD
    if not path.exists():
        raise OutputError("the directory holds other files; name an empty one", path=str(folder))
    record = decode_json(read_bytes(path), str(path))
    recorded = record.get("signature") if isinstance(record, dict) else None
    if recorded != signature:
        message = "the directory holds the calls of another configuration; name another one"
        raise OutputError(message, path=str(folder), expected=signature, found=str(recorded))
    rows = record.get("datasets")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "dataset" in row for row in rows):
        raise OutputError("the record of the calls is damaged; name another directory", path=str(path))
    return {row["dataset"]: row for row in rows}


def dataset_row(played: Play) -> dict[str, Any]:
    """Statistics of simulated calls, and the mean return of the expert."""
    reward = Reward.of(played.corpus.domain)(played.corpus, played.output)
    return {**asdict(describe(played)), "expert_return": float(returns(played.corpus, reward).mean())}


def _write(
    plugins: tuple[str, ...], world: str, config: str | None, dataset: str, split: str, folder: Path
) -> dict[str, Any]:
    """Simulate one corpus and write it; returns its row of the table."""
    load_plugins(plugins)
    played = find_simulation(world, config).simulate(dataset, split)
    FORMATS.get(played.corpus.format).write_corpus(played.corpus, folder)
    return dataset_row(played)


def _write_record(folder: Path, signature: str, simulation: Simulation, rows: dict[str, Any]) -> None:
    """Record the contents of the directory and their settings; datasets in the configuration's order."""
    names = [f"{dataset}_{split}" for dataset, split in simulation.corpora()]
    datasets = [rows[name] for name in names if name in rows]
    record = {"signature": signature, "settings": simulation.plain(), "datasets": datasets}
    write_atomic(folder / RECORD, encode_json(record, indent=2))
