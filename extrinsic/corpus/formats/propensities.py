"""Logged decisions: what was possible, and the probability of each system action, where the log says so.

A turn's output may contain `"propensities": {"confirm": 0.87, "request": 0.13}`, by predicates of the domain;
those left out are 0. It may contain `"possible": ["confirm", "request"]`, what could be done at all: policies
choose among these, there as in live play; without it, everything was possible. Propensities are probabilities
that sum to 1, and that of what was done is above 0.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.model import Corpus
from extrinsic.domain import Domain
from extrinsic.errors import Problems

KEY, POSSIBLE = "propensities", "possible"
SUM_ROUNDING = 1e-6

Names = TypeVar("Names", bound=Collection[str])


Places = Iterable[tuple[str, str, int]]
"""Session, file and number within the session of every turn."""


def propensity_columns(
    places: Places,
    written: Sequence[dict[str, float] | None],
    domain: Domain,
    predicates: Callable[[], Sequence[int]],
    problems: Problems,
) -> Floats | None:
    """(n_turns, n_predicates) with NaN where nothing was logged; None if that is everywhere.

    predicates: gives what was done at every turn, -1 where the domain has no name for it.
    """
    if all(turn is None for turn in written):
        return None
    names = domain.predicate_names
    table = np.full((len(written), len(names)), np.nan)
    taken = predicates()
    for turn, column, of_turn, checker in _logged(places, written, domain, KEY, problems):
        if len(column) < len(of_turn):
            continue
        table[turn] = 0.0
        for name, number in column.items():
            table[turn, number] = of_turn[name]
            if not 0.0 <= of_turn[name] <= 1.0:
                checker.report(
                    f"the propensity of {name!r} is no probability",
                    expected="0 to 1",
                    found=f"{of_turn[name]:g}",
                )
        if abs(sum(of_turn.values()) - 1.0) > SUM_ROUNDING:
            found = f"{sum(of_turn.values()):g}"
            checker.report("the propensities do not add up to 1", expected="1", found=found)
        act = names[taken[turn]] if taken[turn] >= 0 else None
        if act is not None and act not in domain.greeting and of_turn.get(act, 0.0) == 0.0:
            checker.report(f"what was done, {act!r}, has a propensity of 0", expected="above 0", found="0")
    return table


def possible_columns(
    places: Places, written: Sequence[list[str] | None], domain: Domain, problems: Problems
) -> Bools | None:
    """(n_turns, n_predicates) what was possible, everything where nothing was logged; None if nowhere."""
    if all(turn is None for turn in written):
        return None
    table = np.ones((len(written), len(domain.predicate_names)), dtype=bool)
    for turn, column, _, _ in _logged(places, written, domain, POSSIBLE, problems):
        table[turn] = False
        table[turn, list(column.values())] = True
    return table


def _logged(
    places: Places, written: Sequence[Names | None], domain: Domain, key: str, problems: Problems
) -> Iterator[tuple[int, dict[str, int], Names, Checker]]:
    """The turns where something was logged: the turn, the column of each predicate, what was logged."""
    column = {name: number for number, name in enumerate(domain.predicate_names)}
    for number, (session, file, turn) in enumerate(places):
        of_turn = written[number]
        if of_turn is not None:
            problems.path = file
            checker = Checker(problems, session, turn)
            names = [name for name in of_turn if checker.known(name, column, f"action in {key!r}")]
            yield number, {name: column[name] for name in names}, of_turn, checker


def write_decision(corpus: Corpus, turn: int) -> dict[str, Any]:
    """`propensities` (but for those of 0) and `possible` of a turn's output, where there are any."""
    names, written = corpus.domain.predicate_names, dict[str, Any]()
    if corpus.propensities is not None and not np.isnan(corpus.propensities[turn]).all():
        row = corpus.propensities[turn]
        written[KEY] = {names[column]: float(row[column]) for column in np.flatnonzero(row != 0.0)}
    if corpus.possible is not None and not corpus.possible[turn].all():
        written[POSSIBLE] = [names[column] for column in np.flatnonzero(corpus.possible[turn])]
    return written
