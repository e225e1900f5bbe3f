"""Running a study: compute the missing stages, reuse the stored ones, write the tables."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from extrinsic.errors import InputError, OutputError, Problem, UsageError, require_type
from extrinsic.panel import FILE as PANEL
from extrinsic.storage import content_hash, read_plain, sign, write_atomic
from extrinsic.study.engine import Done, Engine, Workers
from extrinsic.study.learn_stage import with_other_trackers
from extrinsic.study.plan import Plan, Schedule, plan_study
from extrinsic.study.results import StudyResults
from extrinsic.study.run import Run, write_policies
from extrinsic.study.run_directory import (
    CONFIG,
    FORM,
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
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import read_policies, read_study
from extrinsic.study.settings_tree import replaced_settings, settings_text
from extrinsic.study.store import Store, Task, versions
from extrinsic.study.tables import TimingRow
from extrinsic.tables import write_rows

Watch = Callable[[Iterable[Done], Counter[str]], Iterable[Done]]
"""Wraps the stages as they finish (a progress bar); the second argument: how many of each kind there are."""

LOG = logging.getLogger(__name__)
"""What `watch` and `notify` show, for programs that have handlers of their own."""

TIMINGS = "timings.csv"
MOST_REPLACED = 8


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
    schedule = plan_study(settings)
    for line in schedule.warnings:
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

    def __post_init__(self) -> None:
        self.plan = self.schedule.plan
        self.tasks = [task for bundle in self.schedule.bundles for task in bundle]
        # Absolute: a process that outlives this run may have another working directory.
        self.store = Store((self.folder / STAGES).absolute())
        self.results = StudyResults(self.settings, self.plan, self.store)

    def run(self) -> None:
        config = settings_text(self.settings).encode()
        write_atomic(self.folder / CONFIG, config)
        self._write_manifest("running")
        self._took("plan", self.begin)
        for key, data in self.schedule.ready.items():
            if not self.store.holds(key):
                self.store.write(key, data)
        stored = {task.key for task in self.tasks if self.store.holds(task.key)}
        self.timings += [_timing(task, "reused", 0.0) for task in self.tasks if task.key in stored]
        lacking = [[task for task in bundle if task.key not in stored] for bundle in self.schedule.bundles]
        missing = [bundle for bundle in lacking if bundle]
        kinds = Counter(task.key.kind for bundle in missing for task in bundle)
        if missing:
            with self.engine.workers(self.settings.plugins) as workers:
                for _ in self.watch(self._computed(missing, workers), kinds):
                    pass
        writing = time.perf_counter()
        for line in self.results.warnings:
            self.tell(line)
        tables = self.results.tables()
        hashes = {
            f"{name}.csv": content_hash(write_rows(self.folder / f"{name}.csv", rows, kind))
            for name, (kind, rows) in tables.items()
        }
        panel = replace(self.results.panel, signature=self._signature).encode()
        write_atomic(self.folder / PANEL, panel)
        hashes |= {PANEL: content_hash(panel), CONFIG: content_hash(config)}
        hashes |= write_policies(self.folder, self.plan, self.store)
        self._took("tables", writing)
        self._took("everything", self.begin)
        write_rows(self.folder / TIMINGS, self.timings, TimingRow)
        self._write_manifest("complete", hashes)

    def _took(self, stage: str, begin: float) -> None:
        self.timings.append(TimingRow(stage=stage, status="computed", seconds=time.perf_counter() - begin))

    def _computed(self, missing: list[list[Task]], workers: Workers) -> Iterator[Done]:
        """Compute some bundles; every problem of their inputs is reported at the end."""
        tasks = {task.key: task for bundle in missing for task in bundle}
        problems: list[Problem] = []
        told: set[str] = set()
        if not self.settings.grid:
            missing = with_other_trackers(missing, workers.count)
        for done in workers.run(missing):
            problems += done.problems
            for line in done.warnings:
                if line not in told:  # two processes may have read one file
                    self.tell(line)
                    told.add(line)
            if not done.problems:
                self.store.write(done.key, done.data)
                self.timings.append(_timing(tasks[done.key], "computed", done.seconds))
                LOG.info("%s %s: %.1f s", done.key.kind, done.label, done.seconds)
            yield done
        if problems:
            # In a fixed order, whichever process found them first.
            raise InputError(sorted(set(problems), key=str))

    @property
    def _signature(self) -> str:
        results = content_hash(*(task.key.hash for task in self.tasks))[:12]
        return sign(study=self.settings.name, seed=self.settings.seed, results=results)

    def _write_manifest(self, status: Status, tables: dict[str, str] | None = None) -> None:
        manifest = Manifest(
            form=FORM,
            signature=self._signature if status == "complete" else None,
            study=self.settings.name,
            status=status,
            versions=versions(),
            seeds={"study": self.settings.seed},
            inputs=self.plan.inputs,
            plan=self.plan,
            stages=tuple(StageRecord(task.key.kind, task.label, task.key.hash) for task in self.tasks),
            tables=tables or {},
            timings=TIMINGS,
        )
        write_atomic(self.folder / MANIFEST, manifest.encode())


def _timing(task: Task, status: str, seconds: float) -> TimingRow:
    return TimingRow(stage=task.key.kind, name=task.label, key=task.key.hash, status=status, seconds=seconds)
