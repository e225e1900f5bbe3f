"""The entry point: builds the parser, runs a command, turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from extrinsic import __version__
from extrinsic.cli.commands import COMMANDS, Parser
from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems
from extrinsic.errors import ExtrinsicError, OutputError, Problem, did_you_mean

EXIT_INTERNAL_ERROR = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="extrinsic",
        description="Which intrinsic metric of a dialog state tracker predicts how good a dialog policy "
        "built on it will be?",
        epilog="Exit codes: 0 done, 1 internal error, 2 bad input, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"extrinsic {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (line, configure) in COMMANDS.items():
        description = " ".join((configure.__doc__ or "").split())
        configure(commands.add_parser(name, help=line, description=description))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        return _main(arguments)
    except OSError:  # not even the error can be written
        _discard(sys.stderr)
        return EXIT_BAD_INPUT


def _main(arguments: Sequence[str] | None) -> int:
    if sys.stderr is None:  # closed by the caller: another file would get its number, and our messages
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        if sys.stdout is None:
            raise OutputError("the output cannot be written: it is closed", expected="> /dev/null for none")
        return _run(arguments)
    except ExtrinsicError as error:
        print_problems(error.problems, sys.stderr, most=SHOWN_PROBLEMS)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output closed the pipe; nothing more may be written at exit either.
        _discard(sys.stdout)
        return 0
    except OSError as error:
        # What no reader or writer expected of the system: a name that is too long, a full disk.
        _discard(sys.stdout)
        what = "cannot be read or written" if error.filename else "the output cannot be written"
        path = None if error.filename is None else str(error.filename)
        print_problems([Problem(f"{what}: {error.strerror or error}", path=path)], sys.stderr, most=None)
        return EXIT_BAD_INPUT
    except Exception:
        import traceback

        traceback.print_exc()
        print("this is an error in extrinsic, not in your input; please report it", file=sys.stderr)
        return EXIT_INTERNAL_ERROR


def _run(arguments: Sequence[str] | None) -> int:
    """Parse and run; the output is complete before this returns, so that a failure to write it is seen."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = build_parser()
    try:
        if given and not given[0].startswith("-") and given[0] not in COMMANDS:
            parser.error(f"there is no command {given[0]!r}; {did_you_mean(given[0], COMMANDS)}")
        parsed = parser.parse_args(given)
        code: int = import_module(f"extrinsic.cli.{parsed.command}").run(parsed)
    except SystemExit:  # argparse: help, or wrong arguments
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _discard(stream: TextIO) -> None:
    """What is still buffered would be written at exit, and fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:  # a stream in memory
        return
