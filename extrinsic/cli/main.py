"""The entry point: builds the parser, runs a command, turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from extrinsic import __version__
from extrinsic.cli import (
    compare,
    completion,
    ls,
    play,
    policies,
    report,
    run,
    score,
    simulate,
    track,
    validate,
)
from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems
from extrinsic.errors import ExtrinsicError

COMMANDS = (run, policies, report, compare, play, simulate, track, score, validate, ls, completion)

EXIT_INTERNAL_ERROR = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="extrinsic",
        description="Which intrinsic metric of a dialog state tracker predicts how good a dialog policy "
        "built on it will be?",
        epilog="Exit codes: 0 done, 1 internal error, 2 bad input, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"extrinsic {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.DESCRIPTION)
        module.configure(command)
        command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parsed = build_parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except ExtrinsicError as error:
        print_problems(error.problems, sys.stderr, most=SHOWN_PROBLEMS)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output closed the pipe; nothing more may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        import traceback

        traceback.print_exc()
        print("this is an error in extrinsic, not in your input; please report it", file=sys.stderr)
        return EXIT_INTERNAL_ERROR
