"""Outcomes of dialogs from a user's own table: success, ratings, one number per system, dialog or trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import comb, inf

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.csv_files import CsvRow, read_csv, report_number
from extrinsic.errors import Problems, did_you_mean
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.configuration.settings import OutcomesTable
from extrinsic.study.planning.plan import Keys, Plan
from extrinsic.study.stages.policy_spec import PolicyValue, PolicyValues
from extrinsic.study.stages.store import Result, StageKey
from extrinsic.study.stages.task import encoded
from extrinsic.study.stages.versions import code_version

OUTCOME = "outcome"
"""In place of a policy: an outcome from the user's own file."""

Cell = tuple[str, str]
SHOWN_NAMES = 5


def outcome_results(
    table: OutcomesTable, plan: Plan, dialogs: Mapping[str, Sequence[str]], others: Iterable[str] = ()
) -> tuple[Keys, dict[StageKey, bytes]]:
    """The outcomes of every tracker as a result that can be stored: their keys, and their bytes.

    others: dialogs that may have outcomes although the study leaves them out.
    """
    assert table.file is not None
    values = read_outcomes(table, plan.tracker_names, dialogs, others)
    keys: Keys = {}
    stored: dict[StageKey, bytes] = {}
    for tracker in plan.tracker_names:
        parts = (plan.inputs[table.file], encoded(table), tracker, encode_json(dialogs))
        key = StageKey("outcomes", content_hash("outcomes", code_version(__name__), *parts))
        outcomes = [outcome for outcome in values if outcome.system == tracker]
        influences = {f"influence{number}": outcome.influence for number, outcome in enumerate(outcomes)}
        result = Result(PolicyValues(tuple(outcome.value for outcome in outcomes), {}), influences)
        keys[tracker], stored[key] = (key,), result.encode(key)
    return keys, stored


@dataclass(frozen=True, eq=False)
class Outcome:
    """An outcome of a system on a dataset, with the influence (n_dialogs,) of every dialog."""

    system: str
    value: PolicyValue
    influence: Floats


@dataclass
class _Given:
    """The rows of one dialog: by trial, turn and rater, the outcomes in order."""

    trials: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)

    def means(self) -> Floats:
        """(n_trials, n_names): of every trial the mean over the raters of each turn, then over the turns."""
        by_trial = [
            [_mean(list(raters.values())) for raters in turns.values()] for turns in self.trials.values()
        ]
        return np.array([_mean(of_turns) for of_turns in by_trial])


def read_outcomes(
    table: OutcomesTable,
    systems: Sequence[str],
    dialogs: Mapping[str, Sequence[str]],
    others: Iterable[str] = (),
) -> list[Outcome]:
    """The targets `outcome.<name>` of every dataset and system; dialogs: the ids of each dataset's dialogs.

    Every problem is reported: missing columns, rows that do not fit, unknown and missing systems and dialogs,
    cells that are not numbers, trials that differ in number.
    """
    assert table.file is not None
    problems = Problems(table.file)
    used = (table.system, table.dialog, table.dataset, table.rater, table.turn, table.trial, *table.names)
    if (table.rater or table.turn or table.trial) and not table.dialog:
        problems.add("ratings and trials are of dialogs or their turns", expected='outcomes.dialog = "..."')
    rows = read_csv(table.file, [column for column in used if column], problems)
    problems.raise_errors()
    numbers = _numbers(table, rows, list(dialogs), problems)
    if table.unknown == "error":
        _report_unknown(table, rows, systems, {*others}.union(*dialogs.values()), problems)
    outcomes: list[Outcome] = []
    for dataset, ids in dialogs.items():
        for system in systems:
            by_dialog = numbers.get((dataset, system))
            if by_dialog is None:
                listed = sorted({name for _, name in numbers})
                problems.add(f"no row of system {system!r} on {dataset}; {did_you_mean(system, listed)}")
                continue
            outcomes += _outcomes(table, dataset, system, by_dialog, ids, problems)
    problems.raise_errors()
    return outcomes


def _report_unknown(
    table: OutcomesTable,
    rows: Sequence[CsvRow],
    systems: Sequence[str],
    dialogs: set[str],
    problems: Problems,
) -> None:
    """Report systems and dialogs that the study does not have: a misspelt one would be ignored in silence."""
    kinds = [("systems", table.system, set(systems))]
    if table.dialog:
        kinds.append(("dialogs", table.dialog, dialogs))
    for what, column, listed in kinds:
        given = dict.fromkeys(row[column] for row in rows if row[column])
        unknown = [name for name in given if name not in listed]
        if unknown:
            n = len(unknown)
            first = ", ".join(map(repr, unknown[:SHOWN_NAMES]))
            more = f" and {n - SHOWN_NAMES:,} more" if n > SHOWN_NAMES else ""
            counted = f"1 {what.removesuffix('s')} is" if n == 1 else f"{n:,} {what} are"
            hint = did_you_mean(unknown[0], listed, limit=SHOWN_NAMES)
            expected = 'the study\'s own, or outcomes.unknown = "ignore"'
            problems.add(f"{counted} not in the study: {first}{more}; {hint}", expected=expected)


def _numbers(
    table: OutcomesTable, rows: Sequence[CsvRow], datasets: Sequence[str], problems: Problems
) -> dict[Cell, dict[str, _Given]]:
    """By (dataset, system), by dialog id ("" for whole systems), what its rows give."""
    given: dict[Cell, dict[str, _Given]] = {}
    low, high = table.scale or (-inf, inf)
    for row in rows:
        numbers = []
        for name in table.names:
            number = report_number(problems, row, name)
            if number is not None and not low <= number <= high:
                scale = f"{low:g} to {high:g}"
                problems.add(f"line {row.line}: {name} is off the scale", expected=scale, found=row[name])
            numbers.append(np.nan if number is None else number)
        if not row[table.system]:
            problems.add(f"line {row.line}: the row has no system")
            continue
        turn, rater, trial = (
            row[column] if column else "" for column in (table.turn, table.rater, table.trial)
        )
        dialog = row[table.dialog] if table.dialog else ""
        if table.dialog and not dialog:
            problems.add(f"line {row.line}: the row has no dialog")
        for dataset in [row[table.dataset]] if table.dataset else datasets:
            entry = given.setdefault((dataset, row[table.system]), {}).setdefault(dialog, _Given())
            by_rater = entry.trials.setdefault(trial, {}).setdefault(turn, {})
            second = f"line {row.line}: {row[table.system]} has a second row"
            if rater in by_rater and dialog:
                problems.add(f"{second} by {rater!r}" if rater else second, session=dialog)
            elif rater in by_rater:
                problems.add(f"{second}; name the column of dialogs", expected='outcomes.dialog = "..."')
            by_rater[rater] = numbers
    for by_dialog in given.values():
        for dialog, entry in by_dialog.items():
            if any("" in turns and len(turns) > 1 for turns in entry.trials.values()):
                problems.add("some rows have a turn and others none", session=dialog)
    return given


def _mean(numbers: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each outcome; of a single row that row, to the last digit."""
    return [sum(column) / len(column) for column in zip(*numbers, strict=True)]


def _outcomes(
    table: OutcomesTable,
    dataset: str,
    system: str,
    by_dialog: Mapping[str, _Given],
    ids: Sequence[str],
    problems: Problems,
) -> list[Outcome]:
    if table.dialog is None:
        # An outcome of a whole system does not change with single dialogs: they have no influence.
        numbers = zip(table.names, by_dialog[""].means()[0].tolist(), strict=True)
        of_system = partial(PolicyValue, dataset=dataset, policy=OUTCOME, n=len(ids))
        none = np.zeros(len(ids))
        return [Outcome(system, of_system(estimator=name, mean=number), none) for name, number in numbers]
    missing = [dialog for dialog in ids if dialog not in by_dialog]
    for dialog in missing:
        problems.add(f"system {system!r} has no outcome", session=dialog)
    counts = {dialog: len(by_dialog[dialog].trials) for dialog in ids if dialog in by_dialog}
    usual = max(counts.values(), default=1)
    for dialog, count in counts.items():
        if count != usual:
            message = f"system {system!r} has another number of trials here than elsewhere"
            problems.add(message, session=dialog, expected=f"{usual} trials", found=str(count))
    if missing or len(set(counts.values())) > 1:
        return []
    trials = np.stack([by_dialog[dialog].means() for dialog in ids], axis=1)
    outcomes = []
    for number, name in enumerate(table.names):
        values = trials[:, :, number]
        diagnostics = noise_of_trials(values) if table.trial else {}
        outcomes.append(_of_dialogs(dataset, system, name, _rates(values), diagnostics))
        for k in table.pass_k:
            every = pass_power_k(values, k, name, system, problems)
            if every is not None:
                outcomes.append(_of_dialogs(dataset, system, f"{name}.pass{k}", every))
    return outcomes


def _rates(trials: Floats) -> Floats:
    """(n_dialogs,) the mean over trials (n_trials, n_dialogs); of one trial its own values."""
    return trials[0] if len(trials) == 1 else np.asarray(trials.mean(axis=0))


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


def _of_dialogs(
    dataset: str, system: str, name: str, values: Floats, diagnostics: dict[str, float] | None = None
) -> Outcome:
    n, mean = len(values), float(values.mean())
    value = PolicyValue(
        dataset=dataset, policy=OUTCOME, estimator=name, mean=mean, n=n, diagnostics=diagnostics or {}
    )
    return Outcome(system, value, (values - values.mean()) / n)
