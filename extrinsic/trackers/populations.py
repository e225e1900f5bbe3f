"""Trackers with parameters, and populations of them that fill their families' space.

The printed form of a tracker is its identity: `focus(discount=0.62)`, `mixture(hwu, focus, weight=0.3)`,
`recalibrated(hwu, temperature=0.5)`. What is typed is what is made; a population is a list of such forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, islice, product
from math import prod
from operator import is_
from typing import Any

import numpy as np

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.printed_forms import Option, options_of, printed_form, read_options, split_form
from extrinsic.registry import TRACKERS
from extrinsic.storage import content_hash
from extrinsic.trackers import learned, rules
from extrinsic.trackers.combinations import Delayed, Mixture, Recalibrated, Tuned, composed
from extrinsic.trackers.protocol import AnyTracker


@dataclass(frozen=True)
class Family:
    """Trackers of a class that differ in its options.

    n_parts: how many trackers one is made of; drawn_parts: those that a population draws.
    is_tunable: a rule, which may also be Tuned.
    """

    name: str
    kind: type[Any]
    summary: str
    n_parts: int = 0
    drawn_parts: tuple[str, ...] = ()
    is_tunable: bool = False
    in_populations: bool = True

    @cached_property
    def options(self) -> dict[str, Option]:
        return options_of(self.kind) | (TUNING if self.is_tunable else {})

    def make(self, parts: Sequence[AnyTracker], settings: dict[str, Any]) -> AnyTracker:
        kind: Any = self.kind
        if self.n_parts:
            return composed(partial(kind, **settings), *parts)
        tuning = {name: value for name, value in settings.items() if self.is_tunable and name in TUNING}
        own = {name: value for name, value in settings.items() if name not in tuning}
        tracker: AnyTracker = kind(**own)
        return Tuned(kind(**own), **tuning) if tuning else tracker

    @property
    def parts_of_members(self) -> list[tuple[str, ...]]:
        """In order of name: a mixture of A and B is also one of B and A."""
        return list(combinations(sorted(self.drawn_parts), self.n_parts))

    @property
    def size(self) -> int:
        """How many distinct members a population can draw."""
        return len(self.parts_of_members) * prod(len(part.drawn) for part in self.options.values())


TUNING = options_of(Tuned)

RULES: dict[str, tuple[type[Any], str]] = {
    "focus": (rules.Focus, "what is heard replaces the old belief"),
    "hwu": (rules.HeriotWatt, "evidence for and against each value"),
    "yarbus": (rules.Yarbus, "rules for each hypothesis"),
    "dempster_shafer": (rules.DempsterShafer, "Dempster's rule"),
    "accumulate": (rules.Accumulate, "scores summed over turns"),
    "window": (rules.Window, "scores summed over the last few turns"),
    "noisy_or": (rules.NoisyOr, "right unless misheard every time"),
    "vote": (rules.Vote, "one vote for every best hypothesis"),
    "rank_only": (rules.RankOnly, "focus on ranks"),
    "top_hypothesis": (rules.TopHypothesis, "focus on the best hypothesis"),
    "confirm_aware": (rules.ConfirmAware, "high scores only once confirmed"),
    "confident_only": (rules.ConfidentOnly, "the last value heard with a high score"),
    "last_mention": (rules.LastMention, "the value heard last"),
    "baseline": (rules.Baseline, "the most confident value so far"),
}

DRAWN_PARTS = (*RULES, "bayes_none", "bayes_low", "bayes_high", "hwu_original")

FAMILIES = {
    family.name: family
    for family in (
        *(Family(name, kind, summary, is_tunable=True) for name, (kind, summary) in RULES.items()),
        Family("bayes", rules.Bayes, "Bayes' rule for a goal that may change"),
        Family("logistic", learned.Logistic, "learned: logistic regression"),
        Family("random_forest", learned.RandomForest, "learned: a random forest"),
        Family("gradient_boosting", learned.GradientBoosting, "learned: gradient-boosted trees"),
        Family("mixture", Mixture, "two trackers' beliefs, averaged", 2, DRAWN_PARTS),
        Family("delayed", Delayed, "a tracker whose beliefs arrive late", 1, DRAWN_PARTS),
        Family(
            "recalibrated",
            Recalibrated,
            "a tracker with the same beliefs in the same order, surer or less sure of them",
            n_parts=1,
            in_populations=False,
        ),
    )
}
"""In the order in which a population draws from them."""


@dataclass(frozen=True)
class Form:
    """A tracker's name, the trackers it is made of, and the settings that differ from the defaults."""

    name: str
    parts: tuple[Form, ...]
    settings: dict[str, Any]

    def __str__(self) -> str:
        text = printed_form(self.name, self.parts, self.settings)
        return text if "(" in text or text in TRACKERS.names() else f"{text}()"

    def registered(self) -> list[str]:
        """The names of the registry that it is made of: a notebook may register one of them anew."""
        own = [str(self)] if str(self) in TRACKERS.names() else []
        return [*own, *(name for part in self.parts for name in part.registered())]

    def make(self) -> AnyTracker:
        if str(self) in TRACKERS.names():
            tracker: AnyTracker = TRACKERS.get(str(self))
            return tracker
        tracker = FAMILIES[self.name].make([part.make() for part in self.parts], self.settings)
        if self.name == "recalibrated":
            tracker.recalibrated_from = str(self.parts[0])
        return tracker


def read_form(text: str) -> Form:
    """The form that a text names, in its canonical order; UsageError for one that there is not."""
    pieces = split_form(text)
    if pieces is None:
        raise UsageError(
            f"{text!r} is not a tracker", expected="a name, name(parameter=value), mixture(A, B, weight=...)"
        )
    name, parts, named = pieces
    if not parts and not named and name in TRACKERS.names():
        return Form(name, (), {})
    if name not in FAMILIES:
        if name in TRACKERS.names():
            raise UsageError(f"the tracker {name!r} takes no parameters", found=text)
        raise UsageError(
            f"there is no tracker {name!r}; {did_you_mean(name, [*TRACKERS.names(), *FAMILIES])}"
        )
    family = FAMILIES[name]
    if len(parts) != family.n_parts:
        count = ("no other tracker", "one tracker", "two trackers")[family.n_parts]
        raise UsageError(f"{name} is made of {count}", found=", ".join(parts) or "none")
    return Form(name, tuple(map(read_form, parts)), read_options(name, named, family.options))


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

    axes = [family.parts_of_members, *(part.drawn for part in family.options.values())]
    rng = np.random.default_rng(int(content_hash("population", family.name, str(seed))[:16], 16))
    sequence = qmc.Sobol(len(axes), scramble=True, rng=rng)
    sizes = np.array([len(axis) for axis in axes])
    seen: set[tuple[int, ...]] = set()
    while len(seen) < family.size:
        places = map(tuple, (sequence.random(BLOCK) * sizes).astype(np.int64).tolist())
        new = [place for place in dict.fromkeys(places) if place not in seen]
        # Where few are left they come in order.
        for place in new or product(*(range(size) for size in sizes)):
            if place not in seen:
                seen.add(place)
                yield _name(family, place)


def _name(family: Family, place: tuple[int, ...]) -> str:
    """The printed form of the member at a place of the family's space."""
    parts = tuple(read_form(name) for name in family.parts_of_members[place[0]])
    settings = {
        name: part.drawn[position]
        for (name, part), position in zip(family.options.items(), place[1:], strict=True)
        if part.drawn[position] != part.default
    }
    return str(Form(family.name, parts, settings))
