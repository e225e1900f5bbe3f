"""What Kim et al. show of errors, slots, domains and turns, on our files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments.metrics.partial import scatter_correlations
from experiments.metrics.published_values import KIM_DOMAINS, KIM_FEW_SLOTS
from experiments.metrics.state_files import SOM, SYSTEMS, File, Group, units, with_ends
from experiments.metrics.tables import (
    METRICS,
    PAIRS,
    DomainScores,
    ErrorPositions,
    TurnCorrelations,
    UsedSlots,
)
from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean, parse_metric
from extrinsic.metrics.state_metrics import KIM_METRICS, SlotF1
from extrinsic.metrics.traits import FirstError

N_BINS = 10
EVERY, ACTIVE = "all turns", "turns with a slot"


def position_rows(groups: dict[str, Group]) -> list[ErrorPositions]:
    """Fig. 1: where, among dialogs wrong at the end, the first wrong turn is, from 0 to 1; in ten bins."""
    rows = []
    for name, group, files in units(groups):
        sums = sum(group.spread(file, first_errors(file)) for file in files)
        totals = (group.weights @ sums).T
        dialogs, wrong, recovered, early = totals[:4]
        shares = (wrong / dialogs, recovered / wrong, early / wrong)
        ends = (value for share in shares for value in with_ends(share))
        counts = totals[:, 0].astype(int).tolist()
        rows.append(ErrorPositions(name, *counts[:3], *ends, *counts[4:]))
    return rows


def first_errors(file: File) -> Floats:
    """(n_dialogs, 4 + N_BINS): 1; wrong at the end; of those: right again, in the first half, the bins."""
    items = file.items
    first = FirstError("turn").dialog_values(items)
    wrong = ~items.match[items.offsets[1:] - 1]
    again = items.match & (items.turn_in_dialog > np.nan_to_num(first, nan=np.inf)[items.dialog_of_turn])
    recovered = wrong & (items.sum_by_dialog(again) > 0)
    position = np.where(wrong, FirstError("relative").dialog_values(items), -1.0)
    bins = np.minimum(position * N_BINS, N_BINS - 1)[:, None].astype(np.int64) == np.arange(N_BINS)
    early = wrong & (position < 0.5)
    return np.column_stack([np.ones(len(wrong)), wrong, recovered, early, bins & wrong[:, None]])


def used_slot_rows(groups: dict[str, Group]) -> list[UsedSlots]:
    """Fig. 2: how many slots the gold states of a dialog have at most, and the share with few."""
    rows = []
    for name in (SOM, SYSTEMS):
        group = groups[name]
        file = max(group.files, key=lambda file: file.states.n_dialogs)
        most = np.maximum.reduceat(file.items.n_gold, file.items.offsets[:-1])
        sums = group.spread(file, np.column_stack([most < KIM_FEW_SLOTS, np.ones(len(most))]))
        few, number = (group.weights @ sums).T
        share = with_ends(few / number)
        rows += [UsedSlots(name, n, count, *share) for n, count in enumerate(np.bincount(most).tolist())]
    return rows


def domain_rows(groups: dict[str, Group]) -> list[DomainScores]:
    """Table 2."""
    metrics = [parse_metric(name) for name in (METRICS["jga"], "slot_accuracy(slots=30)", METRICS["rsa"])]
    rows = []
    for file in (file for group in groups.values() for file in group.files):
        for domain in (domain for domain in KIM_DOMAINS if domain in file.table.components):
            items = file.table.select(domain, 1)
            items = replace(items, scheduled=items.n_gold > 0)
            values = (float(metric.values(metric.statistics(items).sum(axis=0))) for metric in metrics)
            rows.append(DomainScores(file.name, domain, items.count, *values))
    return rows


def turn_rows(groups: dict[str, Group]) -> list[TurnCorrelations]:
    """Fig. 3: correlations over turns; also without turns that have no slot, which RSA counts as 0."""
    return [unit_turn_row(*unit, turns) for unit in units(groups) for turns in (EVERY, ACTIVE)]


def unit_turn_row(name: str, group: Group, files: Sequence[File], turns: str) -> TurnCorrelations:
    parts, n_empty = [], 0
    for file in files:
        active = file.items.n_active > 0
        n_empty += int((~active).sum())
        kept = active if turns == ACTIVE else np.ones_like(active)
        parts.append((turn_scores(file)[kept], file.rows[file.items.dialog_of_turn[kept]]))
    every = range(len(KIM_METRICS))
    r = scatter_correlations(group.scatter(parts), every, every)
    pairs = dict(zip(PAIRS, r[0][np.triu_indices(len(KIM_METRICS), 1)].tolist(), strict=True))
    jga, sa, _, rsa = every
    difference, low, high = with_ends(r[:, jga, sa] - r[:, jga, rsa])
    n = sum(len(points) for points, _ in parts)
    return TurnCorrelations(name, turns, n, n_empty, **pairs, difference=difference, low=low, high=high)


def turn_scores(file: File) -> Floats:
    """(n_turns, 4) what the metrics of Kim's Fig. 3 give to each turn."""
    columns = []
    for metric in map(parse_metric, KIM_METRICS):
        assert isinstance(metric, TurnMean | SlotF1)
        columns.append(metric.turn_scores(file.items))
    return np.stack(columns, axis=1)
