"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from extrinsic.errors import UsageError


def add_corpus_arguments(parser: argparse.ArgumentParser) -> None:
    """--format, --corpus, --dataset, --domain, --plugin."""
    parser.add_argument(
        "--format", required=True, metavar="F", help="what the files are: see `extrinsic ls formats`"
    )
    parser.add_argument(
        "--corpus", metavar="P", help="directory or .tar.gz of the corpus (state sets need none)"
    )
    parser.add_argument("--dataset", metavar="D", help="which list of sessions of the corpus, e.g. dstc2_dev")
    parser.add_argument("--domain", metavar="NAME|PATH", help="the task: a built-in domain or your own .toml")
    add_plugin_argument(parser)


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


def require_corpus(arguments: argparse.Namespace) -> None:
    if not arguments.corpus:
        raise UsageError(f"the format {arguments.format!r} needs a corpus: say where it is with --corpus")


def refuse_corpus(arguments: argparse.Namespace) -> None:
    """Refuse a corpus for state sets: they have their own gold, and it would be silently ignored."""
    options = [
        f"--{name}" for name in ("corpus", "dataset", "domain") if getattr(arguments, name) is not None
    ]
    if options:
        raise UsageError(
            f"files of format {arguments.format!r} hold their own gold: leave out {', '.join(options)}"
        )


def unique_names(paths: Sequence[str]) -> list[str]:
    """Names for tracker files: their stems, with as many of their folders as make them unique."""
    from extrinsic.corpus.formats import stem

    resolved = [Path(path).resolve() for path in paths]
    for path, times in Counter(resolved).items():
        if times > 1:
            raise UsageError("the file is named more than once", path=str(path))
    names = [stem(path) for path in paths]
    depth = 1
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [
            "/".join((*path.parts[-1 - depth : -1], stem(path))) if counts[name] > 1 else name
            for name, path in zip(names, resolved, strict=True)
        ]
        depth += 1
    return names
