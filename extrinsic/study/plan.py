"""From settings to a plan: which results a study is made of, and the stages that have to compute them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from extrinsic.metrics.state_metrics import OwnScore
from extrinsic.outcomes.system_tables import Roles, read_outcomes, read_scores
from extrinsic.plugins import hash_of_plugins
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.dialog_inputs import Unit, corpus_of, file_hash, planned_dialogs
from extrinsic.study.learn_stage import LearnTask, with_other_rewards
from extrinsic.study.policy_values import OUTCOME, PolicyValue, PolicyValues
from extrinsic.study.score_stage import (
    EvaluateTask,
    OwnScores,
    ScoreStatesTask,
    ScoreTask,
    prepared_evaluator,
)
from extrinsic.study.settings import OutcomesTable, ScoresTable, StatesTable, StudySettings
from extrinsic.study.state_inputs import STATES_DATASET, StatesInput, read_systems, turns_of
from extrinsic.study.store import Result, StageKey, Task, encoded, stage_key
from extrinsic.study.tracker_inputs import (
    TrackerInput,
    require_files,
    resolve_files,
    tracker_input,
    trackers_of,
    warnings_of_file,
)
from extrinsic.study.variants import Variant, chosen_targets, grid_variants, variants_of

Keys = dict[str, tuple[StageKey, ...]]
"""By tracker, the results of a stage: one for each unit of dialogs."""


class Plan(msgspec.Struct, kw_only=True):
    """The inputs of a study, and the names of the results that are made of them; stored in the manifest.

    units: dialogs to learn from and to value on.
    states, dialogs: instead of units, files of predicted states and the dialogs that all of them have.
    datasets: of each dataset, the identity of its dialogs.   variants: ways to learn and reward.
    targets: what metrics are correlated with where nothing is learned; the primary one first.
    scored: metrics, by tracker.   learned: policies' values, by variant and tracker.
    outcomes: values from a file, by tracker.   inputs: hashes of the files read.
    left_out: dialogs that the domain excludes.
    generators, slots: of outcomes that an evaluator computes: whose responses, and the slots of all systems.
    """

    trackers: tuple[TrackerInput, ...] = ()
    units: tuple[Unit, ...] = ()
    states: tuple[StatesInput, ...] = ()
    datasets: dict[str, str] = {}
    variants: tuple[Variant, ...] = ()
    targets: tuple[str, ...] = ()
    scored: Keys = {}
    learned: dict[str, Keys] = {}
    outcomes: Keys = {}
    dialogs: tuple[str, ...] = ()
    inputs: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    slots: tuple[tuple[str, str], ...] = ()

    @property
    def tracker_names(self) -> tuple[str, ...]:
        return tuple(tracker.name for tracker in self.trackers)


@dataclass
class Schedule:
    """A plan with the stages to compute.

    bundles: stages that share a tracker and its dialogs, to be computed in one process.
    ready: results that planning computed itself, to be stored as they are.
    warnings: what was suspicious in the files that planning read, and what it leaves out.
    """

    plan: Plan
    bundles: list[list[Task]] = field(default_factory=list)
    ready: dict[StageKey, bytes] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def plan_study(settings: StudySettings) -> Schedule:
    """Read the inputs that determine the plan, and list the stages to compute."""
    return _plan_states(settings, settings.states) if settings.states else _plan_beliefs(settings)


def _plan_beliefs(settings: StudySettings) -> Schedule:
    """Trackers with beliefs: scored, and policies learned on them."""
    require_files(settings)
    dialogs = planned_dialogs(settings)
    trackers = trackers_of(settings, dialogs.units)
    by_name = {tracker.name: tracker for tracker in trackers}
    proxies = [by_name.get(name) or tracker_input(name, settings) for name in settings.value.proxies]
    variants = (grid_variants if settings.grid else variants_of)(settings, proxies)
    plan = Plan(
        trackers=tuple(trackers),
        units=tuple(dialogs.units),
        datasets={
            part.name: content_hash(unit.test.identity, encode_json(part.dialogs))
            for unit in dialogs.units
            for part in unit.parts
        },
        variants=tuple(variants),
        left_out=tuple(dialogs.left_out),
        inputs=dialogs.inputs | {path: file_hash(path) for path in settings.plugins},
    )
    schedule = Schedule(plan, warnings=[*dialogs.left_out, *dialogs.warnings])
    for unit in plan.units:
        for tracker in trackers:
            _add_bundle(schedule, settings, unit, resolve_files(tracker, unit))
    if settings.outcomes is not None and settings.outcomes.file is not None:
        ids = {
            part.name: part.of(corpus_of(unit.test)).sessions for unit in plan.units for part in unit.parts
        }
        _add_outcomes(schedule, settings.outcomes, ids)
    return schedule


def _add_bundle(schedule: Schedule, settings: StudySettings, unit: Unit, tracker: TrackerInput) -> None:
    """The stages of a tracker on the dialogs of a unit."""
    plan, plugins = schedule.plan, hash_of_plugins(settings.plugins)
    if tracker.files is not None and tracker.hashes is not None:
        plan.inputs |= {path: tracker.hashes[side] for side, path in tracker.files.items()}
    bundles: dict[bytes, list[Task]] = {}
    if settings.grid is None:
        scored = ScoreTask(unit, tracker, settings.metrics, plugins)
        plan.scored[tracker.name] = (*plan.scored.get(tracker.name, ()), scored.key)
        bundles[b""] = [scored]
    for variant in plan.variants:
        proxies = tuple(resolve_files(proxy, unit) for proxy in variant.spec.proxies)
        spec = msgspec.structs.replace(variant.spec, proxies=proxies)
        task = LearnTask(unit, tracker, spec, variant.name, plugins)
        keys = plan.learned.setdefault(variant.name, {})
        keys[tracker.name] = (*keys.get(tracker.name, ()), task.key)
        # A grid may have one tracker only: its bundles are the policies that share a behaviour model.
        shared = (spec.features, spec.conditions, spec.behaviour, spec.share)
        bundles.setdefault(msgspec.json.encode(shared) if settings.grid else b"", []).append(task)
    schedule.bundles += map(with_other_rewards, bundles.values())


def _plan_states(settings: StudySettings, table: StatesTable) -> Schedule:
    """Files of predicted states: their metrics against the user's outcomes."""
    assert settings.outcomes is not None
    states, shared = read_systems(table, settings.trackers)
    slots = tuple(sorted({slot for system in states.values() for slot in system.slots}))
    files = tuple(
        StatesInput(system.name, table.format, path, system.signature, table.reading)
        for path, system in states.items()
    )
    # All systems have one gold, where it is not in their own files.
    gold = {table.gold: next(iter(states.values())).gold_signature} if table.gold else {}
    own_tables = {path: file_hash(path) for path in settings.plugins}
    if settings.scores is not None:
        own_tables[settings.scores.file] = file_hash(settings.scores.file)
    plan = Plan(
        trackers=tuple(
            TrackerInput(
                system.name,
                system.name in settings.trackers.degenerate,
                system.name in settings.trackers.recalibrated,
                flags=tuple(suspicion.rule for suspicion in system.suspicions),
            )
            for system in states.values()
        ),
        states=files,
        datasets={STATES_DATASET: content_hash(*shared)},
        targets=tuple(chosen_targets(settings)),
        dialogs=shared,
        inputs={file.path: file.signature for file in files} | gold | own_tables,
    )
    schedule = Schedule(plan)
    for path, system in states.items():
        schedule.warnings += warnings_of_file(path, system.problems)
    turns = {system.name: turns_of(system) for system in states.values()}
    own = _own_scores(settings.scores, turns, shared)
    plugins = hash_of_plugins(settings.plugins)
    for file in files:
        task = ScoreStatesTask(file, shared, slots, settings.metrics, plugins, own.get(file.name, ()))
        plan.scored[file.name] = (task.key,)
        schedule.bundles.append([task])
    evaluator = settings.outcomes.evaluator
    if evaluator is None:
        _add_outcomes(schedule, settings.outcomes, {STATES_DATASET: shared}, set().union(*turns.values()))
        return schedule
    prepared = prepared_evaluator(evaluator)
    # What the first file shows of goals and responses need not be said again of every other.
    prepared.check(files[0].path, {dialog: turns[files[0].name][dialog] for dialog in shared})
    plan.generators, plan.slots = prepared.generators, slots
    plan.inputs[evaluator.name] = prepared.signature
    for file in files:
        evaluated = EvaluateTask(file, evaluator, prepared.signature, settings.outcomes.names, shared, slots)
        plan.outcomes[file.name] = (evaluated.key,)
        schedule.bundles.append([evaluated])
    return schedule


def _own_scores(
    table: ScoresTable | None, turns: Mapping[str, Mapping[str, int]], dialogs: Sequence[str]
) -> dict[str, tuple[OwnScores, ...]]:
    """By system, the scores that the user brings."""
    if table is None:
        return {}
    columns = msgspec.convert(table, Roles, from_attributes=True)
    better = {name: "lower" if name in table.lower_is_better else "higher" for name in table.names}
    metrics = [str(OwnScore(name, better[name])) for name in table.names]
    return {
        system: tuple(
            OwnScores(metric, tuple(sums.tolist()), tuple(counts.tolist()))
            for metric, sums in zip(metrics, by_name, strict=True)
        )
        for system, (by_name, counts) in read_scores(table.file, columns, turns, dialogs).items()
    }


def _add_outcomes(
    schedule: Schedule,
    table: OutcomesTable,
    dialogs: Mapping[str, Sequence[str]],
    others: Iterable[str] = (),
) -> None:
    """The outcomes of every tracker from the user's table, which planning reads to refuse it at once.

    dialogs: of each dataset.   others: dialogs that may have outcomes although they are of no dataset.
    """
    assert table.file is not None
    plan = schedule.plan
    plan.inputs[table.file] = file_hash(table.file)
    columns = msgspec.convert(table, Roles, from_attributes=True)
    outcomes = read_outcomes(table.file, columns, plan.tracker_names, dialogs, others)
    for tracker in plan.tracker_names:
        key = stage_key("outcomes", plan.inputs[table.file], encoded(table), tracker, encode_json(dialogs))
        own = [outcome for outcome in outcomes if outcome.system == tracker]
        values = [
            PolicyValue(
                dataset=outcome.dataset,
                policy=OUTCOME,
                estimator=outcome.name,
                mean=outcome.mean,
                n=len(outcome.influence),
                diagnostics=dict(outcome.diagnostics),
            )
            for outcome in own
        ]
        influences = {f"influence{number}": outcome.influence for number, outcome in enumerate(own)}
        plan.outcomes[tracker] = (key,)
        schedule.ready[key] = Result(PolicyValues(tuple(values)), influences).encode(key)
