"""The types that describe a domain: slots, groups, predicates, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

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
"""What a domain may choose for the reward of its task, and the values there are (policy/reward.py)."""


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
    reward:     which of the reward's choices fit the task (`when`, `absent`: see policy/reward.py).
    requestable: what a caller may ask for, in live play (a corpus of DSTC2 has its own list).
    offered_as: what stands before the name of a slot in the acts of an offer, e.g. `result.`.
    refusal:    patterns of system acts that say that nothing was found.
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
    offered_as: str = ""
    refusal: tuple[str, ...] = ()

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
    def ever_required(self) -> tuple[str, ...]:
        """The groups that the system needs, or may need."""
        return (*self.required, *self.required_unless)

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
