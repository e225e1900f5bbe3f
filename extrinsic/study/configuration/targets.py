"""The datasets and trackers of a study, and the targets that metrics are correlated with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from extrinsic.errors import ExtrinsicError, UsageError
from extrinsic.study.configuration.settings import SimulationTable, StudySettings

PREFERRED = ("rl.live", "rl.world_mixed", "rl.mean_augmented")
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


ANSWERED = ("expert.live", "rl.completed", "expert.completed")
"""Targets that a study has a verdict of besides its primary one; and every outcome."""


def verdict_targets(targets: Sequence[str]) -> list[str]:
    """Those that a study has a verdict of; the primary one is the first of all."""
    return [
        target
        for number, target in enumerate(targets)
        if number == 0 or target in ANSWERED or target.startswith("outcome.")
    ]


def tracker_names(settings: StudySettings, members: Sequence[str] | None = None) -> list[str]:
    """The trackers of a study, each once, in the order of its settings.

    members: of the population; None: its first ones, whether alike or not.
    """
    from extrinsic.registry import TRACKERS
    from extrinsic.trackers.forms import canonical_name, dosed, population

    table = settings.trackers
    built_in: Iterable[str] = map(canonical_name, table.built_in)
    if "all" in table.built_in:
        built_in = TRACKERS.names()
    drawn = table.population
    if members is None:
        members = population(drawn.size, drawn.seed, drawn.families) if drawn else []
    with_errors: list[str] = []
    if table.dosed is not None:
        doses = table.dosed
        with_errors = dosed(doses.trackers, doses.doses, doses.where, doses.design == "factorial")
    return list(
        dict.fromkeys([*built_in, *members, *with_errors, *(table.files.names if table.files else ())])
    )


def datasets_of(table: SimulationTable) -> list[str]:
    """The datasets that a study names, and the worlds that it draws; all of the file if it does neither."""
    from extrinsic.simulation import find_simulation
    from extrinsic.simulation.drawn_worlds import draw_worlds

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
    played = [name for name in estimators if _needs_world(name)]
    for policy in settings.policy.policies:
        names += [f"{policy}.{name}" for name in (played if policy == "expert" else estimators)]
        names += [f"{policy}.completed"] if "live" in played else []
    if settings.value.training_resamples and "rl" in settings.policy.policies:
        names.append("rl.expected")
    names.append(LOGGED_RETURN)
    if "live" in played and has_expert(settings):
        names += [LOGGED_LIVE, LOGGED_COMPLETED]
    if gain_terms(names) is not None:
        names.append(GAIN)
    return names


def _needs_world(estimator: str) -> bool:
    from extrinsic.registry import ESTIMATORS

    return estimator in ESTIMATORS and "world" in ESTIMATORS.get(estimator).needs


def gain_terms(targets: Collection[str]) -> tuple[str, str] | None:
    """The two targets whose difference is the gain, of all that there are; None without any.

    With the same callers of live play where both policies are played, else by the estimate that a study
    prefers and the return of the same logged dialogs.
    """
    if PREFERRED[0] in targets and LOGGED_LIVE in targets:
        return PREFERRED[0], LOGGED_LIVE
    learned = [name for name in targets if name.startswith("rl.") and _is_of_dialogs(name.partition(".")[2])]
    if not learned or LOGGED_RETURN not in targets:
        return None
    return next((name for name in PREFERRED if name in learned), learned[0]), LOGGED_RETURN


def _is_of_dialogs(estimator: str) -> bool:
    from extrinsic.registry import ESTIMATORS

    return estimator in ESTIMATORS and ESTIMATORS.get(estimator).resampled_over == "dialogs"


def needed_estimators(settings: StudySettings, target: str) -> tuple[str, ...]:
    """The estimators that a target of a policy is computed from."""
    if target == GAIN:
        terms = gain_terms(possible_targets(settings))
        assert terms is not None
        target = terms[0]
    estimator = target.partition(".")[2]
    return ("live",) if estimator == "completed" else (estimator,)


def chosen_targets(settings: StudySettings) -> list[str]:
    """The targets that metrics are correlated with; the primary one first."""
    possible = possible_targets(settings)
    usual = [name for name in possible if name.partition(".")[0] in USUAL and name not in UNUSUAL]
    chosen = list(settings.correlation.targets) or usual
    first = settings.correlation.primary
    if first is None:
        first = next((name for name in PREFERRED if name in chosen), chosen[0])
    return [first, *(name for name in chosen if name != first)]
