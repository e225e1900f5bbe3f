"""Known ways in which trackers update a score, applied to any tracker's own previous scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.candidate_features import FEATURES, PLANES, Places, best_other, describe
from extrinsic.trackers.shares import capped, total

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
