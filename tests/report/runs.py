"""Run directories made by hand: a panel that nobody measured, with the tables that are made of any panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.panel import Dataset, MetricKey, Note, Panel, System, Target
from extrinsic.storage import content_hash, encode_json, write_atomic
from extrinsic.study.plan import Plan
from extrinsic.study.run import Run
from extrinsic.study.run_directory import FORM, Manifest, StageRecord, Status
from extrinsic.study.tables import (
    ERRORS_TABLE,
    TABLES,
    DiagnosticRow,
    ReturnRow,
    SensitivityRow,
)
from extrinsic.tables import plain, write_rows
from extrinsic.verdict.choice_table import Declaration, choice_rows
from extrinsic.verdict.coefficients import Coefficient
from extrinsic.verdict.composite import composite_rows
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.correlations import ALL, CORE, correlation_rows, points_of
from extrinsic.verdict.names import is_higher_better, is_share
from extrinsic.verdict.rows import ErrorRow, Row
from tests.verdict.panels import made_panel

Key = tuple[str, int, str]

METRICS: tuple[Key, ...] = (
    *(("accuracy", schedule, "joint") for schedule in (1, 2, 3)),
    *(("l2", schedule, "joint") for schedule in (1, 2, 3)),
    ("avgp", 1, "joint"),
    ("roc.v1_eer", 1, "joint"),
    ("roc.v2_ca05", 1, "joint"),
    ("jga(fill=argmax)", 1, "state"),
    ("fga(0.5, fill=argmax)", 1, "state"),
)
MANY = ("one", "two", "three", "four", *(f"t{number}" for number in range(5, 16)), "odd")


@dataclass(frozen=True)
class Made:
    """What a made run is about; sampled: its datasets are generators, and errors have a price."""

    trackers: Sequence[str] = MANY
    datasets: Sequence[str] = ("ds1", "ds2")
    metrics: Sequence[Key] = METRICS
    variants: Sequence[str | None] = ("fill=argmax", "fill=threshold")
    targets: Sequence[str] = ("rl.live", "expert.live", "rl.lstd", "behaviour.observed")
    degenerate: Sequence[str] = ("odd",)
    flags: tuple[str, ...] = ("q_range",)
    description: str = "A study that nobody ran."
    sampled: bool = False
    draws: int = 200
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall")

    @property
    def has_policies(self) -> bool:
        return not any(target.startswith("outcome.") for target in self.targets)


SMALL = Made(metrics=METRICS[:4], trackers=MANY[:6], variants=("fill=argmax",), degenerate=())
STATES = Made(
    datasets=("states",),
    metrics=(("jga", 1, "state"), ("gca", 1, "state"), ("slot_f1", 1, "state")),
    variants=(None,),
    targets=("outcome.success", "outcome.inform"),
    flags=(),
)
CROSSED = Made(
    datasets=("mttod", "galaxy"),
    metrics=STATES.metrics,
    variants=(None,),
    targets=STATES.targets,
    flags=(),
    sampled=True,
)


def write_run(folder: Path, made: Made | None = None, status: Status = "complete") -> Run:
    """The directory of a finished run."""
    panel, rows = _usual() if made is None else _panel_and_tables(made)
    made = made or Made()
    kinds = TABLES | (ERRORS_TABLE if made.sampled else {})
    hashes = {
        f"{name}.csv": content_hash(write_rows(folder / f"{name}.csv", rows.get(name, []), kind))
        for name, kind in kinds.items()
    }
    panel.save(folder / "panel.npz")
    config = (
        f'name = "made"\ndescription = {encode_json(made.description).decode().strip()}\n\n[correlation]\n'
    )
    write_atomic(folder / "config.toml", config.encode())
    write_manifest(folder, "made", "extrinsic:0|study:made", status, hashes)
    return Run(folder)


@cache
def _usual() -> tuple[Panel, dict[str, list[Any]]]:
    return _panel_and_tables(Made())


def _panel_and_tables(made: Made) -> tuple[Panel, dict[str, list[Any]]]:
    panel = panel_of(made)
    return panel, tables_of(made, panel)


def write_manifest(
    folder: Path,
    study: str,
    signature: str,
    status: Status = "complete",
    tables: dict[str, str] | None = None,
) -> None:
    manifest = Manifest(
        form=FORM,
        signature=signature,
        study=study,
        status=status,
        versions={"extrinsic": "0"},
        seeds={"study": 0},
        inputs={},
        plan=Plan(),
        tables=tables or {},
        stages=(StageRecord("learn", "one", "0"),),
        timings="timings.csv",
    )
    write_atomic(folder / "manifest.json", encode_json(msgspec.to_builtins(manifest)))


def panel_of(made: Made) -> Panel:
    """Metrics and targets are all a system's quality with noise of their own; ROC measures only noise."""
    rng, shape = np.random.default_rng(1), (len(made.datasets), len(made.trackers))
    quality = np.tile(np.linspace(0.1, 0.9, shape[1]), (shape[0], 1))
    targets = [
        Target(name, variant, name, "none", "share" if is_share(name) else "points", rank == 0, True, rank)
        for variant in made.variants
        for rank, name in enumerate(made.targets)
    ]
    metrics = [
        MetricKey(metric, schedule, component, None, is_higher_better(metric), metric)
        for metric, schedule, component in made.metrics
    ]
    scores = np.zeros((len(metrics), *shape))
    for m, key in enumerate(metrics):
        noise = rng.random(shape)
        scores[m] = noise if key.metric.startswith("roc") else quality + 0.1 * (m + 1) * (noise - 0.5)
        scores[m] = scores[m] if key.higher_is_better else 1.0 - scores[m]
    values = np.zeros((len(targets), *shape))
    for k, target in enumerate(targets):
        value = quality + 0.1 * (rng.random(shape) - 0.5)
        values[k] = value if target.unit == "share" else 200.0 * value - 150.0
    flagged = [
        Note(k, d, 0, made.flags)
        for k, target in enumerate(targets)
        for d in range(shape[0])
        if made.flags and shape[1] and not target.name.startswith("behaviour")
    ]
    return made_panel(
        [System(name, flags=("degenerate",) if name in made.degenerate else ()) for name in made.trackers],
        targets,
        [Dataset(name, sampled=made.sampled) for name in made.datasets],
        metrics,
        scores,
        values,
        flagged,
        np.full((shape[1], shape[1]), 0.9),
    )


def tables_of(made: Made, panel: Panel) -> dict[str, list[Any]]:
    trackers = core_rows(panel, 0.99)
    core = [row.tracker for row in trackers if row.core]
    rows: dict[str, list[Any]] = {
        "trackers": trackers,
        "returns": list(_returns(panel)),
        "diagnostics": list(_diagnostics(panel)) if made.has_policies else [],
        "correlations": [],
        "composite": [],
    }
    if panel.systems and panel.metrics and panel.targets:
        rows["choices"] = list(choice_rows(panel, core, Declaration(draws=made.draws)))
        for variant in panel.variants:
            for group in (ALL, CORE):
                points = points_of(panel, variant, group, core)
                rows["correlations"] += correlation_rows(points, made.coefficients, 19, 0.95, 0)
                if group == CORE and len(made.trackers) < 50:
                    rows["composite"] += composite_rows(points, 0.95)
        rows["sensitivity"] = list(_sensitivity(made)) if made.has_policies else []
    rows["errors"] = list(_errors(made)) if made.sampled else []
    return rows


def _returns(panel: Panel) -> Iterator[ReturnRow]:
    flags = {(note.target, note.dataset, note.system): note.flags for note in panel.notes}
    for k, d, s in np.ndindex(panel.values.shape):
        policy, _, estimator = panel.targets[k].name.partition(".")
        yield ReturnRow(
            dataset=panel.datasets[d].name,
            tracker=panel.names[s],
            policy=policy,
            estimator=estimator,
            value=plain(panel.values[k, d, s]),
            low=plain(panel.low[k, d, s]),
            high=plain(panel.high[k, d, s]),
            n=100,
            flags=flags.get((k, d, s), ()),
            variant=panel.targets[k].variant,
        )


def _diagnostics(panel: Panel) -> Iterator[DiagnosticRow]:
    for row in _returns(panel):
        shared = {
            name: getattr(row, name) for name in ("dataset", "tracker", "policy", "estimator", "variant")
        }
        if row.policy == "behaviour":
            shared |= {"policy": "rl", "estimator": "learner"}
        for name, value in (("kernels", 10.0), ("zero_kernel", 0.02), ("condition", 1e4)):
            yield DiagnosticRow(**shared, diagnostic=name, value=value)


def _sensitivity(made: Made) -> Iterator[SensitivityRow]:
    metric, schedule, component = made.metrics[0]
    for variant in made.variants:
        yield SensitivityRow(
            parameter="fill",
            setting=variant,
            trackers=CORE,
            target=made.targets[0],
            metric=metric,
            schedule=schedule,
            component=component,
            lost=1.25,
            possible=20.0,
            usual_winner_lost=2.5,
            usual_winner_rank=2,
            agreement=0.7,
            n_metrics=len(made.metrics),
            variant=variant or "",
        )


def _errors(made: Made) -> Iterator[Row]:
    for target in made.targets:
        for group in (ALL, CORE):
            for number, kind in enumerate(("missed", "wrong", "overshot", "any")):
                for slots in ("all", "search", "booking", "hotel-area", "train-day"):
                    cost = 0.1 * (number + 1)
                    numbers = {"share": 0.2, "cost": cost, "low": cost - 0.05, "high": cost + 0.05}
                    yield ErrorRow(target=target, error=kind, slots=slots, systems=group, **numbers)
