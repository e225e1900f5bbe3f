"""Patterns of dialog acts, as a domain file writes them: `schedule`, `inform(addr)`, `canthelp.*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from extrinsic.errors import UsageError

FORM = re.compile(r"(?P<act>[^()=\s]+)(\((?P<slot>[^()=\s]+)(=(?P<value>[^()]+))?\))?")


@dataclass(frozen=True)
class ActPattern:
    """An act by its name, by a slot it is about, or by a slot and its value; a final * means any ending.

    >>> parse_pattern("expl-conf(act=want-next-bus)")
    ActPattern(act='expl-conf', slot='act', value='want-next-bus')
    >>> parse_pattern("canthelp.*").matches_act("canthelp.no_connection")
    True
    """

    act: str
    slot: str | None = None
    value: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the name of the act decides alone, and stands there in full."""
        return self.slot is None and not self.act.endswith("*")

    def matches_act(self, name: str) -> bool:
        return matches(self.act, name)


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
