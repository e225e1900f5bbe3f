"""The plan of a study of files with predicted states: measured, against outcomes that the user gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.corpus.formats import StateFormat, stem
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import ExtrinsicError, Problems, did_you_mean
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.configuration.plugins import hash_of_plugins
from extrinsic.study.configuration.settings import MetricsTable, StatesTable, StudySettings
from extrinsic.study.planning.outcomes import read_outcomes
from extrinsic.study.planning.plan import Plan, Task, encoded
from extrinsic.study.stages.inputs import TrackerInput, file_hash
from extrinsic.study.stages.store import Result
from extrinsic.study.stages.stored_scores import measure_states
from extrinsic.study.stages.versions import MEASURING, code_version

STATES_DATASET = "states"


def plan_states(settings: StudySettings, table: StatesTable) -> Plan:
    plan = Plan(settings)
    states = _read_states(table, plan)
    _require_known(settings, [one.name for one in states.values()])
    shared = _shared_dialogs(table, states)
    slots = tuple(sorted({slot for one in states.values() for slot in one.slots}))
    plan.dialogs = {STATES_DATASET: content_hash(*shared)}
    plan.variants = []
    for path, one in states.items():
        name = one.name
        plan.trackers.append(
            TrackerInput(name, name in settings.trackers.degenerate, name in settings.trackers.recalibrated)
        )
        key = content_hash(
            "measure",
            code_version(MEASURING),
            hash_of_plugins(settings.plugins),
            one.signature,
            encoded(settings.metrics),
            encode_json((shared, slots)),
        )
        plan.measured[name] = [key]
        arguments = (path, table.format, name, tuple(shared), slots, settings.metrics)
        plan.bundles.append([Task("measure", name, key, measure_states_file, arguments, name)])
    assert settings.outcomes is not None
    plan.inputs[settings.outcomes.file] = file_hash(settings.outcomes.file)
    names = [tracker.name for tracker in plan.trackers]
    plan.outcomes = read_outcomes(settings.outcomes, names, {STATES_DATASET: shared}, plan.dialogs)
    return plan


def _read_states(table: StatesTable, plan: Plan) -> dict[str, StateSets]:
    form: StateFormat = FORMATS.get(table.format)
    problems = Problems()
    states: dict[str, StateSets] = {}
    if not table.files:
        problems.add("states.files names no file")
    for name, times in Counter(map(stem, table.files)).items():
        if times > 1:
            found = ", ".join(path for path in table.files if stem(path) == name)
            problems.add(f"several files are of one system {name!r}; rename them", found=found)
    for path in table.files:
        try:
            states[path] = form.read(path)
            plan.inputs[path] = states[path].signature
        except ExtrinsicError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    return states


def _require_known(settings: StudySettings, names: Sequence[str]) -> None:
    problems = Problems()
    for key in ("degenerate", "recalibrated"):
        for name in getattr(settings.trackers, key):
            if name not in names:
                problems.add(f"trackers.{key}: {name!r} is none of the systems; {did_you_mean(name, names)}")
    problems.raise_errors()


def _shared_dialogs(table: StatesTable, states: Mapping[str, StateSets]) -> list[str]:
    """The dialogs that all systems have, by id; which system lacks which, if they must be the same."""
    everything = set().union(*(one.dialogs for one in states.values()))
    shared = set(everything).intersection(*(one.dialogs for one in states.values()))
    problems = Problems()
    if table.dialogs == "same":
        for path, one in states.items():
            lacking = sorted(everything - set(one.dialogs))
            if lacking:
                problems.add(
                    f"{one.name} lacks {len(lacking):,} of {len(everything):,} dialogs that other "
                    'systems have; states.dialogs = "shared" takes those that all have',
                    path=path,
                    session=lacking[0],
                )
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
    for path, one in others:
        turns = dict(zip(one.dialogs, np.diff(one.offsets).tolist(), strict=True))
        for dialog in shared:
            if turns[dialog] != usual[dialog]:
                problems.add(
                    f"{one.name} has another number of turns than {first.name}",
                    path=path,
                    session=dialog,
                    expected=str(usual[dialog]),
                    found=str(turns[dialog]),
                )
    problems.raise_errors()


def measure_states_file(
    path: str,
    form: str,
    name: str,
    shared: tuple[str, ...],
    slots: tuple[tuple[str, str], ...],
    settings: MetricsTable,
) -> Result:
    """The stage of a file of states: its measurements on the shared dialogs, in their order."""
    reader: StateFormat = FORMATS.get(form)
    states = reader.read(path, name)
    place = {dialog: number for number, dialog in enumerate(states.dialogs)}
    return measure_states(states, [place[dialog] for dialog in shared], slots, settings, STATES_DATASET)
