"""The stage that relates: metrics against targets, for all trackers and for the core ones."""

from __future__ import annotations

from extrinsic.study.correlating.core_trackers import family
from extrinsic.study.correlating.correlation_stage import CorrelationTask, panel_of, relate

__all__ = ["CorrelationTask", "family", "panel_of", "relate"]
