"""Designs of trackers: populations that fill their families' space, and errors by dose.

A design is a list of printed forms; each says all that its tracker is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import numpy as np

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.storage import content_hash
from extrinsic.trackers.families import DOSED, FAMILIES, Family, Setting
from extrinsic.trackers.forms import form_of, read_form, setting_text

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
