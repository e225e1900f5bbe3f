"""Running many trackers over one corpus in parallel processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from extrinsic.corpus.formats import tracker_writer
from extrinsic.corpus.model import Corpus
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


def _write(name: str, path: Path, corpus: Corpus, train: tuple[Corpus, ...], folds: int) -> str:
    output = track(TRACKERS.get(name), corpus, name, train, folds)
    tracker_writer(corpus.format).write_tracker(output, corpus, path)
    return name
