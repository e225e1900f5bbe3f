"""Trackers that exist only as files, made runnable: a clone regressed from their scores.

clone = clone_tracker([(train, train_output), (test, test_output)])
clone_agreement(clone, test, test_output).fits
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.corpus.hypotheses import Beliefs
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import Heard, Tracking, turns_in_step
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError
from extrinsic.trackers.candidate_features import PLANES, remember
from extrinsic.trackers.protocol import BuiltInTracker, capped
from extrinsic.trackers.track import hypotheses_of
from extrinsic.trackers.update_model import (
    SAME,
    Examples,
    Scored,
    UpdateModel,
    fit_update_model,
    score_by_rules,
)

FOLDS = 2
"""The parts into which dialogs are divided, so that a clone is checked on those that did not teach it."""

FEW_CHANGES = 0.01
"""A tracker whose scores change less often than this while nothing is said of their slot keeps them then."""

SAME_BEST = 0.95
DIFFERENCE = 0.05
"""A clone fits if it has the same best value at least as often, with scores no further apart on average."""

Example = tuple[Corpus, TrackerOutput]
"""A corpus, and what a tracker believes at every turn of it."""

_PACKED = (len(PLANES) + 1) // 2
"""The planes of memory that hold features, two in single precision for each."""


def _packed(features: Floats) -> Floats:
    """(len(PLANES), ...) -> (_PACKED, ...): live play copies the memory of all dialogs at every turn."""
    pairs = np.zeros((_PACKED, *features.shape[1:], 2), dtype=np.float32)
    pairs[..., 0], pairs[: len(PLANES) // 2, ..., 1] = features[::2], features[1::2]
    return pairs.view(np.float64)[..., 0]


def _unpacked(planes: Floats) -> Floats:
    """(_PACKED, ...) -> (len(PLANES), ...)"""
    pairs = np.ascontiguousarray(planes)[..., None].view(np.float32)
    features = np.empty((len(PLANES), *planes.shape[1:]))
    features[::2], features[1::2] = pairs[..., 0], pairs[: len(PLANES) // 2, ..., 1]
    return features


class _ByCandidate(BuiltInTracker):
    """Scores every candidate by its features and its previous score; both are its memory.

    keeps: whether scores stay as they are while nothing is said of their slot.
    """

    kind = "learned"
    planes = _PACKED + 1
    keeps: bool

    def update(self, memory: Floats, heard: Heard) -> Floats:
        mentioned = np.diff(heard.evidence.offsets).reshape(heard.value.shape[:2]) > 0
        row, slot = np.nonzero(mentioned if self.keeps else heard.is_candidate.any(axis=-1))
        after = memory.copy()
        if len(row):
            # Only these slots, each as a dialog of its own: most slots are not mentioned in a turn.
            before, items = memory[:, row, slot][:, :, None], heard.take(row, slot)
            features = remember(_unpacked(before[:-1]), items)
            candidates = score_by_rules(features, before[-1], items)
            scores = np.zeros(items.value.shape)
            scores[candidates.places] = self.scores(candidates, row, slot, items.value[candidates.places])
            after[:, row, slot] = np.concatenate([_packed(features), capped(scores)[None]])[:, :, 0]
        return after

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[-1])

    @abstractmethod
    def scores(self, candidates: Scored, row: Ints, slot: Ints, value: Ids) -> Floats:
        """(r,) the scores of candidates; candidates.places[0] are positions in row (k,) and slot (k,).

        value (r,): the candidates themselves.
        """


@dataclass(frozen=True, eq=False)
class Clone(_ByCandidate):
    """A tracker with the scores that a file's tracker would probably give.

    name: that of the file's tracker.   model: taught by all dialogs.   keeps: as of the file.
    fold: per session that taught it, the part it is in.   held_out: per part, a model taught by the others.
    """

    name: str
    model: UpdateModel
    keeps: bool
    fold: Mapping[str, int]
    held_out: tuple[UpdateModel, ...]

    def scores(self, candidates: Scored, row: Ints, slot: Ints, value: Ids) -> Floats:
        return self.model.scores(candidates.features, candidates.rules, candidates.places[0])


@dataclass(frozen=True)
class CloneAgreement:
    """How far a clone agrees with the file on dialogs that did not teach it.

    n: slots at turns, where the clone or the file has a best value other than None.
    same_best: in which share of these it is the same.   difference: of the best scores, mean absolute.
    correlation: Pearson's r of the best scores, NaN where they are all equal.
    """

    n: int
    same_best: float
    difference: float
    correlation: float

    @property
    def fits(self) -> bool:
        """Whether values obtained by the clone can be taken for those of the file's tracker."""
        return self.same_best >= SAME_BEST and self.difference <= DIFFERENCE


def clone_tracker(examples: Sequence[Example]) -> Clone:
    """A clone of the tracker that wrote these outputs, e.g. those about training and test dialogs."""
    if not examples:
        raise UsageError("a clone needs examples", expected="a corpus and the tracker's output on it")
    for corpus, output in examples:
        output.require_about(corpus)
    items = np.cumsum([0, *(corpus.n_turns * len(corpus.slots) for corpus, _ in examples)])
    files = [_FileScores(*example, int(first)) for example, first in zip(examples, items, strict=False)]
    sessions = sorted({session for corpus, _ in examples for session in corpus.sessions})
    if len(sessions) < FOLDS:
        raise UsageError("a clone needs more dialogs", expected=f"at least {FOLDS}", found=str(len(sessions)))
    fold = dict(zip(sessions, fold_of_sessions(sessions, FOLDS).tolist(), strict=True))
    keeps = _keep_unmentioned(files)
    recorded = [turn for file in files for turn in _examples(file, keeps, fold)]
    if len({part for turn in recorded for part in turn.fold.tolist()}) < FOLDS:
        raise UsageError("there is too little to clone from: hardly any dialog mentions a value")
    taught = Examples.joined(recorded)
    return Clone(
        name=examples[0][1].name,
        model=fit_update_model(taught),
        keeps=keeps,
        fold=fold,
        held_out=tuple(
            fit_update_model(taught.take(np.flatnonzero(taught.fold != held))) for held in range(FOLDS)
        ),
    )


def clone_agreement(clone: Clone, corpus: Corpus, output: TrackerOutput) -> CloneAgreement:
    """How far the clone's beliefs about these dialogs are those of the file.

    A dialog that taught the clone is tracked by a model that it did not teach; the clone itself was taught by
    more dialogs than such a model, and is a little better.
    """
    output.require_about(corpus)
    part = np.array([clone.fold.get(session, FOLDS) for session in corpus.sessions])
    clones = [*(replace(clone, model=model) for model in clone.held_out), clone]
    parts = [(tracker, np.flatnonzero(part == held)) for held, tracker in enumerate(clones)]
    cloned = build_output(corpus, clone.name, hypotheses_of(parts, corpus))[0]
    (value, score), (own_value, own_score) = (
        _best(beliefs) for beliefs in (output.marginals(corpus), cloned.beliefs)
    )
    compared = (value != NONE) | (own_value != NONE)
    if not compared.any():
        return CloneAgreement(0, 1.0, 0.0, np.nan)
    same, score, own_score = (value == own_value)[compared], score[compared], own_score[compared]
    varied = min(np.ptp(score), np.ptp(own_score)) > 0.0
    return CloneAgreement(
        n=len(same),
        same_best=float(same.mean()),
        difference=float(np.abs(score - own_score).mean()),
        correlation=float(np.corrcoef(score, own_score)[0, 1]) if varied else np.nan,
    )


def _best(beliefs: Beliefs) -> tuple[Ids, Floats]:
    """(n,) the best value of each item and its score, 0 for None."""
    value = beliefs.value[beliefs.top]
    return value, np.where(value == NONE, 0.0, beliefs.score[beliefs.top])


class _FileScores:
    """The scores that an output gives the values of each slot at each turn.

    An item is turn * n_slots + slot; first_item: how many items other files have before.
    """

    def __init__(self, corpus: Corpus, output: TrackerOutput, first_item: int) -> None:
        self.first_item = first_item
        beliefs = output.marginals(corpus)
        given = beliefs.value != NONE
        self.corpus, self._n_words = corpus, len(corpus.vocabulary)
        self.item, self.value = row_of_each(beliefs.offsets)[given], beliefs.value[given]
        self.score = beliefs.score[given]
        key = self.item * self._n_words + self.value
        order = np.argsort(key, kind="stable")
        self._key, self._score = key[order], self.score[order]

    def at(self, item: Ints, value: Ids) -> Floats:
        """(r,) the scores of values, 0 for one that the file does not list; item (r,)."""
        if not len(self._key):
            return np.zeros(len(item))
        key = item * self._n_words + value
        position = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        return np.where(self._key[position] == key, self._score[position], 0.0)

    def changes_unmentioned(self) -> Bools:
        """Of the scores before and after a turn that does not mention their slot: which differ."""
        corpus, n_slots = self.corpus, len(self.corpus.slots)
        begins = (corpus.turn_in_dialog == 0) | corpus.restart
        mentioned = np.diff(corpus.evidence.offsets) > 0
        unmentioned = np.append(~mentioned & ~np.repeat(begins, n_slots), np.zeros(n_slots, dtype=bool))
        after, before = unmentioned[self.item], unmentioned[self.item + n_slots]
        moved = [
            self.score[rows] - self.at(self.item[rows] + step, self.value[rows])
            for rows, step in ((after, -n_slots), (before, n_slots))
        ]
        return np.asarray(np.abs(np.concatenate(moved)) > SAME)


def _keep_unmentioned(files: Sequence[_FileScores]) -> bool:
    changes = np.concatenate([file.changes_unmentioned() for file in files])
    return not len(changes) or bool(changes.mean() < FEW_CHANGES)


class _Teacher(_ByCandidate):
    """Gives candidates the file's scores, and records what could be seen before each of them.

    fold (n_dialogs,): the part that each dialog is in.   turns: those of the current step, set from outside.
    """

    def __init__(self, file: _FileScores, keeps: bool, fold: Ints) -> None:
        self.file, self.keeps, self.fold = file, keeps, fold
        self.turns: Ints = np.zeros(0, dtype=np.int64)
        self.recorded: list[Examples] = []

    def scores(self, candidates: Scored, row: Ints, slot: Ints, value: Ids) -> Floats:
        corpus, place = self.file.corpus, candidates.places[0]
        turn = self.turns[row[place]]
        item = turn * len(corpus.slots) + slot[place]
        score = self.file.at(item, value)
        none = np.maximum(0.0, 1.0 - np.bincount(place, weights=score))[place]
        fold = self.fold[corpus.dialog_of_turn[turn]]
        self.recorded.append(
            Examples(candidates.features, candidates.rules, score, self.file.first_item + item, none, fold)
        )
        return score


def _examples(file: _FileScores, keeps: bool, fold: Mapping[str, int]) -> list[Examples]:
    """The candidates of first turns, of second turns, ... with the file's scores.

    Dialogs are ordered by their ids: the model must not depend on their order in a list.
    """
    corpus = file.corpus
    dialogs = np.array(sorted(range(corpus.n_dialogs), key=corpus.sessions.__getitem__))
    teacher = _Teacher(file, keeps, np.array([fold[session] for session in corpus.sessions]))
    tracking = Tracking(teacher, corpus.n_dialogs, len(corpus.slots), together=True)
    for active, turns in turns_in_step(corpus.offsets, dialogs):
        teacher.turns = turns
        tracking.step(active, corpus.evidence.take(turns))
    return teacher.recorded
