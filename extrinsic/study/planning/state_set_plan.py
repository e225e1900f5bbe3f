"""The plan of a study of predicted states: their metrics against the user's outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.corpus.formats import StateFormat, read_state_file, stem
from extrinsic.corpus.state_checks import gold_differences
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import ExtrinsicError, Problems, did_you_mean
from extrinsic.plugins import hash_of_plugins
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash
from extrinsic.study.configuration.choices import Choice
from extrinsic.study.configuration.settings import OutcomesTable, StatesTable, StudySettings
from extrinsic.study.configuration.targets import chosen_targets
from extrinsic.study.planning.outcomes import outcome_results
from extrinsic.study.planning.own_scores import read_own_scores
from extrinsic.study.planning.plan import Plan, Schedule
from extrinsic.study.stages.evaluation import EvaluateTask, prepared_evaluator
from extrinsic.study.stages.inputs import (
    STATES_DATASET,
    StatesInput,
    TrackerInput,
    file_hash,
    warnings_of_file,
)
from extrinsic.study.stages.stored_scores import ScoreStatesTask


def plan_states(settings: StudySettings, table: StatesTable) -> Schedule:
    assert settings.outcomes is not None
    states = _read_states(table)
    _require_systems(settings, [system.name for system in states.values()])
    shared = tuple(_shared_dialogs(table, states))
    if not table.own_gold:
        _require_one_gold(states, shared)
    slots = tuple(sorted({slot for system in states.values() for slot in system.slots}))
    files = tuple(
        StatesInput(system.name, table.format, path, system.signature, table.reading)
        for path, system in states.items()
    )
    # All systems have one gold, where it is not in their own files.
    gold = {table.gold: next(iter(states.values())).gold_signature} if table.gold else {}
    degenerate, recalibrated = settings.trackers.degenerate, settings.trackers.recalibrated
    tables = [table.file for table in (settings.outcomes, settings.scores) if table and table.file]
    trackers = []
    for system in states.values():
        kinds = system.name in degenerate, system.name in recalibrated
        flags = tuple(suspicion.rule for suspicion in system.suspicions)
        trackers.append(TrackerInput(system.name, *kinds, flags=flags))
    plan = Plan(
        trackers=tuple(trackers),
        states=files,
        datasets={STATES_DATASET: content_hash(*shared)},
        targets=tuple(chosen_targets(settings)),
        dialogs=shared,
        inputs={file.path: file.signature for file in files}
        | gold
        | {path: file_hash(path) for path in (*settings.plugins, *tables)},
    )
    schedule = Schedule(plan)
    for path, system in states.items():
        schedule.warnings += warnings_of_file(path, system.problems)
    plugins = hash_of_plugins(settings.plugins)
    scores = read_own_scores(settings.scores, {system.name: system for system in states.values()}, shared)
    for file in files:
        task = ScoreStatesTask(file, shared, slots, settings.metrics, plugins, scores.get(file.name, ()))
        plan.scored[file.name] = (task.key,)
        schedule.bundles.append([task])
    if settings.outcomes.evaluator is not None:
        _add_evaluations(schedule, settings.outcomes, states, shared, slots)
    else:
        dialogs = {dialog for system in states.values() for dialog in system.dialogs}
        plan.outcomes, schedule.ready = outcome_results(
            settings.outcomes, plan, {STATES_DATASET: shared}, dialogs
        )
    return schedule


def _add_evaluations(
    schedule: Schedule,
    table: OutcomesTable,
    states: Mapping[str, StateSets],
    shared: tuple[str, ...],
    slots: tuple[tuple[str, str], ...],
) -> None:
    """A stage for the outcomes of every system, computed by the evaluator."""
    assert table.evaluator is not None
    choice = Choice(table.evaluator, table.tables.get(table.evaluator, {}))
    prepared = prepared_evaluator(choice)
    # What the first file shows of goals and responses need not be said again of every other.
    path, first = next(iter(states.items()))
    turns = dict(zip(first.dialogs, np.diff(first.offsets).tolist(), strict=True))
    prepared.check(path, {dialog: turns[dialog] for dialog in shared})
    plan = schedule.plan
    plan.generators = prepared.generators
    plan.slots = slots
    plan.inputs[table.evaluator] = prepared.signature
    for file in plan.states:
        task = EvaluateTask(file, choice, prepared.signature, table.names, shared, slots)
        plan.outcomes[file.name] = (task.key,)
        schedule.bundles.append([task])


def _require_one_gold(states: Mapping[str, StateSets], shared: Sequence[str]) -> None:
    """Refuse systems whose gold differs: their scores would not be comparable."""
    taken = {}
    for path, system in states.items():
        position = {dialog: number for number, dialog in enumerate(system.dialogs)}
        taken[path] = system.take([position[dialog] for dialog in shared])
    problems = Problems()
    problems.extend(gold_differences(taken))
    problems.raise_errors()


def _read_states(table: StatesTable) -> dict[str, StateSets]:
    form: StateFormat = FORMATS.get(table.format)
    problems = Problems()
    states: dict[str, StateSets] = {}
    if not table.files:
        problems.add("states.files names no file")
    for name, times in Counter(map(stem, table.files)).items():
        if times > 1:
            files = ", ".join(path for path in table.files if stem(path) == name)
            problems.add(f"several files are of one system {name!r}; rename them", found=files)
    for path in table.files:
        try:
            states[path] = read_state_file(form, path, reading=table.reading)
        except ExtrinsicError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    return states


def _require_systems(settings: StudySettings, names: Sequence[str]) -> None:
    problems = Problems()
    for key in ("degenerate", "recalibrated"):
        for name in getattr(settings.trackers, key):
            if name not in names:
                problems.add(f"trackers.{key}: {name!r} is none of the systems; {did_you_mean(name, names)}")
    problems.raise_errors()


def _shared_dialogs(table: StatesTable, states: Mapping[str, StateSets]) -> list[str]:
    """The ids of the dialogs that all systems have; reports missing ones if they must be the same."""
    everything = set().union(*(system.dialogs for system in states.values()))
    shared = set(everything).intersection(*(system.dialogs for system in states.values()))
    problems = Problems()
    if table.dialogs == "same":
        for path, system in states.items():
            lacking = sorted(everything - set(system.dialogs))
            if lacking:
                share = f"{len(lacking):,} of {len(everything):,} dialogs"
                what = f"{system.name} lacks {share} that other systems have"
                advice = 'states.dialogs = "shared" takes those that all have'
                problems.add(f"{what}; {advice}", path=path, session=lacking[0])
    if len(shared) < 2:
        problems.add("the systems have no dialogs in common", expected="at least two dialogs")
    problems.raise_errors()
    _require_same_turns(states, sorted(shared))
    return sorted(shared)


def _require_same_turns(states: Mapping[str, StateSets], shared: Sequence[str]) -> None:
    """Systems over the same dialogs must have the same turns of them."""
    problems = Problems()
    (_, first), *others = states.items()
    usual = dict(zip(first.dialogs, np.diff(first.offsets).tolist(), strict=True))
    for path, system in others:
        turns = dict(zip(system.dialogs, np.diff(system.offsets).tolist(), strict=True))
        for dialog in shared:
            if turns[dialog] != usual[dialog]:
                message = f"{system.name} has another number of turns than {first.name}"
                numbers = {"expected": str(usual[dialog]), "found": str(turns[dialog])}
                problems.add(message, path=path, session=dialog, **numbers)
    problems.raise_errors()
