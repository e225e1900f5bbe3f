"""Learned trackers, with their features: a classifier predicts whether a candidate is what the caller wants.

Features are numbers about every candidate, gathered turn by turn.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, turns_in_step
from extrinsic.corpus.corpus import Corpus, ranked_sessions
from extrinsic.errors import UsageError
from extrinsic.printed_forms import option
from extrinsic.trackers.protocol import BuiltInTracker, LearnedTracker, capped, steps, total
from extrinsic.trackers.tracking import Heard, Tracking

PLANES = (
    "highest",
    "sum",
    "count",
    "focus",
    "since",
    "affirmed",
    "denied",
    "top count",
    "best rank",
    "explicit",
    "implicit",
)
"""The memory of a candidate. since: turns since it was last informed, counted from 1."""

FEATURES = (
    *PLANES,
    "informed now",
    "affirmed now",
    "denied now",
    "rejected now",
    "top now",
    "rank now",
    "explicit now",
    "implicit now",
    "requested now",
    "slot informed now",
    "share of sum",
    "best other focus",
    "best other highest",
    "candidates",
)

FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "all": FEATURES,
    "now": tuple(name for name in FEATURES if name.endswith(" now")),
    "memory": PLANES,
    "scores": ("highest", "sum", "focus", "informed now", "affirmed now", "denied now", "slot informed now"),
    "ranks": ("count", "top count", "best rank", "top now", "rank now", "candidates"),
}
"""Named parts of the features, for learned trackers that see less than all of them."""

Places = tuple[Ints, Ints, Ints]
"""Some candidates: their row, slot and position in the arrays of a turn."""


def remember(memory: Floats, heard: Heard) -> Floats:
    """(len(PLANES), m, n_slots, width) the memory after a turn."""
    highest, summed, count, focus, since, affirmed, denied, top_count, rank, explicit, implicit = memory
    informed = capped(heard.informed)
    mentioned = informed > 0.0
    return np.stack(
        [
            np.maximum(highest, informed),
            summed + informed,
            count + mentioned,
            informed + np.maximum(0.0, 1.0 - total(informed)) * focus,
            np.where(mentioned, 1.0, since + (since > 0.0)),
            affirmed + heard.affirmed,
            denied + heard.denied,
            top_count + (heard.top > 0.0),
            np.maximum(rank, heard.rank),
            explicit + heard.explicit,
            implicit + heard.implicit,
        ]
    )


def describe(memory: Floats, heard: Heard) -> tuple[Places, Floats]:
    """The candidates, and (r, len(FEATURES)) their features after the turn."""
    places: Places = np.nonzero(heard.is_candidate)  # type: ignore[assignment]
    row, slot, _ = places
    informed = capped(heard.informed)
    highest, summed, focus = memory[0], memory[1], memory[3]
    now = (
        informed,
        heard.affirmed,
        heard.denied,
        heard.rejected,
        heard.top,
        heard.rank,
        heard.explicit,
        heard.implicit,
    )
    columns = np.empty((len(FEATURES), len(row)))
    columns[: len(PLANES)] = memory[:, *places]
    for number, table in enumerate(now, start=len(PLANES)):
        columns[number] = table[places]
    columns[-6] = heard.requested[row, slot]
    columns[-5] = total(informed)[row, slot, 0]
    columns[-4] = summed[places] / np.maximum(total(summed)[row, slot, 0], 1e-9)
    columns[-3] = best_other(focus)[places]
    columns[-2] = best_other(highest)[places]
    columns[-1] = heard.is_candidate.sum(axis=-1)[row, slot]
    return places, np.ascontiguousarray(columns.T)


def best_other(scores: Floats) -> Floats:
    """(m, n_slots, width) the highest score among the other candidates of the slot."""
    best_two = np.sort(scores, axis=-1)[..., -2:]
    return np.where(scores == best_two[..., 1:], best_two[..., :1], best_two[..., 1:])


MOST_ROWS = 20_000
"""The number of training examples, taken at even distances from all available ones."""

SUREST = 0.999
"""The upper limit of a classifier's probability, to keep its odds finite."""


class Model(Protocol):
    """A trained classifier."""

    def probability(self, rows: Floats) -> Floats:
        """(r, n_features) -> (r,), each depending on its own row alone, to the last bit."""
        ...


class Constant:
    """The model for examples of a single class: its share, with one example of each class added."""

    def __init__(self, right: Bools) -> None:
        self.share = (right.sum() + 1.0) / (len(right) + 2.0)

    def probability(self, rows: Floats) -> Floats:
        return np.full(len(rows), self.share)


class Fitted(BuiltInTracker):
    """b(v) = o(v) / (1 + sum o) with the odds o(v) = p(v) / (1 - p(v)) that the model gives a candidate."""

    kind = "learned"
    planes = len(PLANES)

    def __init__(self, model: Model, columns: Sequence[int] | None = None) -> None:
        self.model, self.columns = model, columns

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return remember(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        odds = np.zeros(heard.value.shape)
        places, rows = describe(memory, heard)
        if len(rows):
            rows = rows if self.columns is None else np.ascontiguousarray(rows[:, self.columns])
            probability = np.clip(self.model.probability(rows), 1.0 - SUREST, SUREST)
            odds[places] = probability / (1.0 - probability)
        return capped(odds / (1.0 + total(odds)))


Share = Annotated[float, option("of the training dialogs", steps(0.05, 1.0, 0.05), gt=0.0)]
FeatureSet = Annotated[Literal["all", "now", "memory", "scores", "ranks"], option("which features it sees")]
Seed = Annotated[int, option("of its sample and its draws", range(100), le=2**31 - 1)]
Leaf = Annotated[int, option("the fewest examples in a leaf", (1, 2, 5, 10, 20, 50, 100), ge=1, le=10_000)]
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


class CandidateClassifier(LearnedTracker):
    """Trains a model on every candidate of every turn, with the labels as the target.

    share: of the training dialogs it learns from, chosen by their ids and `seed`.
    features: which of FEATURE_SETS it sees.   seed: also of the model's own draws.
    """

    share: float
    features: str
    seed: int

    @property
    def columns(self) -> list[int] | None:
        """Which columns of the features it sees; None: all."""
        names = FEATURE_SETS[self.features]
        return None if names == FEATURES else [FEATURES.index(name) for name in names]

    def fit(self, corpora: Sequence[Corpus]) -> Fitted:
        return self._fitted([self._chosen(corpus, np.arange(corpus.n_dialogs)) for corpus in corpora])

    def fit_parts(self, corpus: Corpus, parts: Sequence[Ints]) -> list[BuiltInTracker]:
        return [self._fitted([self._chosen(corpus, dialogs)]) for dialogs in parts]

    def _fitted(self, examples: Sequence[tuple[Floats, Bools]]) -> Fitted:
        from threadpoolctl import threadpool_limits

        rows = np.concatenate([rows for rows, _ in examples])
        right = np.concatenate([right for _, right in examples])
        if not len(rows):
            raise UsageError("there is nothing to learn from: no training dialog mentions any value")
        if len(rows) > MOST_ROWS:
            chosen = np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64)
            rows, right = rows[chosen], right[chosen]
        if right.all() or not right.any():
            return Fitted(Constant(right))
        if self.columns is not None:
            rows = np.ascontiguousarray(rows[:, self.columns])
        with threadpool_limits(limits=1):  # how sums are split among threads decides their last bits
            return Fitted(self.teach(rows, right), self.columns)

    def _chosen(self, corpus: Corpus, dialogs: Ints) -> tuple[Floats, Bools]:
        """The examples of the share of these dialogs that it learns from."""
        if self.share < 1.0:
            sessions = [corpus.sessions[dialog] for dialog in dialogs]
            n_dialogs = max(1, round(self.share * len(sessions)))
            dialogs = dialogs[ranked_sessions(sessions, self.seed)[:n_dialogs]]
        examples = examples_of(corpus)
        if len(dialogs) == corpus.n_dialogs:
            return examples.rows, examples.right
        chosen = np.isin(examples.dialog, dialogs)
        return examples.rows[chosen], examples.right[chosen]

    @abstractmethod
    def teach(self, rows: Floats, right: Bools) -> Model:
        """A model trained on (r, n_features) rows and (r,) targets; both classes occur."""


class _Recorder(BuiltInTracker):
    """A tracker that believes nothing and records the features it sees."""

    planes = len(PLANES)

    def __init__(self) -> None:
        self.seen: tuple[Any, Floats] = ((), np.zeros((0, len(FEATURES))))

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return remember(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        self.seen = describe(memory, heard)
        return np.zeros(heard.value.shape)


class Examples(NamedTuple):
    """The candidates of all turns of a corpus, a row each.

    rows (r, n_features).   right (r,): whether it is what the caller wants.   dialog (r,): in which dialog.
    """

    rows: Floats
    right: Bools
    dialog: Ints


_EXAMPLES: WeakKeyDictionary[Corpus, Examples] = WeakKeyDictionary()
"""Of corpora that are in use: all learned trackers of a study, and all of their folds, see the same ones."""


def examples_of(corpus: Corpus) -> Examples:
    """Made once. Dialogs are ordered by their ids: the model must not depend on their order in a list."""
    if corpus in _EXAMPLES:
        return _EXAMPLES[corpus]
    dialogs = np.array(sorted(range(corpus.n_dialogs), key=corpus.sessions.__getitem__))
    recorder = _Recorder()
    tracking = Tracking(recorder, corpus.n_dialogs, len(corpus.slots), together=True)
    steps_seen: list[tuple[Floats, Ints, Ints, Ids, Ints]] = []
    for active, turns in turns_in_step(corpus.offsets, dialogs):
        step = tracking.step(active, corpus.evidence.take(turns))
        places, seen = recorder.seen
        row, slot, _ = places
        steps_seen.append((seen, turns[row], slot, step.value[places], dialogs[active[row]]))
    rows, turn, slot, value, dialog = map(np.concatenate, zip(*steps_seen, strict=True))
    _EXAMPLES[corpus] = Examples(rows, corpus.truth.is_correct(turn, slot, value), dialog)
    return _EXAMPLES[corpus]


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """p(x) = 1 / (1 + exp(-(w . x + c))); the features are standardised inside w and c."""

    weights: Floats
    constant: float

    def probability(self, rows: Floats) -> Floats:
        # A sum along each row: a matrix product may add in another order when there are more rows.
        logit = (rows * self.weights).sum(axis=1) + self.constant
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -500.0, 500.0))))


@dataclass(eq=False)
class Logistic(CandidateClassifier):
    """Ridge-penalised, on standardised features."""

    share: Share = 1.0
    features: FeatureSet = "all"
    penalty: Annotated[float, option("of the squared weights", PENALTIES, gt=0.0, le=1e6)] = 1.0
    seed: Seed = 0

    def teach(self, rows: Floats, right: Bools) -> LogisticModel:
        from sklearn.linear_model import LogisticRegression

        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        model = LogisticRegression(C=1.0 / self.penalty, max_iter=500).fit((rows - mean) / spread, right)
        weights = model.coef_[0] / spread
        return LogisticModel(weights, float(model.intercept_[0] - (weights * mean).sum()))


@dataclass(frozen=True, eq=False)
class ForestModel:
    """p(x): the mean over trees of the share of right examples in the leaf of x."""

    trees: Sequence[Any]

    def probability(self, rows: Floats) -> Floats:
        # The trees directly: scikit-learn's wrapper costs more than a turn's few candidates.
        narrow = rows.astype(np.float32)
        share = np.zeros(len(rows))
        for tree in self.trees:
            counts = tree.predict(narrow)
            share += counts[:, 1] / (counts[:, 0] + counts[:, 1])
        return np.asarray(share / len(self.trees))


@dataclass(eq=False)
class RandomForest(CandidateClassifier):
    """Thirty trees of depth eight at most; `leaf`: the fewest examples in a leaf."""

    share: Share = 1.0
    features: FeatureSet = "all"
    leaf: Leaf = 5
    seed: Seed = 0

    def teach(self, rows: Floats, right: Bools) -> ForestModel:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=30, max_depth=8, min_samples_leaf=self.leaf, random_state=self.seed, n_jobs=1
        ).fit(rows, right)
        return ForestModel([tree.tree_ for tree in forest.estimators_])


RATE = 0.2


@dataclass(frozen=True, eq=False)
class BoostedModel:
    """p(x) = 1 / (1 + exp(-f(x))), f(x) = log-odds of the examples + RATE * sum of the trees at x."""

    log_odds: float
    trees: Sequence[Any]

    def probability(self, rows: Floats) -> Floats:
        narrow = rows.astype(np.float32)
        logit = np.full(len(rows), self.log_odds)
        for tree in self.trees:
            logit += RATE * tree.predict(narrow).reshape(-1)
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -500.0, 500.0))))


@dataclass(eq=False)
class GradientBoosting(CandidateClassifier):
    """Forty trees of depth three, each on half of the examples; `leaf`: the fewest examples in a leaf."""

    share: Share = 1.0
    features: FeatureSet = "all"
    leaf: Leaf = 1
    seed: Seed = 0

    def teach(self, rows: Floats, right: Bools) -> BoostedModel:
        from sklearn.ensemble import GradientBoostingClassifier

        boosted = GradientBoostingClassifier(
            n_estimators=40,
            max_depth=3,
            learning_rate=RATE,
            subsample=0.5,
            max_features=0.5,
            min_samples_leaf=self.leaf,
            random_state=self.seed,
        ).fit(rows, right)
        share = right.mean()
        trees = [stage.tree_ for stage in boosted.estimators_[:, 0]]
        return BoostedModel(float(np.log(share / (1.0 - share))), trees)


LOGISTIC = Logistic()
RANDOM_FOREST = RandomForest()
GRADIENT_BOOSTING = GradientBoosting()
