"""The log files of DSTC1 and DSTC2: system acts, recogniser hypotheses, and logged decisions, in columns.

A turn's output may contain `"propensities": {"confirm": 0.87, "request": 0.13}`, by predicates of the domain;
those left out are 0. It may contain `"possible": ["confirm", "request"]`, what could be done at all: policies
choose among these, there as in live play; without it, everything was possible. Propensities are probabilities
that sum to 1, and that of what was done is above 0.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, offsets_from_lengths
from extrinsic.corpus.acts import Acts, NBest, Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import CALLER, ENDED_BY, SYSTEM, Domain, EndedBy
from extrinsic.corpus.formats.field_checks import Checker
from extrinsic.corpus.mentions import predicate_of_turns
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


SOURCES = ("live", "batch")

Scalar = str | int | float | None


class WrittenAct(msgspec.Struct, gc=False):
    act: str
    slots: list[tuple[str, Scalar]]


class WrittenHypothesis(msgspec.Struct, gc=False, rename="kebab"):
    slu_hyp: list[WrittenAct]
    score: float


class WrittenList(msgspec.Struct, gc=False, rename="kebab"):
    slu_hyps: list[WrittenHypothesis]


class WrittenInput(msgspec.Struct, gc=False):
    live: WrittenList | None = None
    batch: WrittenList | None = None


class WrittenOutput(msgspec.Struct, gc=False, rename="kebab"):
    dialog_acts: list[WrittenAct] = []
    propensities: dict[str, float] | None = None
    possible: Annotated[list[str], msgspec.Meta(min_length=1)] | None = None


class LogTurn(msgspec.Struct, gc=False, rename="kebab"):
    output: WrittenOutput
    input: WrittenInput
    turn_index: int
    restart: bool = False


class Log(msgspec.Struct, gc=False, rename="kebab"):
    session_id: str
    turns: Annotated[list[LogTurn], msgspec.Meta(min_length=1)]
    outcomes: dict[str, float] | None = None


def columns_of_acts(owners: Sequence[Sequence[WrittenAct]], vocabulary: Vocabulary) -> Acts:
    """The acts of each owner as files write them -> columns."""
    acts = list(chain.from_iterable(owners))
    pairs_of_acts = [act.slots for act in acts]
    pairs = list(chain.from_iterable(pairs_of_acts))
    return Acts(
        offsets_from_lengths(list(map(len, owners))),
        vocabulary.ids([act.act for act in acts]),
        offsets_from_lengths(list(map(len, pairs_of_acts))),
        vocabulary.ids([slot for slot, _ in pairs]),
        vocabulary.ids([value for _, value in pairs]),
    )


def columns_of_logs(
    logs: Sequence[Log], files: Sequence[str], vocabulary: Vocabulary, domain: Domain
) -> dict[str, Any]:
    """The fields of Corpus that come from the logs; files: the name of each, for messages."""
    turns = list(chain.from_iterable(log.turns for log in logs))
    outcomes = [log.outcomes or {} for log in logs]
    lists = [
        [written.slu_hyps if written else [] for written in (turn.input.live, turn.input.batch)]
        for turn in turns
    ]
    hypotheses = [hypothesis for live, batch in lists for hypothesis in chain(live, batch)]
    counts = np.array([(len(live), len(batch)) for live, batch in lists]).reshape(-1, 2)
    system = columns_of_acts([turn.output.dialog_acts for turn in turns], vocabulary)
    places = [
        (log.session_id, file, number)
        for log, file in zip(logs, files, strict=True)
        for number in range(len(log.turns))
    ]
    problems = Problems()
    propensities = propensity_columns(
        places,
        [turn.output.propensities for turn in turns],
        domain,
        lambda: predicate_of_turns(domain, system, vocabulary).tolist(),
        problems,
    )
    possible = possible_columns(places, [turn.output.possible for turn in turns], domain, problems)
    problems.raise_errors()
    return {
        "sessions": tuple(log.session_id for log in logs),
        "offsets": offsets_from_lengths([len(log.turns) for log in logs]),
        "restart": np.array([turn.restart for turn in turns], dtype=bool),
        "propensities": propensities,
        "possible": possible,
        "outcomes": {
            name: tuple(of_log.get(name, np.nan) for of_log in outcomes)
            for name in dict.fromkeys(chain.from_iterable(outcomes))
        },
        "system": system,
        "nbest": NBest(
            offsets_from_lengths(counts.sum(axis=1)),
            np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64),
            np.repeat(np.tile([False, True], len(lists)), counts.ravel()),
            columns_of_acts([hypothesis.slu_hyp for hypothesis in hypotheses], vocabulary),
        ),
    }


def conditions_of_log(value: Any, keys: list[str]) -> list[str | None]:
    """What the log has at dotted keys such as `system-specific.dialog-manager`, as text."""
    fields = [field_of_log(value, key) for key in keys]
    return [None if field is None or isinstance(field, dict | list) else str(field) for field in fields]


def field_of_log(value: Any, key: str) -> Any:
    """What the log has at a dotted key; a number is a position in a list. None where there is nothing."""
    part = value
    for name in key.split("."):
        if isinstance(part, dict):
            part = part.get(name)
        elif isinstance(part, list) and name.lstrip("-").isdigit():
            part = part[int(name)] if -len(part) <= int(name) < len(part) else None
        else:
            return None
    return part


def ended_by(value: Any, rule: EndedBy | None) -> str | None:
    """SYSTEM or CALLER, by the field of a log that says who ended the call; None where it is missing."""
    field = None if rule is None else field_of_log(value, rule.key)
    if rule is None or field is None:
        return None
    texts = [str(part) for part in field] if isinstance(field, list) else [str(field)]
    return SYSTEM if any(text in rule.system for text in texts) else CALLER


def _put(log: dict[str, Any], key: str, value: Any) -> None:
    """Put a value where `field_of_log` reads it from."""
    *folders, last = key.split(".")
    part: Any = log
    for name in folders:
        part = part[int(name)] if isinstance(part, list) else part.setdefault(name, {})
    part[last] = value


def write_log(corpus: Corpus, dialog: int) -> dict[str, Any]:
    """The log of a dialog as JSON, with the conditions at their keys."""
    log: dict[str, Any] = {"session-id": corpus.sessions[dialog]}
    for condition in corpus.domain.conditions:
        value = corpus.conditions.get(condition.name, (None,) * corpus.n_dialogs)[dialog]
        if value is not None:
            _put(log, condition.key, value)
    begin, end = corpus.offsets[dialog], corpus.offsets[dialog + 1]
    log["turns"] = [_write_turn(corpus, turn, turn - begin) for turn in range(begin, end)]
    outcomes = {name: values[dialog] for name, values in corpus.outcomes.items()}
    if not all(map(np.isnan, outcomes.values())):
        log["outcomes"] = {name: value for name, value in outcomes.items() if not np.isnan(value)}
    who = corpus.conditions.get(ENDED_BY, (None,) * corpus.n_dialogs)[dialog]
    rule = corpus.domain.ended_by
    if rule is not None and who is not None:
        _put(log, rule.key, [rule.system[0]] if who == SYSTEM else [])
    return log


def _write_turn(corpus: Corpus, turn: int, number: int) -> dict[str, Any]:
    nbest = corpus.nbest
    lists: dict[str, Any] = {"live": {"slu-hyps": []}}
    for hypothesis in range(nbest.offsets[turn], nbest.offsets[turn + 1]):
        source = SOURCES[int(nbest.batch[hypothesis])]
        entry = {
            "slu-hyp": write_acts(corpus.vocabulary, nbest.acts, hypothesis),
            "score": float(nbest.score[hypothesis]),
        }
        lists.setdefault(source, {"slu-hyps": []})["slu-hyps"].append(entry)
    return {
        "turn-index": int(number),
        "restart": bool(corpus.restart[turn]),
        "output": {
            "dialog-acts": write_acts(corpus.vocabulary, corpus.system, turn),
            **write_decision(corpus, turn),
        },
        "input": lists,
    }


def write_acts(vocabulary: Vocabulary, acts: Acts, owner: int) -> list[dict[str, Any]]:
    """The acts of one owner as JSON."""
    written = []
    for act in range(acts.offsets[owner], acts.offsets[owner + 1]):
        pairs = range(acts.pair_offsets[act], acts.pair_offsets[act + 1])
        written.append(
            {
                "act": vocabulary.value(int(acts.name[act])),
                "slots": [
                    [vocabulary.value(int(acts.slot[p])), vocabulary.value(int(acts.value[p]))] for p in pairs
                ],
            }
        )
    return written
