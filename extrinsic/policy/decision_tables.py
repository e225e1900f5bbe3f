"""Logged decisions as tables, from arrays or JSON lines: every problem at once, with dialog and turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.formats.log_lines import LogLines
from extrinsic.errors import Problems, did_you_mean
from extrinsic.policy.features import States, name_differences
from extrinsic.policy.observations import stable_number

SHOWN = 20
"""How many decisions with the same problem are listed; the first of them says how many there are."""

INSTEAD = (
    "transitions need a state, an action and a reward on every line; a log of N-best lists and labels is a "
    "corpus: extrinsic.read_corpus(..., format='jsonl')"
)

Place = Callable[[int], dict[str, Any]]
"""Where a decision is: the details of its problems."""


@dataclass(frozen=True, eq=False)
class DecisionTable:
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
    def checked(
        states: States | npt.ArrayLike,
        action: npt.ArrayLike,
        actions: Sequence[str],
        place: Place | None = None,
        **given: npt.ArrayLike | None,
    ) -> DecisionTable:
        """Arrays as a table, or InputError with every problem; given: the other columns by name.

        place: where a decision is, for messages; by default its dialog and turn.
        """
        problems = Problems()
        given_states = states if isinstance(states, States) else None
        numbers = np.asarray(states if given_states is None else given_states.continuous, dtype=np.float64)
        taken = _action_numbers(action, actions, problems)
        kinds = {"reward": float, "dialog": str, "turn": int, "propensities": float}
        columns: dict[str, Any] = {
            name: None if column is None else np.asarray(column).astype(kinds.get(name, bool))
            for name, column in given.items()
        }
        _check_shapes(numbers, {"action": taken, **columns}, len(actions), problems)
        chances, dialog = columns["propensities"], columns["dialog"]
        if chances is not None and chances.ndim == 1:
            columns["propensities"] = np.full((len(taken), len(actions)), np.nan)
            columns["propensities"][np.arange(len(taken)), np.clip(taken, 0, len(actions) - 1)] = chances
        if columns["turn"] is None:
            _, begin, number = np.unique(dialog, return_index=True, return_inverse=True)
            columns["turn"] = np.arange(len(taken)) - begin[number]
        names = tuple(f"x{column}" for column in range(numbers.shape[1]))
        names = names if given_states is None else given_states.continuous_names
        table = DecisionTable(numbers, names, taken, tuple(actions), **columns)
        for fault in table.faults():
            rows = np.flatnonzero(fault.bad)
            for listed, row in enumerate(rows[:SHOWN].tolist()):
                more = f"; {len(rows):,} such in all" if listed == 0 and len(rows) > 1 else ""
                problems.add(
                    f"{fault.message}{more}",
                    expected=fault.expected,
                    found=None if fault.found is None else str(fault.found[row]),
                    **(table.place(row) if place is None else place(row)),
                )
        table.check_whole(problems)
        problems.raise_errors()
        return table

    def place(self, row: int) -> dict[str, Any]:
        return {"session": str(self.dialog[row]), "turn": int(self.turn[row])}

    def faults(self) -> Iterator[Fault]:
        """What makes single decisions unusable."""
        ids = self.dialog
        begins = np.append(True, ids[1:] != ids[:-1])
        again = begins.copy()
        again[np.unique(ids, return_index=True)[1]] = False
        yield Fault(again, "the decisions of a dialog are not together", "all of one dialog, then the next")
        late = ~begins & (np.diff(self.turn, prepend=0) <= 0)
        yield Fault(late, "the turns are out of order", "ascending turns", self.turn)
        if self.ends is not None:
            last = np.append(begins[1:], True)
            yield Fault(last & ~self.ends, "the dialog does not end", "an end at its last decision")
            after = "there are decisions after the end of the dialog"
            yield Fault(~last & self.ends, after, "nothing after it")
        for name, values in zip(self.names, self.continuous.T, strict=True):
            message = f"the feature {name!r} is not a finite number"
            yield Fault(~np.isfinite(values), message, "a finite number", values)
        if not np.isnan(self.reward).all():
            message = "the reward is missing or not a finite number"
            yield Fault(~np.isfinite(self.reward), message, "a finite number", self.reward)
        n_actions = len(self.actions)
        out = (self.action < 0) | (self.action >= n_actions)
        numbers = f"0 to {n_actions - 1}, for {', '.join(self.actions[:10])}"
        yield Fault(out, "there is no such action", numbers, self.action)
        if self.possible is not None and not out.any():
            names = np.array(self.actions)[self.action]
            message = "the action taken was not possible"
            yield Fault(~self.possible[self._taken], message, "it to be among what was possible", names)
        if self.propensities is not None:
            yield from _propensity_faults(self.propensities, self._taken)

    @property
    def _taken(self) -> tuple[Ints, Ints]:
        """Where the actions taken stand in a table (n, n_actions)."""
        return np.arange(len(self.action)), np.clip(self.action, 0, len(self.actions) - 1)

    def check_whole(self, problems: Problems) -> None:
        """Report what is wrong with the table as a whole."""
        if np.isnan(self.reward).all():
            message = "there are no rewards, and states have no labels to make them of"
            problems.add(message, expected="a reward a decision")
        for name in sorted({name for name in self.actions if self.actions.count(name) > 1}):
            problems.add(f"the action {name!r} is named twice")
        if self.propensities is not None and np.isnan(self.propensities[self._taken]).all():
            problems.add("no decision has a propensity", expected="leave them out, or give all of them")


class Fault(NamedTuple):
    """A rule that some decisions break: which (n,), what is expected, and what each has instead (n,)."""

    bad: Bools
    message: str
    expected: str
    found: npt.NDArray[Any] | None = None


def _propensity_faults(table: Floats, taken: tuple[Ints, Ints]) -> Iterator[Fault]:
    """Where any were logged, each decision needs one of (0, 1]; whole rows must add up to 1."""
    propensity, others = table[taken], np.ones(table.shape, dtype=bool)
    others[taken] = False
    wrong = np.asarray((others & ((table < 0.0) | (table > 1.0))).any(axis=1))
    yield Fault(wrong, "the propensity of another action is not a probability", "0 to 1")
    total = table.sum(axis=1)
    off = ~np.isnan(table).any(axis=1) & (np.abs(total - 1.0) > 1e-6)
    yield Fault(off, "the propensities do not add up to 1", "1", total)
    missing = np.isnan(propensity)
    message = "the propensity of the action taken is missing"
    yield Fault(missing & ~missing.all(), message, "one for every decision, or for none")
    unusable = np.asarray(~missing & ~((propensity > 0.0) & (propensity <= 1.0)))
    message = "the propensity of the action taken cannot be used"
    yield Fault(unusable, message, "above 0, at most 1", propensity)


def _check_shapes(continuous: Floats, columns: dict[str, Any], n_actions: int, problems: Problems) -> None:
    """Raise InputError unless every column has a row for each decision."""
    n_rows = len(continuous)
    if continuous.ndim != 2:
        problems.add("states have the wrong shape", expected="(n, d)", found=str(continuous.shape))
    if n_rows == 0:
        problems.add("there are no decisions")
    whole = (n_rows, n_actions)
    allowed = {"propensities": ((n_rows,), whole), "possible": (whole,)}
    for name, column in columns.items():
        shapes = allowed.get(name, ((n_rows,),))
        if column is not None and column.shape not in shapes:
            expected = " or ".join(map(str, shapes))
            problems.add(f"{name} has the wrong shape", expected=expected, found=str(column.shape))
    problems.raise_errors()


def _action_numbers(action: Any, actions: Sequence[str], problems: Problems) -> Ints:
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


def columns_of_lines(log: LogLines, actions: Sequence[str] | None) -> dict[str, Any]:
    """The decisions of a log as the arguments of `Transitions.from_arrays`; InputError with every problem.

    actions: all there are, in order; None: those that the log mentions, sorted.
    """
    problems = Problems(log.path)
    log.require(("state", "action"), problems, INSTEAD)
    problems.raise_errors()
    if actions is None:
        named = ([line.action, *(line.possible or ()), *(line.propensities or ())] for line in log.lines)
        actions = sorted({str(name) for names in named for name in names})
    index = {name: number for number, name in enumerate(actions)}
    continuous, continuous_names = _state_columns(log, "state", problems)
    discrete, discrete_names = _state_columns(log, "discrete", problems)
    n_rows = len(log.lines)
    action = np.zeros(n_rows, dtype=np.int64)
    propensities, possible = np.full((n_rows, len(index)), np.nan), np.ones((n_rows, len(index)), dtype=bool)

    def numbers(row: int, names: Iterable[str]) -> list[int]:
        """The numbers of actions by name; those that do not exist are reported."""
        for name in names:
            if name not in index:
                message = f"there is no action {name!r}; {did_you_mean(name, index)}"
                problems.add(message, **log.place(row))
        return [index[name] for name in names if name in index]

    for row, line in enumerate(log.lines):
        action[row] = next(iter(numbers(row, [str(line.action)])), 0)
        logged = line.propensities
        if logged is not None:
            propensities[row] = 0.0
        logged = logged or ({} if line.propensity is None else {str(line.action): line.propensity})
        chances = [chance for name, chance in logged.items() if name in index]
        propensities[row, numbers(row, logged)] = chances
        if line.possible is not None:
            possible[row] = np.isin(np.arange(len(index)), numbers(row, line.possible))
    problems.raise_errors()

    def has(field: str) -> bool:
        return len(log.missing(field)) < n_rows

    return {
        "states": States(continuous, discrete.astype(np.int64), continuous_names, discrete_names),
        "action": action,
        "reward": [np.nan if line.reward is None else line.reward for line in log.lines],
        "dialog": [line.dialog for line in log.lines],
        "actions": tuple(actions),
        "turn": [line.turn for line in log.lines],
        "propensities": propensities if has("propensity") or has("propensities") else None,
        "possible": possible if has("possible") else None,
        "ends": [bool(line.end) for line in log.lines] if has("end") else None,
        "place": log.place,
    }


def _state_columns(log: LogLines, field: str, problems: Problems) -> tuple[Any, tuple[str, ...]]:
    """(n, d) the numbers of a field, under the names that its first line has; texts as their hashes."""
    rows: list[dict[str, Any]] = [getattr(line, field) or {} for line in log.lines]
    names = tuple(rows[0])
    for row, numbers in enumerate(rows):
        if numbers.keys() != set(names):
            different = name_differences(names, tuple(numbers))
            message = f"{field!r} has other columns than at the first line: {different}"
            problems.add(message, expected=", ".join(names) or "none", **log.place(row))
    table = [[numbers.get(name, 0) for name in names] for numbers in rows]
    plain = [[stable_number(item) if isinstance(item, str) else item for item in row] for row in table]
    kind = np.float64 if field == "state" else np.int64
    return np.array(plain, dtype=kind).reshape(len(rows), len(names)), names
