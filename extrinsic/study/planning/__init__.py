"""From settings to stages: what has to be computed, and the key of everything that determines it."""

from __future__ import annotations

from extrinsic.study.planning.beliefs import plan_beliefs
from extrinsic.study.planning.plan import Plan, Task, encoded
from extrinsic.study.planning.states import plan_states
from extrinsic.study.settings import StudySettings

__all__ = ["Plan", "Task", "encoded", "make_plan"]


def make_plan(settings: StudySettings) -> Plan:
    """Read what has to be known beforehand, and say what will be computed."""
    return plan_states(settings, settings.states) if settings.states else plan_beliefs(settings)
