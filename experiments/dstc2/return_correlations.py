"""Metrics against returns on dev: of all trackers, of the core ones, and of the good ones alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from extrinsic.correlation.estimate import Estimate, correlation_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers
from extrinsic.study.resampled_points import MetricName, ResampledPoints

from experiments.dstc2.candidate_settings import FILLS
from experiments.dstc2.scenarios import GOAL_METRICS, LOGGED, STATE_METRICS, TARGET, Scenario
from experiments.dstc2.tables import BeyondLogged, Correlation, Difference
from experiments.estimate_rows import estimate_fields
from experiments.partial_correlations import beyond_logged, with_logged
from extrinsic.study.settings import StudySettings

REFERENCE = GOAL_METRICS[0]
PAIRS = (
    *((f"{metric}@1", f"{REFERENCE}@1") for metric in (*GOAL_METRICS[1:], *STATE_METRICS)),
    *((f"{metric}@2", f"{metric}@{other}") for metric in (REFERENCE, "l2") for other in (1, 3)),
)
"""What is compared: metrics with accuracy, and schedule 2 with the others."""
SLOTS = "slots"


def tracker_groups(
    trackers: Sequence[str], core: Sequence[str], good: Sequence[str]
) -> dict[str, Sequence[str]]:
    """The trackers that are correlated together.

    `slots`: the core without the Yarbus files, which hold joint hypotheses only: by the challenge's scorer
    every one of their slots is empty, so that goal.all says nothing about them.
    """
    return {
        "all": trackers,
        "core": core,
        "good": good,
        SLOTS: [name for name in core if not is_joint_only(name)],
    }


def is_joint_only(tracker: str) -> bool:
    return tracker.startswith("yarbus_")


def is_headline(name: MetricName) -> bool:
    """Joint goals on every schedule, and the state-set metrics over all turns."""
    metric, schedule, component, _ = name
    if component == "goal.joint":
        return metric in GOAL_METRICS
    return component in ("state", "all") and schedule == 1 and without_fill(metric) in STATE_METRICS


def without_fill(metric: str) -> str:
    """`fga(0.5, fill=argmax)` as `fga(0.5)`: states are always filled by argmax here."""
    return metric.replace(f", fill={FILLS[0]}", "").replace(f"(fill={FILLS[0]})", "")


def headline_name(name: MetricName) -> str:
    return f"{without_fill(name[0])}@{name[1]}"


def correlate_sample(sample: Sample, panel: ResampledPoints, settings: StudySettings) -> Estimate:
    """Within condition; trackers and calls are resampled."""
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.correlation.resamples, settings.seed)
    return correlation_estimate(sample, "pearson", "within", "both", drawn)


def correlation_rows(
    scenario: Scenario, fill: str, group: str, panel: ResampledPoints, correlations: Estimate, level: float
) -> Iterator[Correlation]:
    """Every headline metric; of the main run also what slots together say, beside joint goals."""
    for k, target in enumerate(panel.targets):
        for m, name in enumerate(panel.metrics):
            metric, schedule, component, _ = name
            of_slots = metric in (REFERENCE, "l2") and schedule == 1 and component.startswith("goal.")
            headline = is_headline(name)
            kept = (headline and group != SLOTS) or (scenario.is_main and target == TARGET and of_slots)
            if kept and not np.isnan(correlations.value[m, k]):
                key = (scenario.manager, scenario.absent, fill, group, len(panel.trackers), target)
                numbers = estimate_fields(correlations.take(m, k), "r", level).values()
                yield Correlation(*key, without_fill(metric), schedule, component, headline, *numbers)


def difference_rows(
    scenario: Scenario, fill: str, group: str, panel: ResampledPoints, correlations: Estimate, level: float
) -> Iterator[Difference]:
    """Of pairs of headline metrics, against the first target."""
    rows = {headline_name(name): m for m, name in enumerate(panel.metrics) if is_headline(name)}
    for a, b in PAIRS:
        if a in rows and b in rows:
            difference = correlations.take(rows[a], 0).minus(correlations.take(rows[b], 0))
            key = (scenario.manager, scenario.absent, fill, group, len(panel.trackers))
            yield Difference(*key, a, b, *estimate_fields(difference, "difference", level).values())


def beyond_rows(fill: str, panel: ResampledPoints, settings: StudySettings) -> Iterator[BeyondLogged]:
    """What every headline metric predicts beyond the logged return."""
    metrics = [m for m, name in enumerate(panel.metrics) if is_headline(name)]
    learned, logged = (panel.targets.index(name) for name in (TARGET, LOGGED))
    sample = panel.sample
    observed = with_logged(sample.metrics[metrics], sample.targets[learned], sample.targets[logged])
    drawn = with_logged(
        sample.metrics_drawn[:, metrics], sample.targets_drawn[:, learned], sample.targets_drawn[:, logged]
    )
    correlations = correlate_sample(Sample(*observed, *drawn), panel, settings)
    for number, kind, estimate in beyond_logged(correlations):
        metric = headline_name(panel.metrics[metrics[number]])
        fields = estimate_fields(estimate, "r", settings.correlation.level)
        yield BeyondLogged(fill, metric, kind, **fields)
