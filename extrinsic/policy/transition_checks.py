"""Checks of logged decisions given as arrays: every problem at once, with dialog and turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import Problems, did_you_mean

SHOWN = 20
"""How many decisions with the same problem are listed; the first of them says how many there are."""

SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class DecisionColumns:
    """Columns of n decisions, as somebody gives them; None where nothing was logged.

    continuous (n, d).   action (n,): indices of `actions`.   reward (n,).   dialog (n,): ids.   turn (n,).
    propensities (n, n_actions): NaN where not logged.   possible (n, n_actions).
    ends (n,): whether the dialog ends after the decision.
    """

    continuous: Floats
    names: tuple[str, ...]
    action: Ints
    actions: tuple[str, ...]
    reward: Floats
    dialog: npt.NDArray[np.str_]
    turn: Ints
    propensities: Floats | None
    possible: Bools | None
    ends: Bools | None

    @staticmethod
    def of(
        continuous: npt.ArrayLike,
        names: Sequence[str] | None,
        action: npt.ArrayLike,
        actions: Sequence[str],
        problems: Problems,
        **given: npt.ArrayLike | None,
    ) -> DecisionColumns:
        """Arrays of the right types and shapes, or InputError; given: the other columns by name."""
        numbers = np.asarray(continuous, dtype=np.float64)
        taken = action_numbers(action, actions, problems)
        kinds = {"reward": float, "dialog": str, "turn": int, "propensities": float}
        columns: dict[str, Any] = {
            name: None if column is None else np.asarray(column).astype(kinds.get(name, bool))
            for name, column in given.items()
        }
        _check_shapes(numbers, {"action": taken, **columns}, len(actions), problems)
        table, dialog = columns["propensities"], np.asarray(columns["dialog"])
        if table is not None and table.ndim == 1:
            columns["propensities"] = np.full((len(taken), len(actions)), np.nan)
            columns["propensities"][np.arange(len(taken)), np.clip(taken, 0, len(actions) - 1)] = table
        if columns["turn"] is None:
            begin, number = np.unique(dialog, return_index=True, return_inverse=True)[1:]
            columns["turn"] = np.arange(len(taken)) - begin[number]
        column_names = tuple(names or (f"x{i}" for i in range(numbers.shape[1])))
        return DecisionColumns(numbers, column_names, taken, tuple(actions), **columns)


def _check_shapes(continuous: Floats, columns: Mapping[str, Any], n_actions: int, problems: Problems) -> None:
    """Raise InputError unless every column has a row for each decision."""
    n_rows = len(continuous)
    if continuous.ndim != 2:
        problems.add("states have the wrong shape", expected="(n, d)", found=str(continuous.shape))
    if n_rows == 0:
        problems.add("there are no decisions")
    table = (n_rows, n_actions)
    allowed = {"propensities": ((n_rows,), table), "possible": (table,)}
    for name, column in columns.items():
        shapes = allowed.get(name, ((n_rows,),))
        if column is not None and column.shape not in shapes:
            expected = " or ".join(map(str, shapes))
            problems.add(f"{name} has the wrong shape", expected=expected, found=str(column.shape))
    problems.raise_errors()


Place = Callable[[int], dict[str, Any]]
"""Where a decision is: the details of its problems."""


def check_decisions(columns: DecisionColumns, problems: Problems, place: Place | None = None) -> None:
    """Report what makes decisions unusable; place: of each one, by default its dialog and turn."""

    def own_place(row: int) -> dict[str, Any]:
        return {"session": str(columns.dialog[row]), "turn": int(columns.turn[row])}

    report = _Report(problems, place or own_place)
    _check_dialogs(columns, report)
    _check_numbers(columns, report)
    _check_actions(columns, report)
    _check_propensities(columns, report)


@dataclass(frozen=True)
class _Report:
    problems: Problems
    place: Place

    def __call__(
        self, bad: Bools, message: str, expected: str, found: Callable[[int], object] | None = None
    ) -> None:
        """One problem a decision; of many the first few, and how many there are."""
        rows = np.flatnonzero(bad)
        for number, row in enumerate(rows[:SHOWN].tolist()):
            more = f"; {len(rows):,} such in all" if number == 0 and len(rows) > 1 else ""
            shown = None if found is None else str(found(row))
            self.problems.add(f"{message}{more}", expected=expected, found=shown, **self.place(row))


def _check_dialogs(columns: DecisionColumns, report: _Report) -> None:
    ids = columns.dialog
    begins = np.append(True, ids[1:] != ids[:-1])
    again = begins.copy()
    again[np.unique(ids, return_index=True)[1]] = False
    report(again, "the decisions of a dialog are not together", "all of one dialog, then the next")
    late = ~begins & (np.diff(columns.turn, prepend=0) <= 0)
    report(late, "the turns are out of order", "ascending turns", lambda row: columns.turn[row])
    if columns.ends is not None:
        last = np.append(begins[1:], True)
        report(last & ~columns.ends, "the dialog does not end", "an end at its last decision")
        report(~last & columns.ends, "there are decisions after the end of the dialog", "nothing after it")


def _check_numbers(columns: DecisionColumns, report: _Report) -> None:
    for column, name in enumerate(columns.names):
        values = columns.continuous[:, column]
        report(
            ~np.isfinite(values),
            f"the feature {name!r} is not a finite number",
            "a finite number",
            values.__getitem__,
        )
    if np.isnan(columns.reward).all():
        report.problems.add(
            "there are no rewards, and states have no labels to make them of", expected="a reward a decision"
        )
        return
    report(
        ~np.isfinite(columns.reward),
        "the reward is missing or not a finite number",
        "a finite number",
        lambda row: columns.reward[row],
    )


def _check_actions(columns: DecisionColumns, report: _Report) -> None:
    for name in sorted({name for name in columns.actions if columns.actions.count(name) > 1}):
        report.problems.add(f"the action {name!r} is named twice")
    n_actions = len(columns.actions)
    out = (columns.action < 0) | (columns.action >= n_actions)
    report(
        out,
        "there is no such action",
        f"0 to {n_actions - 1}, for {', '.join(columns.actions[:10])}",
        lambda row: columns.action[row],
    )
    if columns.possible is not None and not out.any():
        taken = columns.possible[np.arange(len(out)), columns.action]
        report(
            ~taken,
            "the action taken was not possible",
            "it to be among what was possible",
            lambda row: columns.actions[columns.action[row]],
        )


def _check_propensities(columns: DecisionColumns, report: _Report) -> None:
    """Where any were logged, each decision needs one of (0, 1]; whole rows must add up to 1."""
    table = columns.propensities
    if table is None:
        return
    rows = np.arange(len(columns.action))
    propensity = table[rows, np.clip(columns.action, 0, table.shape[1] - 1)]
    taken = np.zeros(table.shape, dtype=bool)
    taken[rows, np.clip(columns.action, 0, table.shape[1] - 1)] = True
    wrong = np.asarray((~taken & ((table < 0.0) | (table > 1.0))).any(axis=1))
    report(wrong, "the propensity of another action is not a probability", "0 to 1")
    whole = ~np.isnan(table).any(axis=1)
    off = whole & (np.abs(table.sum(axis=1) - 1.0) > SUM_TOLERANCE)
    report(off, "the propensities do not add up to 1", "1", lambda row: table[row].sum())
    missing = np.isnan(propensity)
    if missing.all():
        report.problems.add("no decision has a propensity", expected="leave them out, or give all of them")
        return
    report(missing, "the propensity of the action taken is missing", "one for every decision, or for none")
    report(
        np.asarray(~missing & ~((propensity > 0.0) & (propensity <= 1.0))),
        "the propensity of the action taken cannot be used",
        "above 0, at most 1",
        lambda row: propensity[row],
    )


def action_numbers(action: Any, actions: Sequence[str], problems: Problems) -> Ints:
    """(n,) the indices of actions that are given as indices or by name."""
    array = np.asarray(action)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    index = {name: number for number, name in enumerate(actions)}
    if array.dtype.kind not in "UO":
        problems.add("actions are neither whole numbers nor names", found=str(array.dtype))
        return np.zeros(len(array), dtype=np.int64)
    for name in dict.fromkeys(map(str, array.tolist())):
        if name not in index:
            problems.add(f"there is no action {name!r}; {did_you_mean(name, index)}")
    return np.array([index.get(str(name), 0) for name in array.tolist()], dtype=np.int64)
