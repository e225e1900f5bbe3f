"""Running a tracker over a stored corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.requests import method_hypotheses, track_requests
from extrinsic.corpus.splits import fold_of_dialogs
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import BeliefRows, Tracker, Tracking, turns_in_step
from extrinsic.corpus.turn_labels import CorpusLabels
from extrinsic.errors import UsageError
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
        fold = fold_of_dialogs(corpus, folds)
        parts = [
            (tracker.fit([corpus.take(np.flatnonzero(fold != held))]), np.flatnonzero(fold == held))
            for held in range(folds)
        ]
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
