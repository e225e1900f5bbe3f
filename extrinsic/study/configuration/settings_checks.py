"""Checks of a study's settings that single keys do not show: every problem, with a suggestion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from extrinsic.corpus.fill import Fill
from extrinsic.errors import ExtrinsicError, Problems, UsageError, did_you_mean
from extrinsic.registry import BEHAVIOURS, ESTIMATORS, FORMATS, LEARNERS, TRACKERS, WORLDS
from extrinsic.simulation.drawn_worlds import is_drawn, read_drawn
from extrinsic.study.configuration.choices import check_choices, check_outcomes
from extrinsic.study.configuration.grid import check_grid
from extrinsic.study.configuration.overrides import check_overrides
from extrinsic.study.configuration.settings import StatesTable, StudySettings
from extrinsic.study.configuration.targets import datasets_of, has_expert, possible_targets, tracker_names
from extrinsic.toml_files import report_key
from extrinsic.trackers.designs import dosed, population
from extrinsic.trackers.forms import canonical_name

OWN_NAME = re.compile(r"[A-Za-z0-9_.-]+")
SOURCES = ("simulation", "corpus", "states")
SPLIT_DEFAULTS = {"split": 0.5, "splits": 1, "both_ways": False, "split_seed": 0}
"""The keys of [corpus] that say how `dialogs` are divided."""


def check_settings(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report settings that are valid key by key but not together, and names that do not exist."""
    if not check_tables(settings, text, problems):
        return
    _check_options(settings, text, problems)
    check_outcomes(settings, text, problems)
    if settings.scores is not None:
        _check_scores(settings, text, problems)
    _check_names(settings, text, problems)
    if settings.grid is None:
        _check_targets(settings, text, problems)
    elif not problems.has_errors:
        check_grid(settings, text, problems)


def check_tables(settings: StudySettings, text: str, problems: Problems) -> bool:
    """Report tables that do not go together, whatever their names mean; False: no more can be said."""
    sources = [name for name in SOURCES if getattr(settings, name) is not None]
    if len(sources) != 1:
        problems.add(
            "a study needs dialogs from exactly one source",
            found=" and ".join(sources) or "none",
            expected="one of the tables [simulation], [corpus], [states]",
        )
        return False
    if not _check_designs(settings, text, problems):
        return False
    _check_twice(settings, text, problems)
    _check_corpus(settings, text, problems)
    _check_trackers(settings, text, problems)
    return True


def _check_twice(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report items that are listed twice: they would count twice."""
    _report_twice(settings, (), text, problems)


def _report_twice(table: msgspec.Struct, keys: tuple[str, ...], text: str, problems: Problems) -> None:
    for key, listed in msgspec.structs.asdict(table).items():
        if isinstance(listed, msgspec.Struct):
            _report_twice(listed, (*keys, key), text, problems)
        twice = [item for item, times in Counter(listed).items() if times > 1] if _is_list(listed) else []
        for item in twice:
            report_key(problems, text, (*keys, key), "named twice", found=repr(item))


def _check_scores(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report scores of one's own that are not of states, or whose direction is that of another column."""
    scores = settings.scores
    assert scores is not None
    if settings.states is None:
        report_key(problems, text, ("scores",), "scores of one's own go with [states]")
    if not scores.names:
        report_key(problems, text, ("scores", "names"), "no column is named")
    for name in scores.names:
        if not OWN_NAME.fullmatch(name):
            expected = "letters, digits, _ . and -"
            report_key(
                problems,
                text,
                ("scores", "names"),
                "cannot name a metric",
                expected=expected,
                found=repr(name),
            )
    for name in scores.lower_is_better:
        if name not in scores.names:
            hint = did_you_mean(name, scores.names)
            report_key(
                problems, text, ("scores", "lower_is_better"), f"{name!r} is none of the names; {hint}"
            )


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str | int | float) for item in value)


def _check_corpus(settings: StudySettings, text: str, problems: Problems) -> None:
    simulation, corpus = settings.simulation, settings.corpus
    if simulation is not None and simulation.train == simulation.test:
        report_key(
            problems,
            text,
            ("simulation", "train"),
            "a policy must not be valued on what it learned from",
            expected="another split than test",
            found=repr(simulation.train),
        )
    if corpus is None:
        return
    pair = corpus.train is not None and corpus.test is not None
    ways = [pair, bool(corpus.datasets), corpus.dialogs is not None]
    if sum(ways) != 1 or (corpus.train is None) != (corpus.test is None):
        report_key(
            problems,
            text,
            ("corpus",),
            "name `train` and `test`, or [corpus.datasets.<name>] tables, or `dialogs` to be divided",
        )
    for key, default in SPLIT_DEFAULTS.items():
        if corpus.dialogs is None and getattr(corpus, key) != default:
            report_key(problems, text, ("corpus", key), "goes with `dialogs` only")
    if corpus.datasets_by and not pair:
        report_key(problems, text, ("corpus", "datasets_by"), "goes with `train` and `test` only")


def _check_designs(settings: StudySettings, text: str, problems: Problems) -> bool:
    """Report trackers that cannot be made: everything else needs their names."""
    trackers, before = settings.trackers, len(problems)

    def attempt(key: str, make: Callable[[], object]) -> None:
        try:
            make()
        except ExtrinsicError as error:
            report_key(problems, text, ("trackers", key), str(error))

    for name in trackers.built_in:
        attempt("built_in", partial(canonical_name, name))
    drawn, doses = trackers.population, trackers.dosed
    if drawn is not None:
        attempt("population", partial(population, drawn.size, drawn.seed, drawn.families))
    if doses is not None:
        for name in doses.trackers:
            attempt("dosed", partial(TRACKERS.get, name))
        for kind, amounts in doses.doses.items():
            for dose in amounts:
                attempt("dosed", partial(dosed, ["focus"], {kind: [dose]}))
        for place in doses.where:
            attempt("dosed", partial(dosed, ["focus"], {"wrong": [0.5]}, [place]))
    return len(problems) == before


def _check_trackers(settings: StudySettings, text: str, problems: Problems) -> None:
    trackers = settings.trackers
    names = tracker_names(settings)
    if settings.states is not None:
        if trackers.built_in or trackers.files or trackers.population or trackers.dosed:
            report_key(problems, text, ("trackers",), "the files of [states] are the systems; leave this out")
        return
    if not names:
        report_key(
            problems,
            text,
            ("trackers",),
            "the datasets have no trackers",
            expected="built_in = [...], [trackers.population], [trackers.dosed] or [trackers.files]",
        )
    built_in = TRACKERS.names() if "all" in trackers.built_in else trackers.built_in
    both = {*built_in} & {*(trackers.files.names if trackers.files else ())}
    for name in sorted(both):
        report_key(problems, text, ("trackers",), "both built in and a file", found=repr(name))
    if settings.simulation is not None and trackers.files:
        report_key(problems, text, ("trackers", "files"), "simulated calls have no tracker files")
    for side in ("train", "test") if trackers.files and len(trackers.files.names) > 1 else ():
        if "{tracker}" not in (getattr(trackers.files, side) or "{tracker}"):
            report_key(
                problems,
                text,
                ("trackers", "files", side),
                "is the same file for every tracker",
                expected="{tracker} in the path",
            )
    divided = settings.corpus is not None and settings.corpus.dialogs is not None
    if trackers.files and trackers.files.train is None and not divided:
        report_key(
            problems,
            text,
            ("trackers", "files", "train"),
            "missing: policies are learned from the trackers' beliefs about the training dialogs",
        )
    for key in ("degenerate", "recalibrated"):
        for name in getattr(trackers, key):
            if name not in names:
                report_key(
                    problems,
                    text,
                    ("trackers", key),
                    f"{name!r} is none of the trackers; {did_you_mean(name, names)}",
                )


def _check_options(settings: StudySettings, text: str, problems: Problems) -> None:
    """A table of options that nothing in the study would use, and a study without a learner."""
    policy, vary = settings.policy, settings.sensitivity.vary
    vary = settings.grid.vary if settings.grid else vary
    if not policy.learners:
        report_key(problems, text, ("policy", "learner"), "at least one learner is needed")
    used = {*policy.learners, policy.behaviour}
    used |= {str(name) for key in ("policy.learner", "policy.behaviour") for name in vary.get(key, ())}
    for name in policy.tables:
        if name not in used and (name in LEARNERS or name in BEHAVIOURS):
            key = "learner" if name in LEARNERS else "behaviour"
            report_key(problems, text, ("policy", name), f"not used: the study does not name it as its {key}")


def _check_names(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report names that do not exist, with what was probably meant."""
    from extrinsic.corpus.normalisations import load_normalisation
    from extrinsic.metrics.parsing import parse_metric
    from extrinsic.policy.features import find_features

    def attempt(keys: tuple[str, ...], check: Any, *names: Any) -> None:
        for name in names:
            try:
                check(name)
            except ExtrinsicError as error:
                report_key(problems, text, keys, str(error))

    attempt(("metrics", "names"), parse_metric, *settings.metrics.names)
    attempt(("metrics", "fill"), Fill.parse, *settings.metrics.fill)
    if settings.corpus:
        attempt(("corpus", "format"), _belief_format, settings.corpus.format)
    if settings.states:
        if settings.states.normalise is not None:
            attempt(("states", "normalise"), load_normalisation, settings.states.normalise)
        attempt(("states", "format"), _state_format, msgspec.structs.replace(settings.states, normalise=None))
        return
    _check_metrics(settings, text, problems)
    attempt(("trackers", "built_in"), TRACKERS.get, *(set(settings.trackers.built_in) - {"all"}))
    attempt(("policy", "features"), find_features, settings.policy.features)
    attempt(("reward", "fill"), Fill.parse, *settings.reward.fill)
    attempt(("value", "estimators"), ESTIMATORS.get, *settings.value.estimators)
    attempt(("value", "proxies"), TRACKERS.get, *(set(settings.value.proxies) - set(tracker_names(settings))))
    if settings.simulation:
        attempt(("simulation", "world"), WORLDS.get, settings.simulation.world)
        table = settings.simulation
        if table.world in WORLDS:
            if table.worlds is not None:
                attempt(("simulation", "worlds"), datasets_of, table)
            drawn = [name for name in table.datasets if is_drawn(name)]
            properties = getattr(WORLDS.get(table.world), "properties", {})
            attempt(("simulation", "datasets"), lambda name: read_drawn(name, properties), *drawn)
    check_choices(settings, text, problems)
    _check_needs(settings, text, problems)
    check_overrides(settings, problems)


def _check_needs(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report estimators that need what the study does not have."""
    for name in settings.value.estimators:
        if name not in ESTIMATORS:
            continue
        needs = ESTIMATORS.get(name).needs
        if "world" in needs and settings.simulation is None:
            report_key(
                problems,
                text,
                ("value", "estimators"),
                f"`{name}` needs a simulator, and these dialogs are on disk",
            )
        if "augmented_states" in needs and not settings.value.proxies:
            report_key(problems, text, ("value", "proxies"), f"`{name}` needs at least one proxy tracker")
    if "expert" in settings.policy.policies:
        _check_expert(settings, text, problems)


def _check_expert(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report a fixed policy that cannot be played."""
    message = None
    if settings.simulation is None:
        message = "`expert` is the policy of a simulated world, and these dialogs are on disk"
    elif not has_expert(settings):
        message = f"the world {settings.simulation.world!r} has no expert that can be played"
    elif not any("world" in ESTIMATORS.get(name).needs for name in _registered(settings)):
        message = "`expert` is valued by live play alone, which the study does not have"
    if message is not None:
        expected = 'estimators = ["live", ...]' if "live play" in message else "rl, sl, sl_sampled"
        report_key(problems, text, ("policy", "policies"), message, expected=expected, found="expert")


def _registered(settings: StudySettings) -> list[str]:
    return [name for name in settings.value.estimators if name in ESTIMATORS]


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


def _check_metrics(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report metrics and label schemes that calls do not have."""
    from extrinsic.metrics.filled import Filled
    from extrinsic.metrics.parsing import parse_metric

    metrics = settings.metrics
    for name in metrics.names:
        try:
            metric = parse_metric(name)
        except ExtrinsicError:
            continue
        if metric.kind == "state" and not isinstance(metric, Filled) and not metrics.fill:
            by_rule = Filled(metric, Fill("argmax"))
            report_key(
                problems,
                text,
                ("metrics", "names"),
                f"{name} scores states, and trackers have beliefs",
                expected=f'metrics.fill = ["argmax"], or {by_rule}',
            )
    schemes = _label_schemes(settings)
    if metrics.label_scheme is not None and metrics.label_scheme not in schemes:
        advice = did_you_mean(metrics.label_scheme, schemes)
        report_key(
            problems, text, ("metrics", "label_scheme"), f"there is no {metrics.label_scheme!r}; {advice}"
        )


def _label_schemes(settings: StudySettings) -> list[str]:
    """The names of the corpus's label schemes; simulated calls have none."""
    from extrinsic.corpus.formats import BeliefFormat

    if settings.corpus is None or settings.corpus.format not in FORMATS:
        return []
    form = FORMATS.get(settings.corpus.format)
    return (
        [scheme for scheme in form.conventions.label_schemes if scheme]
        if isinstance(form, BeliefFormat)
        else []
    )


def _check_targets(settings: StudySettings, text: str, problems: Problems) -> None:
    targets = possible_targets(settings)
    if not targets:
        problems.add("there is nothing to correlate the metrics with", expected="a table [outcomes]")
        return
    chosen = [
        ("primary", settings.correlation.primary),
        *(("targets", n) for n in settings.correlation.targets),
    ]
    for key, name in chosen:
        if name is not None and name not in targets:
            report_key(
                problems,
                text,
                ("correlation", key),
                f"there is no target {name!r}; {did_you_mean(name, targets)}",
            )
    other = settings.sensitivity.target
    if other is not None and other not in targets:
        report_key(
            problems,
            text,
            ("sensitivity", "target"),
            f"there is no target {other!r}; {did_you_mean(other, targets)}",
        )
