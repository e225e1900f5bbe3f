"""People's ratings of dialogs or turns, a csv with a row a rating: dialog, turn, rater, rating.

    dialog         turn  rater  rating
    MUL0003.json         anna   1
    MUL0003.json         ben    0

Dey et al. 2022 (section 4, appendix A.3) showed eleven people the utterances, gold and predicted states of
every turn and asked of each conversation whether they were satisfied (1) or not (0) with how the system kept
track: the `turn` is then empty, or there is no such column. Where turns were rated it is the number of the
turn, from 0. With several systems a column `system` names the one that was rated. A scale other than 0 to 1
is given where the file is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.state_sets import StateSets
from extrinsic.csv_files import number_in, read_csv
from extrinsic.errors import Problems, did_you_mean

COLUMNS = ("dialog", "rater", "rating")
Unit = tuple[int, int, int]
"""System, dialog, turn (-1: the whole dialog)."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """What was rated, and the mean rating over raters.

    system, dialog, turn (n,): positions in the systems' states; turn is -1 where whole dialogs were rated.
    rating (n,).   raters: everyone who rated.   n_ratings: how many ratings there are in all.
    """

    system: Ints
    dialog: Ints
    turn: Ints
    rating: Floats
    raters: tuple[str, ...]
    n_ratings: int

    @property
    def of_turns(self) -> bool:
        return bool((self.turn >= 0).any())


def read_ratings(
    path: str | Path, systems: Sequence[StateSets], scale: tuple[float, float] = (0.0, 1.0)
) -> Ratings:
    """Ratings of the dialogs or turns of some systems; every problem of the file is reported.

    Not everything must be rated, and not everything by everyone: a unit has the mean of those who did.
    """
    problems = Problems(str(path))
    rows = read_csv(path, (*COLUMNS, *(["system"] if len(systems) > 1 else [])), problems)
    problems.raise_errors()
    names = {states.name: number for number, states in enumerate(systems)}
    dialogs = [{dialog: i for i, dialog in enumerate(states.dialogs)} for states in systems]
    of_unit: dict[Unit, dict[str, float]] = {}
    for row in rows:
        line = row.line
        unit = _unit(line, row.cells, names, dialogs, systems, problems)
        rating = _rating(line, row.cells, scale, problems)
        rater = row["rater"]
        if not rater:
            problems.add(f"line {line}: the rater is missing", expected="a name", session=row["dialog"])
        if unit is None or rating is None:
            continue
        by_rater = of_unit.setdefault(unit, {})
        if rater in by_rater:
            at = unit[2] if unit[2] >= 0 else None
            problems.add(f"line {line}: {rater} has rated this before", session=row["dialog"], turn=at)
        by_rater[rater] = rating
    if not rows:
        problems.add("there are no ratings")
    if len({turn >= 0 for _, _, turn in of_unit}) > 1:
        problems.add(
            "some ratings are of turns and others of whole dialogs", expected="a turn in every row or in none"
        )
    problems.raise_errors()
    units = sorted(of_unit)
    system, dialog, turn = np.array(units, dtype=np.int64).T
    return Ratings(
        system,
        dialog,
        turn,
        np.array([sum(of_unit[unit].values()) / len(of_unit[unit]) for unit in units]),
        tuple(sorted({rater for by_rater in of_unit.values() for rater in by_rater})),
        sum(map(len, of_unit.values())),
    )


def _unit(
    line: int,
    row: dict[str, str],
    names: dict[str, int],
    dialogs: Sequence[dict[str, int]],
    systems: Sequence[StateSets],
    problems: Problems,
) -> Unit | None:
    system = names.get(row["system"]) if "system" in row else 0
    if system is None:
        problems.add(
            f"line {line}: there is no system {row['system']!r}; {did_you_mean(row['system'], names)}"
        )
        return None
    dialog = dialogs[system].get(row["dialog"])
    if dialog is None:
        hint = did_you_mean(row["dialog"], dialogs[system], limit=5)
        problems.add(f"line {line}: there is no dialog {row['dialog']!r}; {hint}")
        return None
    text = row.get("turn", "")
    if not text:
        return system, dialog, -1
    n_turns = int(np.diff(systems[system].offsets)[dialog])
    if not (text.isascii() and text.isdigit() and int(text) < n_turns):
        problems.add(
            f"line {line}: the dialog has no such turn",
            session=row["dialog"],
            expected=f"0 to {n_turns - 1}, or nothing for the whole dialog",
            found=repr(text),
        )
        return None
    return system, dialog, int(text)


def _rating(line: int, row: dict[str, str], scale: tuple[float, float], problems: Problems) -> float | None:
    rating = number_in(row["rating"])
    if rating is not None and scale[0] <= rating <= scale[1]:
        return rating
    problems.add(
        f"line {line}: the rating is missing"
        if not row["rating"]
        else f"line {line}: no rating on the scale",
        session=row["dialog"],
        expected=f"a number from {scale[0]:g} to {scale[1]:g}",
        found=repr(row["rating"]),
    )
    return None
