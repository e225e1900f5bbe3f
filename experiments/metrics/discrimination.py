"""The columns of Dey's and Kim's Tables 1 for every file, and how well they separate systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

from experiments.metrics.partial import zou_interval
from experiments.metrics.published_values import HUMAN_DIALOGS, HUMAN_R, WHOLE_TEST
from experiments.metrics.state_files import FEWER, SOM, SYSTEMS, File, Group, units, with_ends
from experiments.metrics.tables import METRICS, Compared, Discrimination, Scores, WholeTest
from extrinsic.arrays import Bools, Floats
from extrinsic.metrics.definition import parse_metric

FIELDS = tuple(METRICS)
COMPARED = (("fga", "jga"), ("fga", "sa"), ("fga", "aga"), ("rsa", "sa"), ("rsa", "aga"), ("gca", "fga"))
"""Which separates more pairs of systems, the first or the second?"""

NORMAL = 1.959963984540054
ALWAYS, FEWEST_STATES = 0.99, 50


def resampled(group: Group, file: File, shared: Bools, weights: Floats) -> Floats:
    """(n_metrics, n_resamples) a file's metrics, in percent, over the dialogs that are shared."""
    values = []
    for metric in map(parse_metric, METRICS.values()):
        statistics = group.spread(file, metric.statistics(file.items)) * shared[:, None]
        values.append(metric.values(weights @ statistics))
    return 100.0 * np.stack(values)


def score_rows(groups: dict[str, Group]) -> list[Scores]:
    return [_score_row(group, file) for group in groups.values() for file in group.files]


def _score_row(group: Group, file: File) -> Scores:
    items = file.items
    values = resampled(group, file, group.has(file), group.weights[:1])[:, 0].tolist()
    # A tracker errs here and there in every slot; where each slot is right always or never, none was at work.
    n_gold = (items.gold != 0).sum(axis=0)
    often = n_gold >= FEWEST_STATES
    recall = (items.agrees & (items.gold != 0)).sum(axis=0)[often] / n_gold[often]
    return Scores(
        file=file.name,
        dialogs=file.states.n_dialogs,
        turns=file.states.n_turns,
        **dict(zip(METRICS, values, strict=True)),
        nothing=100.0 * (1.0 - float(items.n_gold.mean()) / items.n_known_slots),
        slots=int(often.sum()),
        always=int((recall > ALWAYS).sum()),
        never=int((recall < 1.0 - ALWAYS).sum()),
        precision=100.0 * float(items.n_right.sum() / items.n_predicted.sum()),
    )


def system_values(group: Group, files: Sequence[File]) -> tuple[Floats, Floats]:
    """(n_metrics, n_systems, 1 + n_resamples) values; (n_metrics, n_pairs, 1 + n_resamples) differences.

    A difference is over the dialogs that both systems have.
    """

    @cache
    def values(file: File, shared: bytes) -> Floats:
        return resampled(group, file, np.frombuffer(shared, dtype=np.bool_), group.weights)

    pairs = []
    for first, second in combinations(files, 2):
        shared = (group.has(first) & group.has(second)).tobytes()
        pairs.append(values(first, shared) - values(second, shared))
    systems = [values(file, group.has(file).tobytes()) for file in files]
    return np.stack(systems, axis=1), np.stack(pairs, axis=1)


def discrimination(
    name: str, group: Group, files: Sequence[File]
) -> tuple[list[Discrimination], list[Compared]]:
    """How each metric spreads and separates the systems; and how two metrics differ in that.

    How sure a number of separated pairs is: the same count on resamples of dialogs, with the same standard
    errors. The same 5 % level for every pair; no correction, as no pair by itself is of interest.
    """
    values, differences = system_values(group, files)
    observed, signs = values[:, :, 0], np.sign(differences[:, :, 0])
    deviations = values.std(axis=1, ddof=1)
    errors = values[:, :, 1:].std(axis=2, ddof=1).mean(axis=1)
    separated = np.abs(differences) > NORMAL * differences[:, :, 1:].std(axis=2, ddof=1, keepdims=True)
    counts = separated.sum(axis=1)
    opposite = signs * signs[0] < 0
    both = opposite & separated[:, :, 0] & separated[0, :, 0]
    rows = [
        Discrimination(
            systems=name,
            metric=metric,
            mean=float(observed[i].mean()),
            deviation=float(deviations[i, 0]),
            range=float(np.ptp(observed[i])),
            error=float(errors[i]),
            ratio=float(deviations[i, 0] / errors[i]),
            pairs=differences.shape[1],
            separated=int(counts[i, 0]),
            opposite_to_jga=int(opposite[i].sum()),
            opposite_both=int(both[i].sum()),
        )
        for i, metric in enumerate(METRICS.values())
    ]
    compared = [_compared(name, "separated", first, second, counts) for first, second in COMPARED]
    return rows, [*compared, _compared(name, "deviation", "rsa", "sa", deviations)]


def _compared(systems: str, what: str, first: str, second: str, values: Floats) -> Compared:
    """Of (n_metrics, 1 + n_resamples) values, with a normal interval.

    Resampled counts and deviations lie above the observed ones (noise on top of noise), so that their
    percentiles would be off; their spread is not.
    """
    differences = values[FIELDS.index(first)] - values[FIELDS.index(second)].astype(np.float64)
    difference, half = float(differences[0]), NORMAL * float(differences[1:].std(ddof=1))
    names = METRICS[first], METRICS[second]
    return Compared(systems, what, *names, difference, difference - half, difference + half)


def human_row(group: Group) -> Compared:
    """Zou's interval of Dey's .37 - .33: the ratings are not public, but the two metrics' own r is ours."""
    names, items = (METRICS["fga"], METRICS["jga"]), group.files[0].items
    fga, jga = (metric.values(metric.statistics(items)) for metric in map(parse_metric, names))
    between = float(np.corrcoef(fga, jga)[0, 1])
    r_fga, r_jga = HUMAN_R["fga"], HUMAN_R["jga"]
    ends = zou_interval(r_fga, r_jga, between, HUMAN_DIALOGS)
    return Compared(SOM, "human", *names, r_fga - r_jga, *ends, between)


def whole_test_rows(group: Group) -> list[WholeTest]:
    """SOM-DST on our hundred dialogs beside what is published of it on the whole test set."""
    file = group.files[0]
    values = resampled(group, file, group.has(file), group.weights)
    return [
        WholeTest(source, METRICS[field], published, *with_ends(values[FIELDS.index(field)]))
        for source, figures in WHOLE_TEST.items()
        for field, published in figures.items()
    ]


def discrimination_rows(groups: dict[str, Group]) -> tuple[list[Discrimination], list[Compared]]:
    together = [unit for unit in units(groups) if unit[0] in (SYSTEMS, FEWER)]
    every, fewer = (discrimination(*unit) for unit in together)
    return every[0] + fewer[0], [*every[1], *fewer[1], human_row(groups[SOM])]
