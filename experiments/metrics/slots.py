"""What Kim et al. show of errors, slots, domains and turns, on our files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.metrics.covariation import correlations, covariances, moments
from experiments.metrics.files import SOM, SYSTEMS, File, Group, units
from experiments.metrics.published import JGA, KIM_DOMAINS, KIM_FEW_SLOTS, RSA, SA
from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.dialog_resampling import percentile_interval
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.slot_f1 import SlotF1
from extrinsic.metrics.traits import FirstError
from extrinsic.metrics.turn_correlation import KIM_METRICS

Row = dict[str, Any]

N_BINS = 10
EVERY, ACTIVE = "all turns", "turns with a slot"
PAIRS = [(a, b) for i, a in enumerate(KIM_METRICS) for b in KIM_METRICS[i + 1 :]]


def positions(groups: dict[str, Group]) -> list[Row]:
    """Fig. 1: where, among dialogs wrong at the end, the first wrong turn is, from 0 to 1; in ten bins."""
    found = []
    for name, group, files in units(groups):
        parts = [group.spread(file, first_errors(file)) for file in files]
        drawn = group.weights @ np.sum(parts, axis=0)
        dialogs, wrong, recovered, early, *counts = drawn.T
        row: Row = {
            "file": name,
            "dialogs": int(dialogs[0]),
            "wrong": int(wrong[0]),
            "recovered": int(recovered[0]),
        }
        for key, share in (
            ("wrong_share", wrong / dialogs),
            ("recovered_share", recovered / wrong),
            ("first_half", early / wrong),
        ):
            low, high = percentile_interval(share[1:])
            row |= {key: float(share[0]), f"{key}_low": low, f"{key}_high": high}
        found.append(row | {f"bin_{i}": int(count[0]) for i, count in enumerate(counts)})
    return found


def first_errors(file: File) -> Floats:
    """(n_dialogs, 4 + N_BINS): 1; wrong at the end; of those: right again, in the first half, the bins."""
    items = file.items
    place = FirstError("relative").dialog_values(items)
    first = FirstError("turn").dialog_values(items)
    wrong = ~items.match[items.offsets[1:] - 1]
    again = items.match & (items.turn_in_dialog > np.nan_to_num(first, nan=np.inf)[items.dialog_of_turn])
    recovered = wrong & (items.sum_by_dialog(again) > 0)
    chosen = np.where(wrong, place, -1.0)
    bins = np.minimum(chosen * N_BINS, N_BINS - 1)[:, None].astype(np.int64) == np.arange(N_BINS)
    early = wrong & (chosen < 0.5)
    return np.column_stack([np.ones(len(wrong)), wrong, recovered, early, bins & wrong[:, None]])


def used_slots(groups: dict[str, Group]) -> list[Row]:
    """Fig. 2: how many slots the gold states of a dialog have at most, and the share with few."""
    found = []
    for name in (SOM, SYSTEMS):
        group = groups[name]
        file = max(group.files, key=lambda one: one.states.n_dialogs)
        most = np.maximum.reduceat(file.items.n_gold, file.items.offsets[:-1])
        few = group.weights @ group.spread(file, np.column_stack([most < KIM_FEW_SLOTS, np.ones(len(most))]))
        share = few[:, 0] / few[:, 1]
        low, high = percentile_interval(share[1:])
        counts = np.bincount(most)
        found += [
            {
                "file": name,
                "slots": slots,
                "dialogs": int(count),
                "few_share": float(share[0]),
                "few_low": low,
                "few_high": high,
            }
            for slots, count in enumerate(counts)
        ]
    return found


def domains(groups: dict[str, Group]) -> list[Row]:
    """Table 2: each domain by itself, over the turns whose gold state has it; SA over all 30 slots."""
    found = []
    metrics = {JGA: parse_metric(JGA), SA: parse_metric("slot_accuracy(slots=30)"), RSA: parse_metric(RSA)}
    for group in groups.values():
        for file in group.files:
            for domain in (domain for domain in KIM_DOMAINS if domain in file.table.components):
                items = file.table.select(domain, 1)
                items = replace(items, scheduled=items.n_gold > 0)
                values = {
                    name: metric.value(metric.statistics(items).sum(0)) for name, metric in metrics.items()
                }
                found.append({"file": file.name, "domain": domain, "turns": items.count, **values})
    return found


def turn_correlations(groups: dict[str, Group]) -> list[Row]:
    """Fig. 3: correlations over turns; also without turns that have no slot, which RSA counts as 0."""
    return [
        _turn_row(name, group, files, turns)
        for name, group, files in units(groups)
        for turns in (EVERY, ACTIVE)
    ]


def _turn_row(name: str, group: Group, files: Sequence[File], turns: str) -> Row:
    parts, n, n_empty = [], 0, 0
    for file in files:
        scores = turn_scores(file)
        active = file.items.n_active > 0
        n_empty += int((~active).sum())
        chosen = active if turns == ACTIVE else np.ones_like(active)
        n += int(chosen.sum())
        parts.append(moments(scores[chosen], file.place[file.items.dialog_of_turn[chosen]], group.size))
    r = correlations(covariances(parts, group.weights))
    column = {metric: number for number, metric in enumerate(KIM_METRICS)}
    difference = r[:, column[JGA], column[SA]] - r[:, column[JGA], column[RSA]]
    low, high = percentile_interval(difference[1:])
    return {
        "file": name,
        "turns": turns,
        "n": n,
        "empty": n_empty,
        **{f"{a} {b}": float(r[0, column[a], column[b]]) for a, b in PAIRS},
        "difference": float(difference[0]),
        "low": low,
        "high": high,
    }


def turn_scores(file: File) -> Floats:
    """(n_turns, 4) what the metrics of Kim's Fig. 3 give to each turn."""
    columns = []
    for metric in map(parse_metric, KIM_METRICS):
        assert isinstance(metric, TurnMean | SlotF1)
        columns.append(metric.turn_scores(file.items))
    return np.stack(columns, axis=1)


def tables(groups: dict[str, Group]) -> dict[str, list[Row]]:
    return {
        "positions": positions(groups),
        "used_slots": used_slots(groups),
        "domains": domains(groups),
        "turn_correlations": turn_correlations(groups),
    }
