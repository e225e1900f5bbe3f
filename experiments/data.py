"""Where the real data is, and a clear word where it is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems
from extrinsic.errors import ExtrinsicError, InputError

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("EXTRINSIC_DATA") or BESIDE)


def require(part: str) -> Path:
    """The folder of one corpus: `dstc2` or `multiwoz`."""
    folder = DATA / part
    if not folder.exists():
        raise InputError(
            f"the {part} data is not here; say where it is with EXTRINSIC_DATA", path=str(folder)
        )
    return folder


def run(main: Callable[[], None]) -> None:
    """Run an experiment; what is wrong with its input is told in a line and not in a traceback."""
    try:
        main()
    except ExtrinsicError as error:
        print_problems(error.problems, sys.stderr, most=SHOWN_PROBLEMS)
        raise SystemExit(2) from None
