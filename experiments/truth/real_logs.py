"""Values in worlds fitted to real logs beside those of the older estimators: DSTC2 dev and DSTC1's half b.

Nobody can be played live there: what is shown is how well the worlds fit, and what they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from experiments.data import require
from experiments.truth.tables import LogFit, RealValue
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.configuration.settings import CorrelationTable, SensitivityTable, StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.learning import LearnTask, learn_policies
from extrinsic.study.stages.policy_spec import PolicyValues
from extrinsic.study.stages.store import Result
from extrinsic.study.stages.variant_values import TrackerValue, levelled, stored_value

CONFIGS = Path(__file__).parents[2] / "configs"
ESTIMATORS = ("fqe_augmented", "mean_augmented", "world", "world_mixed")
CHOSEN: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "dstc2": (("confident_only", "top_hypothesis", "vote"), ("focus", "hwu", "yarbus_31"), "dstc2_dev"),
    "dstc1": (("confident_only", "focus", "hwu", "top_hypothesis", "vote"), ("att",), "a_to_b"),
}
"""By study: trackers that run here, trackers that exist as files only, and the dataset shown."""


def real_study(name: str) -> StudySettings:
    """The study of a corpus, with few trackers, one rule and the estimators to be compared."""
    require(name)
    settings = read_study(CONFIGS / f"{name}.toml")
    built_in, files, dataset = CHOSEN[name]
    assert settings.corpus is not None and settings.trackers.files is not None
    corpus = msgspec.structs.replace(settings.corpus, datasets_by=None)
    if corpus.datasets:
        corpus = msgspec.structs.replace(corpus, datasets={dataset: corpus.datasets[dataset]})
    replace = msgspec.structs.replace
    return replace(
        settings,
        corpus=corpus,
        trackers=replace(
            settings.trackers, built_in=built_in, files=replace(settings.trackers.files, names=files)
        ),
        policy=replace(settings.policy, policies=("rl",)),
        reward=replace(settings.reward, fill=("argmax",)),
        value=replace(settings.value, estimators=ESTIMATORS, placebo=False),
        correlation=CorrelationTable(),
        sensitivity=SensitivityTable(),
    )


def real_tables() -> tuple[list[RealValue], list[LogFit]]:
    """The values of every tracker by every estimator, and the fit of the worlds."""
    values: list[RealValue] = []
    fits: list[LogFit] = []
    for name in CHOSEN:
        planned = (task for bundle in make_schedule(real_study(name)).bundles for task in bundle)
        tasks = [(task,) for task in planned if isinstance(task, LearnTask)]
        steps = show_progress(
            run_in_parallel(_learned, tasks, -1), len(tasks), "tracker", lambda step: step[0]
        )
        by_tracker = dict(steps)
        stored = {
            tracker: [stored_value(result, number) for number in range(len(result.values.values))]
            for tracker, result in by_tracker.items()
        }
        values += _rows(name, levelled(stored))
        first = next(iter(by_tracker.values()))
        fits += [
            LogFit(log=name, **msgspec.structs.asdict(row))
            for rows in first.values.fit.values()
            for row in rows
        ]
    return values, fits


def _learned(task: LearnTask) -> tuple[str, Result[PolicyValues]]:
    return task.tracker, learn_policies(task.unit, task.system, task.spec)


def _rows(name: str, values: dict[str, list[TrackerValue]]) -> Iterator[RealValue]:
    only_files = CHOSEN[name][1]
    for tracker, of_tracker in values.items():
        for entry in of_tracker:
            value = entry.value
            assert value.low is not None and value.high is not None
            yield RealValue(
                log=name,
                tracker=tracker,
                cloned=tracker in only_files,
                estimator=value.estimator,
                value=value.mean,
                low=value.low,
                high=value.high,
                flags=value.flags,
            )
