"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from extrinsic.cli.output import say
from extrinsic.errors import InputError, UsageError

if TYPE_CHECKING:
    from extrinsic.corpus.state_sets import StateReading
    from extrinsic.study.finished_run import Run


def add_corpus_arguments(parser: argparse.ArgumentParser) -> None:
    """--format, --corpus, --dataset, --domain, --plugin."""
    option = parser.add_argument
    option("--format", required=True, metavar="F", help="what the files are: see `extrinsic ls formats`")
    option("--corpus", metavar="P", help="directory or .tar.gz of the corpus (state sets need none)")
    option("--dataset", metavar="D", help="which list of sessions of the corpus, e.g. dstc2_dev")
    option("--domain", metavar="NAME|PATH", help="the task: a built-in domain or your own .toml")
    add_plugin_argument(parser)


def add_state_arguments(parser: argparse.ArgumentParser) -> None:
    """--gold, --fuzzy, --normalise, ...: what `state_reading` makes of them."""
    option = parser.add_argument
    option(
        "--gold",
        metavar="P",
        help="file or directory of the gold states, for files that hold predictions alone or another gold",
    )
    option(
        "--fuzzy",
        type=int,
        metavar="N",
        help="values of open slots count as equal from this similarity on, 1 to 100 (default: equal text)",
    )

    option(
        "--gold-name", metavar="NAME", help="which gold, where the file of --gold has several, e.g. gold24"
    )
    option(
        "--normalise",
        metavar="RULE|FILE",
        help="make values alike first: multiwoz_eval, trade, trippy, strict, or your own .toml",
    )
    option("--dontcare", metavar="CHOICE", help="keep (default), drop, or drop_gold: from gold alone")


def state_reading(arguments: argparse.Namespace) -> StateReading:
    """How state files are to be read."""
    from extrinsic.corpus.state_sets import StateReading

    return StateReading(
        arguments.gold, arguments.fuzzy, arguments.normalise, arguments.dontcare, arguments.gold_name
    )


def add_plugin_argument(parser: argparse.ArgumentParser) -> None:
    """--plugin; the command must call `import_plugins` first."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="a Python file that registers your own formats, metrics, trackers, ...; repeatable",
    )


def import_plugins(arguments: argparse.Namespace) -> None:
    """Import the files that --plugin names."""
    if arguments.plugin:
        from extrinsic.plugins import load_plugins

        load_plugins(arguments.plugin)


def add_trust_argument(parser: argparse.ArgumentParser) -> None:
    """--trust-plugins, for `open_run`."""
    parser.add_argument(
        "--trust-plugins",
        action="store_true",
        help="import the Python files that the run's configuration names; without it nothing is imported",
    )


def open_run(folder: str, trusted: bool) -> Run:
    """A complete run, to be read; it may come from anybody, so its plugins are imported only if trusted."""
    from extrinsic.study.finished_run import Run

    path = Path(folder)
    if not os.path.isdir(path):  # noqa: PTH112 - Path's raises for a name that is too long
        raise InputError("there is no such directory", path=folder, expected="the directory of a run")
    finished = Run(path)
    finished.require_complete()
    if finished.changed:
        say(f"{folder}: not as the run wrote them: {', '.join(finished.changed)}")
    if finished.plugins:
        names = ", ".join(finished.plugins)
        if trusted:
            from extrinsic.plugins import load_plugins

            say(f"importing {names}")
            load_plugins(finished.plugins)
        else:
            say(f"the run used plugins, which are not imported without --trust-plugins: {names}")
    return finished


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
    from extrinsic.registry import FORMATS

    given = [f"--{name}" for name in ("corpus", "dataset", "domain") if getattr(arguments, name) is not None]
    if given:
        joined = "gold" in getattr(FORMATS.get(arguments.format), "needs", ())
        why = "take their gold from --gold" if joined else "hold their own gold"
        raise UsageError(f"files of format {arguments.format!r} {why}: leave out {', '.join(given)}")


def unique_names(paths: Sequence[str]) -> list[str]:
    """Names for tracker files: their stems, with as many of their folders as make them unique."""
    from extrinsic.corpus.formats import stem

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
