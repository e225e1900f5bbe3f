"""Run directories made by hand: the tables of a study that nobody ran, small enough to render in a second."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.storage import content_hash, encode_json, write_atomic
from extrinsic.study.finished_run import Run
from extrinsic.study.planning.plan import Plan
from extrinsic.study.run_directory import Manifest, StageRecord, Status
from extrinsic.study.tables.metric_rows import (
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    DecidedRow,
    InfluenceRow,
    PairRow,
    PartialRow,
    SensitivityRow,
    StabilityRow,
)
from extrinsic.study.tables.schema import TABLES
from extrinsic.study.tables.table_files import write_rows
from extrinsic.study.tables.value_rows import (
    DiagnosticRow,
    IntrinsicRow,
    ReturnRow,
    Row,
    TrackerRow,
    WorldFitRow,
)

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
        f"{name}.csv": content_hash(write_rows(folder / f"{name}.csv", list(ROWS[name](made)), kind))
        for name, kind in TABLES.items()
    }
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


def _named(key: Key) -> dict[str, Any]:
    return dict(zip(("metric", "schedule", "component"), key, strict=True))


def r_of(made: Made, key: Key, *more: Any) -> float | None:
    return None if made.reason else math.cos(3.0 * wave(key, *more) ** 2)


def _intrinsic(made: Made) -> Iterator[IntrinsicRow]:
    for dataset in made.datasets:
        for tracker in made.trackers:
            for key in made.metrics:
                yield IntrinsicRow(
                    dataset=dataset, tracker=tracker, **_named(key), n=100, value=wave(dataset, tracker, key)
                )


def _returns(made: Made) -> Iterator[ReturnRow]:
    for variant in made.variants:
        for dataset in made.datasets:
            for tracker in made.trackers:
                for target in made.targets:
                    policy, estimator = target.split(".", 1)
                    value = 200.0 * wave(dataset, tracker, target, variant) - 150.0
                    bounds = {"low": value - 10.0, "high": value + 10.0} if made.has_policies else {}
                    yield ReturnRow(
                        dataset=dataset,
                        tracker=tracker,
                        policy=policy,
                        estimator=estimator,
                        value=value,
                        n=100,
                        flags=made.flags if tracker == made.trackers[0] and policy != "behaviour" else (),
                        variant=variant,
                        **bounds,
                    )


def _correlations(made: Made) -> Iterator[CorrelationRow]:
    for variant in made.variants:
        for trackers in ("all", "core"):
            for target in made.targets:
                for scope in ("within", "pooled"):
                    for coefficient in ("pearson", "kendall"):
                        for key in made.metrics:
                            r = r_of(made, key, variant, trackers)
                            yield CorrelationRow(
                                target=target,
                                **_named(key),
                                scope=scope,
                                coefficient=coefficient,
                                r=r,
                                low=r and max(-1.0, r - 0.3),
                                high=r and min(1.0, r + 0.2),
                                p=0.01,
                                p_adjusted=0.02,
                                n=10,
                                trackers=trackers,
                                variant=variant,
                                reason=made.reason,
                                carried_by=made.trackers[0] if key == made.metrics[0] else None,
                            )


def _partial(made: Made) -> Iterator[PartialRow]:
    given = "behaviour.observed"
    for variant in made.variants if given in made.targets else ():
        for trackers in ("all", "core"):
            for key in made.metrics:
                r = r_of(made, key, variant, trackers)
                if r is not None:
                    yield PartialRow(
                        target=made.targets[0],
                        given=given,
                        **_named(key),
                        scope="within",
                        r=r,
                        r_given=r / 2.0,
                        partial=r / 3.0,
                        low=r / 3.0 - 0.1,
                        high=r / 3.0 + 0.1,
                        n=len(made.datasets) * len(made.trackers),
                        trackers=trackers,
                        variant=variant,
                    )


def _best_set(made: Made) -> Iterator[BestSetRow]:
    for variant in made.variants:
        for trackers in ("all", "core"):
            for number, key in enumerate(made.metrics):
                r = r_of(made, key, variant, trackers)
                yield BestSetRow(
                    target=made.targets[0],
                    **_named(key),
                    scope="within",
                    coefficient="pearson",
                    r=r,
                    low=r and max(-1.0, r - 0.4),
                    high=r and min(1.0, r + 0.3),
                    in_set=r is not None and number < 3,
                    p=0.5 if number < 3 else 0.01,
                    rank=1 + number,
                    rank_low=1 if number < 3 else 2,
                    rank_high=len(made.metrics),
                    trackers=trackers,
                    variant=variant,
                    reason=made.reason,
                )


def _pairs(made: Made) -> Iterator[PairRow]:
    for variant in made.variants:
        for trackers in ("all", "core"):
            for i, a in enumerate(made.metrics):
                for b in made.metrics[i + 1 :]:
                    first, second = r_of(made, a, variant, trackers), r_of(made, b, variant, trackers)
                    if first is None or second is None:
                        continue
                    names = {f"{key}_a": value for key, value in _named(a).items()}
                    names |= {f"{key}_b": value for key, value in _named(b).items()}
                    gap = first - second
                    yield PairRow(
                        target=made.targets[0],
                        **names,
                        scope="within",
                        r_a=first,
                        r_b=second,
                        difference=gap,
                        low=gap - 0.3,
                        high=gap + 0.3,
                        p=0.01,
                        p_both=0.01,
                        r_ab=0.5,
                        n=10,
                        n_independent=9,
                        trackers=trackers,
                        variant=variant,
                    )


def _composite(made: Made) -> Iterator[CompositeRow]:
    for variant in made.variants if not made.reason else ():
        for trackers in ("all", "core"):
            for method in ("best_single", "mean", "behaviour"):
                yield CompositeRow(
                    target=made.targets[0],
                    scope="within",
                    method=method,
                    r=wave(method),
                    low=0.1,
                    high=0.9,
                    r_in_sample=0.9,
                    above_best_single=0.1,
                    above_low=-0.1,
                    above_high=0.3,
                    n=10,
                    trackers=trackers,
                    variant=variant,
                    weights=f"+1.00 {made.metrics[0][0]}",
                )


def _influence(made: Made) -> Iterator[InfluenceRow]:
    for variant in made.variants if not made.reason else ():
        for trackers in ("all", "core"):
            for key in made.metrics:
                r = r_of(made, key, variant, trackers) or 0.0
                yield InfluenceRow(
                    target=made.targets[0],
                    **_named(key),
                    scope="within",
                    coefficient="pearson",
                    r=r,
                    lowest=r - 0.2,
                    highest=r + 0.1,
                    tracker=made.trackers[0],
                    r_without=r - 0.2,
                    trackers=trackers,
                    variant=variant,
                )


def _decided(made: Made) -> Iterator[DecidedRow]:
    for variant in made.variants if not made.reason else ():
        for trackers in ("all", "core"):
            for target in made.targets:
                for low in (0.5, 0.6, 0.7, 0.8, 0.9):
                    yield DecidedRow(
                        target=target,
                        **_named(made.metrics[0]),
                        low=low,
                        high=low + 0.1,
                        pairs=0 if low == 0.6 else 4,
                        predicted=None if low == 0.6 else low + 0.05,
                        right=None if low == 0.6 else low,
                        trackers=trackers,
                        variant=variant,
                    )


def _stability(made: Made) -> Iterator[StabilityRow]:
    for variant in made.variants if not made.reason else ():
        for trackers in ("all", "core"):
            for n in range(2, len(made.trackers) + 1):
                share = n / len(made.trackers)
                yield StabilityRow(
                    target=made.targets[0],
                    scope="within",
                    coefficient="pearson",
                    n_trackers=n,
                    n_subsets=5,
                    agreement=share,
                    low=share - 0.1,
                    high=1.0,
                    same_winner=share,
                    loss=0.0,
                    trackers=trackers,
                    variant=variant,
                )


def _sensitivity(made: Made) -> Iterator[SensitivityRow]:
    for variant in made.variants if made.has_policies and not made.reason else ():
        yield SensitivityRow(
            parameter="fill",
            setting=variant,
            trackers="all",
            target=made.targets[0],
            **_named(made.metrics[0]),
            r=0.9,
            low=0.5,
            high=0.95,
            usual_winner_r=0.8,
            usual_winner_rank=2,
            agreement=0.7,
            n_metrics=len(made.metrics),
            variant=variant,
        )


def _trackers(made: Made) -> Iterator[TrackerRow]:
    for name in made.trackers:
        odd = name in made.degenerate
        yield TrackerRow(
            tracker=name,
            core=not odd,
            degenerate=odd,
            recalibrated=False,
            nearest=made.trackers[0],
            agreement=0.9,
        )


def _diagnostics(made: Made) -> Iterator[DiagnosticRow]:
    for row in _returns(made) if made.has_policies else ():
        is_logged = row.policy == "behaviour"
        for name, value in (("kernels", 10.0), ("zero_kernel", 0.02), ("condition", 1e4)):
            yield DiagnosticRow(
                dataset=row.dataset,
                tracker=row.tracker,
                policy="rl" if is_logged else row.policy,
                estimator="learner" if is_logged else row.estimator,
                diagnostic=name,
                value=value,
                variant=row.variant,
            )


def _fit(made: Made) -> Iterator[WorldFitRow]:
    for dataset in made.datasets if made.has_policies else ():
        for measure in ("rank 1", "turns"):
            logged = wave(dataset, measure)
            yield WorldFitRow(
                dataset=dataset,
                measure=measure,
                logged=logged,
                low=logged - 0.1,
                high=logged + 0.1,
                fitted=logged + 0.2,
                misfit=measure == "turns",
            )


ROWS: dict[str, Callable[[Made], Iterator[Row]]] = {
    "intrinsic": _intrinsic,
    "returns": _returns,
    "correlations": _correlations,
    "partial": _partial,
    "counts": lambda made: iter(()),
    "best_set": _best_set,
    "decided": _decided,
    "pairs": _pairs,
    "composite": _composite,
    "influence": _influence,
    "stability": _stability,
    "sensitivity": _sensitivity,
    "trackers": _trackers,
    "diagnostics": _diagnostics,
    "fit": _fit,
    "swap": lambda made: iter(()),
    "costs": lambda made: iter(()),
}

STATES = Made(
    datasets=("states",),
    metrics=(("jga", 1, "state"), ("gca", 1, "state"), ("slot_f1", 1, "state")),
    variants=("",),
    targets=("outcome.success", "outcome.inform"),
)
