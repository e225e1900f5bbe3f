"""The Panel of a run, from the stored results of its stages: of every kind of study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import N_DRAWS, Dataset, Float32s, MetricKey, Note, Panel, System, Target, item_weights
from extrinsic.simulation import describe
from extrinsic.simulation.world_files import is_drawn, read_drawn
from extrinsic.study.dialog_inputs import SimulatedDialogs, Unit, corpus_of
from extrinsic.study.plan import Plan
from extrinsic.study.policy_values import LEARNED, LOGGED, PolicyValue, PolicyValues, StoredValue
from extrinsic.study.score_stage import ERRORS, GENERATORS, Measured, Measurements, TrackerScores, metric_of
from extrinsic.study.state_inputs import STATES_DATASET
from extrinsic.study.store import Result, Store
from extrinsic.value.diagnostics import WORDS
from extrinsic.verdict.core_systems import JOINT_ONLY, NOTHING, SILENT, agreement
from extrinsic.verdict.item_level import KINDS
from extrinsic.verdict.names import Name, is_share, target_title

SILENT_BELOW = 0.1
"""A silent tracker has fewer values than this share of those of the median tracker."""

POLICY = "policy"
"""In the names of targets of a grid, where policies are the systems."""

MEASURED = ("turns_per_dialog", "rank_1", "in_list", "list_size", "hang_ups", "completed")
"""Of the test dialogs of a drawn world."""

Values = Mapping[str | None, Sequence[StoredValue]]
"""By variant; None: outcomes."""

Placed = dict[tuple[str | None, str, str, str], tuple[PolicyValue, Floats]]
"""A value and its influence by variant, target, dataset and system."""

Ranks = Mapping[str | None, tuple[tuple[str, ...], bool]]
"""By variant the targets that are correlated, the primary one first; and whether they only rank metrics."""


def fill_panel(plan: Plan, store: Store, values: Values, seed: int, draws_worlds: bool = False) -> Panel:
    """draws_worlds: whether datasets have the properties of drawn worlds."""
    items = _items_of(plan)
    if any(variant.policy for variant in plan.variants):
        return _panel_of_policies(plan, values, items)
    datasets = [
        Dataset(name, items[name], identity=identity, properties=properties)
        for (name, identity), properties in zip(
            plan.datasets.items(),
            map(_world_properties, plan.units) if draws_worlds else [{}] * len(plan.datasets),
            strict=True,
        )
    ]
    scored = _scored(plan, store, datasets, seed)
    if plan.generators:
        return _crossed(plan, store, scored)
    ranks: Ranks = {each.name: (each.targets, each.brief) for each in plan.variants} or {
        None: (plan.targets, False)
    }
    placed: Placed = {
        (variant, stored.value.target, stored.value.dataset, stored.tracker): (stored.value, stored.influence)
        for variant in ranks
        for stored in (*(values[variant] if variant else ()), *values[None])
    }
    return _with_targets(scored, placed, ranks)


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


def _world_properties(unit: Unit) -> dict[str, float | str]:
    """Of a drawn world what was drawn, and what its test dialogs turned out to be."""
    dialogs = unit.test
    assert isinstance(dialogs, SimulatedDialogs)
    simulation = dialogs.simulation
    drawn: Mapping[str, float] = {}
    if is_drawn(dialogs.dataset):
        _, drawn = read_drawn(dialogs.dataset, getattr(simulation, "properties", {}))
    measured = asdict(describe(simulation.simulate(dialogs.dataset, dialogs.split)))
    return {**drawn, **{name: measured[name] for name in MEASURED}}


def _scored(plan: Plan, store: Store, datasets: Sequence[Dataset], seed: int) -> Panel:
    """The half of a panel that scoring gives: it has no targets yet."""
    weights = [item_weights(each.identity, len(each.items), N_DRAWS, seed) for each in datasets]
    metrics: tuple[MetricKey, ...] = ()
    tops: list[Ints] = []
    top_scores: list[Floats] = []
    joint_only = set()
    for s, tracker in enumerate(plan.tracker_names):
        cells: dict[str, Measurements] = {}
        for key in plan.scored[tracker]:
            stored = Result.decode(store.read(key), key, TrackerScores)
            cells |= {name: Measurements.of(stored, name) for name in stored.values.datasets}
            if stored.values.joint_only:
                joint_only.add(tracker)
        by_dataset = [cells[dataset.name] for dataset in datasets]
        if not metrics:
            order = [row.name for row in by_dataset[0].rows]
            metrics = tuple(map(_metric_key, by_dataset[0].rows))
            shape = (len(metrics), len(datasets), len(plan.trackers))
            scores, counts = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
            n_drawn = sum(not metric.is_sum for metric in metrics)
            parts: list[Float32s] = [
                np.empty((*shape[::2], len(each.items)), np.float32) for each in datasets
            ]
            draws: list[Float32s] = [np.empty((n_drawn, shape[2], N_DRAWS), np.float32) for _ in datasets]
        for d, cell in enumerate(by_dataset):
            places = {row.name: number for number, row in enumerate(cell.rows)}
            rows = [places[name] for name in order]
            scores[:, d, s] = [cell.rows[i].value for i in rows]
            counts[:, d, s] = [cell.rows[i].n for i in rows]
            parts[d][:, s] = [_parts(cell, i) for i in rows]
            if n_drawn:
                curves = [i for i in rows if isinstance(cell.rows[i].columns, int)]
                draws[d][:, s] = cell.resampled(weights[d])[curves]
        tops.append(np.concatenate([cell.top for cell in by_dataset]))
        top_scores.append(np.concatenate([cell.top_score for cell in by_dataset]))
    return Panel.of(
        _systems(plan, tops, joint_only),
        datasets,
        metrics,
        scores=scores,
        counts=counts,
        agreement=agreement(tops, top_scores),
        parts=parts,
        draws=draws,
    )


def _metric_key(row: Measured) -> MetricKey:
    return MetricKey(
        *row.name,
        higher_is_better=metric_of(row.metric).higher_is_better,
        title=Name.of(row).title(),
        is_sum=not isinstance(row.columns, int),
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


def _systems(plan: Plan, tops: Sequence[Ints], joint_only: set[str]) -> Iterator[System]:
    """tops: per tracker the best value of every item, by which one that hardly ever has a value is silent."""
    n_values = [np.count_nonzero(top != NOTHING) for top in tops]
    enough = SILENT_BELOW * float(np.median(n_values))
    for tracker, n in zip(plan.trackers, n_values, strict=True):
        kinds = {"degenerate": tracker.degenerate, "recalibrated": tracker.recalibrated}
        flags = [*tracker.flags, *(kind for kind, holds in kinds.items() if holds)]
        if tracker.name in joint_only:
            flags.append(JOINT_ONLY)
        elif n < enough:
            flags.append(SILENT)
        yield System(tracker.name, flags=tuple(flags))


def _with_targets(scored: Panel, placed: Placed, ranks: Ranks) -> Panel:
    """What a system does not have is NaN."""
    datasets = {dataset.name: d for d, dataset in enumerate(scored.datasets)}
    columns: dict[tuple[str | None, str], dict[tuple[int, int], tuple[PolicyValue, Floats]]] = {}
    for (variant, name, dataset, system), entry in placed.items():
        columns.setdefault((variant, name), {})[datasets[dataset], scored.system(system)] = entry
    mean, low, high = np.full((3, len(columns), len(datasets), len(scored.systems)), np.nan)
    targets: list[Target] = []
    notes: list[Note] = []
    n_callers = dict.fromkeys(range(len(datasets)), 0)
    for k, ((variant, name), cells) in enumerate(columns.items()):
        names, brief = ranks[variant]
        is_live = any(value.resampled_over == "callers" for value, _ in cells.values())
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
        for (d, s), (value, influence) in cells.items():
            ends = (np.nan if end is None else end for end in (value.low, value.high))
            mean[k, d, s], low[k, d, s], high[k, d, s] = value.mean, *ends
            if is_live:
                n_callers[d] = len(influence)
            if value.flags:
                notes.append(Note(k, d, s, value.flags))

    def influences(items: str, sizes: Sequence[int]) -> list[Floats]:
        rows = [
            cells for target, cells in zip(targets, columns.values(), strict=True) if target.items == items
        ]
        arrays = [np.full((len(rows), len(scored.systems), size), np.nan) for size in sizes]
        for row, cells in enumerate(rows):
            for (d, s), (_, influence) in cells.items():
                arrays[d][row, s] = influence
        return arrays

    return replace(
        scored,
        datasets=tuple(
            msgspec.structs.replace(dataset, n_callers=n_callers[d])
            for d, dataset in enumerate(scored.datasets)
        ),
        targets=tuple(targets),
        values=mean,
        low=low,
        high=high,
        influence=influences("dialogs", [len(dataset.items) for dataset in scored.datasets]),
        caller_influence=influences("callers", list(n_callers.values())),
        notes=tuple(sorted(notes, key=lambda note: (note.target, note.dataset, note.system))),
        words={flag: WORDS[flag] for note in notes for flag in note.flags if flag in WORDS},
    )


def _crossed(plan: Plan, store: Store, scored: Panel) -> Panel:
    """Every generator is a dataset with the same dialogs and scores; errors by slot are metrics, too."""
    n_generators, n_dialogs = len(plan.generators), len(plan.dialogs)
    placed: Placed = {}
    errors = []
    for tracker in plan.tracker_names:
        (key,) = plan.outcomes[tracker]
        stored = Result.decode(store.read(key), key, PolicyValues)
        errors.append(stored.arrays[ERRORS].reshape(-1, n_dialogs))
        for value, outcomes in zip(stored.values.values, stored.arrays[GENERATORS], strict=True):
            for generator, reached in zip(plan.generators, outcomes, strict=True):
                mean = float(reached.mean())
                under = PolicyValue(
                    dataset=generator, policy=value.policy, estimator=value.estimator, mean=mean, n=n_dialogs
                )
                placed[None, value.target, generator, tracker] = under, (reached - reached.mean()) / n_dialogs
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
    crossed = Panel.of(
        scored.systems,
        [
            msgspec.structs.replace(scored.datasets[0], name=generator, sampled=True)
            for generator in plan.generators
        ],
        (*scored.metrics, *keys),
        scores=np.repeat(means, n_generators, axis=1),
        counts=np.repeat(counts, n_generators, axis=1),
        agreement=scored.agreement,
        parts=[parts] * n_generators,
        draws=[*scored.draws] * n_generators,
    )
    return _with_targets(crossed, placed, {None: (plan.targets, False)})


def _panel_of_policies(plan: Plan, values: Values, items: Mapping[str, tuple[str, ...]]) -> Panel:
    """Of a grid the systems are policies, and every dataset and tracker is a dataset; shares are variants.

    An estimator is a target, of the logged policy and of those that were learned.
    """
    datasets = [
        Dataset(f"{dataset}, {tracker}", items[dataset], identity=identity)
        for dataset, identity in plan.datasets.items()
        for tracker in plan.tracker_names
    ]
    whole = [variant for variant in plan.variants if not variant.brief]
    systems = dict.fromkeys([variant.logged for variant in whole] + [variant.policy for variant in whole])
    placed: Placed = {}
    ranks: dict[str | None, tuple[tuple[str, ...], bool]] = {}
    for variant in plan.variants:
        share = f"{variant.parameter}={variant.value}" if variant.brief else None
        ranks[share] = (), variant.brief
        names = {LEARNED: variant.policy, LOGGED: variant.logged}
        for stored in values[variant.name]:
            value, system = stored.value, names.get(stored.value.policy, "")
            if system in systems:
                cell = f"{value.dataset}, {stored.tracker}"
                placed[share, f"{POLICY}.{value.estimator}", cell, system] = value, stored.influence
    return _with_targets(Panel.of(map(System, systems), datasets), placed, ranks)
