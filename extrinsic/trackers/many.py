"""Running many trackers over one corpus in parallel processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from extrinsic.corpus.formats import tracker_writer
from extrinsic.corpus.formats.long_corpora import LongCorpus
from extrinsic.corpus.model import Corpus
from extrinsic.errors import Problem
from extrinsic.parallel import run_in_parallel
from extrinsic.registry import TRACKERS
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import FOLDS, track


def write_tracker_files(
    paths: Mapping[str, Path],
    corpus: Corpus,
    train: Sequence[Corpus] = (),
    folds: int = FOLDS,
    n_jobs: int = 1,
) -> Iterator[str]:
    """Run the named trackers and write one file each; yields each name once its file is written.

    The files are the same, byte for byte, whatever `n_jobs`.
    """
    # Those that have to learn first: they take longest.
    names = sorted(paths, key=lambda name: not isinstance(TRACKERS.get(name), LearnedTracker))
    tasks = [(name, paths[name], corpus, tuple(train), folds) for name in names]
    return run_in_parallel(_write, tasks, n_jobs)


def write_long_tracker_files(
    paths: Mapping[str, Path], read: Callable[[], LongCorpus], train: Sequence[Corpus] = (), n_jobs: int = 1
) -> Iterator[tuple[str, list[Problem]]]:
    """The same over a corpus that is read in parts, with warnings about it.

    Every process reads the corpus once, for its share of the trackers.
    """
    from joblib import cpu_count

    names = list(paths)
    n_groups = min(len(names), cpu_count() if n_jobs == -1 else max(n_jobs, 1))
    groups = [{name: paths[name] for name in names[first::n_groups]} for first in range(n_groups)]
    tasks = [(group, read, tuple(train)) for group in groups]
    return chain.from_iterable(run_in_parallel(_write_long, tasks, n_jobs))


def _write_long(
    paths: dict[str, Path], read: Callable[[], LongCorpus], train: tuple[Corpus, ...]
) -> list[tuple[str, list[Problem]]]:
    trackers = {name: TRACKERS.get(name) for name in paths}
    fitted = {
        name: tracker.fit(train) if isinstance(tracker, LearnedTracker) else tracker
        for name, tracker in trackers.items()
    }
    long = read()
    with ExitStack() as files:
        add = {name: files.enter_context(long.tracker_file(path)) for name, path in paths.items()}
        for part in long.parts():
            for name, tracker in fitted.items():
                add[name](track(tracker, part, name), part)
    return [(name, long.problems) for name in paths]


def needs_whole_corpus(name: str, is_trained: bool) -> bool:
    """Whether a tracker learns from the corpus itself, or errs by what all of its dialogs have."""
    learns = isinstance(TRACKERS.get(name), LearnedTracker)
    return name.startswith("dosed(") or (learns and not is_trained)


def _write(name: str, path: Path, corpus: Corpus, train: tuple[Corpus, ...], folds: int) -> str:
    output = track(TRACKERS.get(name), corpus, name, train, folds)
    tracker_writer(corpus.format).write_tracker(output, corpus, path)
    return name
