"""The fields of a line of an own log (docs/own_logs.md), and what is wrong with a line that has others."""

from typing import Annotated, Any

import msgspec

from extrinsic.corpus.formats.field_checks import BY_SLOT, Checker, check_type
from extrinsic.corpus.formats.logs import WrittenAct


class Heard(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A hypothesis of what the caller said."""

    acts: list[WrittenAct]
    score: float


class Labels(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What the caller wants at the turn, asks for, by which method, and truly said."""

    goal: Annotated[dict[str, str], BY_SLOT]
    requested: list[str] = []
    method: str | None = None
    said: list[WrittenAct] = []


class LogLine(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A turn; what is missing or null was not logged. docs/own_logs.md has an example of every field."""

    dialog: str
    turn: int
    system: list[WrittenAct] | None = None
    action: str | None = None
    nbest: list[Heard] | None = None
    state: dict[str, float] | None = None
    discrete: dict[str, int | str] | None = None
    propensity: float | None = None
    propensities: dict[str, float] | None = None
    possible: list[str] | None = None
    reward: float | None = None
    labels: Labels | None = None
    outcome: dict[str, float] | None = None
    conditions: dict[str, str] | None = None
    restart: bool = False
    end: bool | None = None


FIELDS = LogLine.__struct_fields__


def check_line(checker: Checker, value: Any) -> None:
    """Report what is wrong with the fields of a line."""
    line = value if isinstance(value, dict) else {}
    session, turn = line.get("dialog"), line.get("turn")
    place = checker.at(
        session=session if isinstance(session, str) else None,
        turn=turn if isinstance(turn, int) and not isinstance(turn, bool) else None,
    )
    check_type(place, value, LogLine, "the line")
