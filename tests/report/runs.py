"""Run directories made by hand: the tables of a study that nobody ran, small enough to render in a second."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.panel import Note, Panel, Target
from extrinsic.storage import content_hash, encode_json, write_atomic
from extrinsic.study.plan import Plan
from extrinsic.study.run import Run
from extrinsic.study.run_directory import Manifest, StageRecord, Status
from extrinsic.study.tables import (
    TABLES,
    DecidedRow,
    DiagnosticRow,
    InfluenceRow,
    IntrinsicRow,
    PartialRow,
    ReturnRow,
    SensitivityRow,
    StabilityRow,
)
from extrinsic.tables import write_rows
from extrinsic.verdict.rows import BestSetRow, CompositeRow, CorrelationRow, PairRow, Row, TrackerRow
from tests.verdict.panels import made_panel

Key = tuple[str, int, str]

METRICS: tuple[Key, ...] = (
    ("accuracy", 1, "joint"),
    ("accuracy", 2, "joint"),
    ("accuracy", 3, "joint"),
    ("l2", 1, "joint"),
    ("l2", 2, "joint"),
    ("l2", 3, "joint"),
    ("avgp", 1, "joint"),
    ("roc.v1_eer", 1, "joint"),
    ("roc.v2_ca05", 1, "joint"),
    ("jga(fill=argmax)", 1, "state"),
    ("fga(0.5, fill=argmax)", 1, "state"),
)


@dataclass(frozen=True)
class Made:
    """What a made run is about."""

    trackers: Sequence[str] = ("one", "two", "three", "four", "odd")
    datasets: Sequence[str] = ("ds1", "ds2")
    metrics: Sequence[Key] = METRICS
    variants: Sequence[str] = ("fill=argmax", "fill=threshold")
    targets: Sequence[str] = ("rl.live", "rl.lstd", "behaviour.observed")
    degenerate: Sequence[str] = ("odd",)
    flags: tuple[str, ...] = ("q_range",)
    description: str = "A study that nobody ran."
    reason: str | None = None
    """If set, nothing has a correlation, for this reason."""

    @property
    def has_policies(self) -> bool:
        return not self.targets[0].startswith("outcome.")


USUAL = Made()
SMALL = Made(metrics=METRICS[:4], variants=("fill=argmax",), degenerate=())


def wave(*parts: Any) -> float:
    """A number in (0, 1) that looks like chance and is the same every time."""
    text = content_hash(*map(str, parts))
    return int(text[:8], 16) / 0x1_0000_0000


def write_run(folder: Path, made: Made = USUAL, status: Status = "complete") -> Run:
    """The directory of a finished run."""
    hashes = {
        f"{name}.csv": content_hash(
            write_rows(folder / f"{name}.csv", list(ROWS.get(name, lambda made: iter(()))(made)), kind)
        )
        for name, kind in TABLES.items()
    }
    panel_of(made).save(folder / "panel.npz")
    config = (
        f'name = "made"\ndescription = {encode_json(made.description).decode().strip()}\n\n[correlation]\n'
    )
    write_atomic(folder / "config.toml", config.encode())
    write_manifest(folder, "made", "extrinsic:0|study:made", status, hashes)
    return Run(folder)


def write_manifest(
    folder: Path,
    study: str,
    signature: str,
    status: Status = "complete",
    tables: dict[str, str] | None = None,
) -> None:
    manifest = Manifest(
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


GROUPS = ("all", "core")
WITHIN: dict[str, Any] = {"scope": "within"}
PEARSON = WITHIN | {"coefficient": "pearson"}


def r_of(made: Made, key: Key, *more: Any) -> float | None:
    return None if made.reason else math.cos(3.0 * wave(key, *more) ** 2)


def each(made: Made, *columns: str) -> Iterator[dict[str, Any]]:
    """The columns of a row for every combination of what these columns take; the last varies fastest."""
    values: dict[str, Sequence[Any]] = {
        "variant": made.variants,
        "trackers": GROUPS,
        "target": made.targets,
        "dataset": made.datasets,
        "tracker": made.trackers,
        "scope": ("within", "pooled"),
        "coefficient": ("pearson", "kendall"),
        "key": made.metrics,
    }
    for chosen in product(*(values[column] for column in columns)):
        row = dict(zip(columns, chosen, strict=True))
        key = row.pop("key", None)
        yield row | (_named(key) if key else {})


def _named(key: Key) -> dict[str, Any]:
    return dict(zip(("metric", "schedule", "component"), key, strict=True))


def _key(row: dict[str, Any]) -> Key:
    return row["metric"], row["schedule"], row["component"]


def _r(made: Made, row: dict[str, Any]) -> float | None:
    return r_of(made, _key(row), row["variant"], row["trackers"])


def _primary(made: Made, *columns: str) -> Iterator[dict[str, Any]]:
    """Of the primary target only."""
    return (row | {"target": made.targets[0]} for row in each(made, *columns))


def _intrinsic(made: Made) -> Iterator[IntrinsicRow]:
    for row in each(made, "dataset", "tracker", "key"):
        yield IntrinsicRow(**row, n=100, value=wave(row["dataset"], row["tracker"], _key(row)))


def _returns(made: Made) -> Iterator[ReturnRow]:
    for row in each(made, "variant", "dataset", "tracker", "target"):
        target = row.pop("target")
        policy, estimator = target.split(".", 1)
        value = 200.0 * wave(row["dataset"], row["tracker"], target, row["variant"]) - 150.0
        bounds = {"low": value - 10.0, "high": value + 10.0} if made.has_policies else {}
        flags = made.flags if row["tracker"] == made.trackers[0] and policy != "behaviour" else ()
        yield ReturnRow(**row, policy=policy, estimator=estimator, value=value, n=100, flags=flags, **bounds)


def panel_of(made: Made) -> Panel:
    """With the values of `_returns`, and no scores."""
    targets = [(variant or None, name) for variant in made.variants for name in made.targets]
    values = np.full((len(targets), len(made.datasets), len(made.trackers)), np.nan)
    notes = []
    for row in _returns(made):
        place = (
            targets.index((row.variant or None, f"{row.policy}.{row.estimator}")),
            list(made.datasets).index(row.dataset),
            list(made.trackers).index(row.tracker),
        )
        values[place] = row.value
        notes += [Note(*place, row.flags)] if row.flags else []
    ranks = [made.targets.index(name) for _, name in targets]
    return made_panel(
        made.trackers,
        [
            Target(name, variant, name, "none", primary=rank == 0, rank=rank)
            for (variant, name), rank in zip(targets, ranks, strict=True)
        ],
        made.datasets,
        values=values,
        notes=notes,
    )


def _correlations(made: Made) -> Iterator[CorrelationRow]:
    for row in each(made, "variant", "trackers", "target", "scope", "coefficient", "key"):
        r = _r(made, row)
        yield CorrelationRow(
            **row,
            r=r,
            low=r and max(-1.0, r - 0.3),
            high=r and min(1.0, r + 0.2),
            p=0.01,
            p_adjusted=0.02,
            n=10,
            reason=made.reason,
            carried_by=made.trackers[0] if _key(row) == made.metrics[0] else None,
        )


def _partial(made: Made) -> Iterator[PartialRow]:
    given, n = "behaviour.observed", len(made.datasets) * len(made.trackers)
    for row in _primary(made, "variant", "trackers", "key") if given in made.targets else ():
        r = _r(made, row)
        if r is not None:
            numbers = {"r": r, "r_given": r / 2, "partial": r / 3, "low": r / 3 - 0.1, "high": r / 3 + 0.1}
            yield PartialRow(**row, **WITHIN, **numbers, given=given, n=n)


def _best_set(made: Made) -> Iterator[BestSetRow]:
    for row in _primary(made, "variant", "trackers", "key"):
        r, number = _r(made, row), made.metrics.index(_key(row))
        yield BestSetRow(
            **row,
            **PEARSON,
            r=r,
            low=r and max(-1.0, r - 0.4),
            high=r and min(1.0, r + 0.3),
            in_set=r is not None and number < 3,
            p=0.5 if number < 3 else 0.01,
            rank=1 + number,
            rank_low=1 if number < 3 else 2,
            rank_high=len(made.metrics),
            reason=made.reason,
        )


def _pairs(made: Made) -> Iterator[PairRow]:
    for row in _primary(made, "variant", "trackers"):
        for a, b in combinations(made.metrics, 2):
            first, second = (r_of(made, key, row["variant"], row["trackers"]) for key in (a, b))
            if first is None or second is None:
                continue
            names = {
                f"{name}_{side}": part
                for side in "ab"
                for name, part in _named(a if side == "a" else b).items()
            }
            gap = first - second
            numbers = {"r_a": first, "r_b": second, "difference": gap, "low": gap - 0.3, "high": gap + 0.3}
            yield PairRow(
                **row, **names, **WITHIN, **numbers, p=0.01, p_both=0.01, r_ab=0.5, n=10, n_independent=9
            )


def _composite(made: Made) -> Iterator[CompositeRow]:
    for row in _primary(made, "variant", "trackers") if not made.reason else ():
        for method in ("best_single", "mean", "behaviour"):
            yield CompositeRow(
                **row,
                **WITHIN,
                method=method,
                r=wave(method),
                low=0.1,
                high=0.9,
                r_in_sample=0.9,
                above_best_single=0.1,
                above_low=-0.1,
                above_high=0.3,
                n=10,
                weights=f"+1.00 {made.metrics[0][0]}",
            )


def _influence(made: Made) -> Iterator[InfluenceRow]:
    for row in _primary(made, "variant", "trackers", "key") if not made.reason else ():
        r = _r(made, row) or 0.0
        ends = {"lowest": r - 0.2, "highest": r + 0.1, "r_without": r - 0.2}
        yield InfluenceRow(**row, **PEARSON, **ends, r=r, tracker=made.trackers[0])


def _decided(made: Made) -> Iterator[DecidedRow]:
    for row in each(made, "variant", "trackers", "target") if not made.reason else ():
        for low in (0.5, 0.6, 0.7, 0.8, 0.9):
            numbers: dict[str, Any] = {"pairs": 4, "predicted": low + 0.05, "right": low}
            numbers = {"pairs": 0} if low == 0.6 else numbers
            yield DecidedRow(**row, **_named(made.metrics[0]), **numbers, low=low, high=low + 0.1)


def _stability(made: Made) -> Iterator[StabilityRow]:
    for row in _primary(made, "variant", "trackers") if not made.reason else ():
        for n in range(2, len(made.trackers) + 1):
            share = n / len(made.trackers)
            numbers = {"agreement": share, "low": share - 0.1, "high": 1.0, "same_winner": share, "loss": 0.0}
            yield StabilityRow(**row, **PEARSON, **numbers, n_trackers=n, n_subsets=5)


def _sensitivity(made: Made) -> Iterator[SensitivityRow]:
    for row in _primary(made, "variant") if made.has_policies and not made.reason else ():
        yield SensitivityRow(
            **row,
            **_named(made.metrics[0]),
            parameter="fill",
            setting=row["variant"],
            trackers="all",
            r=0.9,
            low=0.5,
            high=0.95,
            usual_winner_r=0.8,
            usual_winner_rank=2,
            agreement=0.7,
            n_metrics=len(made.metrics),
        )


def _trackers(made: Made) -> Iterator[TrackerRow]:
    for name in made.trackers:
        odd, first = name in made.degenerate, made.trackers[0]
        kinds = {"core": not odd, "degenerate": odd, "recalibrated": False}
        yield TrackerRow(tracker=name, **kinds, nearest=first, agreement=0.9)


def _diagnostics(made: Made) -> Iterator[DiagnosticRow]:
    for row in _returns(made) if made.has_policies else ():
        shared = {
            name: getattr(row, name) for name in ("dataset", "tracker", "policy", "estimator", "variant")
        }
        if row.policy == "behaviour":
            shared |= {"policy": "rl", "estimator": "learner"}
        for name, value in (("kernels", 10.0), ("zero_kernel", 0.02), ("condition", 1e4)):
            yield DiagnosticRow(**shared, diagnostic=name, value=value)


ROWS: dict[str, Callable[[Made], Iterator[Row]]] = {
    "intrinsic": _intrinsic,
    "returns": _returns,
    "correlations": _correlations,
    "partial": _partial,
    "best_set": _best_set,
    "decided": _decided,
    "pairs": _pairs,
    "composite": _composite,
    "influence": _influence,
    "stability": _stability,
    "sensitivity": _sensitivity,
    "trackers": _trackers,
    "diagnostics": _diagnostics,
}
"""The other tables are empty."""

STATES = Made(
    datasets=("states",),
    metrics=(("jga", 1, "state"), ("gca", 1, "state"), ("slot_f1", 1, "state")),
    variants=("",),
    targets=("outcome.success", "outcome.inform"),
)
