"""The plan of a study of trackers with beliefs: scored, and policies learned on them."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from extrinsic.plugins import hash_of_plugins
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.planning.outcomes import outcome_results
from extrinsic.study.planning.plan import Plan, Schedule
from extrinsic.study.planning.tracker_inputs import built_in, require_files, resolve_files, trackers_of
from extrinsic.study.planning.units import units_of
from extrinsic.study.planning.variants import grid_variants, variants_of
from extrinsic.study.stages.inputs import TrackerInput, Unit, corpus_of, file_hash
from extrinsic.study.stages.learning import Beside, LearnTask
from extrinsic.study.stages.stored_scores import ScoreTask
from extrinsic.study.stages.task import Task

MOST_BESIDE = 3
"""Stages whose policies are played with those of another: a process keeps as many."""


def plan_beliefs(settings: StudySettings) -> Schedule:
    require_files(settings)
    units, inputs, left_out = units_of(settings)
    trackers = trackers_of(settings, units)
    by_name = {tracker.name: tracker for tracker in trackers}
    proxies = [by_name.get(name) or built_in(name, settings) for name in settings.value.proxies]
    variants = (grid_variants if settings.grid else variants_of)(settings, proxies)
    plan = Plan(
        trackers=tuple(trackers),
        units=tuple(units),
        datasets={
            part.name: content_hash(unit.test.identity, encode_json(part.dialogs))
            for unit in units
            for part in unit.parts
        },
        variants=tuple(variants),
        left_out=tuple(left_out),
        inputs=inputs | {path: file_hash(path) for path in settings.plugins},
    )
    schedule = Schedule(plan)
    plugins = hash_of_plugins(settings.plugins)
    for unit in units:
        for tracker in trackers:
            located = resolve_files(tracker, unit)
            if located.files is not None and located.hashes is not None:
                plan.inputs |= {path: located.hashes[side] for side, path in located.files.items()}
            _add_bundle(schedule, settings, unit, located, plugins)
    if settings.outcomes and settings.outcomes.file is not None:
        ids = {
            part.name: list(part.of(corpus_of(unit.test)).sessions) for unit in units for part in unit.parts
        }
        plan.inputs[settings.outcomes.file] = file_hash(settings.outcomes.file)
        plan.outcomes, schedule.ready = outcome_results(settings.outcomes, plan, ids)
    return schedule


def _add_bundle(
    schedule: Schedule, settings: StudySettings, unit: Unit, tracker: TrackerInput, plugins: str
) -> None:
    plan = schedule.plan
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
    schedule.bundles += ([_beside_rewards(task, bundle) for task in bundle] for bundle in bundles.values())


def _beside_rewards(task: Task, bundle: list[Task]) -> Task:
    """A stage that learns, with those of its bundle that differ in the reward alone."""
    if not isinstance(task, LearnTask):
        return task
    specs = [other.spec for other in bundle if isinstance(other, LearnTask) and other is not task]
    alike = [spec for spec in specs if msgspec.structs.replace(spec, reward=task.spec.reward) == task.spec]
    return replace(task, beside=tuple(Beside(task.system, spec) for spec in alike[:MOST_BESIDE]))
