"""The Panel of a run, from the stored results of its stages: of every kind of study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import (
    N_DRAWS,
    Dataset,
    Float32s,
    MetricKey,
    Note,
    Panel,
    System,
    Target,
    item_weights,
)
from extrinsic.study.dialog_inputs import corpus_of
from extrinsic.study.evaluation import ERRORS, GENERATORS, KINDS, OUTCOME
from extrinsic.study.plan import Plan
from extrinsic.study.policy_spec import LEARNED, LOGGED, PolicyValue, PolicyValues
from extrinsic.study.score_stage import Measurements, TrackerScores, metric_of
from extrinsic.study.state_inputs import STATES_DATASET
from extrinsic.study.store import Result, Store
from extrinsic.study.variant_values import TrackerValue, variant_values
from extrinsic.value.diagnostics import WORDS
from extrinsic.verdict.core_systems import JOINT_ONLY, NOTHING, SILENT, agreement
from extrinsic.verdict.names import Name, is_share, target_title

SILENT_BELOW = 0.1
"""A silent tracker has fewer values than this share of those of the median tracker."""

POLICY = "policy"
"""In the names of targets of a grid, where policies are the systems."""

Properties = Mapping[str, Mapping[str, float | str]]


def fill_panel(
    plan: Plan, store: Store, seed: int, signature: str = "", properties: Properties | None = None
) -> Panel:
    """properties: of the datasets of drawn worlds."""
    items = _items_of(plan)
    if any(variant.policy for variant in plan.variants):
        return _panel_of_policies(plan, store, items, signature)
    scored = _scored(plan, store, items, seed)
    datasets = [
        Dataset(name, items[name], 0, identity, properties=dict((properties or {}).get(name, {})))
        for name, identity in plan.datasets.items()
    ]
    if plan.generators:
        scored, datasets, values = _crossed(plan, store, scored, datasets[0])
        return _panel(scored, datasets, [values], signature)
    valued = [
        _Values(each.name, each.targets, each.brief, variant_values(store, plan.valued(each.name)))
        for each in plan.variants
    ]
    if not valued:
        valued = [_Values(None, plan.targets, False, variant_values(store, plan.valued(None)))]
    return _panel(scored, datasets, valued, signature)


def _items_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The dialogs of every dataset, by name."""
    if plan.dialogs:
        return {STATES_DATASET: plan.dialogs}
    items = {}
    for unit in plan.units:
        corpus = corpus_of(unit.test)
        for part in unit.parts:
            items[part.name] = tuple(corpus.sessions[i] for i in part.chosen(corpus.n_dialogs).tolist())
    return items


@dataclass(frozen=True, eq=False)
class _Scored:
    """The half of a panel that scoring gives; arrays as there."""

    systems: tuple[System, ...]
    metrics: tuple[MetricKey, ...]
    scores: Floats
    counts: Ints
    agreement: Floats
    parts: list[Float32s]
    draws: list[Float32s]


def _scored(plan: Plan, store: Store, items: Mapping[str, Sequence[str]], seed: int) -> _Scored:
    names, datasets = plan.tracker_names, tuple(plan.datasets)
    weights = {name: item_weights(plan.datasets[name], len(items[name]), N_DRAWS, seed) for name in datasets}
    metrics: tuple[MetricKey, ...] = ()
    order: list[tuple[str, int, str, str | None]] = []
    tops: list[Ints] = []
    top_scores: list[Floats] = []
    joint_only = set()
    for s, tracker in enumerate(names):
        cells: dict[str, Measurements] = {}
        for key in plan.scored[tracker]:
            stored = Result.decode(store.read(key), key, TrackerScores)
            cells |= {name: Measurements.of(stored, name) for name in stored.values.datasets}
            if stored.values.joint_only:
                joint_only.add(tracker)
        if not metrics:
            first = cells[datasets[0]]
            metrics, order = _metrics_of(first), [row.name for row in first.rows]
            shape = (len(metrics), len(datasets), len(names))
            scores, counts = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
            n_drawn = sum(not metric.is_sum for metric in metrics)
            parts = [np.empty((len(metrics), len(names), len(items[d])), np.float32) for d in datasets]
            draws = [np.empty((n_drawn, len(names), N_DRAWS), np.float32) for _ in datasets]
        for d, dataset in enumerate(datasets):
            cell = cells[dataset]
            places = {row.name: number for number, row in enumerate(cell.rows)}
            rows = [places[name] for name in order]
            scores[:, d, s] = [cell.rows[i].value for i in rows]
            counts[:, d, s] = [cell.rows[i].n for i in rows]
            parts[d][:, s] = [_parts(cell, i) for i in rows]
            if n_drawn:
                curves = [i for i in rows if isinstance(cell.rows[i].columns, int)]
                draws[d][:, s] = cell.resampled(weights[dataset])[curves]
        tops.append(np.concatenate([cells[dataset].top for dataset in datasets]))
        top_scores.append(np.concatenate([cells[dataset].top_score for dataset in datasets]))
    return _Scored(
        _systems(plan, tops, joint_only),
        metrics,
        scores,
        counts,
        agreement(tops, top_scores),
        parts,
        draws,
    )


def _metrics_of(cell: Measurements) -> tuple[MetricKey, ...]:
    return tuple(
        MetricKey(
            *row.name,
            higher_is_better=metric_of(row.metric).higher_is_better,
            title=Name.of(row).title(),
            is_sum=not isinstance(row.columns, int),
        )
        for row in cell.rows
    )


def _parts(cell: Measurements, number: int) -> Floats:
    """(n_dialogs,) what each dialog adds to a score, by leaving it out; NaN where it is no sum."""
    row = cell.rows[number]
    if isinstance(row.columns, int) or row.value is None:
        return np.full(cell.n_dialogs, np.nan)
    columns, n = cell.columns[:, slice(*row.columns)], cell.n_dialogs
    without = metric_of(row.metric).values(columns.sum(axis=0) - columns)
    away = np.where(np.isnan(without), 0.0, row.value - without) * (n - 1) / n
    return np.asarray(row.value / n + away - away.mean())


def _systems(plan: Plan, tops: Sequence[Ints], joint_only: set[str]) -> tuple[System, ...]:
    """tops: per tracker the best value of every item, by which one that hardly ever has a value is silent."""
    n_values = [np.count_nonzero(top != NOTHING) for top in tops]
    enough = SILENT_BELOW * float(np.median(n_values))
    systems = []
    for tracker, n in zip(plan.trackers, n_values, strict=True):
        kinds = {"degenerate": tracker.degenerate, "recalibrated": tracker.recalibrated}
        flags = [*tracker.flags, *(kind for kind, holds in kinds.items() if holds)]
        if tracker.name in joint_only:
            flags.append(JOINT_ONLY)
        elif n < enough:
            flags.append(SILENT)
        systems.append(System(tracker.name, flags=tuple(flags)))
    return tuple(systems)


class _Values(NamedTuple):
    """Of a variant: its targets, the primary one first; brief: they only rank metrics.

    by_system: every value, those that are no targets too.
    """

    variant: str | None
    targets: tuple[str, ...]
    brief: bool
    by_system: Mapping[str, Sequence[TrackerValue]]


def _panel(scored: _Scored, datasets: Sequence[Dataset], valued: Sequence[_Values], signature: str) -> Panel:
    """Values are placed by dataset and system; what a system does not have is NaN."""
    places = {dataset.name: d for d, dataset in enumerate(datasets)}
    systems = {system.name: s for s, system in enumerate(scored.systems)}
    targets: list[Target] = []
    entries: list[list[tuple[int, int, TrackerValue]]] = []
    for variant, names, brief, by_system in valued:
        by_target: dict[str, list[tuple[int, int, TrackerValue]]] = {}
        for system, of_system in by_system.items():
            for entry in of_system:
                if entry.value.dataset in places:
                    placed = places[entry.value.dataset], systems[system], entry
                    by_target.setdefault(entry.value.target, []).append(placed)
        for name, of_target in by_target.items():
            is_live = any(entry.value.resampled_over == "callers" for *_, entry in of_target)
            targets.append(
                Target(
                    name,
                    variant,
                    target_title(name),
                    "callers" if is_live else "dialogs",
                    "share" if is_share(name) else "points",
                    primary=name in names[:1],
                    is_correlated=name in names and not brief,
                    rank=names.index(name) if name in names else len(names),
                )
            )
            entries.append(of_target)
    sizes = {"dialogs": [len(dataset.items) for dataset in datasets], "callers": [0] * len(datasets)}
    for target, of_target in zip(targets, entries, strict=True):
        for d, _, entry in of_target:
            sizes[target.items][d] = len(entry.influence)
    influence = {
        kind: [
            np.full((sum(target.items == kind for target in targets), len(systems), size), np.nan)
            for size in by_dataset
        ]
        for kind, by_dataset in sizes.items()
    }
    mean, low, high = np.full((3, len(targets), len(datasets), len(systems)), np.nan)
    notes: list[Note] = []
    for k, (target, of_target) in enumerate(zip(targets, entries, strict=True)):
        row = sum(before.items == target.items for before in targets[:k])
        for d, s, entry in of_target:
            value: PolicyValue = entry.value
            ends = (np.nan if end is None else end for end in (value.low, value.high))
            mean[k, d, s], low[k, d, s], high[k, d, s] = value.mean, *ends
            influence[target.items][d][row, s] = entry.influence
            if value.flags:
                notes.append(Note(k, d, s, value.flags))
    return Panel(
        systems=scored.systems,
        datasets=tuple(
            msgspec.structs.replace(dataset, n_callers=n)
            for dataset, n in zip(datasets, sizes["callers"], strict=True)
        ),
        metrics=scored.metrics,
        targets=tuple(targets),
        scores=scored.scores,
        counts=scored.counts,
        values=mean,
        low=low,
        high=high,
        agreement=scored.agreement,
        parts=scored.parts,
        draws=scored.draws,
        influence=influence["dialogs"],
        caller_influence=influence["callers"],
        notes=tuple(sorted(notes, key=lambda note: (note.target, note.dataset, note.system))),
        words={flag: WORDS[flag] for note in notes for flag in note.flags if flag in WORDS},
        signature=signature,
    )


def _crossed(
    plan: Plan, store: Store, scored: _Scored, dataset: Dataset
) -> tuple[_Scored, list[Dataset], _Values]:
    """Every generator is a dataset with the same dialogs and scores; errors by slot are metrics, too."""
    n_generators, n_dialogs = len(plan.generators), len(dataset.items)
    by_system: dict[str, list[TrackerValue]] = {}
    errors = []
    for tracker in plan.tracker_names:
        (key,) = plan.outcomes[tracker]
        stored = Result.decode(store.read(key), key, PolicyValues)
        errors.append(stored.arrays[ERRORS].reshape(-1, n_dialogs))
        by_system[tracker] = [
            TrackerValue(
                PolicyValue(
                    dataset=generator,
                    policy=OUTCOME,
                    estimator=value.estimator,
                    mean=float(reached.mean()),
                    n=n_dialogs,
                ),
                (reached - reached.mean()) / n_dialogs,
                {},
                0,
            )
            for value, outcomes in zip(stored.values.values, stored.arrays[GENERATORS], strict=True)
            for generator, reached in zip(plan.generators, outcomes, strict=True)
        ]
    # (n_errors, S, n_dialogs)
    shares = np.stack(errors, axis=1)
    keys = [
        MetricKey(kind, 1, "-".join(slot), None, None, f"{kind} {slot[1]}")
        for kind in KINDS
        for slot in plan.slots
    ]
    means = np.concatenate([scored.scores, shares.mean(axis=2)[:, None]])
    counts = np.concatenate([scored.counts, np.full((len(keys), *scored.counts.shape[1:]), n_dialogs)])
    parts = np.concatenate([scored.parts[0], (shares / n_dialogs).astype(np.float32)])
    scored = replace(
        scored,
        metrics=(*scored.metrics, *keys),
        scores=np.repeat(means, n_generators, axis=1),
        counts=np.repeat(counts, n_generators, axis=1),
        parts=[parts] * n_generators,
        draws=scored.draws * n_generators,
    )
    datasets = [
        msgspec.structs.replace(dataset, name=generator, sampled=True) for generator in plan.generators
    ]
    return scored, datasets, _Values(None, plan.targets, False, by_system)


def _panel_of_policies(
    plan: Plan, store: Store, items: Mapping[str, tuple[str, ...]], signature: str
) -> Panel:
    """Of a grid the systems are policies, and every dataset and tracker is a dataset; shares are variants.

    An estimator is a target, of the logged policy and of those that were learned.
    """
    datasets = [
        Dataset(f"{dataset}, {tracker}", items[dataset], 0, identity)
        for dataset, identity in plan.datasets.items()
        for tracker in plan.tracker_names
    ]
    systems = dict.fromkeys(variant.logged for variant in plan.variants if not variant.brief)
    systems |= dict.fromkeys(variant.policy for variant in plan.variants if not variant.brief)
    shares: dict[str | None, dict[str, dict[tuple[str, str], TrackerValue]]] = {}
    for variant in plan.variants:
        of_share = shares.setdefault(f"{variant.parameter}={variant.value}" if variant.brief else None, {})
        names = {LEARNED: variant.policy, LOGGED: variant.logged}
        for tracker, entries in variant_values(store, plan.learned[variant.name]).items():
            for entry in entries:
                value = entry.value
                system, cell = names.get(value.policy, ""), f"{value.dataset}, {tracker}"
                if system in systems:
                    value = msgspec.structs.replace(value, policy=POLICY, dataset=cell)
                    of_share.setdefault(system, {})[cell, value.estimator] = replace(entry, value=value)
    n_systems, no_scores = len(systems), (0, len(datasets), len(systems))
    scored = _Scored(
        tuple(map(System, systems)),
        (),
        np.zeros(no_scores),
        np.zeros(no_scores, dtype=np.int64),
        np.full((n_systems, n_systems), np.nan),
        [np.zeros((0, n_systems, len(dataset.items)), np.float32) for dataset in datasets],
        [np.zeros((0, n_systems, N_DRAWS), np.float32) for _ in datasets],
    )
    valued = [
        _Values(
            share, (), share is not None, {name: list(cells.values()) for name, cells in of_share.items()}
        )
        for share, of_share in shares.items()
    ]
    return _panel(scored, datasets, valued, signature)
