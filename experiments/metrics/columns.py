"""The columns of Dey's and Kim's Tables 1 for every file, and how well they tell systems apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from experiments.metrics.files import FEWER, SOM, SYSTEMS, File, Group, trackers
from experiments.metrics.published import (
    AGA,
    F1,
    FGA,
    GCA,
    HUMAN_DIALOGS,
    HUMAN_R,
    JGA,
    RSA,
    SA,
    TURN,
    WHOLE_TEST,
)
from extrinsic.arrays import Bools, Floats
from extrinsic.correlation.dependent import zou_interval
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.dialog_resampling import percentile_interval
from extrinsic.metrics.parsing import parse_metric

Row = dict[str, Any]

COLUMNS = (
    JGA,
    TURN,
    SA,
    AGA,
    "improved_average_goal_accuracy",
    "fga(0.25)",
    FGA,
    "fga(0.75)",
    "fga(1)",
    F1,
    RSA,
    GCA,
)
COMPARED = ((FGA, JGA), (FGA, SA), (FGA, AGA), (RSA, SA), (RSA, AGA), (GCA, FGA))
"""Which separates more pairs of systems, the first or the second?"""

NORMAL = 1.959963984540054
ALWAYS = 0.99


def metrics() -> list[Metric]:
    return [parse_metric(name) for name in COLUMNS]


def scores(groups: dict[str, Group]) -> list[Row]:
    """A row for every file: percentages, and slot accuracy if nothing were predicted."""
    rows = []
    for group in groups.values():
        for file in group.files:
            found = resampled(group, file, np.ones(group.size, dtype=bool), group.weights[:1])[:, 0]
            nothing = 1.0 - float(file.items.n_gold.mean()) / file.items.n_known_slots
            row: Row = {"file": file.name, "dialogs": file.states.n_dialogs, "turns": file.states.n_turns}
            row |= dict(zip(COLUMNS, (100.0 * found).tolist(), strict=True))
            rows.append(row | {"nothing": 100.0 * nothing} | copied(file))
    return rows


def copied(file: File) -> Row:
    """Of the slots in at least 50 gold states: how many are found nearly always, and how many never.

    A tracker errs here and there in every slot; one that has it all or nothing has not tracked. Also how
    many of the predicted triples are gold, in percent.
    """
    items = file.items
    often = (items.gold != 0).sum(axis=0) >= 50
    found = (items.agrees & (items.gold != 0)).sum(axis=0)[often] / (items.gold != 0).sum(axis=0)[often]
    always, never = (found > ALWAYS), (found < 1.0 - ALWAYS)
    return {
        "slots": int(often.sum()),
        "always": int(always.sum()),
        "never": int(never.sum()),
        "precision": 100.0 * float(items.n_right.sum() / items.n_predicted.sum()),
    }


def resampled(group: Group, file: File, shared: Bools, weights: Floats) -> Floats:
    """(n_columns, n_resamples) of a file over the dialogs that are shared."""
    statistics = [metric.statistics(file.items) for metric in metrics()]
    bounds = np.cumsum([part.shape[1] for part in statistics])[:-1]
    everywhere = group.spread(file, np.hstack(statistics)) * shared[:, None]
    totals = np.split(weights @ everywhere, bounds, axis=1)
    return np.stack([metric.values(total) for metric, total in zip(metrics(), totals, strict=True)])


def differences(group: Group, files: Sequence[File]) -> Floats:
    """(n_columns, n_pairs, 1 + n_resamples) of two systems over the dialogs that both have."""
    known: dict[tuple[str, bytes], Floats] = {}

    def values(file: File, shared: Bools) -> Floats:
        key = (file.name, shared.tobytes())
        if key not in known:
            known[key] = resampled(group, file, shared, group.weights)
        return known[key]

    pairs = []
    for first, second in combinations(files, 2):
        shared = group.has(first) & group.has(second)
        pairs.append(values(first, shared) - values(second, shared))
    return np.stack(pairs, axis=1)


def discrimination(name: str, group: Group, files: Sequence[File]) -> tuple[list[Row], list[Row]]:
    """How each column spreads and separates the systems; and differences between columns with intervals.

    A pair is separated where its difference exceeds 1.96 of its standard errors. How sure a number of
    separated pairs is: the same count on resamples of dialogs, with the same standard errors.
    """
    own = [resampled(group, file, group.has(file), group.weights) for file in files]
    values, of_pairs = 100.0 * np.stack(own, axis=1), differences(group, files)
    deviation = values.std(axis=1, ddof=1)
    # The same 5 % level for every pair; no correction, as no pair by itself is of interest.
    errors = of_pairs[:, :, 1:].std(axis=2, ddof=1, keepdims=True)
    separated = np.abs(of_pairs) > NORMAL * errors
    counts = separated.sum(axis=1)
    signs = np.sign(of_pairs[:, :, 0])
    rows = []
    for number, column in enumerate(COLUMNS):
        observed, noise = values[number, :, 0], values[number, :, 1:].std(axis=1, ddof=1)
        opposite = signs[number] * signs[0] < 0
        both = separated[number, :, 0] & separated[0, :, 0]
        rows.append(
            {
                "systems": name,
                "metric": column,
                "mean": float(observed.mean()),
                "deviation": float(deviation[number, 0]),
                "range": float(np.ptp(observed)),
                "error": float(noise.mean()),
                "ratio": float(deviation[number, 0] / noise.mean()),
                "pairs": of_pairs.shape[1],
                "separated": int(counts[number, 0]),
                "opposite_to_jga": int(opposite.sum()),
                "opposite_both": int((opposite & both).sum()),
            }
        )
    return rows, [
        *({"systems": name, **_compared("separated", pair, counts)} for pair in COMPARED),
        {"systems": name, **_compared("deviation", (RSA, SA), deviation)},
    ]


def _compared(what: str, pair: Sequence[str], values: Floats) -> Row:
    """The first less the second of (n_columns, 1 + n_resamples) values, with a normal interval.

    Resampled counts and deviations lie above the observed ones (noise on top of noise), so that their
    percentiles would be off; their spread is not.
    """
    first, second = (values[COLUMNS.index(name)].astype(np.float64) for name in pair)
    difference = float(first[0] - second[0])
    half = NORMAL * float((first - second)[1:].std(ddof=1))
    return {
        "what": what,
        "first": pair[0],
        "second": pair[1],
        "difference": difference,
        "low": difference - half,
        "high": difference + half,
    }


def human(groups: dict[str, Group]) -> Row:
    """Zou's interval of Dey's .37 - .33: the ratings are not public, but the two metrics' own r is ours."""
    items = groups[SOM].files[0].items
    fga, jga = (metric.values(metric.statistics(items)) for metric in map(parse_metric, (FGA, JGA)))
    between = float(np.corrcoef(fga, jga)[0, 1])
    low, high = zou_interval(HUMAN_R[FGA], HUMAN_R[JGA], between, HUMAN_DIALOGS)
    return {
        "systems": SOM,
        "what": "human",
        "first": FGA,
        "second": JGA,
        "difference": HUMAN_R[FGA] - HUMAN_R[JGA],
        "low": low,
        "high": high,
        "r_between": between,
    }


def whole_test(groups: dict[str, Group]) -> list[Row]:
    """SOM-DST on our hundred dialogs, with intervals, beside what is printed of it on the whole test set."""
    group = groups[SOM]
    found = resampled(group, group.files[0], np.ones(group.size, dtype=bool), group.weights)
    rows = []
    for source, figures in WHOLE_TEST.items():
        for metric, published in figures.items():
            values = 100.0 * found[COLUMNS.index(metric)]
            low, high = percentile_interval(values[1:])
            row = {"source": source, "metric": metric, "published": published, "ours": float(values[0])}
            rows.append(row | {"low": low, "high": high})
    return rows


def tables(groups: dict[str, Group]) -> dict[str, list[Row]]:
    systems = groups[SYSTEMS]
    told, compared = discrimination(SYSTEMS, systems, systems.files)
    fewer, also_compared = discrimination(FEWER, systems, trackers(systems))
    return {
        "scores": scores(groups),
        "discrimination": told + fewer,
        "compared": [*compared, *also_compared, human(groups)],
        "whole_test": whole_test(groups),
    }
