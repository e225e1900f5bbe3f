"""Parts of an estimate that depend on the logged decisions alone: made once, for all policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions

S = TypeVar("S")
P = TypeVar("P")


class Shared(Generic[S, P]):
    """Parts by decisions, states and settings; forgotten together with the decisions."""

    def __init__(self) -> None:
        self._made: WeakKeyDictionary[Transitions, list[tuple[States, S, P]]] = WeakKeyDictionary()

    def get(
        self,
        transitions: Transitions,
        states: States,
        settings: S,
        make: Callable[[Transitions, States, S], P],
    ) -> P:
        made = self._made.setdefault(transitions, [])
        for own_states, own_settings, part in made:
            if own_states is states and own_settings == settings:
                return part
        part = make(transitions, states, settings)
        made.append((states, settings, part))
        return part
