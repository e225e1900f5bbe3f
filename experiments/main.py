"""The command of every experiment: `python -m experiments.NAME [--output DIR] [--runs DIR] [--text]`.

An experiment says which tables it stores, how they are made, and what its text needs beside them. Figures and
README.md are made from the stored tables alone, so that a text can be changed without computing anything.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from experiments.selection import Selection
from experiments.texts import UnsupportedClaim, render
from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems
from extrinsic.cli.progress import show_progress
from extrinsic.errors import ExtrinsicError, InputError
from extrinsic.study.engine import Done, Engine
from extrinsic.study.run import Run
from extrinsic.study.runner import run_policies, run_study
from extrinsic.study.settings import StudySettings
from extrinsic.tables import read_rows, write_rows

BAD_INPUT, UNSUPPORTED = 2, 1
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("EXTRINSIC_DATA") or BESIDE)

Kinds = Mapping[str, type[msgspec.Struct]]
Tables = dict[str, Selection[Any]]
Made = Iterable[tuple[str, Sequence[msgspec.Struct]]]


def no_values(tables: Tables) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True)
class Experiment:
    """An experiment in its folder, with a README.md.j2.

    tables: by file name, a struct whose fields are the columns.   compute(output, arguments) yields tables by
    name; each is written before the next is asked for, so that a later one may be made of an earlier one.
    values(tables): what the text needs beside the tables.   draw(tables, output): the figures.
    decimals: of tables that do not have three.   options: more of them, for `compute`.
    """

    folder: Path
    description: str | None
    tables: Kinds
    compute: Callable[[Path, argparse.Namespace], Made]
    values: Callable[[Tables], Mapping[str, object]] = no_values
    draw: Callable[[Tables, Path], None] | None = None
    decimals: Mapping[str, int] = field(default_factory=dict)
    options: Callable[[argparse.ArgumentParser], None] | None = None

    def read(self, folder: Path) -> Tables:
        """Of a table that was not made yet: no rows."""
        files = {name: folder / f"{name}.csv" for name in self.tables}
        return {
            name: Selection(read_rows(file, self.tables[name]) if file.exists() else [])
            for name, file in files.items()
        }

    def write(self, made: Made, output: Path) -> None:
        output.mkdir(parents=True, exist_ok=True)
        for name, rows in made:
            write_rows(output / f"{name}.csv", rows, self.tables[name], self.decimals.get(name, 3))

    def write_texts(self, tables: Path, output: Path) -> None:
        rows = self.read(tables)
        if self.draw is not None:
            self.draw(rows, output)
        text = render(self.folder / "README.md.j2", **{**rows, **self.values(rows)})
        (output / "README.md").write_text(text)

    def main(self) -> None:
        def options(parser: argparse.ArgumentParser) -> None:
            add_runs(parser)
            if self.options is not None:
                self.options(parser)

        run_experiment(
            self.folder,
            self.description,
            lambda output, arguments: self.write(self.compute(output, arguments), output),
            self.write_texts,
            options,
        )


def add_runs(parser: argparse.ArgumentParser) -> None:
    help = "where runs of the tool are, or will be"
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="DIR", help=help)


def run_experiment(
    folder: Path,
    description: str | None,
    compute: Callable[[Path, argparse.Namespace], None],
    write_texts: Callable[[Path, Path], None],
    options: Callable[[argparse.ArgumentParser], None] | None = None,
) -> None:
    """Compute the tables, unless `--text` is given, and write the texts."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{folder.name}", description=description)
    add = parser.add_argument
    add("--output", type=Path, default=folder, metavar="DIR", help="where tables and text go")
    add("--text", action="store_true", help="compute nothing: figures and text of the tables in DIR")
    if options is not None:
        options(parser)
    arguments = parser.parse_args()
    try:
        if not arguments.text:
            arguments.output.mkdir(parents=True, exist_ok=True)
            compute(arguments.output, arguments)
        write_texts(arguments.output, arguments.output)
    except ExtrinsicError as error:
        print_problems(error.problems, sys.stderr, most=SHOWN_PROBLEMS)
        raise SystemExit(BAD_INPUT) from None
    except UnsupportedClaim as error:
        # The tables are written: a person looks at them and writes another sentence, then uses --text.
        print(f"{folder.name}/README.md.j2, {error}", file=sys.stderr)
        raise SystemExit(UNSUPPORTED) from None


def require(part: str) -> Path:
    """The folder of one corpus: `dstc2` or `multiwoz`."""
    folder = DATA / part
    if not folder.exists():
        message = f"the {part} data is not here; say where it is with EXTRINSIC_DATA"
        raise InputError(message, path=str(folder))
    return folder


def make_run(settings: StudySettings, folder: Path, n_jobs: int = -1) -> Run:
    """The run of a study or of a grid of policies; what a directory already holds is taken."""

    def watch(steps: Iterable[Done], planned: Counter[str]) -> Iterable[Done]:
        return show_progress(
            steps, planned.total(), folder.name, lambda done: f"{done.key.kind} {done.label}"
        )

    def tell(text: str) -> None:
        print(text, file=sys.stderr)

    make = run_study if settings.grid is None else run_policies
    return make(settings, folder, Engine(n_jobs=n_jobs), watch=watch, notify=tell)
