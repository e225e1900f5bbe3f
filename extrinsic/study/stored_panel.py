"""The points of a run that was made, as arrays: for questions that its tables do not answer."""

from __future__ import annotations

from collections.abc import Sequence

from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.configuration.targets import chosen_targets
from extrinsic.study.correlating import CorrelationTask, panel_of
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.finished_run import Run
from extrinsic.study.planning import make_plan
from extrinsic.study.run_directory import CONFIG, STAGES
from extrinsic.study.stages.store import Store


def stored_panel(run: Run, variant: str | None = None, targets: Sequence[str] = ()) -> Panel:
    """Metrics and targets of every tracker on every dataset, with the resamples the run drew.

    variant: e.g. `fill=argmax`; None where nothing was learned.   targets: none: those of the run.
    """
    settings = read_study(run.folder / CONFIG)
    plan = make_plan(settings)
    names = tuple(tracker.name for tracker in plan.trackers)
    relation = CorrelationTask(
        plan.dialogs,
        names,
        names,
        tuple(targets or chosen_targets(settings)),
        settings.correlation,
        settings.seed,
        brief=True,
        outcomes=plan.outcomes,
        variant=variant,
    )
    return panel_of(relation, _stored(run, "measure", None), _stored(run, "learn", variant))


def _stored(run: Run, stage: str, variant: str | None) -> dict[str, list[bytes]]:
    """What a stage stored, by tracker."""
    store = Store(run.folder / STAGES)
    stored: dict[str, list[bytes]] = {}
    for row in run.manifest["stages"]:
        if row["stage"] == stage and row["variant"] == variant:
            stored.setdefault(row["tracker"], []).append(store.read(stage, row["key"]))
    return stored
