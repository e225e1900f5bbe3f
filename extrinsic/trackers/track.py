"""Running trackers over a stored corpus, one, or many in parallel processes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from extrinsic.arrays import Ints, turns_in_step
from extrinsic.corpus.corpus import Corpus, fold_of_sessions
from extrinsic.corpus.formats import tracker_writer
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.requests import method_hypotheses, track_requests
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.parallel import run_in_parallel
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash
from extrinsic.trackers.protocol import AnyTracker, LearnedTracker
from extrinsic.trackers.tracking import BeliefRows, Tracker, Tracking

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
    hypotheses = hypotheses_of(parts, corpus)
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
            for active, turns in turns_in_step(corpus.offsets, chunk):
                rows.add(turns, tracking.step(active, corpus.evidence.take(turns)))
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


def _write(name: str, path: Path, corpus: Corpus, train: tuple[Corpus, ...], folds: int) -> str:
    output = track(TRACKERS.get(name), corpus, name, train, folds)
    tracker_writer(corpus.format).write_tracker(output, corpus, path)
    return name
