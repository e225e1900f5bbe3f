"""Inform and success of MultiWOZ dialogs: states x responses x goals x database.

The rules are those of MultiWOZ_Evaluation (Nekvinda and Dusek 2021). A response that mentions a name (of a
train: its id) offers what the database has for the state of that turn; the last offer of a domain counts,
unless the new one includes it. A dialog is *informed* if in every domain of the goal all venues on offer
satisfy the goal; where the goal names the venue, and for taxis, nothing needs to be offered. It is a
*success* if it is informed and every domain was told all that the goal asks for; a reference counts only
where the log has a booking.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.corpus.formats.state_files import State
from extrinsic.corpus.normalisation import slot_name
from extrinsic.errors import Problems, did_you_mean
from extrinsic.outcomes.responses import NAME, REFERENCE, TRAIN, Response, read_dialogs
from extrinsic.outcomes.venues import Venues, read_venues
from extrinsic.storage import content_hash, read_bytes

OFFERING = {"restaurant": NAME, "hotel": NAME, "attraction": NAME, "train": TRAIN}
"""What a response that offers a venue of the domain mentions."""
WITHOUT_DATABASE = frozenset({"taxi", "police", "hospital"})
REQUESTS = ("phone", "address", "postcode", TRAIN)
"""What a goal asks for and a placeholder can tell; other requests (a fee, a duration) do not count."""

GOAL_VALUES = {"concert hall": "concerthall"}
"""A value that goals spell otherwise than the database; in states the standard evaluator keeps it."""


@dataclass(frozen=True)
class DomainGoal:
    """What the user wants of a domain.

    venues: the set of venues that will do; None: nothing has to be offered.   wanted: what must be told.
    may_be_silent: nothing on offer is right as well (a train whose id was not asked for).
    """

    venues: int | None
    wanted: frozenset[str]
    may_be_silent: bool = False

    def informed(self, offered: int) -> bool:
        """Whether what was offered last will do."""
        if self.venues is None or (self.may_be_silent and not offered):
            return True
        return bool(offered) and not offered & ~self.venues


@dataclass(frozen=True)
class DialogOutcome:
    """What a dialog reached, by domain of its goal."""

    informed: Mapping[str, bool]
    told: Mapping[str, bool]

    @property
    def inform(self) -> bool:
        return all(self.informed.values())

    @property
    def success(self) -> bool:
        return self.inform and all(self.told.values())


@dataclass(frozen=True)
class Task:
    """Goals, bookings and the database: all that systems have in common.

    booked: of every dialog and turn, the domains that were booked by then.
    """

    goals: Mapping[str, Mapping[str, DomainGoal]]
    booked: Mapping[str, Sequence[frozenset[str]]]
    venues: Venues
    signature: str

    def offers(self, dialog: str, states: Sequence[State]) -> list[dict[str, int]]:
        """Of every turn and domain of the goal, the venues that the database has for the state."""
        domains = [domain for domain in self.goals[dialog] if domain in OFFERING]
        return [
            {domain: self.venues.query(domain, state[domain]) for domain in domains if domain in state}
            for state in states
        ]

    def outcome(
        self,
        dialog: str,
        offers: Sequence[Mapping[str, int]],
        responses: Sequence[Response],
        active: Sequence[Iterable[str]],
    ) -> DialogOutcome:
        """The outcome of one dialog; active: of every turn the domains that its response is about."""
        goal, booked = self.goals[dialog], self.booked[dialog]
        offered = dict.fromkeys(goal, 0)
        told: dict[str, frozenset[str]] = dict.fromkeys(goal, frozenset())
        for number, response in enumerate(responses):
            mentions = response.mentions
            if not mentions:
                continue
            for domain in active[number]:
                if domain not in goal:
                    continue
                if OFFERING.get(domain) in mentions:
                    venues = offers[number].get(domain, 0)
                    # An offer that includes the last one repeats it; any other takes its place.
                    if not offered[domain] or offered[domain] & ~venues:
                        offered[domain] = venues
                told[domain] |= mentions if domain in booked[number] else mentions - {REFERENCE}
        return DialogOutcome(
            {domain: wish.informed(offered[domain]) for domain, wish in goal.items()},
            {domain: wish.wanted <= told[domain] for domain, wish in goal.items()},
        )


def active_domains(responses: Sequence[Response]) -> list[frozenset[str]]:
    """Of every turn the domains that its response is about: as the file gives them, else as it names them."""
    return [
        response.named_domains if response.active_domains is None else response.active_domains
        for response in responses
    ]


def changed_domains(states: Sequence[State]) -> list[tuple[str, ...]]:
    """Of every turn the domain whose slots or values changed last; none before the first change.

    Of several that change the current one stays, else that with most slots comes (of equals the first in the
    state). If nothing changes after a turn in which several did, another of those comes.
    """
    current: str | None = None
    before: State = {}
    changed_before: list[str] = []
    domains: list[tuple[str, ...]] = []
    for state in states:
        changed = [name for name, slots in state.items() if slots.items() - before.get(name, {}).items()]
        if not changed and current is None:
            domains.append(())
            continue
        if not changed:
            others = [name for name in changed_before if name in state and name != current]
            if len(changed_before) > 1 and others:
                current = others[0]
        elif current not in changed:
            current = max(changed, key=lambda name: len(state[name]))
        before, changed_before = state, changed
        domains.append((current,) if current is not None else ())
    return domains


class Wish(msgspec.Struct, frozen=True):
    """The goal of a dialog in one domain, as it is written."""

    constraints: dict[str, str] = {}
    requests: list[Any] = []
    book: Any = None

    def goal(self, domain: str, venues: Venues) -> DomainGoal:
        wanted = {what for what in self.requests if what in REQUESTS} | ({REFERENCE} if self.book else set())
        if "name" in self.constraints or domain in WITHOUT_DATABASE:
            return DomainGoal(None, frozenset(wanted))
        named = {slot_name(slot): GOAL_VALUES.get(cell, cell) for slot, cell in self.constraints.items()}
        silent = domain == "train" and TRAIN not in wanted
        return DomainGoal(venues.query(domain, named), frozenset(wanted), silent)


class DialogWishes(msgspec.Struct, frozen=True):
    """A dialog of a file with goals; all else in it does not matter here."""

    goal: dict[str, Wish]


def read_task(goals: str | Path, booked: str | Path, database: str | Path) -> Task:
    """Goals from a file of dialogs, bookings, and the folder of the database; every problem at once."""
    problems = Problems()
    venues = read_venues(database)
    goal_data, booked_data = read_bytes(goals), read_bytes(booked)
    wishes: dict[str, DialogWishes] = read_dialogs(goal_data, str(goals), DialogWishes, problems)
    turns: dict[str, list[frozenset[str]]] = read_dialogs(
        booked_data, str(booked), list[frozenset[str]], problems
    )
    domains = venues.domains | WITHOUT_DATABASE
    for dialog, written in wishes.items():
        for domain in written.goal:
            if domain not in domains:
                message = f"the goal has a domain {domain!r} without a database"
                suggestion = did_you_mean(domain, domains)
                problems.add(f"{message}; {suggestion}", path=str(goals), session=dialog)
        if dialog not in turns:
            problems.add("the bookings lack a dialog that has a goal", path=str(booked), session=dialog)
    problems.raise_errors()
    signature = content_hash("multiwoz", goal_data, booked_data, venues.signature)
    of_dialogs = {
        dialog: {domain: wish.goal(domain, venues) for domain, wish in written.goal.items()}
        for dialog, written in wishes.items()
    }
    return Task(of_dialogs, turns, venues, signature)
