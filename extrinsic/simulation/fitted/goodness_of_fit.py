"""How well a fitted world fits: its log beside dialogs that a policy like the logged one played in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, count_per_row, row_of_each
from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError
from extrinsic.simulation.fitted.fitted_world import RARE_CONTEXTS, FittedWorld
from extrinsic.simulation.fitted.logged_answers import in_rare_contexts
from extrinsic.simulation.fitted.system_turns import offers_and_refusals
from extrinsic.simulation.play import Play

RETURN, TURNS, BEST_RIGHT = "return", "turns per dialog", "best value right"

DECISIVE = (RETURN, TURNS, BEST_RIGHT)
"""Measures of which each alone makes the world a misfit; of all others a few may miss by chance."""

NORMAL_95 = 1.96

MARGIN = 0.5
"""A measure is a misfit if it is outside of the logged interval by more than this part of its half width: by
chance, in fewer than one case in a hundred."""


class FitRow(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of the log beside the same of the fitted world.

    measure: what is compared.
    logged: in the last log.   low, high: a 95 % interval over its dialogs.
    fitted: in dialogs played with the callers of the last log.
    misfit: whether `fitted` is outside of the interval by more than MARGIN of its half width.
    A measure that either side lacks is None there, and no misfit.
    """

    measure: str
    logged: float | None
    low: float | None
    high: float | None
    fitted: float | None
    misfit: bool


class GoodnessOfFit(msgspec.Struct, frozen=True):
    """The table of measures."""

    rows: tuple[FitRow, ...]

    @property
    def misfit(self) -> bool:
        """Whether the world must not be trusted: a decisive measure is a misfit."""
        return any(row.misfit for row in self.rows if row.measure in DECISIVE)

    def row(self, measure: str) -> FitRow:
        return next(row for row in self.rows if row.measure == measure)

    def __str__(self) -> str:
        lines = [f"{'measure':<32}{'logged':>9}  {'95 % interval':<18}{'fitted':>9}"]
        for row in self.rows:
            low, high = _shown(row.low), _shown(row.high)
            interval = f"[{low}, {high}]" if row.low is not None else ""
            flag = "  misfit" if row.misfit else ""
            lines.append(
                f"{row.measure:<32}{_shown(row.logged):>9}  {interval:<18}{_shown(row.fitted):>9}{flag}"
            )
        return "\n".join(lines)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}" if abs(number) < 10 else f"{number:.1f}"


def goodness_of_fit(
    world: FittedWorld,
    played: Play,
    returns: Floats | None = None,
    logged_returns: Floats | None = None,
) -> GoodnessOfFit:
    """Compare dialogs played in a world with the last of the logs that it was fitted to.

    played: by a policy that stands for the logged one; only its dialogs with callers of the last log count.
    returns (n_played,), logged_returns (n_dialogs,): what each dialog earned, by any reward and tracker.
    """
    log = world.logs.corpora[-1]
    _require_length("returns", returns, played.corpus.n_dialogs)
    _require_length("logged_returns", logged_returns, log.n_dialogs)
    chosen = np.flatnonzero(world.callers_of(played.corpus.n_dialogs) >= world.logs.first[-2])
    if not len(chosen):
        raise UsageError(
            "too few dialogs were played to compare them with the last log",
            expected=f"more than {world.logs.first[-2]}",
            found=str(played.corpus.n_dialogs),
        )
    own = world.logs.turns.own
    rare = count_per_row(in_rare_contexts(world.answers, world.logs.turns.context[own]), log.offsets)
    logged = _Side(log, rare.astype(np.float64), logged_returns)
    fitted = _Side(
        played.corpus.take(chosen),
        played.outcomes[RARE_CONTEXTS][chosen],
        None if returns is None else returns[chosen],
    )
    pairs = zip(_measures(logged), _measures(fitted), strict=True)
    return GoodnessOfFit(tuple(_row(name, one, other) for (name, one), (_, other) in pairs))


def _require_length(name: str, array: Floats | None, length: int) -> None:
    if array is not None and array.shape != (length,):
        raise UsageError(f"{name} needs one number a dialog", expected=f"({length},)", found=str(array.shape))


@dataclass(frozen=True, eq=False)
class _Side:
    """Dialogs to be measured; rare (n_dialogs,): how many turns of each were in a rare context."""

    corpus: Corpus
    rare: Floats
    returns: Floats | None

    def per_dialog(self, turns: Ints, weight: Floats | Bools | None = None) -> Floats:
        """(n_dialogs,) the number of the given turns, or the sum of their weights."""
        owner = self.corpus.dialog_of_turn[turns]
        return np.bincount(owner, weight, minlength=self.corpus.n_dialogs).astype(np.float64)

    @cached_property
    def lengths(self) -> Floats:
        return np.diff(self.corpus.offsets).astype(np.float64)


Sums = tuple[Floats, Floats] | None
"""A ratio of sums over dialogs: numerator and denominator (n_dialogs,); None where it cannot be measured."""


def _measures(side: _Side) -> Iterator[tuple[str, Sums]]:
    """Every measure, in the order of the table."""
    corpus = side.corpus
    ones = np.ones(corpus.n_dialogs)
    yield RETURN, None if side.returns is None else (side.returns, ones)
    yield TURNS, (side.lengths, ones)
    yield from _of_lists(side)
    offers, refuses = offers_and_refusals(corpus)
    is_last = np.zeros(corpus.n_turns, dtype=bool)
    is_last[corpus.offsets[1:] - 1] = True
    shown = np.flatnonzero(offers)
    n_offers = side.per_dialog(shown)
    yield "dialogs with an offer", ((n_offers > 0).astype(np.float64), ones)
    n_refusals = side.per_dialog(np.flatnonzero(refuses))
    yield "searches that find nothing", (n_refusals, n_offers + n_refusals)
    yield "ended by the caller", ((~corpus.system_ended).astype(np.float64), ones)
    yield "hang-up after an offer", (side.per_dialog(shown, is_last[shown]), n_offers)
    yield "rare context", (side.rare, side.lengths)
    for number, name in enumerate(corpus.domain.predicate_names):
        yield f"act {name}", (side.per_dialog(np.flatnonzero(corpus.predicate == number)), side.lengths)


def _of_lists(side: _Side) -> Iterator[tuple[str, Sums]]:
    """Measures of the N-best lists: of values that a hypothesis informs, not merely affirms."""
    corpus, evidence = side.corpus, side.corpus.evidence
    item = row_of_each(evidence.offsets)
    heard = (evidence.rank >= 0) & (evidence.informed > evidence.affirmed)
    turn, slot = item // evidence.n_slots, item % evidence.n_slots
    right = corpus.truth.is_correct(turn, slot, evidence.value)
    best = np.flatnonzero(heard & (evidence.rank == 0))
    n_best = side.per_dialog(turn[best])
    yield BEST_RIGHT, (side.per_dialog(turn[best], right[best]), n_best)
    lists = np.unique(item[heard])
    with_right = np.isin(lists, item[heard & right])
    n_lists = side.per_dialog(lists // evidence.n_slots)
    yield "right value in list", (side.per_dialog(lists // evidence.n_slots, with_right), n_lists)
    yield "values per list", (side.per_dialog(turn[heard]), n_lists)
    yield "turns with a value", (side.per_dialog(np.unique(turn[heard])), side.lengths)
    for name, rows in (("right", best[right[best]]), ("wrong", best[~right[best]])):
        scores = side.per_dialog(turn[rows], evidence.informed[rows])
        yield f"score of {name} best values", (scores, side.per_dialog(turn[rows]))
    everything = np.arange(corpus.n_turns)
    yield "yes", (side.per_dialog(everything, evidence.affirms), side.lengths)
    yield "no", (side.per_dialog(everything, evidence.negates), side.lengths)


def _ratio(sums: Sums) -> float | None:
    return None if sums is None or not sums[1].sum() else float(sums[0].sum() / sums[1].sum())


def _row(measure: str, logged: Sums, fitted: Sums) -> FitRow:
    of_log, of_world = _ratio(logged), _ratio(fitted)
    if logged is None or of_log is None:
        return FitRow(measure=measure, logged=of_log, low=None, high=None, fitted=of_world, misfit=False)
    half = NORMAL_95 * _standard_error(*logged, of_log)
    misfit = of_world is not None and abs(of_world - of_log) > (1.0 + MARGIN) * half + 1e-9
    return FitRow(
        measure=measure,
        logged=of_log,
        low=of_log - half,
        high=of_log + half,
        fitted=of_world,
        misfit=misfit,
    )


def _standard_error(numerator: Floats, denominator: Floats, ratio: float) -> float:
    """Of a ratio of sums over independent dialogs, by its influence function."""
    influence = (numerator - ratio * denominator) / denominator.mean()
    return float(influence.std() / np.sqrt(len(influence)))
