"""The fields of a line of an own log (docs/own_logs.md), and what is wrong with a line that has others."""

from __future__ import annotations

from typing import Any

import msgspec

from extrinsic.corpus.formats.field_checks import Checker, Missing, check_acts, is_plain
from extrinsic.corpus.formats.logs import WrittenAct
from extrinsic.errors import shown


class Heard(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A hypothesis of what the caller said."""

    acts: list[WrittenAct]
    score: float


class Labels(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What the caller wants at the turn, asks for, by which method, and truly said."""

    goal: dict[str, str]
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
    line = checker.object(value, "the line")
    if not isinstance(value, dict):
        return
    session, turn = line.get("dialog"), line.get("turn")
    checker = checker.at(
        session=session if isinstance(session, str) else None,
        turn=turn if isinstance(turn, int) and not isinstance(turn, bool) else None,
    )
    checker.only(line, FIELDS, "the line")
    if checker.member(line, "dialog", "the line") is not Missing:
        checker.text(session, "'dialog'")
    if checker.member(line, "turn", "the line") is not Missing and checker.turn is None:
        checker.report("'turn' has the wrong kind", expected="0, 1, 2, ...", found=shown(turn))
    for field, check in CHECKS.items():
        if line.get(field) is not None:
            check(checker, line[field], f"'{field}'")


def _numbers(checker: Checker, value: Any, what: str) -> None:
    for name, number in checker.object(value, what).items():
        checker.score(number, f"{name!r} of {what}")


def _texts(checker: Checker, value: Any, what: str) -> None:
    for item in checker.array(value, what):
        checker.text(item, f"an entry of {what}")


def _signs(checker: Checker, value: Any, what: str) -> None:
    for name, sign in checker.object(value, what).items():
        if isinstance(sign, float) or not is_plain(sign):
            checker.report(
                f"{name!r} of {what} has the wrong kind",
                expected="a whole number or a text",
                found=shown(sign),
            )


def _conditions(checker: Checker, value: Any, what: str) -> None:
    for name, text in checker.object(value, what).items():
        checker.text(text, f"{name!r} of {what}")


def _nbest(checker: Checker, value: Any, what: str) -> None:
    for number, hypothesis in enumerate(checker.array(value, what)):
        name = f"hypothesis {number} of {what}"
        entry = checker.object(hypothesis, name)
        checker.only(entry, Heard.__struct_fields__, name)
        acts, score = (checker.member(entry, key, name) for key in ("acts", "score"))
        if acts is not Missing:
            check_acts(checker, acts, name)
        if score is not Missing:
            checker.score(score, f"the score of {name}")


def _labels(checker: Checker, value: Any, what: str) -> None:
    labels = checker.object(value, what)
    checker.only(labels, Labels.__struct_fields__, what)
    goal = checker.member(labels, "goal", what)
    if goal is not Missing:
        for slot, label in checker.object(goal, "'goal'").items():
            checker.at(slot=slot).text(label, "the label")
    _texts(checker, labels.get("requested", []), "'requested'")
    if labels.get("method") is not None:
        checker.text(labels["method"], "'method'")
    check_acts(checker, labels.get("said", []), "'said'")


CHECKS = {
    "system": check_acts,
    "action": Checker.text,
    "nbest": _nbest,
    "state": _numbers,
    "discrete": _signs,
    "propensity": Checker.score,
    "propensities": _numbers,
    "possible": _texts,
    "reward": Checker.score,
    "labels": _labels,
    "outcome": _numbers,
    "conditions": _conditions,
    "restart": Checker.boolean,
    "end": Checker.boolean,
}
"""How each field is checked in a line that could not be decoded."""
