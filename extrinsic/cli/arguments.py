"""Arguments that several commands share: how states are read, which corpus, names of files."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from extrinsic.corpus.formats import stem
from extrinsic.corpus.state_sets import StateReading
from extrinsic.errors import UsageError
from extrinsic.registry import FORMATS


def state_reading(arguments: argparse.Namespace) -> StateReading:
    """How state files are to be read."""
    return StateReading(
        arguments.gold, arguments.fuzzy, arguments.normalise, arguments.dontcare, arguments.gold_name
    )


def require_corpus(arguments: argparse.Namespace) -> None:
    if not arguments.corpus:
        raise UsageError(f"the format {arguments.format!r} needs a corpus: say where it is with --corpus")
    choices = ("gold", "gold_name", "fuzzy", "normalise", "dontcare")
    given = [f"--{name.replace('_', '-')}" for name in choices if getattr(arguments, name, None) is not None]
    if given:
        raise UsageError(
            f"{', '.join(given)}: for state sets; the gold of {arguments.format!r} is its corpus"
        )


def refuse_corpus(arguments: argparse.Namespace) -> None:
    """State sets have no corpus beside them; one would be ignored without a word."""
    given = [f"--{name}" for name in ("corpus", "dataset", "domain") if getattr(arguments, name) is not None]
    if given:
        joined = "gold" in getattr(FORMATS.get(arguments.format), "needs", ())
        why = "take their gold from --gold" if joined else "hold their own gold"
        raise UsageError(f"files of format {arguments.format!r} {why}: leave out {', '.join(given)}")


def unique_names(paths: Sequence[str]) -> list[str]:
    """Names for tracker files: their stems, with as many of their folders as make them unique."""
    resolved = [Path(path).resolve() for path in paths]
    for path, times in Counter(resolved).items():
        if times > 1:
            raise UsageError("the file is named more than once", path=str(path))
    names = [stem(path) for path in paths]
    longest = max((len(path.parts) for path in resolved), default=0)
    depth = 1
    while len(set(names)) < len(names):
        if depth > longest:
            name, _ = Counter(names).most_common(1)[0]
            same = [path for path, other in zip(paths, names, strict=True) if other == name]
            raise UsageError(
                "files have one name but for .json and .gz: leave one out or rename it", found=", ".join(same)
            )
        counts = Counter(names)
        names = [
            "/".join((*path.parts[-1 - depth : -1], stem(path))) if counts[name] > 1 else name
            for name, path in zip(names, resolved, strict=True)
        ]
        depth += 1
    return names
