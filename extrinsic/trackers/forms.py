"""The printed form of a tracker with parameters is its identity: `focus(discount=0.62)`,
`mixture(hwu, focus, weight=0.3)`, `dosed(hwu, wrong=0.1)`. What is typed is what is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.printed_forms import number_text, split_form
from extrinsic.registry import TRACKERS
from extrinsic.trackers.families import FAMILIES, Family, Setting
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
