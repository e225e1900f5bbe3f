"""The grid of `extrinsic policies`: every combination of learners, fill rules and varied settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import msgspec

from extrinsic.errors import ExtrinsicError, InputError, UsageError, did_you_mean
from extrinsic.registry import BEHAVIOURS, LEARNERS
from extrinsic.study.configuration.choices import check_choices, has_fill, with_defaults
from extrinsic.study.configuration.settings import Option, PolicyTable, StudySettings
from extrinsic.study.configuration.settings_toml import text_of, with_override
from extrinsic.toml_files import TomlProblems

LEARNER, FILL = "policy.learner", "reward.fill"
LOGGED_BASELINE = "logged"
UNUSED = ("states", "outcomes", "metrics", "correlation", "sensitivity")
"""Tables of a study that a comparison of policies has no use for."""


@dataclass(frozen=True)
class Combination:
    """A row of the grid: its settings, and by dotted key the values that vary, as text."""

    name: str
    values: Mapping[str, str]
    settings: StudySettings


def axes_of(settings: StudySettings) -> dict[str, tuple[Option, ...]]:
    """What varies: learners, fill rules, and the keys of [grid.vary]."""
    assert settings.grid is not None
    axes: dict[str, tuple[Option, ...]] = {LEARNER: settings.policy.learners}
    if has_fill(settings.reward.kind):
        axes[FILL] = settings.reward.fill
    return axes | settings.grid.vary


def first_estimator(settings: StudySettings) -> str:
    """The estimator that orders the policies."""
    assert settings.grid is not None
    names = settings.value.estimators
    return settings.grid.estimator or ("live" if "live" in names else names[0])


def combinations(settings: StudySettings) -> list[Combination]:
    """Every row of the grid; options of a learner multiply the rows of that learner only."""
    axes = axes_of(settings)
    rows: dict[str, Combination] = {}
    for options in product(*axes.values()):
        chosen = dict(zip(axes, options, strict=True))
        values = _relevant({key: text_of(option) for key, option in chosen.items()}, settings)
        name = _name(values, axes)
        if name not in rows:
            changed = _changed(settings, {key: chosen[key] for key in values})
            rows[name] = Combination(name, values, changed)
    return list(rows.values())


def _changed(settings: StudySettings, chosen: Mapping[str, Option]) -> StudySettings:
    for key, option in chosen.items():
        if key == FILL:
            reward = msgspec.structs.replace(settings.reward, fill=(str(option),))
            settings = msgspec.structs.replace(settings, reward=reward)
        else:
            settings = with_override(settings, key, option)
    problems = TomlProblems()
    check_choices(settings, problems)
    problems.raise_errors()
    return with_defaults(settings)


def _relevant(values: dict[str, str], settings: StudySettings) -> dict[str, str]:
    """Without the options of learners and behaviour models that are not those of the row."""
    own = (values[LEARNER], values.get("policy.behaviour", settings.policy.behaviour))

    def is_foreign(key: str) -> bool:
        table, name, *rest = key.split(".")
        return (
            bool(rest) and table == "policy" and (name in LEARNERS or name in BEHAVIOURS) and name not in own
        )

    return {key: value for key, value in values.items() if not is_foreign(key)}


def _name(values: Mapping[str, str], axes: Mapping[str, Sequence[Option]]) -> str:
    """`one_step, features=grouped`: the learner, and everything else that varies."""
    return ", ".join([values[LEARNER], *_parts(values, axes)])


def _parts(values: Mapping[str, str], axes: Mapping[str, Sequence[Option]], table: str = "") -> list[str]:
    lasts = [key.rpartition(".")[2] for key in axes]
    parts = []
    for key, value in values.items():
        last = key.rpartition(".")[2]
        if key != LEARNER and len(axes[key]) > 1 and key.startswith(table):
            parts.append(f"{last if lasts.count(last) == 1 else key}={value}")
    return parts


def logged_name(settings: StudySettings, row: Combination) -> str:
    """The name of the logged policy under the reward of a row."""
    return ", ".join([LOGGED_BASELINE, *_parts(row.values, axes_of(settings), "reward.")])


def baselines(settings: StudySettings, rows: Sequence[Combination]) -> dict[str, str | None]:
    """By row, the name of the row it is compared to; None: the logged policy."""
    assert settings.grid is not None
    baseline = settings.grid.baseline
    if baseline == LOGGED_BASELINE:
        return {row.name: None for row in rows}
    axes = axes_of(settings)
    if isinstance(baseline, str):
        if baseline not in axes[LEARNER]:
            options = [LOGGED_BASELINE, *map(str, axes[LEARNER])]
            raise UsageError(
                f"there is no baseline {baseline!r}; {did_you_mean(baseline, options)}",
                expected="logged, a learner of the grid, or a table of its settings",
            )
        baseline = {LEARNER: baseline}
    for key, option in baseline.items():
        if key not in axes:
            raise UsageError(f"{key!r} does not vary; {did_you_mean(key, axes)}")
        if key.startswith("reward."):
            raise UsageError(f"{key!r}: returns of different rewards cannot be compared")
        if option not in axes[key]:
            raise UsageError(
                f"{key!r} has other values",
                expected=" or ".join(map(text_of, axes[key])),
                found=text_of(option),
            )
    names = {frozenset(row.values.items()): row.name for row in rows}
    changed = {key: text_of(option) for key, option in baseline.items()}
    chosen: dict[str, str | None] = {}
    for row in rows:
        values = _relevant({**row.values, **changed}, settings)
        name = names.get(frozenset(values.items()))
        if name is None:
            raise UsageError(
                f"the baseline of the row {row.name!r} is not one row of the grid: name all that varies",
                found=", ".join(f"{key}={value}" for key, value in values.items()),
            )
        chosen[row.name] = name
    return chosen


def check_grid(settings: StudySettings, problems: TomlProblems) -> None:
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
                _changed(settings, {key: option})
            except InputError as error:
                for problem in error.problems:
                    problems.add_key(keys, str(problem))
    if grid.estimator is not None and grid.estimator not in settings.value.estimators:
        hint = did_you_mean(grid.estimator, settings.value.estimators)
        problems.add_key("grid.estimator", f"there is no {grid.estimator!r} in [value]; {hint}")
    if problems.has_errors:
        return
    try:
        baselines(settings, combinations(settings))
    except ExtrinsicError as error:
        problems.add_key("grid.baseline", str(error))
