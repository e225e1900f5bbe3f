"""The datasets and trackers of a study, and the targets that metrics are correlated with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from extrinsic.errors import ExtrinsicError, UsageError
from extrinsic.registry import ESTIMATORS
from extrinsic.study.settings import SimulationTable, StudySettings

PREFERRED = ("rl.live", "rl.mean_augmented")
"""The primary target of a study that names none: the first of these that it has."""

GAIN = "rl.gain"
"""What the learned policy earns beyond the logged one."""

LOGGED_RETURN, LOGGED_LIVE = "behaviour.observed", "behaviour.live"
"""What the logged policy earned in the log, and what it earns with the callers of live play; both by the
beliefs of each tracker."""

LOGGED_COMPLETED = "behaviour.completed"
"""Whom the logged policy serves, on its own tracker: the same for all trackers that are compared."""

USUAL = ("rl", "expert", "outcome", "behaviour")
"""The policies whose values are targets unless a study names others; `sl` imitates."""


UNUSUAL = (LOGGED_LIVE, LOGGED_COMPLETED)
"""The first says nearly the same as the logged return, the second is the same for all trackers."""


def tracker_names(settings: StudySettings, members: Sequence[str] | None = None) -> list[str]:
    """The trackers of a study, each once, in the order of its settings.

    members: of the population; None: its first ones, whether alike or not.
    """
    from extrinsic.registry import TRACKERS
    from extrinsic.trackers.populations import canonical_name, population

    table = settings.trackers
    built_in: Iterable[str] = map(canonical_name, table.built_in)
    if "all" in table.built_in:
        built_in = TRACKERS.names()
    drawn = table.population
    if members is None:
        members = population(drawn.size, drawn.seed, drawn.families) if drawn else []
    return list(dict.fromkeys([*built_in, *members, *(table.files.names if table.files else ())]))


def datasets_of(table: SimulationTable) -> list[str]:
    """The datasets that a study names, and the worlds that it draws; all of the file if it does neither."""
    from extrinsic.simulation import find_simulation
    from extrinsic.simulation.world_files import draw_worlds

    simulation = find_simulation(table.world, table.config, table.seed)
    every = list(dict.fromkeys(dataset for dataset, _ in simulation.corpora()))
    worlds = table.worlds
    if worlds is None:
        return list(table.datasets) or every
    properties = getattr(simulation, "properties", {})
    if not properties:
        raise UsageError(f"worlds of the kind {table.world!r} cannot be drawn: they have no properties")
    drawn = draw_worlds(worlds.base or every[:1], worlds.draws, properties, worlds.ranges, worlds.seed)
    return list(dict.fromkeys([*table.datasets, *drawn]))


def has_expert(settings: StudySettings) -> bool:
    """Whether the policy that made the dialogs can be played, which only a simulated world may have."""
    from extrinsic.simulation.datasets import find_simulation, logged_policy

    table = settings.simulation
    if table is None:
        return False
    try:
        simulation = find_simulation(table.world, table.config, table.seed)
        return logged_policy(simulation.world(datasets_of(table)[0], table.test))[0] is not None
    except ExtrinsicError:
        return True  # The world itself is wrong, which is reported where it is read.


def possible_targets(settings: StudySettings) -> list[str]:
    """Every target that a study can have."""
    names = [f"outcome.{name}" for name in (settings.outcomes.targets if settings.outcomes else ())]
    if settings.states is not None:
        return names
    estimators = settings.value.estimators
    registered = [name for name in estimators if name in ESTIMATORS]
    played = [name for name in registered if "world" in ESTIMATORS.get(name).needs]
    for policy in settings.policy.policies:
        names += [f"{policy}.{name}" for name in (played if policy == "expert" else estimators)]
        names += [f"{policy}.completed"] if "live" in played else []
    names.append(LOGGED_RETURN)
    if "live" in played and has_expert(settings):
        names += [LOGGED_LIVE, LOGGED_COMPLETED]
    if gain_terms(names) is not None:
        names.append(GAIN)
    return names


def gain_terms(targets: Collection[str]) -> tuple[str, str] | None:
    """The two targets whose difference is the gain, of all that there are; None without any.

    With the same callers of live play where both policies are played, else by the estimate that a study
    prefers and the return of the same logged dialogs.
    """
    if PREFERRED[0] in targets and LOGGED_LIVE in targets:
        return PREFERRED[0], LOGGED_LIVE
    estimators = [name.removeprefix("rl.") for name in targets if name.startswith("rl.")]
    learned = [
        f"rl.{name}"
        for name in estimators
        if name in ESTIMATORS and ESTIMATORS.get(name).resampled_over == "dialogs"
    ]
    if not learned or LOGGED_RETURN not in targets:
        return None
    return next((name for name in PREFERRED if name in learned), learned[0]), LOGGED_RETURN


def chosen_targets(settings: StudySettings) -> list[str]:
    """The targets that metrics are correlated with; the primary one first."""
    possible = possible_targets(settings)
    usual = [name for name in possible if name.partition(".")[0] in USUAL and name not in UNUSUAL]
    chosen = list(settings.correlation.targets) or usual
    first = settings.correlation.primary
    if first is None:
        first = next((name for name in PREFERRED if name in chosen), chosen[0])
    return [first, *(name for name in chosen if name != first)]
