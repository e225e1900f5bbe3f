"""What metrics tell of the live return beyond the logged one."""

from __future__ import annotations

from typing import Any

from experiments.beyond import rows_beyond, with_logged
from experiments.lee2014.correlations import shown_metrics
from experiments.lee2014.judging import Where, returns_of
from experiments.lee2014.points import Points
from experiments.lee2014.relating import RESAMPLES, SEED
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers


def beyond_rows(points: Points, where: Where) -> list[dict[str, Any]]:
    """Core trackers, seeds averaged; only trackers are resampled."""
    core = points.chosen("core")
    places = shown_metrics(points, where.fill)
    learned, logged = (
        returns_of(points, where, policy)[..., core].mean(axis=0) for policy in ("rl", "behaviour")
    )
    metrics, targets = with_logged(points.metrics[places][..., core].mean(axis=1), learned, logged)
    drawn = draw_trackers(" ".join(points.trackers[i] for i in core), len(core), RESAMPLES, SEED)
    sample = Sample.of_trackers(metrics, targets, RESAMPLES)
    correlations = correlation_estimate(sample, "pearson", "within", "trackers", drawn)
    return rows_beyond(correlations, [{"fill": where.fill, **points.names[m]._asdict()} for m in places])
