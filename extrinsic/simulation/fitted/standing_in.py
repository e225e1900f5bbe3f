"""A tracker that stands for the logged system's own: the one whose beliefs the system seems to act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.group_tops import tops_of
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Tracker, Tracking, turns_in_step
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.fitted.system_turns import SystemTurns
from extrinsic.simulation.utterance import NOTHING

NAMED_FROM = 0.5
"""Where offers name the value that they were made for less often than this, they name what was found."""

ASKED_FROM = 0.02
"""A concept that fewer of the questions are for counts as one that the system never asks for."""


class LoggedTops(NamedTuple):
    """number, score (n_turns, n_concepts): the best value of each before the turn, NOTHING for none."""

    number: Ints
    score: Floats


def best_tracker(
    logs: Sequence[Corpus],
    values: LoggedValues,
    systems: Sequence[SystemTurns],
    trackers: Mapping[str, Tracker],
) -> tuple[str, list[LoggedTops], float]:
    """The tracker whose best values the system acts on most often, and its beliefs before every turn."""
    best: tuple[str, list[LoggedTops], float] | None = None
    for name, tracker in trackers.items():
        tops = [_tops_before(log, values, tracker) for log in logs]
        counts = np.sum([_agreement(values, *pair) for pair in zip(systems, tops, strict=True)], axis=0)
        agreement = float(counts[0] / max(counts[1], 1))
        if best is None or agreement > best[2]:
            best = (name, tops, agreement)
    assert best is not None
    return best


def _tops_before(log: Corpus, values: LoggedValues, tracker: Tracker) -> LoggedTops:
    tracking = Tracking(tracker, log.n_dialogs, len(log.slots))
    number = np.full((log.n_turns, values.n_concepts), NOTHING, dtype=np.int64)
    score = np.zeros(number.shape)
    for dialogs, turns in turns_in_step(log.offsets, np.arange(log.n_dialogs)):
        tops = tops_of(values.columns, tracking.step(dialogs, log.evidence.take(turns)))
        goes_on = turns + 1 < log.offsets[1:][dialogs]
        after = turns[goes_on] + 1
        number[after] = values.number(tops.slot, tops.value)[goes_on]
        score[after] = tops.score[goes_on]
    return LoggedTops(number, score)


def _agreement(values: LoggedValues, system: SystemTurns, tops: LoggedTops) -> tuple[float, int]:
    """How many of the values that the system confirmed or offered are the best ones, and how many of the
    concepts that it asked for have none, by their scores; and all of these."""
    rows = np.flatnonzero(system.asked != NOTHING)
    agree, total = float((1.0 - tops.score[rows, system.asked[rows]]).sum()), len(rows)
    for number in (system.explicit, system.implicit, *system.offered.T):
        rows = np.flatnonzero(number != NOTHING)
        agree += float((tops.number[rows, values.concept[number[rows]]] == number[rows]).sum())
        total += len(rows)
    return agree, total


def never_asked(n_concepts: int, systems: Sequence[SystemTurns]) -> Bools:
    """(n_concepts,) the concepts that next to no question is for."""
    asked = np.concatenate([system.asked for system in systems])
    counts = np.bincount(asked[asked != NOTHING], minlength=n_concepts)
    return np.asarray(counts <= ASKED_FROM * counts.sum())


def with_unnamed(
    n_groups: int, systems: Sequence[SystemTurns], tops: Sequence[LoggedTops]
) -> list[SystemTurns]:
    """What offers are for, with the best values of concepts of which their acts name what was found instead:
    a bus leaves at a time of its own, from a stop near to where the caller is.

    n_groups: of the domain. A slot of no group is searched by only where the offer names its value.
    """
    offered = np.concatenate([system.offered[system.offers, :n_groups] for system in systems])
    pairs = list(zip(systems, tops, strict=True))
    best = np.concatenate([of_log.number[system.offers, :n_groups] for system, of_log in pairs])
    has_best = best != NOTHING
    named = ((offered != NOTHING) & has_best).sum(axis=0)
    unnamed = np.flatnonzero(named < NAMED_FROM * has_best.sum(axis=0))
    completed = []
    for system, of_log in pairs:
        table = system.offered.copy()
        shown = np.flatnonzero(system.offers | system.refuses)[:, None]
        table[shown, unnamed] = of_log.number[shown, unnamed]
        completed.append(replace(system, offered=table))
    return completed
