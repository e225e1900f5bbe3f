"""The rules for arguments that the logged system seems to follow."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.simulation.fitted.act_forms import ActForms
from extrinsic.simulation.fitted.argument_rules import ArgumentRules
from extrinsic.simulation.fitted.confirmed_concepts import LEAST_SURE, SUREST, fit_choice
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.fitted.questions import fit_questions
from extrinsic.simulation.fitted.sequels import RAREST, fit_sequels, settled_before
from extrinsic.simulation.utterance import NOTHING

FEWEST = 10

WITHOUT_IT = 0.1
"""A predicate that comes oftener without a value of a concept, compared with how often it comes with one,
does not need the concept."""


def fit_arguments(logs: Logs, forms: ActForms) -> ArgumentRules:
    """Rules that agree with the logs, by the tracker that stands for the system's own."""
    domain = logs.corpora[-1].domain
    ends = [domain.predicate_names.index(name) for name in domain.end]
    heard_from, sequels = _heard_from(logs), fit_sequels(logs)
    settled = settled_before(logs, sequels.settles)
    offered = np.concatenate([log.history.offered for log in logs.corpora])
    return ArgumentRules(
        values=logs.values,
        forms=forms,
        heard_from=heard_from,
        offered_from=np.maximum(_offered_from(logs), heard_from),
        questions=fit_questions(logs, heard_from, sequels.closed(offered, settled)),
        confirms=fit_choice(logs, logs.turns.system.explicit, heard_from, LEAST_SURE),
        implies=fit_choice(logs, logs.turns.system.implicit, heard_from, SUREST),
        needed=_needed(logs, heard_from),
        offer_tells=_offer_tells(logs),
        sequels=sequels,
        ends=np.array(ends, dtype=np.int64),
        opening=_opening(logs),
    )


def _heard_from(logs: Logs) -> Floats:
    """(n_concepts,) the score that tells values which the system confirms from those that it asks for again.

    The fewest have a lower score and are confirmed, or have that score and are asked for; and nearly all that
    are confirmed have it, as where a system has such a rule.
    """
    system, tops = logs.turns.system, logs.tops
    scores = []
    for number in (system.explicit, system.implicit):
        rows = np.flatnonzero(number != NOTHING)
        concept = logs.values.concept[number[rows]]
        agrees = tops.number[rows, concept] == number[rows]
        scores.append(tops.score[rows[agrees], concept[agrees]])
    confirmed = np.sort(np.concatenate(scores))
    rows = np.flatnonzero((system.asked != NOTHING) & (logs.turns.turn > 0))
    asked = np.sort(tops.score[rows, system.asked[rows]])
    lowest = 0.0
    if len(confirmed) >= FEWEST:
        grid = np.append(0.0, np.unique(asked) + 1e-9)
        grid = grid[grid <= np.quantile(confirmed, 2.0 * RAREST)]
        mistakes = np.searchsorted(confirmed, grid) + len(asked) - np.searchsorted(asked, grid)
        lowest = float(grid[mistakes.argmin()])
    return np.full(tops.score.shape[1], lowest)


def _offered_from(logs: Logs) -> Floats:
    """(n_concepts,) the score above which a value is part of an offer most nearly as often as logged."""
    system, tops = logs.turns.system, logs.tops
    shown = np.flatnonzero(system.offers)
    thresholds = np.zeros(tops.score.shape[1])
    for concept in range(len(thresholds)):
        has_value = shown[tops.number[shown, concept] != NOTHING]
        if len(has_value) < FEWEST:
            continue
        score = tops.score[has_value, concept]
        named = system.offered[has_value, concept] != NOTHING
        grid = np.append(0.0, np.quantile(score, np.linspace(0.0, 1.0, 41)))
        agreement = ((score >= grid[:, None]) == named).mean(axis=1)
        thresholds[concept] = grid[agreement.argmax()]
    return thresholds


def _opening(logs: Logs) -> tuple[int, int]:
    """The predicate that greets, and the concept that it asks for, NOTHING for none."""
    first = logs.turns.turn == 0
    predicates, counts = np.unique(logs.turns.system.predicate[first], return_counts=True)
    predicate = int(predicates[counts.argmax()])
    asked, counts = np.unique(
        logs.turns.asked[first & (logs.turns.system.predicate == predicate)], return_counts=True
    )
    return predicate, int(asked[counts.argmax()])


def _needed(logs: Logs, heard_from: Floats) -> Bools:
    """(n_predicates, n_concepts) the concepts without a value of which the system hardly ever does something.

    They have one in nearly every turn of the predicate, which also comes WITHOUT_IT times as often, at most,
    where they have none: what is asked for first has a value nearly everywhere, and is needed for nothing.
    """
    tops, predicate = logs.tops, logs.turns.system.predicate
    heard, later = (tops.number != NOTHING) & (tops.score >= heard_from), logs.turns.turn > 0
    n_without = (~heard[later]).sum(axis=0)
    needed = np.zeros((len(logs.corpora[-1].domain.predicate_names), heard.shape[1]), dtype=bool)
    for number in range(len(needed)):
        turns = predicate == number
        if turns.sum() >= FEWEST:
            with_value, without = heard[turns].sum(axis=0), (~heard[turns]).sum(axis=0)
            rarely = without * heard[later].sum(axis=0) <= WITHOUT_IT * with_value * n_without
            needed[number] = (without < 2.0 * RAREST * turns.sum()) & rarely
    return needed


def _offer_tells(logs: Logs) -> Floats:
    """(n_requestable,) the share of offers that tell a fact."""
    system = logs.turns.system
    told: Floats = system.tells[system.offers].sum(axis=0) / max(int(system.offers.sum()), 1)
    return told
