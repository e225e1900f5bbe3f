"""The types that describe a domain: slots, groups, predicates, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

DIRECTORY = "directory"
"""The condition that every corpus has: the first part of a session's path, such as Mar13_S0A1."""


class Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slot. With `parts`, its value is a set of (part, value) pairs, as DSTC1's date and time are."""

    name: str
    parts: tuple[str, ...] = ()


class PredicateRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system turn has predicate `name` when it contains one of `acts` (about one of `slots`, if given)."""

    name: str
    acts: tuple[str, ...]
    slots: tuple[str, ...] = ()


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
    groups:     the concepts a caller has in mind, each one slot or several alternative slots.
    required:   the groups that the system needs before it can act.
    predicates: rules, in order of precedence, that map a system turn to the action a policy chooses.
    greeting:   predicates that are not decisions. offer: that present a result.
    yes_no:     that ask a yes/no question.        end: that end the call.
    excluded:   raw acts whose dialogs a study leaves out by default.
    state:      feature blocks that a policy's state needs beyond the beliefs (see policy/features).
    reward:     which of the reward's choices fit the task (`when`, `absent`: see policy/reward.py).
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
    conditions: tuple[Condition, ...] = ()
    state: tuple[str, ...] = ()
    reward: dict[str, str] = {}

    @cached_property
    def slot_names(self) -> tuple[str, ...]:
        return tuple(slot.name for slot in self.slots)

    @cached_property
    def slot_of_part(self) -> dict[str, str]:
        """The slot that a name in an act or a hypothesis belongs to: itself, or the one it is a part of."""
        return {part: slot.name for slot in self.slots for part in (slot.parts or (slot.name,))}

    def group_columns(self, slots: Sequence[str]) -> list[list[int]]:
        """The columns of each group's slots among the slots of a corpus."""
        return [[slots.index(slot) for slot in group] for group in self.groups.values()]

    @cached_property
    def compound_slots(self) -> frozenset[str]:
        return frozenset(slot.name for slot in self.slots if slot.parts)

    @cached_property
    def predicate_names(self) -> tuple[str, ...]:
        """The actions, each once, in order of first mention."""
        return tuple(dict.fromkeys(rule.name for rule in self.predicates))
