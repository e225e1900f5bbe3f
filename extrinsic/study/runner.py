"""Running a study: what is missing is computed, what is there is taken, and the tables are written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from extrinsic.errors import InputError, Problem
from extrinsic.signature import sign
from extrinsic.storage import content_hash, encode_json, write_atomic
from extrinsic.study.configuration.plugins import hash_of_plugins
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.configuration.settings_toml import settings_text
from extrinsic.study.configuration.targets import chosen_targets
from extrinsic.study.correlating import CorrelationTask, family, relate
from extrinsic.study.engine import Done, Engine
from extrinsic.study.finished_run import Run
from extrinsic.study.planning import Plan, Task, encoded, make_plan
from extrinsic.study.planning.variants import Variant
from extrinsic.study.run_directory import CONFIG, MANIFEST, STAGES, alone, clear_parts, make, require_fit
from extrinsic.study.stages.store import Result, Store
from extrinsic.study.stages.versions import RELATING, code_version, versions
from extrinsic.study.table_rows import (
    correlation_tables,
    diagnostic_rows,
    intrinsic_rows,
    related_rows,
    return_rows,
    sensitivity_rows,
)
from extrinsic.study.tables.schema import TABLES, Row, TimingRow, TrackerRow
from extrinsic.study.tables.table_files import write_rows

Watch = Callable[[Iterable[Done], int], Iterable[Done]]
"""Looks on as stages get done (a progress bar); is given how many there will be."""

TIMINGS = "timings.csv"


def run_study(
    study: StudySettings | str | Path,
    folder: str | Path,
    engine: Engine | None = None,
    overwrite: bool = False,
    watch: Watch = lambda steps, total: steps,
    tell: Callable[[str], None] = lambda text: None,
) -> Run:
    """Compute what the directory does not hold yet, and write its tables.

    study: settings, or the file that holds them.   watch, tell: for whoever shows how far it has got.
    """
    settings = study if isinstance(study, StudySettings) else read_study(study)
    folder = Path(folder)
    require_fit(folder, settings.name, overwrite)
    begin = time.perf_counter()
    plan = make_plan(settings)
    make(folder)
    with alone(folder, tell):
        clear_parts(folder)
        _Runner(plan, folder, engine or Engine(), watch, begin).run()
    return Run(folder)


@dataclass(frozen=True)
class Timing:
    stage: str
    name: str
    key: str
    status: str
    seconds: float


class _Runner:
    """One run: the plan, the store, and how long everything took."""

    def __init__(self, plan: Plan, folder: Path, engine: Engine, watch: Watch, begin: float) -> None:
        self.plan, self.settings, self.folder, self.engine = plan, plan.settings, folder, engine
        self.watch, self.begin = watch, begin
        self.store = Store(folder / STAGES)
        self.timings: list[Timing] = []
        self.tasks: list[Task] = []

    def run(self) -> None:
        plan = self.plan
        write_atomic(self.folder / CONFIG, settings_text(self.settings).encode())
        self._write_manifest("running", {})
        self.timings.append(Timing("plan", "", "", "computed", time.perf_counter() - self.begin))
        with self.engine.at_work(self.settings.plugins) as workers:
            self._compute(plan.bundles, workers.run)
            trackers = self._family(plan, workers.run)
            related = self._relate(plan, trackers, workers.run)
        writing = time.perf_counter()
        hashes = self._write_tables(plan, trackers, related)
        done = time.perf_counter()
        self.timings.append(Timing("tables", "", "", "computed", done - writing))
        self.timings.append(Timing("everything", "", "", "computed", done - self.begin))
        write_rows(self.folder / TIMINGS, [TimingRow(**vars(row)) for row in self.timings], TimingRow)
        self._write_manifest("complete", hashes)

    def _compute(
        self, bundles: Iterable[list[Task]], run: Callable[[Iterable[list[Task]]], Iterator[Done]]
    ) -> None:
        """Compute what is missing of some bundles; every problem of their inputs is reported at the end."""
        missing: list[list[Task]] = []
        for bundle in bundles:
            self.tasks += bundle
            lacking = []
            for task in bundle:
                if self.store.holds(task.kind, task.key):
                    self.timings.append(Timing(task.kind, task.label, task.key, "reused", 0.0))
                else:
                    lacking.append(task)
            missing += [lacking] if lacking else []
        total = sum(map(len, missing))
        problems: list[Problem] = []
        for done in self.watch(run(missing), total) if missing else ():
            problems += done.problems
            if not done.problems:
                self.store.write(done.task.kind, done.task.key, done.data)
                task = done.task
                self.timings.append(Timing(task.kind, task.label, task.key, "computed", done.seconds))
        if problems:
            # In one order, whoever found them first.
            raise InputError(sorted(set(problems), key=str))

    def _family(self, plan: Plan, run: Any) -> list[dict[str, Any]]:
        """Which trackers are the core."""
        measured = self._read_all("measure", plan.measured)
        threshold = self.settings.trackers.near_duplicate
        told = [(t.name, t.degenerate, t.recalibrated) for t in plan.trackers]
        key = content_hash(
            "family",
            code_version(RELATING),
            encode_json((told, threshold)),
            *plan.dialogs,
            *(key for keys in plan.measured.values() for key in keys),
        )
        arguments = (plan.trackers, list(plan.dialogs), threshold, measured)
        self._compute([[Task("family", "trackers", key, family, arguments)]], run)
        rows: list[dict[str, Any]] = Result.decode(self.store.read("family", key)).values["rows"]
        return rows

    def _relate(self, plan: Plan, trackers: list[dict[str, Any]], run: Any) -> dict[str, Result]:
        core = tuple(row["tracker"] for row in trackers if row["core"])
        variants: list[Variant | None] = [*plan.variants] or [None]
        tasks = {variant.name if variant else "": self._relation(plan, variant, core) for variant in variants}
        # What an earlier stage stored is read when a process is free to take it.
        self._compute([[task] for task in tasks.values()], lambda some: run(map(self._filled, some)))
        return {name: Result.decode(self.store.read(task.kind, task.key)) for name, task in tasks.items()}

    def _relation(self, plan: Plan, variant: Variant | None, core: tuple[str, ...]) -> Task:
        targets = variant.targets if variant else tuple(chosen_targets(self.settings))
        learned = plan.learned[variant.name] if variant else {}
        relation = CorrelationTask(
            plan.dialogs,
            tuple(tracker.name for tracker in plan.trackers),
            core,
            targets,
            self.settings.correlation,
            self.settings.seed,
            bool(variant and variant.brief),
            plan.outcomes,
            variant.name if variant else None,
        )
        key = content_hash(
            "relate",
            code_version(RELATING),
            hash_of_plugins(self.settings.plugins),
            encoded(self.settings.correlation),
            encode_json(
                (
                    plan.dialogs,
                    plan.measured,
                    learned,
                    core,
                    targets,
                    relation.seed,
                    relation.brief,
                    relation.variant,
                )
            ),
            _outcomes_hash(plan),
        )
        label = variant.name if variant else "outcomes"
        return Task(
            "relate",
            label,
            key,
            relate,
            (relation, plan.measured, learned),
            None,
            variant.name if variant else None,
        )

    def _filled(self, bundle: list[Task]) -> list[Task]:
        """A stage that relates, with the stored results in place of their keys."""
        filled = []
        for task in bundle:
            relation, measured, learned = task.arguments
            arguments = (relation, self._read_all("measure", measured), self._read_all("learn", learned))
            filled.append(replace(task, arguments=arguments))
        return filled

    def _read_all(self, kind: str, keys: dict[str, list[str]]) -> dict[str, list[bytes]]:
        return {name: [self.store.read(kind, key) for key in some] for name, some in keys.items()}

    def _write_tables(
        self, plan: Plan, trackers: list[dict[str, Any]], related: dict[str, Result]
    ) -> dict[str, str]:
        """Write every table; returns the hashes of their bytes."""
        measured = {
            name: [Result.decode(data) for data in some]
            for name, some in self._read_all("measure", plan.measured).items()
        }
        learned = {
            variant: {
                name: [Result.decode(data) for data in some]
                for name, some in self._read_all("learn", keys).items()
            }
            for variant, keys in plan.learned.items()
        }
        tables = correlation_tables(related)
        rows: dict[str, Sequence[Row]] = {
            "intrinsic": intrinsic_rows(plan, measured),
            "returns": return_rows(plan, learned),
            "diagnostics": diagnostic_rows(plan, learned),
            "trackers": [TrackerRow(**row) for row in trackers],
            "sensitivity": sensitivity_rows(plan, tables),
        }
        for name in ("correlations", "pairs", "composite", "influence", "stability"):
            rows[name] = related_rows(tables, name)
        return {
            f"{name}.csv": content_hash(write_rows(self.folder / f"{name}.csv", rows[name], kind))
            for name, kind in TABLES.items()
        }

    def _write_manifest(self, status: str, tables: dict[str, str]) -> None:
        stages = [
            {
                "stage": task.kind,
                "name": task.label,
                "key": task.key,
                "status": "done",
                "tracker": task.tracker,
                "variant": task.variant,
            }
            for task in self.tasks
        ]
        results = content_hash(*(task.key for task in self.tasks if task.kind == "relate"))[:12]
        manifest = {
            "signature": sign(study=self.settings.name, seed=self.settings.seed, results=results)
            if status == "complete"
            else None,
            "study": self.settings.name,
            "status": status,
            "versions": versions(),
            "seeds": {"study": self.settings.seed},
            "inputs": self.plan.inputs,
            "stages": stages,
            "tables": tables,
            "timings": TIMINGS,
        }
        write_atomic(self.folder / MANIFEST, encode_json(manifest, indent=2))


def _outcomes_hash(plan: Plan) -> str:
    outcomes = plan.settings.outcomes
    return "" if outcomes is None else content_hash(plan.inputs[outcomes.file], encoded(outcomes))
