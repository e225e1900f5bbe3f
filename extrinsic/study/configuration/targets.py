"""The trackers that a study compares, and the targets that metrics are correlated with."""

from __future__ import annotations

from collections.abc import Iterable

from extrinsic.study.configuration.settings import StudySettings


def tracker_names(settings: StudySettings) -> list[str]:
    """The trackers of a study, in the order of its settings."""
    from extrinsic.registry import TRACKERS

    built_in: Iterable[str] = settings.trackers.built_in
    if "all" in settings.trackers.built_in:
        built_in = TRACKERS.names()
    files = settings.trackers.files
    return [*built_in, *(files.names if files else ())]


def possible_targets(settings: StudySettings) -> list[str]:
    """Every target that a study can have."""
    names = [f"outcome.{name}" for name in (settings.outcomes.names if settings.outcomes else ())]
    if settings.states is None:
        names += [
            f"{policy}.{name}" for policy in settings.policy.policies for name in settings.value.estimators
        ]
        names.append("behaviour.observed")
    return names


def chosen_targets(settings: StudySettings) -> list[str]:
    """The targets that metrics are correlated with; the primary one first."""
    possible = possible_targets(settings)
    usual = [name for name in possible if name.partition(".")[0] in ("rl", "outcome", "behaviour")]
    chosen = list(settings.correlation.targets) or usual
    first = settings.correlation.primary
    if first is None:
        first = next((name for name in ("rl.live", "rl.mean_augmented") if name in chosen), chosen[0])
    return [first, *(name for name in chosen if name != first)]
