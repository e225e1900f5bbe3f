"""Logs of states and rewards (JSON lines, a decision a line) as transitions, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.formats.jsonl_lines import LogLines, read_lines, written_lines
from extrinsic.errors import Problems, did_you_mean, require_type
from extrinsic.policy.observations import stable_number
from extrinsic.policy.source import Source
from extrinsic.policy.states import States, name_differences
from extrinsic.policy.transitions import END, Transitions
from extrinsic.storage import content_hash, write_atomic

INSTEAD = (
    "transitions need a state, an action and a reward on every line; a log of N-best lists and labels is a "
    "corpus: extrinsic.read_corpus(..., format='jsonl')"
)


def read_transitions(path: str | Path, actions: Sequence[str] | None = None) -> Transitions:
    """The decisions of a log with states and rewards, or InputError with every problem in it.

    actions: all there are, in order; None: those that the log mentions, sorted. Logs to learn from and to
    value on need the same.
    """
    require_type("path", path, "the path of a log", str, Path)
    log = read_lines(path, gaps=True)
    problems = Problems(str(path))
    log.require(("state", "action"), problems, INSTEAD)
    problems.raise_errors()
    names = tuple(_mentioned(log) if actions is None else actions)
    continuous, continuous_names = _columns(log, "state", problems)
    discrete, discrete_names = _columns(log, "discrete", problems)
    action = _actions(log, names, problems)
    propensities = _propensities(log, names, problems)
    possible = _possible(log, names, problems)
    problems.raise_errors()
    ends = None if len(log.missing("end")) == len(log.lines) else [bool(line.end) for line in log.lines]
    return Transitions.from_arrays(
        States(continuous, discrete.astype(np.int64), continuous_names, discrete_names),
        action,
        [np.nan if line.reward is None else line.reward for line in log.lines],
        [line.dialog for line in log.lines],
        actions=names,
        turn=[line.turn for line in log.lines],
        ends=ends,
        source=Source(dataset=Path(path).name.partition(".")[0], corpus=content_hash("jsonl", log.data)),
        place=log.place,
        propensities=propensities,
        possible=possible,
    )


def _mentioned(log: LogLines) -> list[str]:
    """Every action that was taken, possible, or had a propensity."""
    named = ([line.action, *(line.possible or ()), *(line.propensities or ())] for line in log.lines)
    return sorted({str(name) for names in named for name in names})


def _columns(log: LogLines, field: str, problems: Problems) -> tuple[Any, tuple[str, ...]]:
    """(n, d) the numbers of a field, under the names that its first line has; texts as their hashes."""
    rows: list[dict[str, Any]] = [getattr(line, field) or {} for line in log.lines]
    names = tuple(rows[0])
    for row, numbers in enumerate(rows):
        if numbers.keys() != set(names):
            different = name_differences(names, tuple(numbers))
            log.checker(problems, row).report(
                f"{field!r} has other columns than at the first line: {different}",
                expected=", ".join(names) or "none",
            )
    table = [[numbers.get(name, 0) for name in names] for numbers in rows]
    plain = [[stable_number(item) if isinstance(item, str) else item for item in row] for row in table]
    kind = np.float64 if field == "state" else np.int64
    return np.array(plain, dtype=kind).reshape(len(rows), len(names)), names


def _known(log: LogLines, row: int, name: str, names: tuple[str, ...], problems: Problems) -> bool:
    if name not in names:
        log.checker(problems, row).report(f"there is no action {name!r}; {did_you_mean(name, names)}")
    return name in names


def _actions(log: LogLines, names: tuple[str, ...], problems: Problems) -> Ints:
    taken = [str(line.action) for line in log.lines]
    return np.array(
        [
            names.index(name) if _known(log, row, name, names, problems) else 0
            for row, name in enumerate(taken)
        ]
    )


def _propensities(log: LogLines, names: tuple[str, ...], problems: Problems) -> Floats | None:
    if len(log.missing("propensity")) == len(log.missing("propensities")) == len(log.lines):
        return None
    table = np.full((len(log.lines), len(names)), np.nan)
    for row, line in enumerate(log.lines):
        if line.propensities is not None:
            table[row] = 0.0
        given = line.propensities or ({} if line.propensity is None else {str(line.action): line.propensity})
        for name, propensity in given.items():
            if _known(log, row, name, names, problems):
                table[row, names.index(name)] = propensity
    return table


def _possible(log: LogLines, names: tuple[str, ...], problems: Problems) -> Bools | None:
    if len(log.missing("possible")) == len(log.lines):
        return None
    table = np.ones((len(log.lines), len(names)), dtype=bool)
    for row, line in enumerate(log.lines):
        if line.possible is not None:
            known = [name for name in line.possible if _known(log, row, name, names, problems)]
            table[row] = np.isin(names, known)
    return table


def write_transitions(transitions: Transitions, path: str | Path) -> None:
    """Write a log that `read_transitions` reads as the same decisions, given the same actions."""
    write_atomic(path, written_lines(_lines(transitions)))


def _lines(transitions: Transitions) -> Iterator[dict[str, Any]]:
    states, names = transitions.states, transitions.actions
    for row in range(len(transitions)):
        own, chances = transitions.logged[row], transitions.propensities[row]
        whole = not np.isnan(chances).any()
        yield {
            "dialog": transitions.sessions[transitions.dialog[row]],
            "turn": int(transitions.turn[row]),
            "state": dict(zip(states.continuous_names, states.continuous[row].tolist(), strict=True)),
            "discrete": dict(zip(states.discrete_names, states.discrete[row].tolist(), strict=True)) or None,
            "action": names[transitions.action[row]],
            "reward": float(transitions.reward[row]),
            "propensities": {names[i]: float(chances[i]) for i in np.flatnonzero(chances)} if whole else None,
            "propensity": None if whole or np.isnan(own) else float(own),
            "possible": None
            if transitions.possible is None
            else [names[i] for i in np.flatnonzero(transitions.possible[row])],
            "end": bool(transitions.next[row] == END),
        }
