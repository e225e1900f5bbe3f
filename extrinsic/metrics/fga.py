"""Flexible goal accuracy: mistakes of earlier turns fade; and the lambda that people agree with best.

Dey et al. 2022 (section 3) propose to find lambda through a human evaluation. A lambda that is judged by the
ratings it was chosen on looks better than it is. So dialogs are divided into folds: the scores of a fold are
FGA's with the lambda that correlates best (Pearson) with the ratings of all other folds, and the held-out
correlation is that of these scores, all folds together.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.corpus.ratings import Ratings
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import TurnMean, check_choice, number_text
from extrinsic.metrics.items.state_items import StateItems
from extrinsic.metrics.items.state_tables import ALL, MULTIWOZ_SLOTS, table_of_states
from extrinsic.metrics.measuring import percentile_interval, resample_dialogs
from extrinsic.storage import content_hash

PARAMETERS = ("lambda", "decay", "variant", "turns", "factor", "fill")

USUAL_DECAY = 0.5
"""The lambda of the paper's example and human evaluation."""


@dataclass(frozen=True)
class FlexibleGoalAccuracy(TurnMean):
    """`decay` is Dey's lambda: 0 is joint goal accuracy, infinity is turn match.

    `variant`: `published` (the authors' code) or `literal` (Algorithm 1 as printed, where a turn may be
    forgiven although no error came before it; it then counts from turn -1).
    `domains`: (domain, lambda) pairs; `decay` is for the others. Which turns are right, wrong by themselves
    or carry a mistake does not depend on them. A turn that carries mistakes, t - t_err turns after the last
    error, is forgiven at the smallest lambda among the domains with a slot that still differs: the strictest
    decides. Where all are x this is fga(x).
    """

    name: ClassVar[str] = "fga"
    formula: ClassVar[str] = (
        "mean over turns of 1 (match), 0 (the turn's own error) or 1 - exp(-lambda (t - t_err)); "
        "fga(hotel=0.5, taxi=1): lambda is the smallest of the domains that are still wrong"
    )
    citation: ClassVar[str] = "Dey et al. 2022, Algorithm 1"
    positional: ClassVar[str | None] = "decay"

    decay: float
    variant: str = "published"
    domains: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for name, decay in (("lambda", self.decay), *self.domains):
            if isinstance(decay, str) or not decay >= 0:
                what = name if name == "lambda" else f"the lambda of the domain {name!r}"
                raise UsageError(f"fga: {what} must be a number of at least 0", found=str(decay))
        object.__setattr__(self, "decay", float(self.decay))
        object.__setattr__(
            self, "domains", tuple(sorted((name, float(decay)) for name, decay in self.domains))
        )
        check_choice(self.name, "variant", self.variant, ("published", "literal"))

    def __str__(self) -> str:
        shown = [] if self.domains and self.decay == USUAL_DECAY else [number_text(self.decay)]
        shown += [f"{name}={number_text(decay)}" for name, decay in self.domains]
        shown += [f"variant={self.variant}"] if self.variant != "published" else []
        return f"{self.name}({', '.join(shown)})"

    def turn_scores(self, items: StateItems) -> Floats:
        errors = items.local_errors(literal=self.variant == "literal")
        turn = items.turn_in_dialog
        index = np.arange(len(turn))
        last_error = np.maximum.accumulate(np.where(errors, index, -1))
        since = np.where(last_error >= index - turn, index - last_error, turn + 1)
        # At an error itself nothing is forgiven; there 0 turns times an infinite lambda would be no number.
        forgiven = 1.0 - np.exp(-self._decay_of_turns(items) * np.maximum(since, 1))
        return np.where(items.match, 1.0, np.where(errors, 0.0, forgiven))

    def _decay_of_turns(self, items: StateItems) -> Floats | float:
        """(n_turns,) the smallest lambda of the domains wrong at each turn; a number if there is only one."""
        if not self.domains:
            return self.decay
        decays = dict(self.domains)
        has_domains = len(items.domains) == items.given_gold.shape[1]
        there = {*items.all_domains, *MULTIWOZ_SLOTS} if has_domains else set()
        for name in decays:
            if name not in there:
                raise UsageError(
                    f"{self}: these states have no domain {name!r}; {did_you_mean(name, there)}"
                    if there
                    else f"{self}: these states have no domains"
                )
        of_slots = np.array([decays.get(domain, self.decay) for domain in items.domains])
        return np.asarray(np.where(items.agrees, np.inf, of_slots).min(axis=1, initial=np.inf))


def decay_to_forget(turns: float, factor: float) -> float:
    """The lambda that forgets a mistake by `factor` after `turns` turns: -ln(1 - factor) / turns."""
    if not (turns > 0 and 0 <= factor < 1):
        raise UsageError(
            "fga: a mistake is forgotten over turns > 0 by a factor in [0, 1)", found=f"{turns}, {factor}"
        )
    return -math.log1p(-factor) / turns


def make_fga(
    decay: float | None = None,
    variant: str = "published",
    turns: float | None = None,
    factor: float | None = None,
    **domains: float,
) -> FlexibleGoalAccuracy:
    """`fga(0.5)`, or `fga(turns=6, factor=0.95)`; plain `fga` is the paper's lambda of 0.5.

    `fga(hotel=0.5, taxi=1)`: a lambda for each of these domains, and 0.5 (or the one given) for others.
    """
    for name in domains:
        # A mistyped parameter is no domain.
        if get_close_matches(name, PARAMETERS, cutoff=0.8):
            raise UsageError(f"the metric 'fga' has no parameter {name!r}; {did_you_mean(name, PARAMETERS)}")
    if turns is not None or factor is not None:
        if decay is not None or turns is None or factor is None:
            raise UsageError("fga takes a lambda, or both turns and factor")
        decay = decay_to_forget(turns, factor)
    return FlexibleGoalAccuracy(USUAL_DECAY if decay is None else decay, variant, tuple(domains.items()))


LAMBDAS = (*(number / 20 for number in range(21)), 1.25, 1.5, 2.0, 3.0, 5.0, np.inf)
"""What is tried: 0 is joint goal accuracy, infinity turn match. Of equals the strictest is chosen."""

FIXED = (0.0, 0.25, 0.5, 0.75, 1.0, np.inf)

CHOSEN, HELD_OUT, FIXED_LAMBDA = "chosen on all ratings", "chosen on other folds", "fixed"


@dataclass(frozen=True)
class AgreementRow:
    """Pearson's r of a score with the ratings; `gain`: that of the held-out scores minus this one."""

    metric: str
    choice: str
    correlation: float | None
    low: float | None
    high: float | None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None


@dataclass(frozen=True)
class FittedLambda:
    """The chosen lambda, the interval of choices over resampled dialogs, that of each fold; and agreement.

    rows: of the chosen lambda on the ratings it was chosen by, of held-out scores, of fixed lambdas.
    """

    decay: float
    low: float
    high: float
    of_folds: tuple[float, ...]
    rows: tuple[AgreementRow, ...]
    n_units: int
    n_dialogs: int
    of_turns: bool

    @property
    def metric(self) -> str:
        return str(FlexibleGoalAccuracy(self.decay))

    def as_rows(self) -> list[dict[str, Any]]:
        return [{**asdict(row), "n": self.n_units} for row in self.rows]


def fit_fga(
    systems: Sequence[StateSets], ratings: Ratings, folds: int = 10, resamples: int = 1000, seed: int = 0
) -> FittedLambda:
    """Choose lambda on ratings of dialogs (the mean of their turns) or of turns.

    A dialog is in one fold and is resampled as one, whoever's states of it were rated and however many turns;
    every resample goes through all of the choosing again.
    """
    if float(np.ptp(ratings.rating)) == 0.0:
        raise UsageError("all ratings are the same: no score can agree with them more than another")
    ids = [
        systems[system].dialogs[dialog] for system, dialog in zip(ratings.system, ratings.dialog, strict=True)
    ]
    names, dialog = np.unique(ids, return_inverse=True)
    fold = fold_of_sessions([str(name) for name in names], folds, seed)
    moments = _moments(_scores(systems, ratings), ratings.rating, dialog, len(names))
    drawn = resample_dialogs(content_hash(*map(str, names)), len(names), resamples, seed)
    weights = np.concatenate([np.ones((1, len(names)), dtype=drawn.dtype), drawn])
    by_fold = np.stack(
        [np.tensordot(weights[:, fold == k], moments[fold == k], axes=1) for k in range(folds)], axis=1
    )
    total = by_fold.sum(axis=1)
    of_all = _pearson_of_sums(total)
    best = _best(of_all)
    chosen = _best(_pearson_of_sums(total[:, None] - by_fold))
    taken = np.take_along_axis(by_fold, np.maximum(chosen, 0)[:, :, None, None], axis=2)[:, :, 0]
    held_out = np.where((chosen >= 0).all(axis=1), _pearson_of_sums(taken.sum(axis=1)), np.nan)
    if best[0] < 0 or np.isnan(held_out[0]):
        raise UsageError(
            "no lambda gives scores that differ between the rated dialogs of every choice of folds"
        )
    decays = np.array(LAMBDAS)
    low, high = np.quantile(decays[best[best >= 0]], [0.025, 0.975], method="nearest")
    at_best = np.where(best >= 0, of_all[np.arange(len(best)), best], np.nan)
    rows = [
        _row(str(FlexibleGoalAccuracy(float(decays[best[0]]))), CHOSEN, at_best),
        _row("fga", HELD_OUT, held_out),
    ]
    rows += [
        _row(str(FlexibleGoalAccuracy(decay)), FIXED_LAMBDA, of_all[:, LAMBDAS.index(decay)], held_out)
        for decay in FIXED
    ]
    return FittedLambda(
        decay=float(decays[best[0]]),
        low=float(low),
        high=float(high),
        of_folds=tuple(decays[chosen[0]].tolist()),
        rows=tuple(rows),
        n_units=len(ratings.rating),
        n_dialogs=len(names),
        of_turns=ratings.of_turns,
    )


def _scores(systems: Sequence[StateSets], ratings: Ratings) -> Floats:
    """(n_units, n_lambdas) flexible goal accuracy of what was rated."""
    scores = np.empty((len(ratings.rating), len(LAMBDAS)))
    for number, states in enumerate(systems):
        mine = np.flatnonzero(ratings.system == number)
        items = table_of_states(states).select(ALL, 1)
        for column, decay in enumerate(LAMBDAS):
            of_turns = FlexibleGoalAccuracy(decay).turn_scores(items)
            if ratings.of_turns:
                scores[mine, column] = of_turns[states.offsets[ratings.dialog[mine]] + ratings.turn[mine]]
            else:
                means = items.sum_by_dialog(of_turns) / np.diff(items.offsets)
                scores[mine, column] = means[ratings.dialog[mine]]
    return scores


def _moments(scores: Floats, rating: Floats, dialog: Ints, n_dialogs: int) -> Floats:
    """(n_dialogs, n_lambdas, 6): sums of 1, x, y, x^2, y^2, xy over the units of each dialog."""
    # Centred, so that differences of large sums lose no digits; all lambdas by one number, as folds of
    # different lambdas are joined.
    x, y = scores - scores.mean(), (rating - rating.mean())[:, None] + np.zeros_like(scores)
    sums = np.zeros((n_dialogs, scores.shape[1], 6))
    np.add.at(sums, dialog, np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1))
    return sums


def _pearson_of_sums(sums: Floats) -> Floats:
    """(..., 6) sums -> (...,) correlations, NaN where one side does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_x, of_y = xx - x * x / n, yy - y * y / n
        varies = (of_x > 1e-12 * np.maximum(n, 1)) & (of_y > 1e-12 * np.maximum(n, 1))
        r = (xy - x * y / n) / np.sqrt(np.where(varies, of_x * of_y, np.nan))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _best(correlations: Floats) -> Ints:
    """(..., n_lambdas) -> (...,) the first of the highest, -1 where there is none."""
    rounded = np.where(np.isnan(correlations), -np.inf, np.round(correlations, 12))
    return np.where(np.isfinite(rounded).any(axis=-1), rounded.argmax(axis=-1), -1)


def _row(metric: str, choice: str, values: Floats, held_out: Floats | None = None) -> AgreementRow:
    if np.isnan(values[0]):
        return AgreementRow(metric, choice, None, None, None)
    interval = percentile_interval(values[1:])
    if held_out is None:
        return AgreementRow(metric, choice, float(values[0]), *interval)
    gain = held_out - values
    return AgreementRow(
        metric, choice, float(values[0]), *interval, float(gain[0]), *percentile_interval(gain[1:])
    )
