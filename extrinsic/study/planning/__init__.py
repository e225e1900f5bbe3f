"""From settings to stages: what has to be computed, and the key of everything that determines it."""

from __future__ import annotations

from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.planning.belief_plan import plan_beliefs
from extrinsic.study.planning.plan import Plan, Task, encoded
from extrinsic.study.planning.state_set_plan import plan_states

__all__ = ["Plan", "Task", "encoded", "make_plan"]


def make_plan(settings: StudySettings) -> Plan:
    """Read what has to be known beforehand, and say what will be computed."""
    return plan_states(settings, settings.states) if settings.states else plan_beliefs(settings)
