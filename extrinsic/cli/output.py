"""The output of commands: problems for people, rows for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from extrinsic.errors import Problem

SHOWN_PROBLEMS = 50


def print_problems(problems: Sequence[Problem], stream: TextIO, most: int | None, indent: str = "") -> None:
    """One line per problem, errors first, and how many more there are."""
    order = sorted(problems, key=lambda problem: ("error", "repair", "note").index(problem.severity))
    for problem in order[:most]:
        label = "" if problem.severity == "error" else f"[{problem.severity}] "
        print(f"{indent}{label}{problem}", file=stream)
    if most is not None and len(order) > most:
        print(f"{indent}... and {len(order) - most:,} more", file=stream)


def print_rows(signature: str, rows: Iterable[object], stream: TextIO) -> None:
    """The one form of --json: {"signature": ..., "rows": [...]}; rows: structs or mappings."""
    import msgspec

    from extrinsic.storage import encode_json

    plain = msgspec.to_builtins({"signature": signature, "rows": list(rows)})
    stream.write(encode_json(plain, indent=2).decode())
