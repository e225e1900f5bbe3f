"""Own logs (JSON lines) as a corpus: N-best lists and labels, so that trackers run on them."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.corpus.acts import NONE, Acts, NBest, Vocabulary
from extrinsic.corpus.conventions import JSONL
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import DIRECTORY, Domain
from extrinsic.corpus.formats.log_lines import (
    Labels,
    LogLines,
    log_files,
    read_lines,
)
from extrinsic.corpus.formats.logs import (
    columns_of_acts,
    possible_columns,
    propensity_columns,
)
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.mentions import predicate_of_turns
from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import content_hash

INSTEAD = (
    "a corpus needs N-best lists and labels; a log of states and rewards is read by "
    "extrinsic.read_transitions"
)
NO_LABELS = (
    "without labels nothing says what the caller wanted, so no tracker can be scored on this log; with "
    "states and rewards it could be read by extrinsic.read_transitions"
)


def read_corpus(path: str | Path, dataset: str | None, domain: Domain) -> Corpus:
    """Read the log `<dataset>.jsonl` of a folder, or a log itself."""
    name, file = _find(path, dataset)
    log = read_lines(file)
    signature = content_hash(JSONL.name, name, repr(domain), log.data)
    problems = Problems(log.path)
    log.require(("system", "nbest"), problems, INSTEAD)
    log.require(("labels",), problems, NO_LABELS)
    problems.raise_errors()
    vocabulary = Vocabulary()
    system = columns_of_acts([line.system or [] for line in log.lines], vocabulary)
    predicate = predicate_of_turns(domain, system, vocabulary).astype(np.int64)
    _check_actions(log, domain, predicate.tolist(), problems)
    propensities = _propensities(log, domain, predicate, problems)
    possible = _possible(log, domain, predicate, problems)
    rewards = _rewards(log, problems)
    requestable = tuple(sorted({slot for line in log.lines for slot in _labels(line).requested}))
    labels = _goal_labels(log, domain, requestable, vocabulary, problems)
    outcomes, conditions = _of_dialogs(log, problems)
    problems.raise_errors()
    nbest = [line.nbest or [] for line in log.lines]
    hypotheses = list(chain.from_iterable(nbest))
    sessions = tuple(log.lines[begin].dialog for begin in log.offsets[:-1].tolist())
    return Corpus(
        dataset=name,
        format=JSONL.name,
        conventions=JSONL,
        domain=domain,
        slots=domain.slot_names,
        requestable=requestable,
        vocabulary=vocabulary,
        sessions=sessions,
        directories=sessions,
        offsets=log.offsets,
        restart=np.array([line.restart for line in log.lines], dtype=bool),
        system=system,
        nbest=NBest(
            offsets_from_lengths(list(map(len, nbest))),
            np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64),
            np.zeros(len(hypotheses), dtype=bool),
            columns_of_acts([hypothesis.acts for hypothesis in hypotheses], vocabulary),
        ),
        labels=labels,
        conditions={DIRECTORY: (name,) * len(sessions), **conditions},
        outcomes=outcomes,
        propensities=propensities,
        possible=possible,
        rewards=rewards,
        signature=signature,
    )


def _find(path: str | Path, dataset: str | None) -> tuple[str, Path]:
    files = log_files(path)
    if not files:
        raise InputError("there is no log in this folder", path=str(path), expected="<dataset>.jsonl")
    if dataset is None and len(files) > 1:
        raise InputError("there are several logs; choose one", path=str(path), found=", ".join(files))
    name = dataset or next(iter(files))
    if name not in files:
        raise InputError(f"there is no log {name!r}; {did_you_mean(name, files)}", path=str(path))
    return name, files[name]


def _labels(line: Any) -> Labels:
    """The labels of a line that has them."""
    labels: Labels = line.labels
    return labels


def _check_actions(log: LogLines, domain: Domain, predicate: list[int], problems: Problems) -> None:
    """An action that the line names must be the one that the domain's rules make of its acts."""
    names = (*domain.predicate_names, "none of them")
    for row, line in enumerate(log.lines):
        if line.action is not None and line.action != names[predicate[row]]:
            log.checker(problems, row).report(
                f"the acts of the turn are another action by the rules of {domain.name!r}",
                expected=repr(line.action),
                found=repr(names[predicate[row]]),
            )


def _propensities(log: LogLines, domain: Domain, predicate: Ints, problems: Problems) -> Floats | None:
    """(n, n_predicates) with NaN where not logged; where any are, every decision needs a usable one."""
    if not log.fields & {"propensity", "propensities"}:
        return None
    names, acts = domain.predicate_names, predicate.tolist()
    table = propensity_columns(
        log.places(), [line.propensities for line in log.lines], domain, lambda: acts, problems
    )
    if table is None:
        table = np.full((len(log.lines), len(names)), np.nan)
    for row, line in enumerate(log.lines):
        if line.propensities is not None or acts[row] < 0:
            continue
        if line.propensity is not None:
            table[row, acts[row]] = line.propensity
        taken = table[row, acts[row]]
        if not 0.0 < taken <= 1.0 and names[acts[row]] not in domain.greeting:
            log.checker(problems, row).report(
                f"the propensity of the action taken, {names[acts[row]]!r}, cannot be used",
                expected="above 0, at most 1, at every decision or at none",
                found="nothing" if np.isnan(taken) else f"{taken:g}",
            )
    return table


def _possible(log: LogLines, domain: Domain, predicate: Ints, problems: Problems) -> Bools | None:
    """(n, n_predicates); everything is possible at a turn that does not say."""
    if "possible" not in log.fields:
        return None
    names = domain.predicate_names
    written = [line.possible for line in log.lines]
    table = possible_columns(log.places(), written, domain, problems)
    for row, (possible, act) in enumerate(zip(written, predicate.tolist(), strict=True)):
        if possible is not None and act >= 0 and names[act] not in possible:
            log.checker(problems, row).report(
                "the action taken was not possible", expected=", ".join(possible), found=names[act]
            )
    return np.ones((len(written), len(names)), dtype=bool) if table is None else table


def _rewards(log: LogLines, problems: Problems) -> Floats | None:
    if "reward" not in log.fields:
        return None
    for row in log.missing("reward"):
        log.checker(problems, row).report("the reward is missing", expected="one at every turn, or at none")
    return np.array([np.nan if line.reward is None else line.reward for line in log.lines])


def _goal_labels(
    log: LogLines, domain: Domain, requestable: tuple[str, ...], vocabulary: Vocabulary, problems: Problems
) -> GoalLabels:
    column = {slot: number for number, slot in enumerate(domain.slot_names)}
    simple = {slot: number for slot, number in column.items() if slot not in domain.compound_slots}
    request = {slot: number for number, slot in enumerate(requestable)}
    goal = np.full((len(log.lines), len(column)), NONE, dtype=np.int32)
    requested = np.zeros((len(log.lines), len(requestable)), dtype=bool)
    for row, line in enumerate(log.lines):
        labels = _labels(line)
        for slot, value in labels.goal.items():
            if slot in simple:
                goal[row, simple[slot]] = vocabulary.id(value)
                continue
            checker = log.checker(problems, row).at(slot=slot)
            if slot in domain.compound_slots:
                checker.report("the value of this slot has parts, which a log of lines cannot label")
            else:
                checker.known(slot, column, "slot in 'goal'")
        for slot in labels.requested:
            requested[row, request[slot]] = True
    methods = [_labels(line).method for line in log.lines]
    has_methods = any(method is not None for method in methods)
    for row, written in enumerate(methods) if has_methods else ():
        if written is None:
            log.checker(problems, row).report("the label of the method is missing", expected="all, or none")
    method = vocabulary.ids(methods)
    said: Acts = columns_of_acts([_labels(line).said for line in log.lines], vocabulary)
    return GoalLabels(goal, requested, method, said)


def _of_dialogs(
    log: LogLines, problems: Problems
) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[str | None, ...]]]:
    """The outcomes at the last line of every dialog, and the conditions at its first."""
    outcomes = [log.lines[row].outcome or {} for row in log.last]
    conditions = [log.lines[row].conditions or {} for row in log.offsets[:-1].tolist()]
    for row, of_dialog in zip(log.offsets[:-1].tolist(), conditions, strict=True):
        if DIRECTORY in of_dialog:
            log.checker(problems, row).report(f"the condition {DIRECTORY!r} is the log's own name")
    return (
        {
            name: tuple(float(outcome.get(name, np.nan)) for outcome in outcomes)
            for name in dict.fromkeys(chain.from_iterable(outcomes))
        },
        {
            name: tuple(of_dialog.get(name) for of_dialog in conditions)
            for name in dict.fromkeys(chain.from_iterable(conditions))
        },
    )
