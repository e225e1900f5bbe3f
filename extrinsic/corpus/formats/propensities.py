"""Logged decisions: what was possible, and the probability of each system action, where the log says so.

A turn's output may contain `"propensities": {"confirm": 0.87, "request": 0.13}`, by predicates of the domain;
those left out are 0. It may contain `"possible": ["confirm", "request"]`, what could be done at all: policies
choose among these, there as in live play; without it, everything was possible. Whether the numbers are usable
is checked by the code that uses them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.model import Corpus
from extrinsic.domain import Domain
from extrinsic.errors import Problems

KEY, POSSIBLE = "propensities", "possible"

Names = TypeVar("Names", bound=Collection[str])


def propensity_columns(
    sessions: Sequence[str],
    n_turns: Sequence[int],
    written: Sequence[dict[str, float] | None],
    domain: Domain,
) -> Floats | None:
    """(n_turns, n_predicates) with NaN where nothing was logged; None if that is everywhere."""
    if all(turn is None for turn in written):
        return None
    table = np.full((len(written), len(domain.predicate_names)), np.nan)
    for turn, column, of_turn in _logged(sessions, n_turns, written, domain, KEY):
        table[turn] = 0.0
        for name, number in column.items():
            table[turn, number] = of_turn[name]
    return table


def possible_columns(
    sessions: Sequence[str],
    n_turns: Sequence[int],
    written: Sequence[list[str] | None],
    domain: Domain,
) -> Bools | None:
    """(n_turns, n_predicates) what was possible, everything where nothing was logged; None if nowhere."""
    if all(turn is None for turn in written):
        return None
    table = np.ones((len(written), len(domain.predicate_names)), dtype=bool)
    for turn, column, _ in _logged(sessions, n_turns, written, domain, POSSIBLE):
        table[turn] = False
        table[turn, list(column.values())] = True
    return table


def _logged(
    sessions: Sequence[str],
    n_turns: Sequence[int],
    written: Sequence[Names | None],
    domain: Domain,
    key: str,
) -> Iterator[tuple[int, dict[str, int], Names]]:
    """The turns where something was logged: the turn, the column of each predicate, and what was logged."""
    column = {name: number for number, name in enumerate(domain.predicate_names)}
    problems = Problems()
    number = 0
    for session, count in zip(sessions, n_turns, strict=True):
        for turn in range(count):
            of_turn = written[number]
            if of_turn is not None:
                checker = Checker(problems, session, turn)
                names = [name for name in of_turn if checker.known(name, column, f"predicate in {key!r}")]
                yield number, {name: column[name] for name in names}, of_turn
            number += 1
    problems.raise_errors()


def check_decision(checker: Checker, output: dict[str, Any]) -> None:
    """Report what is wrong with the logged decision of a turn, whatever the domain."""
    if output.get(KEY) is not None:
        for name, propensity in checker.object(output[KEY], f"{KEY!r}").items():
            checker.score(propensity, f"the propensity of {name!r}")
    if output.get(POSSIBLE) is not None:
        names = checker.array(output[POSSIBLE], f"{POSSIBLE!r}")
        if not names:
            checker.report("nothing is possible", expected="at least one predicate in 'possible'")
        for name in names:
            checker.text(name, "an entry of 'possible'")


def write_decision(corpus: Corpus, turn: int) -> dict[str, Any]:
    """`propensities` (but for those of 0) and `possible` of a turn's output, where there are any."""
    names, written = corpus.domain.predicate_names, dict[str, Any]()
    if corpus.propensities is not None and not np.isnan(corpus.propensities[turn]).all():
        row = corpus.propensities[turn]
        written[KEY] = {names[column]: float(row[column]) for column in np.flatnonzero(row != 0.0)}
    if corpus.possible is not None and not corpus.possible[turn].all():
        written[POSSIBLE] = [names[column] for column in np.flatnonzero(corpus.possible[turn])]
    return written
