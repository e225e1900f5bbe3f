"""`python -m experiments.metrics [--output DIR]`: what three papers on metrics say, on the files we have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.data import run
from experiments.metrics import both_traits, columns, slots, traits, worked
from experiments.metrics.figure import draw_slots, draw_traits
from experiments.metrics.files import Group, read_groups
from experiments.metrics.lookup import Tables
from experiments.metrics.text import describe
from experiments.tables import rounded, write_csv
from extrinsic.cli.progress import show_progress

FOLDER = Path(__file__).parent

PARTS: dict[str, Callable[[dict[str, Group]], Tables]] = {
    "columns": columns.tables,
    "traits": traits.tables,
    "both_traits": both_traits.tables,
    "slots": slots.tables,
    "worked": lambda _: {"worked": worked.rows()},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.metrics", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER))
    folder = Path(parser.parse_args().output)
    groups = read_groups()
    folder.mkdir(parents=True, exist_ok=True)
    tables: Tables = {}
    for _, made in show_progress(_parts(groups), len(PARTS), "part", lambda step: step[0]):
        tables |= made
    for name, rows in tables.items():
        write_csv(folder / f"{name}.csv", rows)
    write_texts({name: rounded(rows) for name, rows in tables.items()}, folder)


def _parts(groups: dict[str, Group]) -> Iterator[tuple[str, Tables]]:
    # The last bits of a matrix product depend on the number of BLAS threads.
    with threadpool_limits(1, user_api="blas"):
        for name, part in PARTS.items():
            yield name, part(groups)


def write_texts(tables: Tables, folder: Path) -> None:
    """From the tables as they are stored."""
    draw_traits(tables["bins"], tables["traits"], folder / "traits.svg")
    draw_slots(tables, folder / "slots.svg")
    (folder / "README.md").write_text(describe(tables))


if __name__ == "__main__":
    run(main)
