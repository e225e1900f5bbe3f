"""From settings to stages: what has to be computed, and the key of everything that determines it."""

from __future__ import annotations

from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.planning.belief_plan import plan_beliefs
from extrinsic.study.planning.plan import Plan, Schedule
from extrinsic.study.planning.state_set_plan import plan_states

__all__ = ["Plan", "Schedule", "make_schedule"]


def make_schedule(settings: StudySettings) -> Schedule:
    """Read the inputs that determine the plan, and list the stages to compute."""
    return plan_states(settings, settings.states) if settings.states else plan_beliefs(settings)
