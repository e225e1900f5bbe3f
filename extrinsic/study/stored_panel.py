"""The points of a finished run as arrays, for analyses beyond its tables."""

from __future__ import annotations

from collections.abc import Sequence

from extrinsic.study.correlation_stage import CorrelationTask
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.run import Run
from extrinsic.study.run_directory import CONFIG
from extrinsic.study.settings_file import read_stored
from extrinsic.study.targets import chosen_targets


def stored_panel(run: Run, variant: str | None = None, targets: Sequence[str] = ()) -> ResampledPoints:
    """Metrics and targets of every tracker on every dataset, with the resamples the run drew.

    variant: e.g. `fill=argmax`; None where nothing was learned.   targets: default: those of the run.
    """
    settings, plan = read_stored(run.folder / CONFIG), run.plan
    task = CorrelationTask(
        plan.datasets,
        plan.tracker_names,
        core=plan.tracker_names,
        targets=tuple(targets or chosen_targets(settings)),
        settings=settings.correlation,
        seed=settings.seed,
        scored=plan.scored,
        valued=plan.valued(variant),
        variant=variant,
    )
    return task.panel(run.store)
