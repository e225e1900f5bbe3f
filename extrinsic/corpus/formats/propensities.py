"""Logged propensities: the probability of each system action, where the log contains them.

A turn's output may contain `"propensities": {"confirm": 0.87, "request": 0.13}`, by predicates of the
domain; those left out are 0. Whether the numbers are usable is checked by the code that uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.model import Corpus
from extrinsic.domain import Domain
from extrinsic.errors import Problems

KEY = "propensities"

Written = dict[str, float]


def propensity_columns(
    sessions: Sequence[str],
    n_turns: Sequence[int],
    written: Sequence[Written | None],
    domain: Domain,
) -> Floats | None:
    """(n_turns, n_predicates) with NaN where nothing was logged; None if that is everywhere."""
    if all(turn is None for turn in written):
        return None
    column = {name: number for number, name in enumerate(domain.predicate_names)}
    table = np.full((len(written), len(column)), np.nan)
    problems = Problems()
    number = 0
    for session, count in zip(sessions, n_turns, strict=True):
        for turn in range(count):
            of_turn = written[number]
            if of_turn is not None:
                table[number] = 0.0
                for name, propensity in of_turn.items():
                    checker = Checker(problems, session, turn)
                    if checker.known(name, column, "predicate in the propensities"):
                        table[number, column[name]] = propensity
            number += 1
    problems.raise_errors()
    return table


def check_propensities(checker: Checker, value: Any) -> None:
    """Report what is wrong with the propensities of a turn, whatever the domain."""
    if value is not None:
        for name, propensity in checker.object(value, "'propensities'").items():
            checker.score(propensity, f"the propensity of {name!r}")


def write_propensities(corpus: Corpus, turn: int) -> dict[str, Any]:
    """The `propensities` member of a turn's output, if there are any; those of 0 are left out."""
    if corpus.propensities is None or np.isnan(corpus.propensities[turn]).all():
        return {}
    row = corpus.propensities[turn]
    names = corpus.domain.predicate_names
    return {KEY: {names[column]: float(row[column]) for column in np.flatnonzero(row != 0.0)}}
