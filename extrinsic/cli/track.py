"""`extrinsic track`: tracker files from the trackers that come with the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from extrinsic.cli.arguments import require_corpus
from extrinsic.cli.output import print_problems, say
from extrinsic.cli.progress import show_progress
from extrinsic.corpus.corpus import Corpus, fold_of_sessions
from extrinsic.corpus.formats import BeliefFormat, tracker_writer
from extrinsic.errors import InputError, OutputError, UsageError
from extrinsic.plugins import load_plugins
from extrinsic.registry import FORMATS, TRACKERS
from extrinsic.storage import read_bytes
from extrinsic.study.tracker_inputs import distinct_trackers
from extrinsic.trackers.populations import canonical_name, population
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import FOLDS, write_tracker_files

ALL = "all"


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    tracker_writer(arguments.format)
    form: BeliefFormat = FORMATS.get(arguments.format)
    require_corpus(arguments)
    names, learned = _chosen(arguments)
    _require_use(arguments, bool(learned))
    paths = _paths(arguments, names)
    corpus = form.read_corpus(arguments.corpus, arguments.dataset, arguments.domain)
    print_problems(corpus.problems, sys.stderr, most=None)
    if arguments.distinct is not None:
        paths = {name: paths[name] for name in _distinct(names, corpus, arguments.distinct)}
    train = _read_training(form, arguments, corpus.signature, set(corpus.sessions))
    folds = FOLDS if arguments.folds is None else arguments.folds
    if learned and train:
        dialogs = f"{train[0].n_dialogs:,} dialogs of {train[0].dataset}"
        say(f"{', '.join(learned)}: trained on {dialogs}")
    elif learned:
        fold_of_sessions(corpus.sessions, folds)  # refuses an impossible number before anything is written
        say(f"{', '.join(learned)}: cross-fitted in {folds} folds of {corpus.dataset}")
    done = write_tracker_files(paths, corpus, train, folds, arguments.n_jobs)
    for _ in show_progress(done, len(paths), arguments.command, str, arguments.quiet):
        pass
    return 0


def _chosen(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The requested trackers, each once, and those of them that are learned."""
    requested: Sequence[str] = arguments.tracker
    every = TRACKERS.names() if ALL in requested else []
    members = []
    if arguments.population is not None:
        if arguments.population < 1:
            raise UsageError("a population has at least one member", found=str(arguments.population))
        members = population(arguments.population, arguments.population_seed)
    chosen = [canonical_name(name) for name in requested if name != ALL]
    names = list(dict.fromkeys([*every, *chosen, *members]))
    if not names:
        raise UsageError("which trackers? --tracker T, --tracker all, or --population N")
    return names, [name for name in names if isinstance(TRACKERS.get(name), LearnedTracker)]


def _distinct(names: Sequence[str], corpus: Corpus, threshold: float) -> list[str]:
    """The trackers that agree with no earlier one; the others are named on stderr."""
    if not 0.0 < threshold <= 1.0:
        raise UsageError("--distinct is out of range", expected="above 0, at most 1", found=str(threshold))
    compared = list(distinct_trackers(names, corpus, threshold))
    for tracker, original in compared:
        if original is not None:
            say(f"{tracker}: left out, it agrees with {original}")
    return [tracker for tracker, original in compared if original is None]


def _require_use(arguments: argparse.Namespace, learning: bool) -> None:
    """Refuse options that would be silently ignored."""
    training = arguments.train_corpus is not None or arguments.train_dataset is not None
    if training and arguments.folds is not None:
        raise UsageError(
            "--folds is for cross-fitting: it does not go with --train-corpus or --train-dataset"
        )
    if not learning and (training or arguments.folds is not None):
        raise UsageError("none of the trackers learns: leave out --train-corpus, --train-dataset and --folds")


def _paths(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, Path]:
    """Where each tracker's file goes; the folder is made now, before any work is done."""
    output, suffix = Path(arguments.output), ".json.gz" if arguments.gzip else ".json"
    if len(names) > 1 or output.is_dir() or arguments.output.endswith("/"):
        folder, paths = output, {name: output / f"{name}{suffix}" for name in names}
    else:
        more = ".gz" if arguments.gzip and output.suffix != ".gz" else ""
        folder, paths = output.parent, {names[0]: output.with_name(output.name + more)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OutputError("there is a file of this name", path=str(folder), expected="a directory") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot be made: {reason}", path=str(folder)) from None
    corpus = Path(arguments.corpus).resolve()
    for path in paths.values():
        if path.is_file() and corpus in (path.resolve(), *path.resolve().parents) and not _is_tracker(path):
            raise OutputError("this is a file of the corpus, and would be overwritten", path=str(path))
    return paths


def _is_tracker(path: Path) -> bool:
    """Whether a file looks like one that this command has written."""
    try:
        return read_bytes(path).startswith(b'{"dataset"')
    except InputError:
        return False


def _read_training(
    form: BeliefFormat, arguments: argparse.Namespace, signature: str, sessions: Collection[str] = ()
) -> list[Corpus]:
    """What learned trackers learn from; signature, sessions: of the corpus that is tracked."""
    if arguments.train_corpus is None and arguments.train_dataset is None:
        return []
    path = arguments.train_corpus or arguments.corpus
    train = form.read_corpus(path, arguments.train_dataset, arguments.domain)
    shared = set(train.sessions).intersection(sessions)
    if train.signature == signature:
        raise UsageError(
            f"{train.dataset!r} would be tracked by models that learned from it; "
            "leave out the training corpus to cross-fit"
        )
    if shared:
        say(f"warning: {len(shared):,} session ids are in both corpora")
    return [train]
