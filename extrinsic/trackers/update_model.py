"""A regression of a tracker's scores: which known rule gives a score, and a level where none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.tracking import Heard
from extrinsic.trackers.candidate_features import FEATURES, PLANES, Places, best_other, describe
from extrinsic.trackers.protocol import capped, total

RULES = (
    "nothing",
    "unchanged",
    "informed",
    "top",
    "focus",
    "focus twice",
    "focus on top",
    "focus on ranks",
    "evidence for and against",
    "noisy or",
    "yes and no",
    "highest of both",
    "highest ever",
    "share of sum",
    "share of votes",
    "share of mentions",
)
"""The rules, of which one often gives a file's score exactly."""

RELATIONS = (
    "previous",
    "previous of slot",
    "best other previous",
    "was best",
    "best informed of slot",
    "is best informed",
    "denied of slot",
    "top of slot",
    "informed of slot beyond previous",
    "informed beyond best other previous",
    "previous beyond best other",
)
"""Features beside those of learned trackers: a candidate's previous score, and its slot's."""

SMALLEST = 1e-3
"""Scores below it count as 0, and as this much in logarithms."""

_NONE = 0.5
"""The weight of None beside ranks, votes and mentions."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Candidates, and what scores each rule gives them.

    places: where they are.   features (r, n_features), the rules' scores among them.   rules (r, len(RULES)).
    """

    places: Places
    features: Floats
    rules: Floats


def score_by_rules(memory: Floats, previous: Floats, heard: Heard) -> Scored:
    """The candidates after a turn.

    memory: that of candidate features, after the turn.   previous (m, n_slots, width): scores before it.
    """
    places, rows = describe(memory, heard)
    rules = np.stack([table[places] for table in _rules(memory, previous, heard)], axis=1)
    relations = np.stack([table[places] for table in _relations(previous, heard)], axis=1)
    return Scored(places, np.concatenate([rows, relations, rules], axis=1), rules)


def logarithms(features: Floats, rules: Floats) -> Floats:
    """(r, n_columns) the columns of a log-linear model, such as Bayes' rule or logistic regression."""
    scores = np.concatenate([rules[:, 1:], features[:, _NOW]], axis=1)
    of_slots = features[:, _OF_SLOTS]
    parts = (scores, 1.0 - scores, 1.0 - of_slots)
    logs = [np.log(np.clip(part, SMALLEST, None)) for part in parts]
    # Row by row in memory, whatever their number: sums along a row depend on it.
    return np.ascontiguousarray(np.concatenate([features[:, : len(FEATURES)], *logs], axis=1))


_NOW = [FEATURES.index("denied now"), FEATURES.index("rank now")]
_OF_SLOTS = [FEATURES.index("slot informed now"), len(FEATURES) + RELATIONS.index("previous of slot")]


def _rules(memory: Floats, previous: Floats, heard: Heard) -> list[Floats]:
    """(m, n_slots, width) the scores after the turn by each rule."""
    highest, summed, mentions, votes = (
        memory[PLANES.index(name)] for name in ("highest", "sum", "count", "top count")
    )
    informed, top = capped(heard.informed), capped(heard.top)
    ranks = heard.rank / (_NONE + total(heard.rank))
    focus = _focus(informed, previous)
    both = (total(previous) > 0.0) & (total(informed) > 0.0)
    contradicted = previous * (1.0 - np.clip(total(informed) - informed, 0.0, 1.0))
    affirmed, undenied = np.clip(heard.affirmed, 0.0, 1.0), 1.0 - np.clip(heard.denied, 0.0, 1.0)
    return [
        np.zeros_like(previous),
        previous,
        informed,
        top,
        focus,
        np.where(both, _focus(informed, focus), focus),
        _focus(top, previous),
        _focus(ranks, previous),
        capped(_either(contradicted, informed) * undenied),
        capped(_either(previous, informed) * undenied),
        capped(_either(previous, affirmed) * undenied),
        np.maximum(previous, informed),
        highest,
        summed / np.maximum(total(summed), 1e-9),
        votes / (_NONE + total(votes)),
        mentions / (_NONE + total(mentions)),
    ]


def _focus(now: Floats, previous: Floats) -> Floats:
    return np.asarray(now + np.maximum(0.0, 1.0 - total(now)) * previous)


def _either(one: Floats, other: Floats) -> Floats:
    """The probability of one or the other, were they independent."""
    return np.asarray(1.0 - (1.0 - one) * (1.0 - other))


def _relations(previous: Floats, heard: Heard) -> list[Floats]:
    """(m, n_slots, width) each of RELATIONS."""
    informed, other = capped(heard.informed), best_other(previous)
    best_before, best_now = (part.max(axis=-1, keepdims=True) for part in (previous, informed))
    tables = (
        previous,
        total(previous),
        other,
        (previous == best_before) & (previous > 0.0),
        best_now,
        (informed == best_now) & (informed > 0.0),
        total(heard.denied),
        total(heard.top),
        best_now - best_before,
        informed - other,
        previous - other,
    )
    return [np.broadcast_to(table, previous.shape) for table in tables]


TREES = 8
MOST_ROWS = 16_000
"""The number of examples a model is taught by, taken at even distances from all available ones."""

SAME = 0.002
"""A rule that is closer than this to a score gives the score."""

RARE = 0.02
"""A rule that gives a smaller share of the scores does so by accident."""

FEWEST_ROWS = 100
"""A log-linear model needs as many scores above 0."""

_LARGEST_LOG_ODDS = 7.0
"""That of a score of .999."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Scores of a file, with what could be seen before them.

    features (r, n_features), rules (r, len(RULES)), score (r,): of a candidate after a turn.
    slot (r,): a number for each slot at each turn.   none (r,): what the scores of that slot leave to None.
    fold (r,): the part of the dialogs that it is from.
    """

    features: Floats
    rules: Floats
    score: Floats
    slot: Ints
    none: Floats
    fold: Ints

    def __len__(self) -> int:
        return len(self.score)

    def take(self, rows: Ints) -> Examples:
        return Examples(*(column[rows] for column in vars(self).values()))

    @staticmethod
    def joined(parts: Sequence[Examples]) -> Examples:
        """The examples of at least one part."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return Examples(*(np.concatenate(column) for column in columns))


@dataclass(frozen=True, eq=False)
class LogLinear:
    """b(v) = o(v) / (1 + sum o) with log o(v) = weights . x(v) + constant."""

    weights: Floats
    constant: float

    def scores(self, columns: Floats, slot: Ints) -> Floats:
        """(r,) of (r, n_columns); slot (r,): equal for the candidates of one slot."""
        # A sum along each row: a matrix product may add in another order when there are more rows.
        log_odds = (columns * self.weights).sum(axis=1) + self.constant
        odds = np.exp(np.clip(log_odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS))
        summed = np.bincount(slot, weights=odds, minlength=1)[slot]
        return np.asarray(odds / (1.0 + summed))


@dataclass(frozen=True, eq=False)
class UpdateModel:
    """The score of a candidate: by the rule that most examples like it follow, else by a level.

    trees: each predicts (whether a rule gives the score, per rule), whether it is above 0, and the residual
    of the log-linear level where it is.   rules: which of RULES they know.
    The level is 0 unless most examples are above 0.
    """

    trees: tuple[Any, ...]
    rules: Ints
    level: LogLinear | None

    def scores(self, features: Floats, rules: Floats, slot: Ints) -> Floats:
        """(r,) of (r, n_features) and (r, len(RULES)); slot (r,): as of LogLinear."""
        narrow = features.astype(np.float32)
        predicted = np.zeros((len(features), len(self.rules) + 2))
        for tree in self.trees:
            predicted += tree.predict(narrow).reshape(predicted.shape)
        predicted /= len(self.trees)
        by_rule, above, residual = predicted[:, :-2], predicted[:, -2], predicted[:, -1]
        level = residual / np.maximum(above, 0.5)
        ruled = by_rule.max(axis=1, initial=0.0) > 0.5
        if self.level is not None:
            # It needs whole slots, but most slots need no level.
            whole = (np.bincount(slot, weights=~ruled) > 0)[slot]
            level[whole] += self.level.scores(logarithms(features[whole], rules[whole]), slot[whole])
        # Rounded, so that candidates about which the same is known get the same score.
        scores = np.where(above > 0.5, level.round(4), 0.0)
        row = np.flatnonzero(ruled)
        scores[row] = rules[row, self.rules[by_rule[row].argmax(axis=1)]] if len(row) else 0.0
        return np.where(scores > SMALLEST, scores, 0.0)


def fit_update_model(examples: Examples) -> UpdateModel:
    """A model taught by examples; candidates of one slot must be complete."""
    from sklearn.ensemble import ExtraTreesRegressor
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):  # how sums are split among threads decides their last bits
        level = _fit_level(examples)
        residual = examples.score
        if level is not None:
            logs = logarithms(examples.features, examples.rules)
            residual = residual - level.scores(logs, examples.slot)
        if len(examples) > MOST_ROWS:
            chosen = np.linspace(0, len(examples) - 1, MOST_ROWS).astype(np.int64)
            examples, residual = examples.take(chosen), residual[chosen]
        follows = np.abs(examples.rules - examples.score[:, None]) < SAME
        rules = np.flatnonzero(follows.mean(axis=0) > RARE)
        above = examples.score > SMALLEST
        targets = np.column_stack([follows[:, rules], above, residual * above]).astype(np.float64)
        forest = ExtraTreesRegressor(
            TREES, min_samples_leaf=2, max_features=0.8, random_state=0, n_jobs=1
        ).fit(examples.features.astype(np.float32), targets)
    return UpdateModel(tuple(tree.tree_ for tree in forest.estimators_), rules, level)


def _fit_level(examples: Examples) -> LogLinear | None:
    """Weighted ridge regression of the log-odds of a score against None; None where there is too little."""
    usable = (examples.score > SMALLEST) & (examples.none > SMALLEST)
    if usable.sum() < FEWEST_ROWS:
        return None
    score, none = examples.score[usable], examples.none[usable]
    columns = logarithms(examples.features[usable], examples.rules[usable])
    # An error in log-odds moves a score by about b (1 - b) of it.
    weight = score * np.minimum(1.0, 4.0 * none) + 0.01
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    design = np.column_stack([(columns - mean) / spread, np.ones(len(columns))])
    weighted = design * weight[:, None]
    penalty = np.diag(np.append(np.full(columns.shape[1], 1e-4 * weight.sum()), 0.0))
    solution = np.linalg.solve(design.T @ weighted + penalty, weighted.T @ np.log(score / none))
    weights = solution[:-1] / spread
    return LogLinear(weights, float(solution[-1] - (weights * mean).sum()))
