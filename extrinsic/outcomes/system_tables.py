"""Tables that users bring: outcomes and scores, a row for each system, dialog, turn, rater or trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, inf
from typing import Literal

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import Problems, did_you_mean
from extrinsic.tables import CsvRow, read_csv, report_number

SHOWN_NAMES, SHOWN_HOLES = 5, 10

Cell = tuple[str, str]
"""Dataset and system."""

Place = tuple[str, str, str]
"""Trial, turn and rater of a row about a dialog; empty where there is no such column."""

Numbers = tuple[float, ...]


class Roles(msgspec.Struct, frozen=True):
    """What the columns of a table are; names: those of numbers."""

    names: tuple[str, ...]
    system: str = "system"
    dialog: str | None = None
    """Without it the rows are of whole systems."""
    dataset: str | None = None
    turn: str | None = None
    rater: str | None = None
    trial: str | None = None
    scale: tuple[float, float] | None = None
    """The lowest and highest number there can be."""
    unknown: Literal["error", "ignore"] = "error"
    """What rows of systems or dialogs are that the study does not have."""
    pass_k: tuple[int, ...] = ()
    """Also the chance that k trials all succeed, as outcomes `<name>.pass<k>`."""


@dataclass(frozen=True)
class Entry:
    """A row: its cells by role, empty where there is no such column; numbers are NaN where it has none.

    dataset: None where the table has no such column: it is about all of them.
    """

    line: int
    system: str
    dialog: str
    dataset: str | None
    place: Place
    numbers: Numbers


def read_entries(path: str, columns: Roles, problems: Problems) -> list[Entry]:
    """The rows of a table; missing columns, and cells without a name or a number are reported."""
    places = (columns.trial, columns.turn, columns.rater)
    used = (columns.system, columns.dialog, columns.dataset, *places, *columns.names)
    rows = read_csv(path, [column for column in used if column], problems)
    problems.raise_errors()
    entries = []
    for row in rows:
        numbers = tuple(_number(row, name, columns, problems) for name in columns.names)
        cells = row.cells
        dialog = cells[columns.dialog] if columns.dialog else ""
        dataset = cells[columns.dataset] if columns.dataset else None
        trial, turn, rater = (cells[column] if column else "" for column in places)
        if not cells[columns.system]:
            problems.add(f"line {row.line}: the row has no system")
            continue
        if columns.dialog and not dialog:
            problems.add(f"line {row.line}: the row has no dialog")
        entries.append(Entry(row.line, cells[columns.system], dialog, dataset, (trial, turn, rater), numbers))
    return entries


def _number(row: CsvRow, name: str, columns: Roles, problems: Problems) -> float:
    number = report_number(problems, row, name)
    low, high = columns.scale or (-inf, inf)
    if number is not None and not low <= number <= high:
        scale = f"{low:g} to {high:g}"
        problems.add(f"line {row.line}: {name} is off the scale", expected=scale, found=row.cells[name])
    return np.nan if number is None else number


@dataclass(frozen=True, eq=False)
class Outcome:
    """An outcome of a system on a dataset, with the influence (n_dialogs,) of every dialog on its mean."""

    system: str
    dataset: str
    name: str
    mean: float
    influence: Floats
    diagnostics: Mapping[str, float]


def read_outcomes(
    path: str,
    columns: Roles,
    systems: Sequence[str],
    dialogs: Mapping[str, Sequence[str]],
    others: Iterable[str] = (),
) -> list[Outcome]:
    """The outcomes of every dataset and system; dialogs: the ids of each dataset's dialogs.

    others: dialogs that may have outcomes although they count in no dataset.

    Every problem is reported: missing columns, rows that do not fit, unknown and missing systems and dialogs,
    cells that are not numbers, trials that differ in number.
    """
    problems = Problems(path)
    if (columns.rater or columns.turn or columns.trial) and not columns.dialog:
        problems.add("ratings and trials are of dialogs or their turns", expected='outcomes.dialog = "..."')
    entries = read_entries(path, columns, problems)
    by_cell = _by_cell(entries, list(dialogs), problems)
    if columns.unknown == "error":
        expected = 'the study\'s own, or outcomes.unknown = "ignore"'
        _report_unknown(entries, systems, {*others}.union(*dialogs.values()), expected, problems)
    outcomes: list[Outcome] = []
    for dataset, ids in dialogs.items():
        for system in systems:
            rows = by_cell.get((dataset, system))
            if rows is None:
                listed = sorted({name for _, name in by_cell})
                problems.add(f"no row of system {system!r} on {dataset}; {did_you_mean(system, listed)}")
            elif columns.dialog is None:
                # An outcome of a whole system does not change with single dialogs: they have no influence.
                means = zip(columns.names, _trial_means(rows[""])[0].tolist(), strict=True)
                none = np.zeros(len(ids))
                outcomes += [Outcome(system, dataset, name, mean, none, {}) for name, mean in means]
            else:
                outcomes += _of_dialogs(columns, dataset, system, rows, ids, problems)
    problems.raise_errors()
    return outcomes


def _by_cell(
    entries: Iterable[Entry], datasets: Sequence[str], problems: Problems
) -> dict[Cell, dict[str, dict[Place, Numbers]]]:
    """By cell and dialog ("" for whole systems), the numbers of every place; without a dataset, of all."""
    cells: dict[Cell, dict[str, dict[Place, Numbers]]] = {}
    for entry in entries:
        for dataset in datasets if entry.dataset is None else [entry.dataset]:
            rows = cells.setdefault((dataset, entry.system), {}).setdefault(entry.dialog, {})
            if entry.place in rows:
                second, rater = f"line {entry.line}: {entry.system} has a second row", entry.place[2]
                if entry.dialog:
                    problems.add(f"{second} by {rater!r}" if rater else second, session=entry.dialog)
                else:
                    problems.add(f"{second}; name the column of dialogs", expected='outcomes.dialog = "..."')
            rows[entry.place] = entry.numbers
    for by_dialog in cells.values():
        for dialog, rows in by_dialog.items():
            with_turn, without = ({trial for trial, turn, _ in rows if bool(turn) == has} for has in (1, 0))
            if with_turn & without:
                problems.add("some rows have a turn and others none", session=dialog)
    return cells


def _report_unknown(
    entries: Sequence[Entry],
    systems: Iterable[str],
    dialogs: Iterable[str],
    expected: str,
    problems: Problems,
) -> None:
    """Report names that the study does not have: a misspelt one would be ignored in silence."""
    lines = {kind: {getattr(row, kind): row.line for row in entries[::-1]} for kind in ("system", "dialog")}
    for kind, listed in (("system", {*systems}), ("dialog", {*dialogs})):
        unknown = [name for name in reversed(lines[kind]) if name and name not in listed]
        if unknown:
            n = len(unknown)
            first = ", ".join(map(repr, unknown[:SHOWN_NAMES]))
            more = f" and {n - SHOWN_NAMES:,} more" if n > SHOWN_NAMES else ""
            counted = f"1 {kind} is" if n == 1 else f"{n:,} {kind}s are"
            hint = did_you_mean(unknown[0], listed, limit=SHOWN_NAMES)
            message = f"line {lines[kind][unknown[0]]}: {counted} not in the study: {first}{more}; {hint}"
            problems.add(message, expected=expected)


def _trial_means(rows: Mapping[Place, Numbers]) -> Floats:
    """(n_trials, n_names): of every trial the mean over the raters of each turn, then over the turns."""
    trials: dict[str, dict[str, list[Numbers]]] = {}
    for (trial, turn, _), numbers in rows.items():
        trials.setdefault(trial, {}).setdefault(turn, []).append(numbers)
    return np.array([_mean([_mean(raters) for raters in turns.values()]) for turns in trials.values()])


def _mean(numbers: Sequence[Numbers]) -> Numbers:
    """The mean of each column; of a single row that row, to the last digit."""
    return tuple(sum(column) / len(column) for column in zip(*numbers, strict=True))


def _of_dialogs(
    columns: Roles,
    dataset: str,
    system: str,
    by_dialog: Mapping[str, Mapping[Place, Numbers]],
    ids: Sequence[str],
    problems: Problems,
) -> list[Outcome]:
    """The outcomes of a system by its dialogs; none where any of them lacks rows."""
    for dialog in ids:
        if dialog not in by_dialog:
            problems.add(f"system {system!r} has no outcome", session=dialog)
    means = {dialog: _trial_means(by_dialog[dialog]) for dialog in ids if dialog in by_dialog}
    usual = max(map(len, means.values()), default=1)
    for dialog, trials in means.items():
        if len(trials) != usual:
            message = f"system {system!r} has another number of trials here than elsewhere"
            problems.add(message, session=dialog, expected=f"{usual} trials", found=str(len(trials)))
    if len(means) < len(ids) or any(len(trials) != usual for trials in means.values()):
        return []
    every_trial = np.stack(list(means.values()), axis=1)
    outcomes = []
    for number, name in enumerate(columns.names):
        values = every_trial[:, :, number]
        # Of one trial its own values, to the last digit.
        rates = {name: values[0] if usual == 1 else np.asarray(values.mean(axis=0))}
        for k in columns.pass_k:
            passed = pass_power_k(values, k, name, system, problems)
            rates |= {} if passed is None else {f"{name}.pass{k}": passed}
        noise = noise_of_trials(values) if columns.trial else {}
        outcomes += [
            Outcome(
                system,
                dataset,
                title,
                float(rate.mean()),
                (rate - rate.mean()) / len(rate),
                noise if title == name else {},
            )
            for title, rate in rates.items()
        ]
    return outcomes


def pass_power_k(trials: Floats, k: int, name: str, system: str, problems: Problems) -> Floats | None:
    """(n_dialogs,) the chance that k trials of a dialog all succeed, C(c, k) / C(n, k) (Yao et al. 2024).

    trials (n_trials, n_dialogs) are 0 or 1.
    """
    n_trials = len(trials)
    if not np.isin(trials, (0.0, 1.0)).all():
        problems.add(f"outcomes.pass_k: {name} of {system!r} is not always 0 or 1")
        return None
    if k > n_trials:
        problems.add(
            f"outcomes.pass_k: {system!r} has too few trials", expected=f"at least {k}", found=str(n_trials)
        )
        return None
    return np.array([comb(int(c), k) / comb(n_trials, k) for c in trials.sum(axis=0).tolist()])


def noise_of_trials(trials: Floats) -> dict[str, float]:
    """How much of an outcome is chance: trials (n_trials, n_dialogs) of the same dialogs.

    noise: the standard error of the system's mean that the trials alone leave, s^2 / (n_trials n_dialogs): no
    difference between systems below it means anything.   disagreement: the share of the variance between
    single trials that is within dialogs; the best correlation that anything can have with a single trial's
    outcome, dialog by dialog, is the root of 1 less it.
    """
    n_trials, n_dialogs = trials.shape
    if n_trials < 2:
        return {"trials": float(n_trials)}
    within = float(trials.var(axis=0, ddof=1).mean())
    total = float(trials.var(ddof=1)) if trials.size > 1 else 0.0
    return {
        "trials": float(n_trials),
        "trial_noise": float(np.sqrt(within / (n_trials * n_dialogs))),
        "trial_disagreement": min(1.0, within / total) if total > 0 else 0.0,
    }


def read_scores(
    path: str, columns: Roles, turns: Mapping[str, Mapping[str, int]], dialogs: Sequence[str]
) -> dict[str, tuple[Floats, Floats]]:
    """By system, the sums (n_names, n_dialogs) of its scores of each dialog, and how many there are.

    turns: how many turns each dialog of each system has.   dialogs: those of the study.
    Every hole and every bad row is reported.
    """
    problems = Problems(path)
    entries = read_entries(path, columns, problems)
    by_cell = _by_cell(entries, [""], problems)
    _report_unknown(entries, turns, set().union(*turns.values()), "the study's own", problems)
    scores = {}
    for system, lengths in turns.items():
        by_dialog = by_cell.get(("", system), {})
        sums, counts, holes = [], [], []
        for dialog in dialogs:
            wanted = [str(turn) for turn in range(lengths[dialog])] if columns.turn else [""]
            rows = {turn: numbers for (_, turn, _), numbers in by_dialog.get(dialog, {}).items()}
            for turn in rows.keys() - set(wanted):
                message, expected = "the dialog has no such turn", f"0 to {lengths[dialog] - 1}"
                problems.add(message, session=dialog, expected=expected, found=repr(turn[:40]))
            holes += [(dialog, turn) for turn in wanted if turn not in rows]
            sums.append(np.sum([rows[turn] for turn in wanted if turn in rows], axis=0))
            counts.append(float(len(wanted)))
        for dialog, turn in holes[:SHOWN_HOLES]:
            place = {"session": dialog, "turn": int(turn) if turn else None}
            problems.add(f"system {system!r} has no scores", **place)
        if len(holes) > SHOWN_HOLES:
            problems.add(f"system {system!r} has no scores in {len(holes) - SHOWN_HOLES:,} further places")
        if not holes:
            scores[system] = np.array(sums).T, np.array(counts)
    problems.raise_errors()
    return scores
