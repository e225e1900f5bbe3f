"""A regression of a tracker's scores: which known rule gives a score, and a level where none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.trackers.update_rules import SMALLEST, logarithms

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
