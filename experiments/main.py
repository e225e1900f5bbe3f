"""The command of every experiment: `python -m experiments.NAME [--output DIR] [--text]`.

An experiment hands over two functions: `compute` makes its csv tables, `write_texts` makes its figures and
README.md from these tables alone, so that a text can be changed without computing anything again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.texts import UnsupportedClaim
from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems
from extrinsic.errors import ExtrinsicError

BAD_INPUT, UNSUPPORTED = 2, 1


def run_experiment(
    folder: Path,
    description: str | None,
    compute: Callable[[Path, argparse.Namespace], None],
    write_texts: Callable[[Path, Path], None],
    add_options: Callable[[argparse.ArgumentParser], None] | None = None,
) -> None:
    """Compute the tables, unless `--text` is given, and write the texts.

    folder: of the experiment, with its committed tables; description: of its `--help`.
    compute(output, arguments) writes csv tables. write_texts(tables, output) reads them from one folder and
    writes figures and README.md to another, here the same. add_options: more options, for `compute`.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{folder.name}", description=description)
    parser.add_argument(
        "--output", type=Path, default=folder, metavar="DIR", help="where tables, figures and text go"
    )
    parser.add_argument(
        "--text", action="store_true", help="compute nothing: make figures and text from the tables in DIR"
    )
    if add_options is not None:
        add_options(parser)
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
