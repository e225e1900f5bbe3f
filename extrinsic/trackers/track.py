"""Running trackers over a stored corpus, one, or many in parallel processes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.corpus.formats import tracker_writer
from extrinsic.corpus.formats.long_corpora import LongCorpus
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.labels import CorpusLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.requests import method_hypotheses, track_requests
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import BeliefRows, Tracker, Tracking, turns_in_step
from extrinsic.errors import Problem, UsageError
from extrinsic.parallel import run_in_parallel
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash
from extrinsic.trackers.protocol import AnyTracker, LearnedTracker

DIALOGS_AT_ONCE = 2_000
"""How many dialogs run in lockstep; more only costs memory."""

FOLDS = 5


def track(
    tracker: AnyTracker, corpus: Corpus, name: str, train: Sequence[Corpus] = (), folds: int = FOLDS
) -> TrackerOutput:
    """The beliefs of a tracker over the dialogs of a corpus.

    A learned one is trained on `train`. Without it, on the corpus itself by cross-fitting: its beliefs about
    a dialog come from a model that was not trained on that dialog.
    """
    everything = np.arange(corpus.n_dialogs)
    if not isinstance(tracker, LearnedTracker):
        parts = [(tracker, everything)]
    elif train:
        parts = [(tracker.fit(train), everything)]
    else:
        fold = fold_of_sessions(corpus.sessions, folds)
        fitted = tracker.fit_parts(corpus, [np.flatnonzero(fold != held) for held in range(folds)])
        parts = [(fitted[held], np.flatnonzero(fold == held)) for held in range(folds)]
    try:
        hypotheses = hypotheses_of(parts, corpus)
    except UsageError as error:  # errors on purpose that cannot be placed here
        place = f"{name} on {corpus.dataset}"
        raise UsageError(replace(problem, path=problem.path or place) for problem in error.problems) from None
    taught = [part.signature for part in train] or ([str(folds)] if len(parts) > 1 else [])
    # The scores are part of it: another tracker of the same name differs in them.
    signature = content_hash("built-in", name, corpus.signature, *taught, hypotheses.score.tobytes())
    joint = corpus.conventions.make_joint(hypotheses, len(corpus.slots), tracker.rule)
    method = requested = None
    if corpus.conventions.tracks_requests:
        belief = track_requests(corpus, tracker.rule)
        method, requested = method_hypotheses(corpus, belief.method), belief.requested
    return build_output(corpus, name, hypotheses, joint, method, requested, signature=signature)[0]


def hypotheses_of(parts: Sequence[tuple[Tracker, Ints]], corpus: Corpus) -> Hypotheses:
    """The hypotheses of trackers, each about its own dialogs; together they cover the corpus."""
    n_slots = len(corpus.slots)
    rows = BeliefRows()
    for tracker, dialogs in parts:
        for begin in range(0, len(dialogs), DIALOGS_AT_ONCE):
            chunk = dialogs[begin : begin + DIALOGS_AT_ONCE]
            tracking = Tracking(tracker, len(chunk), n_slots)
            errors = tracking.errors
            labels = CorpusLabels(corpus) if errors is not None and errors.needs_labels else None
            for active, turns in turns_in_step(corpus.offsets, chunk):
                right = None if labels is None else labels.take(chunk[active], turns)
                rows.add(turns, tracking.step(active, corpus.evidence.take(turns), right))
    return rows.hypotheses(corpus.n_turns, n_slots)


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
