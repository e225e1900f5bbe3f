"""Checks of a study's settings that single keys do not show: every problem, with a suggestion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from extrinsic.corpus.hypotheses import Fill
from extrinsic.errors import ExtrinsicError, InputError, UsageError, did_you_mean
from extrinsic.registry import ESTIMATORS, EVALUATORS, FORMATS, LEARNERS, METRICS, TRACKERS, WORLDS
from extrinsic.simulation.world_files import is_drawn, read_drawn
from extrinsic.study.dialog_inputs import datasets_of, has_expert
from extrinsic.study.settings import PolicyTable, StatesTable, StudySettings, Table
from extrinsic.study.tracker_inputs import tracker_names
from extrinsic.study.variants import (
    NOT_IN_GRID,
    baselines,
    changed_settings,
    check_overrides,
    combinations,
    possible_targets,
)
from extrinsic.trackers.populations import canonical_name, population
from extrinsic.typed_files import TomlProblems
from extrinsic.verdict.choice_table import DECLARATION

OWN_NAME = re.compile(r"[A-Za-z0-9_.-]+")
SOURCES = ("simulation", "corpus", "states")
SPLIT_DEFAULTS = {"split": 0.5, "splits": 1, "both_ways": False, "split_seed": 0}
"""The keys of [corpus] that say how `dialogs` are divided."""


def check_settings(settings: StudySettings, problems: TomlProblems) -> None:
    """Report settings that are valid key by key but not together, and names that do not exist."""
    if not check_tables(settings, problems):
        return
    _check_options(settings, problems)
    _check_outcomes(settings, problems)
    _check_scores(settings, problems)
    _check_names(settings, problems)
    if settings.grid is None:
        _check_targets(settings, problems)
    elif not problems.has_errors:
        _check_grid(settings, problems)


def check_tables(settings: StudySettings, problems: TomlProblems) -> bool:
    """Report tables that do not go together, whatever their names mean; False: no more can be said."""
    sources = [name for name in SOURCES if getattr(settings, name) is not None]
    if len(sources) != 1:
        problems.add(
            "a study needs dialogs from exactly one source",
            found=" and ".join(sources) or "none",
            expected="one of the tables [simulation], [corpus], [states]",
        )
        return False
    if not _check_designs(settings, problems):
        return False
    _report_twice(settings, (), problems)
    _check_corpus(settings, problems)
    _check_trackers(settings, problems)
    return True


def _attempt(problems: TomlProblems, key: str, check: Callable[[Any], object], *names: Any) -> None:
    """Report every name that a check refuses."""
    for name in names:
        try:
            check(name)
        except ExtrinsicError as error:
            problems.add_key(key, str(error))


def _require_known(
    problems: TomlProblems, key: str, names: Iterable[str], known: Sequence[str], what: str
) -> None:
    """Report names that are none of those known; what: the message, with {} for the name."""
    for name in names:
        if name not in known:
            problems.add_key(key, f"{what.format(repr(name))}; {did_you_mean(name, known)}")


def _report_twice(table: Table, keys: tuple[str, ...], problems: TomlProblems) -> None:
    """Report items that are listed twice: they would count twice. Options mean what their config says."""
    for key, listed in zip(table.__struct_encode_fields__, msgspec.structs.astuple(table), strict=True):
        if isinstance(listed, Table):
            _report_twice(listed, (*keys, key), problems)
        elif isinstance(listed, tuple) and all(isinstance(item, str | int | float) for item in listed):
            for item in (item for item, times in Counter(listed).items() if times > 1):
                problems.add_key((*keys, key), "named twice", found=repr(item))


def _check_outcomes(settings: StudySettings, problems: TomlProblems) -> None:
    """Report outcomes from nowhere or from two sources, and those that the evaluator does not compute."""
    table = settings.outcomes
    if table is None:
        return
    name = table.evaluator_name
    if (table.file is None) == (name is None):
        problems.add_key("outcomes", "name a `file` of outcomes, or an `evaluator`, and not both")
        return
    if name is None:
        return
    if settings.states is None:
        problems.add_key("outcomes.evaluator", "evaluates states: it goes with [states]")
    for key in ("dialog", "rater", "turn", "trial", "pass_k", "scale", "dataset"):
        if getattr(table, key):
            problems.add_key(("outcomes", key), "is a column of a file; an evaluator has none")
    available = EVALUATORS.get(name).outcomes if name in EVALUATORS else table.names
    _require_known(problems, "outcomes.names", table.names, available, f"{name} computes no {{}}")


def _check_scores(settings: StudySettings, problems: TomlProblems) -> None:
    """Report scores of one's own that are not of states, or whose direction is that of another column."""
    scores = settings.scores
    if scores is None:
        return
    if settings.states is None:
        problems.add_key("scores", "scores of one's own go with [states]")
    if not scores.names:
        problems.add_key("scores.names", "no column is named")
    for name in scores.names:
        if not OWN_NAME.fullmatch(name):
            expected = "letters, digits, _ . and -"
            problems.add_key("scores.names", "cannot name a metric", expected=expected, found=repr(name))
    lower, what = scores.lower_is_better, "{} is none of the names"
    _require_known(problems, "scores.lower_is_better", lower, scores.names, what)


def _check_corpus(settings: StudySettings, problems: TomlProblems) -> None:
    simulation, corpus = settings.simulation, settings.corpus
    if simulation is not None and simulation.train == simulation.test:
        message, expected = "a policy must not be valued on what it learned from", "another split than test"
        problems.add_key("simulation.train", message, expected=expected, found=repr(simulation.train))
    if corpus is None:
        return
    pair = corpus.train is not None and corpus.test is not None
    ways = [pair, bool(corpus.datasets), corpus.dialogs is not None]
    if sum(ways) != 1 or (corpus.train is None) != (corpus.test is None):
        ways_in_words = "`train` and `test`, or [corpus.datasets.<name>] tables, or `dialogs` to be divided"
        problems.add_key("corpus", f"name {ways_in_words}")
    for key, default in SPLIT_DEFAULTS.items():
        if corpus.dialogs is None and getattr(corpus, key) != default:
            problems.add_key(("corpus", key), "goes with `dialogs` only")
    if corpus.datasets_by and not pair:
        problems.add_key("corpus.datasets_by", "goes with `train` and `test` only")


def _check_designs(settings: StudySettings, problems: TomlProblems) -> bool:
    """Report trackers that cannot be made: everything else needs their names."""
    trackers, before = settings.trackers, len(problems)
    drawn = trackers.population
    _attempt(problems, "trackers.built_in", canonical_name, *trackers.built_in)
    if drawn is not None:
        families = drawn.families
        _attempt(
            problems, "trackers.population", lambda size: population(size, drawn.seed, families), drawn.size
        )
    return len(problems) == before


def _check_trackers(settings: StudySettings, problems: TomlProblems) -> None:
    trackers, files = settings.trackers, settings.trackers.files
    if settings.states is not None:
        if trackers.built_in or files or trackers.population:
            problems.add_key("trackers", "the files of [states] are the systems; leave this out")
        return
    names = tracker_names(settings)
    if not names:
        ways = "built_in = [...], [trackers.population] or [trackers.files]"
        problems.add_key("trackers", "the datasets have no trackers", expected=ways)
    built_in = TRACKERS.names() if "all" in trackers.built_in else trackers.built_in
    for name in sorted({*built_in} & {*(files.names if files else ())}):
        problems.add_key("trackers", "both built in and a file", found=repr(name))
    if settings.simulation is not None and files:
        problems.add_key("trackers.files", "simulated calls have no tracker files")
    for side in ("train", "test") if files and len(files.names) > 1 else ():
        if "{tracker}" not in (getattr(files, side) or "{tracker}"):
            message = "is the same file for every tracker"
            problems.add_key(("trackers", "files", side), message, expected="{tracker} in the path")
    divided = settings.corpus is not None and settings.corpus.dialogs is not None
    if files and files.train is None and not divided:
        why = "policies are learned from the trackers' beliefs about the training dialogs"
        problems.add_key("trackers.files.train", f"missing: {why}")
    for key in ("degenerate", "recalibrated"):
        what = "{} is none of the trackers"
        _require_known(problems, f"trackers.{key}", getattr(trackers, key), names, what)


def _check_options(settings: StudySettings, problems: TomlProblems) -> None:
    """A table of options that nothing in the study would use, and a study without a learner."""
    policy = settings.policy
    vary = settings.grid.vary if settings.grid else settings.sensitivity.vary
    if not policy.learners:
        problems.add_key("policy.learner", "at least one learner is needed")
    used = {*(learner.name for learner in policy.learners), policy.behaviour_name}
    used |= {str(name) for key in ("policy.learner", "policy.behaviour") for name in vary.get(key, ())}
    for name in policy.options:
        if name not in used:
            key = "learner" if name in LEARNERS else "behaviour"
            problems.add_key(("policy", name), f"not used: the study does not name it as its {key}")


def _check_names(settings: StudySettings, problems: TomlProblems) -> None:
    """Report names that do not exist, with what was probably meant."""
    from extrinsic.corpus.normalisation import load_normalisation
    from extrinsic.metrics.definition import parse_metric
    from extrinsic.policy.features import find_features

    states, simulation = settings.states, settings.simulation
    _attempt(problems, "metrics.names", parse_metric, *settings.metrics.names)
    _attempt(problems, "metrics.fill", Fill.parse, *settings.metrics.fill)
    if settings.corpus:
        _attempt(problems, "corpus.format", _belief_format, settings.corpus.format)
    if states:
        if states.normalise is not None:
            _attempt(problems, "states.normalise", load_normalisation, states.normalise)
        _attempt(problems, "states.format", _state_format, msgspec.structs.replace(states, normalise=None))
        return
    _check_metrics(settings, problems)
    _attempt(problems, "trackers.built_in", TRACKERS.get, *(set(settings.trackers.built_in) - {"all"}))
    _attempt(problems, "policy.features", find_features, settings.policy.features)
    _attempt(problems, "reward.fill", Fill.parse, *settings.reward.fill)
    proxies = set(settings.value.proxies) - set(tracker_names(settings))
    _attempt(problems, "value.proxies", TRACKERS.get, *proxies)
    if simulation:
        _attempt(problems, "simulation.world", WORLDS.get, simulation.world)
    if simulation and simulation.world in WORLDS:
        if simulation.worlds is not None:
            _attempt(problems, "simulation.worlds", datasets_of, simulation)
        drawn = [name for name in simulation.datasets if is_drawn(name)]
        properties = getattr(WORLDS.get(simulation.world), "properties", {})
        _attempt(problems, "simulation.datasets", lambda name: read_drawn(name, properties), *drawn)
    _check_needs(settings, problems)
    check_overrides(settings, problems)


def _check_needs(settings: StudySettings, problems: TomlProblems) -> None:
    """Report estimators that need what the study does not have, and a fixed policy that cannot be played."""
    needs = {name: ESTIMATORS.get(name).needs for name in settings.value.estimators if name in ESTIMATORS}
    for name, needed in needs.items():
        if "world" in needed and settings.simulation is None:
            message = f"`{name}` needs a simulator, and these dialogs are on disk"
            problems.add_key("value.estimators", message)
        if "augmented_states" in needed and not settings.value.proxies:
            problems.add_key("value.proxies", f"`{name}` needs at least one proxy tracker")
    if "expert" not in settings.policy.policies:
        return
    message, expected = "", "rl, sl, sl_sampled"
    if settings.simulation is None:
        message = "`expert` is the policy of a simulated world, and these dialogs are on disk"
    elif not has_expert(settings):
        message = f"the world {settings.simulation.world!r} has no expert that can be played"
    elif not any("world" in needed for needed in needs.values()):
        message = "`expert` is valued by live play alone, which the study does not have"
        expected = 'estimators = ["live", ...]'
    if message:
        problems.add_key("policy.policies", message, expected=expected, found="expert")


def _belief_format(name: str) -> None:
    from extrinsic.corpus.formats import BeliefFormat

    if not isinstance(FORMATS.get(name), BeliefFormat):
        raise UsageError(f"files of format {name!r} hold states: they go into [states]")


def _state_format(table: StatesTable) -> None:
    from extrinsic.corpus.formats import StateFormat, check_reading

    form = FORMATS.get(table.format)
    if not isinstance(form, StateFormat):
        raise UsageError(f"files of format {table.format!r} are calls with a corpus: they go into [corpus]")
    check_reading(form, table.reading)


def _check_metrics(settings: StudySettings, problems: TomlProblems) -> None:
    """Report metrics and label schemes that calls do not have."""
    from extrinsic.corpus.formats import BeliefFormat
    from extrinsic.metrics.definition import Filled, parse_metric

    metrics = settings.metrics
    for name in metrics.names:
        try:
            metric = parse_metric(name)
        except ExtrinsicError:
            continue
        if metric.kind == "state" and not isinstance(metric, Filled) and not metrics.fill:
            expected = f'metrics.fill = ["argmax"], or {Filled(metric, Fill("argmax"))}'
            message = f"{name} scores states, and trackers have beliefs"
            problems.add_key("metrics.names", message, expected=expected)
    schemes: list[str] = []  # Simulated calls have none.
    if settings.corpus and settings.corpus.format in FORMATS:
        form = FORMATS.get(settings.corpus.format)
        if isinstance(form, BeliefFormat):
            schemes = list(filter(None, form.conventions.label_schemes))
    scheme = [] if metrics.label_scheme is None else [metrics.label_scheme]
    _require_known(problems, "metrics.label_scheme", scheme, schemes, "there is no {}")


def _check_targets(settings: StudySettings, problems: TomlProblems) -> None:
    targets, table = possible_targets(settings), settings.correlation
    if not targets:
        problems.add("there is nothing to correlate the metrics with", expected="a table [outcomes]")
        return
    for key, names in (
        ("correlation.primary", [table.primary]),
        ("correlation.targets", table.targets),
        ("sensitivity.target", [settings.sensitivity.target]),
    ):
        _require_known(problems, key, filter(None, names), targets, "there is no target {}")
    for key, texts in (("metrics", settings.verdict.metrics), ("prefer", settings.verdict.prefer)):
        for text in texts:
            base = text.strip().partition("(")[0].split(" ")[0]
            if DECLARATION.fullmatch(text.strip()) is None or not METRICS.about(base):
                hint = did_you_mean(base, METRICS.names())
                problems.add_key(f"verdict.{key}", f"there is no metric {text!r}; {hint}")


UNUSED = ("states", "outcomes", "metrics", "correlation", "verdict", "sensitivity")
"""Tables of a study that a comparison of policies has no use for."""


def _check_grid(settings: StudySettings, problems: TomlProblems) -> None:
    """Report what a grid does not use, and combinations and baselines that are not valid."""
    grid = settings.grid
    assert grid is not None
    without = StudySettings(name="")
    for name in UNUSED:
        if getattr(settings, name) != getattr(without, name):
            problems.add_key((name,), "not used: `extrinsic policies` compares policies, not metrics")
    if settings.policy.policies != PolicyTable().policies:
        problems.add_key("policy.policies", "not used: `imitation` is a learner, for [policy] learner")
    for key, options in grid.vary.items():
        keys = ("grid", "vary", key)
        if key.partition(".")[0] not in ("policy", "reward"):
            problems.add_key(keys, "cannot be varied", expected="a key of [policy] or [reward]")
        elif not options:
            problems.add_key(keys, "at least one value is needed")
        for option in options:
            try:
                changed_settings(settings, {key: option}, NOT_IN_GRID)
            except InputError as error:
                for problem in error.problems:
                    problems.add_key(keys, str(problem))
    ordering = [] if grid.estimator is None else [grid.estimator]
    what = "there is no {} in [value]"
    _require_known(problems, "grid.estimator", ordering, settings.value.estimators, what)
    if problems.has_errors:
        return
    try:
        baselines(settings, combinations(settings))
    except ExtrinsicError as error:
        problems.add_key("grid.baseline", str(error))
