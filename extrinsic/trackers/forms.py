"""The printed form of a tracker with parameters is its identity: `focus(discount=0.62)`,
`mixture(hwu, focus, weight=0.3)`, `dosed(hwu, wrong=0.1)`. What is typed is what is made.

Designs are lists of printed forms: populations that fill their families' space, and errors by dose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from operator import is_

import numpy as np

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.printed_forms import number_text, split_form
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash
from extrinsic.trackers.families import DOSED, FAMILIES, Family, Setting
from extrinsic.trackers.protocol import AnyTracker


@dataclass(frozen=True)
class Form:
    """A tracker's name, the trackers it is made of, and the settings that differ from the defaults."""

    name: str
    parts: tuple[Form, ...] = ()
    settings: tuple[tuple[str, Setting], ...] = ()

    def __str__(self) -> str:
        inside = [*map(str, self.parts), *(f"{key}={setting_text(value)}" for key, value in self.settings)]
        return (
            f"{self.name}({', '.join(inside)})" if inside or self.name not in TRACKERS.names() else self.name
        )

    def registered(self) -> list[str]:
        """The names of the registry that it is made of: a notebook may register one of them anew."""
        own = [str(self)] if str(self) in TRACKERS.names() else []
        return [*own, *(name for part in self.parts for name in part.registered())]

    def make(self) -> AnyTracker:
        if str(self) in TRACKERS.names():
            tracker: AnyTracker = TRACKERS.get(str(self))
            return tracker
        family, settings = FAMILIES[self.name], dict(self.settings)
        tracker = family.make([part.make() for part in self.parts], settings)
        if set(settings) <= set(family.recalibrating) and self.parts:
            tracker.recalibrated_from = str(self.parts[0])
        return tracker


def setting_text(value: Setting) -> str:
    return value if isinstance(value, str) else number_text(value)


def form_of(family: Family, parts: Sequence[Form], settings: Sequence[Setting]) -> Form:
    """The form with these settings of all its parameters."""
    differ = [
        (parameter.name, value)
        for parameter, value in zip(family.all_parameters, settings, strict=True)
        if value != parameter.default
    ]
    return Form(family.name, tuple(parts), tuple(differ))


def read_form(text: str) -> Form:
    """The form that a text names, in its canonical order; UsageError for one that there is not."""
    pieces = split_form(text)
    if pieces is None:
        raise UsageError(
            f"{text!r} is not a tracker", expected="a name, name(parameter=value), mixture(A, B, weight=...)"
        )
    name, parts, named = pieces
    if not parts and not named and name in TRACKERS.names():
        return Form(name)
    if name not in FAMILIES:
        if name in TRACKERS.names():
            raise UsageError(f"the tracker {name!r} takes no parameters", found=text)
        raise UsageError(
            f"there is no tracker {name!r}; {did_you_mean(name, [*TRACKERS.names(), *FAMILIES])}"
        )
    family = FAMILIES[name]
    if len(parts) != family.n_parts:
        raise UsageError(f"{name} is made of {_count(family.n_parts)}", found=", ".join(parts) or "none")
    return Form(name, tuple(_part(name, part) for part in parts), _settings(family, named))


def _part(name: str, text: str) -> Form:
    part = read_form(text)
    if part.name == "dosed":
        raise UsageError(
            f"{name} cannot be made of {part}: errors are placed last", expected=f"dosed({name}(...), ...)"
        )
    return part


def _settings(family: Family, named: Sequence[tuple[str, str]]) -> tuple[tuple[str, Setting], ...]:
    parameters = {parameter.name: parameter for parameter in family.all_parameters}
    given: dict[str, Setting] = {}
    for key, value in named:
        if key not in parameters:
            raise UsageError(f"{family.name} has no parameter {key!r}; {did_you_mean(key, parameters)}")
        if key in given:
            raise UsageError(f"the parameter {key!r} of {family.name} occurs twice")
        given[key] = parameters[key].read(family.name, value)
    for key, parameter in parameters.items():
        if parameter.default is None and key not in given:
            raise UsageError(
                f"{family.name} needs a value for {key!r}: {parameter.what}", expected=parameter.expected
            )
    return tuple(
        (key, given[key])
        for key, parameter in parameters.items()
        if key in given and given[key] != parameter.default
    )


def _count(number: int) -> str:
    return {0: "no other tracker", 1: "one tracker", 2: "two trackers"}[number]


def canonical_name(text: str) -> str:
    """The name of a tracker as it is printed, whatever way it was typed."""
    return str(read_form(text)) if "(" in text else text


_MADE: dict[str, tuple[list[AnyTracker], AnyTracker]] = {}
"""By printed form: the registered trackers that it is made of, and the tracker."""


def tracker_of_form(text: str) -> AnyTracker:
    """The tracker that a printed form names; the same object every time, as of a registered name."""
    form = read_form(text)
    registered = [TRACKERS.get(name) for name in form.registered()]
    parts, tracker = _MADE.get(str(form), ([], None))
    if tracker is not None and all(map(is_, parts, registered)):
        return tracker
    tracker = form.make()
    _MADE[str(form)] = registered, tracker
    return tracker


BLOCK = 64
"""How many points of a sequence are drawn at a time."""


def population(size: int, seed: int = 0, families: Sequence[str] = ()) -> list[str]:
    """The first members of a population, all different; of more, the same ones come first."""
    chosen = families_of(families)
    space = sum(family.size for family in chosen)
    if size > space:
        names = ", ".join(family.name for family in chosen)
        raise UsageError(
            f"a population of {size:,} is larger than its space: {names} "
            f"{'have' if len(chosen) > 1 else 'has'} {space:,} distinct members",
            expected=f"at most {space:,}",
            found=f"{size:,}",
        )
    return list(islice(members(seed, families), size))


def families_of(names: Sequence[str]) -> list[Family]:
    """The families of a population; none named: all."""
    possible = {name: family for name, family in FAMILIES.items() if family.in_populations}
    for name in names:
        if name not in possible:
            raise UsageError(f"there is no family of trackers {name!r}; {did_you_mean(name, possible)}")
    return [possible[name] for name in dict.fromkeys(names)] if names else list(possible.values())


def members(seed: int, families: Sequence[str] = ()) -> Iterator[str]:
    """The members of a population one after the other: one of each family, then another of each, ..."""
    waiting = [_members_of(family, seed) for family in families_of(families)]
    while waiting:
        going_on = []
        for members_of_family in waiting:
            name = next(members_of_family, None)
            if name is not None:
                going_on.append(members_of_family)
                yield name
        waiting = going_on


def _members_of(family: Family, seed: int) -> Iterator[str]:
    """The members of a family in the order of a scrambled Sobol sequence, which fills its space evenly."""
    from scipy.stats import qmc

    parts = family.drawn_parts_in_order
    axes: list[Sequence[object]] = [parts, *(parameter.drawn for parameter in family.all_parameters)]
    rng = np.random.default_rng(int(content_hash("population", family.name, str(seed))[:16], 16))
    sequence = qmc.Sobol(len(axes), scramble=True, rng=rng)
    sizes = np.array([len(axis) for axis in axes])
    seen: set[tuple[int, ...]] = set()
    while len(seen) < family.size:
        before = len(seen)
        for place in map(tuple, (sequence.random(BLOCK) * sizes).astype(np.int64).tolist()):
            if place not in seen:
                seen.add(place)
                yield _name(family, place)
        if len(seen) == before:  # few are left: they come in order
            for place in product(*(range(size) for size in sizes)):
                if place not in seen:
                    seen.add(place)
                    yield _name(family, place)


def _name(family: Family, place: tuple[int, ...]) -> str:
    parts = [read_form(name) for name in family.drawn_parts_in_order[place[0]]]
    settings = [
        parameter.drawn[position]
        for parameter, position in zip(family.all_parameters, place[1:], strict=True)
    ]
    return str(form_of(family, parts, settings))


def dosed(
    trackers: Sequence[str],
    doses: Mapping[str, Sequence[float]],
    where: Sequence[Mapping[str, Setting]] = (),
    factorial: bool = False,
) -> list[str]:
    """Trackers as they are, and with errors: one kind at a time by each of its doses, or all combinations.

    where: the settings of places (`slot`, `turns`, `clustered`); each dose is placed in each of them.
    """
    kinds = {parameter.name: parameter for parameter in DOSED.parameters}
    for name in doses:
        if name not in kinds:
            raise UsageError(f"there is no dose of {name!r}; {did_you_mean(name, kinds)}")
    if factorial:
        levels = [[None, *((kind, dose) for dose in kind_doses)] for kind, kind_doses in doses.items()]
        combined = [[level for level in chosen if level is not None] for chosen in product(*levels)]
    else:
        combined = [[], *([(kind, dose)] for kind, kind_doses in doses.items() for dose in kind_doses)]
    names = []
    for tracker, settings, place in product(trackers, combined, where or [{}]):
        inside = [f"{key}={setting_text(value)}" for key, value in (*settings, *place.items())]
        names.append(
            str(read_form(f"dosed({', '.join([tracker, *inside])})")) if settings else str(read_form(tracker))
        )
    return list(dict.fromkeys(names))
