"""Arguments that several commands share."""

from __future__ import annotations

import argparse

from extrinsic.errors import UsageError


def add_corpus_arguments(parser: argparse.ArgumentParser) -> None:
    """--format, --corpus, --dataset, --domain."""
    parser.add_argument(
        "--format", required=True, metavar="F", help="what the files are: see `extrinsic ls formats`"
    )
    parser.add_argument(
        "--corpus", metavar="P", help="directory or .tar.gz of the corpus (state sets need none)"
    )
    parser.add_argument("--dataset", metavar="D", help="which list of sessions of the corpus, e.g. dstc2_dev")
    parser.add_argument("--domain", metavar="NAME|PATH", help="the task: a built-in domain or your own .toml")


def require_corpus(arguments: argparse.Namespace) -> None:
    if arguments.corpus is None:
        raise UsageError(f"the format {arguments.format!r} needs a corpus: say where it is with --corpus")
