"""Domains: the slots of a task, the groups they form, and what the system's acts mean.

A domain is data: `bus.toml` and `restaurants.toml` come with the package, a user's own is a path.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.storage import read_bytes
from extrinsic.typed_files import Keys, TomlProblems, parse_toml

FORM = re.compile(r"(?P<act>[^()=\s]+)(\((?P<slot>[^()=\s]+)(=(?P<value>[^()]+))?\))?")


@dataclass(frozen=True)
class ActPattern:
    """An act by its name, by a slot it is about, or by a slot and its value; a final * means any ending.

    >>> parse_pattern("expl-conf(act=want-next-bus)")
    ActPattern(act='expl-conf', slot='act', value='want-next-bus')
    """

    act: str
    slot: str | None = None
    value: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the name of the act decides alone, and stands there in full."""
        return self.slot is None and not self.act.endswith("*")


@lru_cache(maxsize=1024)
def parse_pattern(text: str) -> ActPattern:
    """`act`, `act(slot)` or `act(slot=value)`; UsageError for anything else."""
    parts = FORM.fullmatch(text)
    if parts is None:
        raise UsageError(
            "not a pattern of acts", expected="act, act(slot) or act(slot=value), * as an ending", found=text
        )
    return ActPattern(parts["act"], parts["slot"], parts["value"])


def matches(pattern: str, text: str) -> bool:
    """Equal, or equal up to a final *."""
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


DIRECTORY = "directory"
"""The condition that every corpus has: the first part of a session's path, such as Mar13_S0A1."""

ENDED_BY = "ended-by"
"""The condition that says who ended a call, SYSTEM or CALLER, where a field of the log does."""
SYSTEM, CALLER = "system", "caller"

REWARD_CHOICES: dict[str, tuple[str, ...]] = {
    "when": ("terminal", "first_offer", "last_offer"),
    "absent": ("zero", "correct", "empty"),
    "concepts": ("groups", "slots"),
}
"""What a domain may choose for the reward of its task, and the values there are (policy/rewards.py)."""


class Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slot. With `parts`, its value is a set of (part, value) pairs, as DSTC1's date and time are."""

    name: str
    parts: tuple[str, ...] = ()


class PredicateRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system turn has predicate `name` if it has one of `acts`, all of `together_with`, none of `without`.

    Each is a pattern: `schedule`, `inform(addr)`, `expl-conf(act=restart)`, `canthelp.*`.
    slots: `acts` only count when they are about one of these slots.
    """

    name: str
    acts: tuple[str, ...]
    slots: tuple[str, ...] = ()
    together_with: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class UserActs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller's acts mean.

    inform, deny: of the values they name.   affirm: a yes to what was just confirmed explicitly.
    negate: a no to what was asked; where nothing was, to what was confirmed implicitly.
    undo: denies whatever was just confirmed, explicitly or implicitly, even beside another question.
    request: asks for the slots it names.   alternatives: asks for another offer.   finish: says bye.
    """

    inform: tuple[str, ...] = ("inform",)
    deny: tuple[str, ...] = ("deny",)
    affirm: tuple[str, ...] = ("affirm",)
    negate: tuple[str, ...] = ("negate",)
    undo: tuple[str, ...] = ()
    request: tuple[str, ...] = ("request",)
    alternatives: tuple[str, ...] = ("reqalts",)
    finish: tuple[str, ...] = ("bye",)


class EndedBy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who ended a call, from a field of its log.

    key: where the field is, e.g. `ended-by`, or `turns.-1.system-specific.events` for one of the last turn.
    system: the system ended the call when the field is, or contains, one of these.
    """

    key: str
    system: tuple[str, ...]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A property of a call that is known in advance: which system answered it, over which line.

    `key` is its key in the log of a session. `in_state`: whether a policy's state must contain it; a corpus
    that several systems made is confounded unless the state distinguishes them.
    """

    name: str
    key: str
    in_state: bool = False


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A task.

    slots:      everything a tracker tracks.
    groups:     the concepts a caller has in mind, each one slot or several that stand in for each other.
    required:   the groups without which the system can do nothing.
    required_unless: further groups that it needs, each unless the caller said yes to a yes/no question.
    predicates: rules, in order of precedence, that map a system turn to the action a policy chooses.
    greeting:   predicates that are not decisions. offer: that present a result.
    yes_no:     that ask a yes/no question.        end: that end the call.
    user:       what the caller's acts mean.       ended_by: who ended a call; without it, `end` decides.
    excluded:   patterns of system acts whose dialogs a study leaves out by default.
    exclude_restarts: whether dialogs that the log flags as begun anew are left out as well.
    state:      feature blocks that a policy's state needs beyond the beliefs (see policy/features).
    reward:     which of the reward's choices fit the task (`when`, `absent`: see policy/rewards.py).
    requestable: what a caller may ask for, in live play (a corpus of DSTC2 has its own list).
    """

    name: str
    description: str
    slots: tuple[Slot, ...]
    groups: dict[str, tuple[str, ...]]
    required: tuple[str, ...]
    predicates: tuple[PredicateRule, ...]
    offer: tuple[str, ...]
    yes_no: tuple[str, ...]
    end: tuple[str, ...]
    greeting: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exclude_restarts: bool = False
    required_unless: dict[str, str] = {}
    user: UserActs = UserActs()
    ended_by: EndedBy | None = None
    conditions: tuple[Condition, ...] = ()
    state: tuple[str, ...] = ()
    reward: dict[str, str] = {}
    requestable: tuple[str, ...] = ()

    @cached_property
    def slot_names(self) -> tuple[str, ...]:
        return tuple(slot.name for slot in self.slots)

    @property
    def log_format(self) -> str:
        """How calls of live play are written and labelled: where something can be requested as DSTC2's, with
        goals, requests and method at every turn; else as DSTC1's, by whether a value heard is wanted."""
        return "dstc2" if self.requestable else "dstc1"

    @cached_property
    def slot_of_part(self) -> dict[str, str]:
        """The slot that a name in an act or a hypothesis belongs to: itself, or the one it is a part of."""
        return {part: slot.name for slot in self.slots for part in (slot.parts or (slot.name,))}

    def group_columns(self, slots: Sequence[str]) -> list[list[int]]:
        """The columns of each group's slots among the slots of a corpus."""
        return [[slots.index(slot) for slot in group] for group in self.groups.values()]

    @cached_property
    def yes_no_acts(self) -> tuple[str, ...]:
        """Patterns of the system's acts that ask a yes/no question."""
        asked = (rule.acts for rule in self.predicates if rule.name in self.yes_no)
        return tuple(dict.fromkeys(act for acts in asked for act in acts))

    @cached_property
    def compound_slots(self) -> frozenset[str]:
        return frozenset(slot.name for slot in self.slots if slot.parts)

    @cached_property
    def predicate_names(self) -> tuple[str, ...]:
        """The actions, each once, in order of first mention."""
        return tuple(dict.fromkeys(rule.name for rule in self.predicates))


FOLDER = Path(__file__).parent / "domains"


def built_in_domains() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_domain(name_or_path: str) -> Domain:
    """A built-in domain by its name, or a user's own by the path of its TOML file."""
    if name_or_path in built_in_domains():
        path = FOLDER / f"{name_or_path}.toml"
    elif name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
    else:
        raise UsageError(
            f"there is no domain {name_or_path!r}; {did_you_mean(name_or_path, built_in_domains())} "
            "(a domain of your own is the path of its .toml file)"
        )
    data = read_bytes(path)
    domain = parse_toml(data, Domain, str(path))
    problems = TomlProblems(str(path), data.decode("utf-8"))
    _check_references(domain, problems)
    problems.raise_errors()
    return domain


def _check_references(domain: Domain, problems: TomlProblems) -> None:
    """Every name that refers to another part of the domain must exist, and every name must be unique."""

    def unique(names: Sequence[str], key: str, what: str) -> None:
        for name, count in Counter(names).items():
            if count > 1:
                problems.add_key((key,), f"the {what} {name!r} occurs {count} times")

    def known(names: Iterable[str], defined: Iterable[str], keys: Keys, what: str) -> None:
        options = list(defined)
        for name in names:
            if name not in options:
                problems.add_key(keys, f"there is no {what} {name!r}; {did_you_mean(name, options)}")

    def patterns(texts: Iterable[str], keys: Keys) -> None:
        for text in texts:
            try:
                parse_pattern(text)
            except UsageError as error:
                problems.add_key(keys, str(error))

    unique([slot.name for slot in domain.slots], "slots", "slot")
    unique([part for slot in domain.slots for part in (slot.parts or (slot.name,))], "slots", "slot or part")
    unique([slot for group in domain.groups.values() for slot in group], "groups", "slot")
    unique([DIRECTORY, *(condition.name for condition in domain.conditions)], "conditions", "condition")
    for group, slots in domain.groups.items():
        known(slots, domain.slot_names, ("groups", group), "slot")
        if not slots:
            problems.add_key(("groups", group), "a group needs at least one slot")
    known(domain.required, domain.groups, ("required",), "group")
    known(domain.reward, REWARD_CHOICES, ("reward",), "option")
    for option, value in domain.reward.items():
        known((value,), REWARD_CHOICES.get(option, (value,)), ("reward", option), "value")
    for role in ("greeting", "offer", "yes_no", "end"):
        known(getattr(domain, role), domain.predicate_names, (role,), "predicate")
    known(domain.required_unless, domain.groups, ("required_unless",), "group")
    for group, question in domain.required_unless.items():
        known((question,), domain.yes_no, ("required_unless", group), "yes/no question")
        if group in domain.required:
            problems.add_key(("required_unless", group), "the group is required in any case")
    patterns(domain.excluded, ("excluded",))
    for position, rule in enumerate(domain.predicates):
        if not rule.acts:
            problems.add_key(("predicates", position, "acts"), "a predicate needs at least one act")
        for key in ("acts", "together_with", "without"):
            patterns(getattr(rule, key), ("predicates", position, key))
