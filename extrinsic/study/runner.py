"""Running a study: compute the missing stages, reuse the stored ones, write the tables."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from extrinsic.errors import InputError, OutputError, Problem, UsageError, require_type
from extrinsic.plugins import hash_of_plugins
from extrinsic.signature import sign
from extrinsic.storage import content_hash, read_plain, write_atomic
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_policies, read_study
from extrinsic.study.configuration.settings_toml import replaced_settings, settings_text
from extrinsic.study.correlating.core_trackers import CoreTask, CoreTrackers
from extrinsic.study.correlating.correlation_stage import CorrelationTables, CorrelationTask
from extrinsic.study.correlating.swap_stage import SwapTables, SwapTask
from extrinsic.study.engine import Done, Engine, Workers
from extrinsic.study.finished_run import Run
from extrinsic.study.kept_policies import write_policies
from extrinsic.study.planning import Plan, Schedule, make_schedule
from extrinsic.study.policy_rows import GridValues, curve_rows, policy_rows
from extrinsic.study.run_directory import (
    CONFIG,
    MANIFEST,
    STAGES,
    Manifest,
    StageRecord,
    Status,
    clear_parts,
    lock_directory,
    make_directory,
    require_same_study,
)
from extrinsic.study.stages.inputs import StoredDialogs, corpus_of
from extrinsic.study.stages.learning import LearnTask, with_other_trackers
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.stages.task import Task
from extrinsic.study.stages.versions import versions
from extrinsic.study.table_rows import (
    diagnostic_rows,
    fit_rows,
    intrinsic_rows,
    return_rows,
    sensitivity_rows,
    stored_values,
    variant_rows,
    world_rows,
)
from extrinsic.study.tables.metric_rows import BestSetRow, CompositeRow
from extrinsic.study.tables.schema import POLICY_TABLES, TABLES, WORLDS_TABLE
from extrinsic.study.tables.table_files import write_rows
from extrinsic.study.tables.value_rows import Row, TimingRow

Watch = Callable[[Iterable[Done], Counter[str]], Iterable[Done]]
"""Wraps the stages as they finish (a progress bar); the second argument: how many of each kind there are."""

LOG = logging.getLogger(__name__)
"""What `watch` and `notify` show, for programs that have handlers of their own."""

TIMINGS = "timings.csv"
MOST_REPLACED = 8

V = TypeVar("V")


def run_study(
    study: StudySettings | str | Path,
    folder: str | Path,
    engine: Engine | None = None,
    overwrite: bool = False,
    watch: Watch = lambda steps, planned: steps,
    notify: Callable[[str], None] = lambda text: None,
    finish: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Compute what the directory does not hold yet, and write its tables.

    study: settings, or the file that holds them.   watch, notify: show progress and messages.
    finish: what is to be done with the run while no other may write into its directory.
    """
    settings = study if isinstance(study, StudySettings) else read_study(study)
    require_type("folder", folder, "the directory of the run", str, Path)
    require_type("engine", engine, "an Engine, e.g. Engine(n_jobs=2)", Engine, type(None))
    folder = Path(folder)

    def tell(text: str) -> None:
        LOG.info("%s", text)
        notify(text)

    require_same_study(folder, settings.name, overwrite)
    for line in _replaced(folder, settings):
        tell(line)
    begin = time.perf_counter()
    schedule = make_schedule(settings)
    for left_out in schedule.plan.left_out:
        tell(str(left_out))
    for line in (*schedule.warnings, *_warnings(schedule.plan)):
        tell(line)
    _require_inputs_elsewhere(schedule.plan, folder.resolve())
    make_directory(folder)
    with lock_directory(folder, tell):
        clear_parts(folder)
        _Runner(settings, schedule, folder, engine or Engine(), watch, tell, begin).run()
        finish(Run(folder))
    LOG.info("the run in %s is complete", folder)
    return Run(folder)


def run_policies(
    study: StudySettings | str | Path,
    folder: str | Path,
    engine: Engine | None = None,
    overwrite: bool = False,
    watch: Watch = lambda steps, planned: steps,
    notify: Callable[[str], None] = lambda text: None,
    finish: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Compare the policies of a grid, as `run_study` runs a study; study: of `read_policies`, or its file."""
    settings = study if isinstance(study, StudySettings) else read_policies(study)
    if settings.grid is None:
        raise UsageError("these are the settings of a study: read them by `read_policies`")
    return run_study(settings, folder, engine, overwrite, watch, notify, finish)


def _require_inputs_elsewhere(plan: Plan, folder: Path) -> None:
    """Refuse a directory that holds an input: with --overwrite a table may replace it."""
    for path in plan.inputs:
        if Path(path).is_absolute() and folder in Path(path).resolve().parents:
            message = "this input lies in the directory of the run, whose files are written anew"
            raise OutputError(message, path=path, expected="another --output")


def _replaced(folder: Path, settings: StudySettings) -> list[str]:
    """What the directory's run had set otherwise; its tables are about to be replaced."""
    path = folder / CONFIG
    try:
        lines = replaced_settings(read_plain(path).decode(), settings) if path.is_file() else []
    except ValueError:  # no longer the text that a run wrote
        return []
    shown = lines[:MOST_REPLACED]
    rest = [f"  and {len(lines) - len(shown)} more"] if len(lines) > len(shown) else []
    head = f"replacing the tables in {folder}, which were made with other settings:"
    return [head, *(f"  {line}" for line in shown), *rest] if lines else []


def _warnings(plan: Plan) -> list[str]:
    """What the readers of the dialogs on disk thought suspicious; planning has read them already."""
    stored = [
        part for unit in plan.units for part in (unit.train, unit.test) if isinstance(part, StoredDialogs)
    ]
    return list(dict.fromkeys(str(problem) for dialogs in stored for problem in corpus_of(dialogs).problems))


@dataclass
class _Runner:
    """One run: the schedule, the store, and how long everything took."""

    settings: StudySettings
    schedule: Schedule
    folder: Path
    engine: Engine
    watch: Watch
    tell: Callable[[str], None]
    begin: float
    timings: list[TimingRow] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    @property
    def plan(self) -> Plan:
        return self.schedule.plan

    @property
    def store(self) -> Store:
        # Absolute: a process that outlives this run may have another working directory.
        return Store((self.folder / STAGES).absolute())

    def run(self) -> None:
        config = settings_text(self.settings).encode()
        write_atomic(self.folder / CONFIG, config)
        self._write_manifest("running")
        self._add_timing("plan", self.begin)
        for key, data in self.schedule.ready.items():
            if not self.store.holds(key):
                self.store.write(key, data)
        with self.engine.workers(self.settings.plugins) as workers:
            planned = self._planned()
            steps = self._stages(workers)
            for _ in self.watch(steps, planned) if planned else steps:
                pass
        rows = self._policy_tables() if self.settings.grid else self._study_tables()
        kinds = POLICY_TABLES if self.settings.grid else TABLES
        if self.settings.simulation is not None and self.settings.simulation.worlds is not None:
            kinds = kinds | WORLDS_TABLE
            rows["worlds"] = list(world_rows(self.plan.units))
        writing = time.perf_counter()
        hashes = {
            f"{name}.csv": content_hash(write_rows(self.folder / f"{name}.csv", rows[name], kind))
            for name, kind in kinds.items()
        }
        hashes[CONFIG] = content_hash(config)
        hashes |= write_policies(self.folder, self.plan, self.store)
        self._add_timing("tables", writing)
        self._add_timing("everything", self.begin)
        write_rows(self.folder / TIMINGS, self.timings, TimingRow)
        self._write_manifest("complete", hashes)

    def _add_timing(self, stage: str, begin: float) -> None:
        self.timings.append(TimingRow(stage=stage, status="computed", seconds=time.perf_counter() - begin))

    def _stages(self, workers: Workers) -> Iterator[Done]:
        """Everything that is computed: of single trackers first, then what needs the results of all."""
        yield from self._computed(self.schedule.bundles, workers)
        if not self.settings.grid:
            yield from self._computed([[self._core_task]], workers)
            yield from self._computed([[task] for task in self._correlation_tasks.values()], workers)
            yield from self._computed([[task] for task in self._swap_tasks], workers)

    def _planned(self) -> Counter[str]:
        """How many stages of each kind are missing; the last ones have keys only after the others."""
        tasks = [task for bundle in self.schedule.bundles for task in bundle]
        if self.settings.grid:
            return Counter(task.key.kind for task in tasks if not self.store.holds(task.key))
        if not self.store.holds(self._core_task.key):
            missing = Counter(task.key.kind for task in tasks if not self.store.holds(task.key))
            late = {"core": 1, "correlate": max(1, len(self.plan.variants)), "swap": int(self._has_swaps)}
            return +(missing + Counter(late))
        tasks += [*self._correlation_tasks.values(), *self._swap_tasks]
        return Counter(task.key.kind for task in tasks if not self.store.holds(task.key))

    def _computed(self, bundles: Iterable[Sequence[Task]], workers: Workers) -> Iterator[Done]:
        """Compute what is missing of some bundles; every problem of their inputs is reported at the end."""
        missing: list[list[Task]] = []
        for bundle in bundles:
            self.tasks += bundle
            stored = {task.key for task in bundle if self.store.holds(task.key)}
            self.timings += [_timing(task, "reused", 0.0) for task in bundle if task.key in stored]
            lacking = [task for task in bundle if task.key not in stored]
            missing += [lacking] if lacking else []
        tasks = {task.key: task for bundle in missing for task in bundle}
        problems: list[Problem] = []
        if not self.settings.grid:
            missing = with_other_trackers(missing, workers.count)
        for done in workers.run(missing, self.store) if missing else ():
            problems += done.problems
            for line in done.warnings:
                if line not in self.told:  # two processes may have read one file
                    self.tell(line)
                    self.told.add(line)
            if not done.problems:
                self.store.write(done.key, done.data)
                self.timings.append(_timing(tasks[done.key], "computed", done.seconds))
                LOG.info("%s %s: %.1f s", done.key.kind, done.label, done.seconds)
            yield done
        if problems:
            # In a fixed order, whichever process found them first.
            raise InputError(sorted(set(problems), key=str))

    @cached_property
    def _core_task(self) -> CoreTask:
        plan = self.plan
        near = self.settings.trackers.near_duplicate
        return CoreTask(plan.trackers, tuple(plan.datasets), near, plan.scored)

    @property
    def _core(self) -> CoreTrackers:
        return self._result(self._core_task, CoreTrackers)

    @property
    def _has_swaps(self) -> bool:
        """Whether there are outcomes of trackers x generators, or of dialogs."""
        plan, outcomes = self.plan, self.settings.outcomes
        return outcomes is not None and bool(plan.states) and bool(plan.generators or outcomes.dialog)

    @property
    def _swap_tasks(self) -> list[SwapTask]:
        """One, or none."""
        plan, outcomes = self.plan, self.settings.outcomes
        if not self._has_swaps or outcomes is None:
            return []
        (correlation,) = self._correlation_tasks.values()
        return [SwapTask(correlation, outcomes.names, plan.generators, plan.slots)]

    @cached_property
    def _correlation_tasks(self) -> dict[str, CorrelationTask]:
        """By the variant's name; "" where nothing is learned. They need the core trackers."""
        plan, core = self.plan, self._core
        variants: list[tuple[str | None, tuple[str, ...], bool]] = [
            (variant.name, variant.targets, variant.brief) for variant in plan.variants
        ]
        plugins = hash_of_plugins(self.settings.plugins)
        return {
            name or "": CorrelationTask(
                plan.datasets,
                plan.tracker_names,
                core.names,
                targets,
                self.settings.correlation,
                self.settings.seed,
                plan.scored,
                plan.valued(name),
                name,
                brief,
                plugins,
            )
            for name, targets, brief in variants or [(None, plan.targets, False)]
        }

    def _result(self, task: Task, kind: type[V]) -> V:
        return Result.decode(self.store.read(task.key), task.key, kind).values

    def _value_tables(self) -> dict[str, Sequence[Row]]:
        values = stored_values(self.plan, self.store)
        return {
            "returns": return_rows(values),
            "diagnostics": diagnostic_rows(values),
            "fit": fit_rows(self.plan, self.store),
        }

    def _policy_tables(self) -> dict[str, Sequence[Row]]:
        """The tables of a grid of policies."""
        values = GridValues.read(self.plan, self.store)
        return {
            "policies": policy_rows(self.plan, values),
            "learning_curve": curve_rows(self.plan, values),
            **self._value_tables(),
        }

    def _study_tables(self) -> dict[str, Sequence[Row]]:
        """The tables of a study."""
        plan = self.plan
        correlated = {
            name: self._result(task, CorrelationTables) for name, task in self._correlation_tasks.items()
        }
        rows: dict[str, Sequence[Row]] = {
            "intrinsic": intrinsic_rows(plan, self.store),
            **self._value_tables(),
            "trackers": self._core.rows,
            "sensitivity": sensitivity_rows(plan, correlated),
        }
        swapped = [self._result(task, SwapTables) for task in self._swap_tasks]
        rows |= {"swap": [row for part in swapped for row in part.swap]}
        rows |= {"costs": [row for part in swapped for row in part.costs]}
        # All of them but the ranking, which only sensitivity is made from.
        for name in CorrelationTables.__struct_fields__:
            if name in TABLES:
                rows[name] = variant_rows(correlated, name)
        for part in swapped:
            for name in ("best_set", "composite"):
                # Over trackers x generators, in place of those by the means over generators.
                crossed: list[BestSetRow | CompositeRow] = getattr(part, name)
                targets = {row.target for row in crossed}
                others = (row for table in correlated.values() for row in getattr(table, name))
                rows[name] = [*crossed, *(row for row in others if row.target not in targets)]
        return rows

    def _write_manifest(self, status: Status, tables: dict[str, str] | None = None) -> None:
        last = LearnTask if self.settings.grid else CorrelationTask
        results = content_hash(*(task.key.hash for task in self.tasks if isinstance(task, last)))[:12]
        signature = sign(study=self.settings.name, seed=self.settings.seed, results=results)
        manifest = Manifest(
            signature=signature if status == "complete" else None,
            study=self.settings.name,
            status=status,
            versions=versions(),
            seeds={"study": self.settings.seed},
            inputs=self.plan.inputs,
            plan=self.plan,
            stages=tuple(
                StageRecord(task.key.kind, task.label, task.key.hash, task.tracker, task.variant)
                for task in self.tasks
            ),
            tables=tables or {},
            timings=TIMINGS,
        )
        write_atomic(self.folder / MANIFEST, manifest.encode())


def _timing(task: Task, status: str, seconds: float) -> TimingRow:
    return TimingRow(stage=task.key.kind, name=task.label, key=task.key.hash, status=status, seconds=seconds)
