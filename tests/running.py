"""Running the command line inside the test process, and what must hold whenever it refuses an input."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from extrinsic.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    output: str
    errors: str

    @property
    def text(self) -> str:
        return self.output + self.errors

    def json(self) -> Any:
        return json.loads(self.output)


def run(*arguments: object) -> Outcome:
    """Run a command; its streams refuse what a UTF-8 terminal refuses."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse leaves this way
            code = int(stop.code or 0)
    for stream in streams:
        stream.flush()
    output, errors = (stream.buffer.getvalue().decode("utf-8") for stream in streams)
    return Outcome(code, output, errors)


def succeed(*arguments: object) -> Outcome:
    """Run a command that must not fail."""
    outcome = run(*arguments)
    assert outcome.code == 0, outcome.text
    return outcome


def assert_refused(outcome: Outcome, *places: str) -> None:
    """Exit code 2, no traceback, and every place named."""
    assert outcome.code == 2, outcome.text
    assert "Traceback" not in outcome.text
    for place in places:
        assert place in outcome.text, f"{place!r} is not named in: {outcome.text}"
