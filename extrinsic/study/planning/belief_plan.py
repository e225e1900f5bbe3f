"""The plan of a study of trackers with beliefs: measured, and policies learned on them."""

from __future__ import annotations

import msgspec

from extrinsic.storage import content_hash, encode_json
from extrinsic.study.configuration.plugins import hash_of_plugins
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.planning.outcomes import read_outcomes
from extrinsic.study.planning.plan import Plan, Task, encoded
from extrinsic.study.planning.tracker_inputs import built_in, placed, require_files, trackers_of
from extrinsic.study.planning.units import units_of
from extrinsic.study.planning.variants import variants_of
from extrinsic.study.stages.inputs import TrackerInput, Unit, corpus_of, file_hash
from extrinsic.study.stages.learning import learn_policies
from extrinsic.study.stages.stored_scores import measure_tracker
from extrinsic.study.stages.versions import LEARNING, MEASURING, code_version


def plan_beliefs(settings: StudySettings) -> Plan:
    require_files(settings)
    plan = Plan(settings)
    ids: dict[str, list[str]] = {}
    units = units_of(settings, plan, ids)
    plan.trackers = trackers_of(settings)
    known = {tracker.name: tracker for tracker in plan.trackers}
    proxies = [known.get(name) or built_in(name, settings) for name in settings.value.proxies]
    plan.variants = variants_of(settings, proxies)
    plan.learned = {variant.name: {name: [] for name in known} for variant in plan.variants}
    plan.measured = {name: [] for name in known}
    for unit in units:
        for part in unit.parts:
            plan.dialogs[part.name] = content_hash(unit.test.identity, encode_json(part.dialogs))
        for tracker in plan.trackers:
            there = placed(tracker, unit)
            if there.files is not None and there.hashes is not None:
                plan.inputs |= {path: there.hashes[side] for side, path in there.files.items()}
            plan.bundles.append(_bundle(plan, unit, there))
    if settings.outcomes:
        plan.inputs[settings.outcomes.file] = file_hash(settings.outcomes.file)
        if not ids:
            ids = {part.name: list(corpus_of(unit.test).sessions) for unit in units for part in unit.parts}
        plan.outcomes = read_outcomes(settings.outcomes, list(known), ids, plan.dialogs)
    return plan


def _bundle(plan: Plan, unit: Unit, tracker: TrackerInput) -> list[Task]:
    metrics = plan.settings.metrics
    own = hash_of_plugins(plan.settings.plugins)
    key = content_hash(
        "measure", code_version(MEASURING), own, unit.identity, tracker.identity, encoded(metrics)
    )
    plan.measured[tracker.name].append(key)
    label = f"{unit.name} {tracker.name}"
    tasks = [Task("measure", label, key, measure_tracker, (unit, tracker, metrics), tracker.name)]
    for variant in plan.variants:
        setting = variant.setting
        plain = msgspec.structs.replace(setting, proxies=())
        proxies = [placed(proxy, unit) for proxy in setting.proxies]
        key = content_hash(
            "learn",
            code_version(LEARNING),
            own,
            unit.identity,
            tracker.identity,
            encoded(plain),
            *(proxy.identity for proxy in proxies),
        )
        plan.learned[variant.name][tracker.name].append(key)
        whole = msgspec.structs.replace(setting, proxies=tuple(proxies))
        arguments = (unit, tracker, whole)
        tasks.append(
            Task(
                "learn", f"{label} {variant.name}", key, learn_policies, arguments, tracker.name, variant.name
            )
        )
    return tasks
