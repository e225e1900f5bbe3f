"""A corpus of dialogs in columns; the turns of each dialog, and folds of dialogs by their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each, take_rows
from extrinsic.corpus.acts import Acts, NBest, Vocabulary
from extrinsic.corpus.conventions import Conventions
from extrinsic.corpus.domain import ENDED_BY, SYSTEM, Domain
from extrinsic.corpus.evidence import Evidence, gather_evidence
from extrinsic.corpus.history import History, history_of_turns
from extrinsic.corpus.labels import GoalLabels, LabelEvents, Truth
from extrinsic.corpus.mentions import predicate_of_turns, turns_with
from extrinsic.errors import Problem, UsageError, did_you_mean, shown
from extrinsic.storage import content_hash


class DialogTurns:
    """Base of everything that has turns in dialogs: offsets (n_dialogs + 1,) delimit the turns of each."""

    offsets: Ints

    def __getstate__(self) -> dict[str, Any]:
        """The fields without cached properties, so that equal content pickles to equal bytes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def n_dialogs(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_turns(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def dialog_of_turn(self) -> Ints:
        """(n_turns,)"""
        return row_of_each(self.offsets)

    @cached_property
    def turn_in_dialog(self) -> Ints:
        """(n_turns,) 0, 1, 2, ... within each dialog."""
        return np.arange(self.n_turns) - self.offsets[self.dialog_of_turn]


class ReadDialogs(DialogTurns):
    """Base of what is read from files; signature: a hash of the bytes it was read from."""

    signature: str

    def taken(
        self, dialogs: Ints | list[int], of_dialogs: Sequence[str], of_turns: Sequence[str], **others: Any
    ) -> Self:
        """The chosen dialogs, in the order given; of_dialogs, of_turns: the fields with one row for each."""
        chosen = np.asarray(dialogs, dtype=np.int64)
        offsets, turns = take_rows(self.offsets, chosen)
        fields: dict[str, Any] = {name: getattr(self, name) for name in (*of_dialogs, *of_turns)}
        for name, rows in fields.items():
            if name in of_dialogs:
                fields[name] = tuple(rows[dialog] for dialog in chosen)
            elif rows is not None:
                fields[name] = rows[turns] if isinstance(rows, np.ndarray) else rows.take(turns)
        signature = content_hash(self.signature, chosen.tobytes())
        return replace(self, offsets=offsets, signature=signature, **fields, **others)  # type: ignore[type-var]


def fold_of_sessions(sessions: Sequence[str], n_folds: int, seed: int = 0) -> Ints:
    """(n_dialogs,) the fold of each of these sessions, sizes differing by at most one."""
    if len(sessions) < 2:
        raise UsageError(
            "what learns from dialogs needs at least two, to be cross-fitted", found=str(len(sessions))
        )
    if not 2 <= n_folds <= len(sessions):
        raise UsageError(
            "the number of folds must lie between 2 and the number of dialogs",
            expected=f"2 to {len(sessions)}",
            found=str(n_folds),
        )
    folds = np.empty(len(sessions), dtype=np.int64)
    folds[ranked_sessions(sessions, seed)] = np.arange(len(sessions)) % n_folds
    return folds


def ranked_sessions(sessions: Sequence[str], seed: int) -> list[int]:
    """The dialogs in an order that depends only on the seed and their ids."""

    def draw(dialog: int) -> bytes:
        return hashlib.sha256(f"{seed}/{sessions[dialog]}".encode()).digest()

    return sorted(range(len(sessions)), key=draw)


@dataclass(frozen=True, eq=False)
class Corpus(ReadDialogs):
    """Dialogs, their turns, system acts, recognised user acts, and labels.

    dataset:    the name of the list of sessions.   format: the name of its file format.
    conventions: how it is ranked, tracked and scored.
    slots:      what is tracked, in the order in which items of one turn come.
    requestable: what a caller may ask for (DSTC2), in order.
    sessions:   (n_dialogs) ids.   directories: the path of each below the root.
    offsets:    (n_dialogs + 1,) the turns of each dialog.
    restart:    (n_turns,) the system started over at this turn.
    conditions: per name one value a dialog.   outcomes: per name one number a dialog, NaN if unknown.
    propensities: (n_turns, n_predicates) how likely each act was, NaN where that was not logged.
    possible:   (n_turns, n_predicates) which acts the system could choose from, None if the log does not say.
    rewards:    (n_turns,) the reward that the log gives each turn, None if it gives none.
    ontology:   the challenge's own description of the task, where there is one (DSTC2).
    signature:  a hash of the bytes it was read from.   problems: what its reader found, none of it an error.
    """

    dataset: str
    format: str
    conventions: Conventions
    domain: Domain
    slots: tuple[str, ...]
    requestable: tuple[str, ...]
    vocabulary: Vocabulary
    sessions: tuple[str, ...]
    directories: tuple[str, ...]
    offsets: Ints
    restart: Bools
    system: Acts
    nbest: NBest
    labels: LabelEvents | GoalLabels
    conditions: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    outcomes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    propensities: Floats | None = None
    possible: Bools | None = None
    rewards: Floats | None = None
    ontology: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""
    problems: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        """Refuse columns that do not fit together: corpora are also made in memory, without a reader."""
        if not isinstance(self.conventions, Conventions):
            raise UsageError(
                "a corpus needs conventions", expected="a Conventions", found=shown(self.conventions)
            )
        lengths = {
            "sessions": len(self.sessions) == len(self.offsets) - 1,
            "directories": len(self.directories) == len(self.sessions),
            "offsets (every dialog needs a turn)": bool((np.diff(self.offsets) > 0).all()),
            "restart": len(self.restart) == self.n_turns,
            "system": len(self.system.offsets) == self.n_turns + 1,
            "nbest": len(self.nbest.offsets) == self.n_turns + 1,
            "labels": not isinstance(self.labels, GoalLabels) or len(self.labels.goal) == self.n_turns,
            **{
                name: table is None or table.shape == (self.n_turns, len(self.domain.predicate_names))
                for name, table in (("propensities", self.propensities), ("possible", self.possible))
            },
            "rewards": self.rewards is None or self.rewards.shape == (self.n_turns,),
            **{
                f"conditions[{name!r}]": len(values) == self.n_dialogs
                for name, values in self.conditions.items()
            },
            **{
                f"outcomes[{name!r}]": len(values) == self.n_dialogs for name, values in self.outcomes.items()
            },
        }
        wrong = [name for name, fits in lengths.items() if not fits]
        if wrong:
            raise UsageError(f"the columns of a corpus do not fit together: {', '.join(wrong)}")

    def __repr__(self) -> str:
        return f"<Corpus {self.dataset!r}: {self.n_dialogs:,} dialogs, {self.n_turns:,} turns>"

    @cached_property
    def segment_end(self) -> Ints:
        """(n_turns,) the turn (exclusive) where the dialog ends or the system starts over."""
        begins = self.restart.copy()
        begins[self.offsets[:-1]] = True
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], self.n_turns)
        return np.asarray(ends[np.cumsum(begins) - 1])

    @cached_property
    def truth(self) -> Truth:
        """What is right at each turn, by the labels as given (DSTC1 accumulates them)."""
        if isinstance(self.labels, GoalLabels):
            return self.labels.truth()
        return self.labels.truth(self.segment_end, len(self.slots))

    @cached_property
    def predicate(self) -> Ids:
        """(n_turns,) the action of each system turn, an index into domain.predicate_names; -1: unmapped."""
        return predicate_of_turns(self.domain, self.system, self.vocabulary)

    @cached_property
    def system_ended(self) -> Bools:
        """(n_dialogs,) whether the system ended the call: by the log's own field, else by its last act."""
        ends = [self.domain.predicate_names.index(name) for name in self.domain.end]
        by_act = np.isin(self.predicate[self.offsets[1:] - 1], ends)
        who = np.array(self.conditions.get(ENDED_BY, (None,) * self.n_dialogs), dtype=object)
        return np.where(who == None, by_act, who == SYSTEM)  # noqa: E711 - elementwise

    @cached_property
    def excluded(self) -> Bools:
        """(n_dialogs,) whether a study leaves the dialog out: by its acts, or by the log's restart flag."""
        turns = turns_with(self.domain.excluded, self.system, self.vocabulary)
        if self.domain.exclude_restarts:
            turns = turns | self.restart
        return np.logical_or.reduceat(turns, self.offsets[:-1])

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence of each turn about the values of each slot."""
        return gather_evidence(
            self.domain, self.slots, self.vocabulary, self.system, self.nbest, self.restart
        )

    @cached_property
    def history(self) -> History:
        """(n_turns,) the history of the dialog after each turn."""
        return history_of_turns(
            self.domain, self.offsets, self.predicate.astype(np.int64), self.system, self.evidence
        )

    def take(self, dialogs: Ints | list[int]) -> Corpus:
        """The chosen dialogs, in the order given."""
        return self.taken(
            dialogs,
            ("sessions", "directories"),
            ("restart", "system", "nbest", "labels", "propensities", "possible", "rewards"),
            conditions={name: tuple(values[i] for i in dialogs) for name, values in self.conditions.items()},
            outcomes={name: tuple(values[i] for i in dialogs) for name, values in self.outcomes.items()},
        )

    def place(self, turn: int) -> dict[str, Any]:
        """Session and number of a turn, for problems."""
        dialog = int(self.dialog_of_turn[turn])
        return {"session": self.sessions[dialog], "turn": int(turn - self.offsets[dialog])}

    def dialogs_by(self, condition: str) -> dict[str, Ints]:
        """The dialogs of each value of a condition, e.g. of each `directory` (the first part of the path)."""
        if condition not in self.conditions:
            raise UsageError(
                f"the corpus {self.dataset!r} has no condition {condition!r}; "
                f"{did_you_mean(condition, self.conditions)}"
            )
        values = self.conditions[condition]
        groups: dict[str, list[int]] = {}
        for dialog, value in enumerate(values):
            groups.setdefault(str(value), []).append(dialog)
        return {value: np.array(groups[value], dtype=np.int64) for value in sorted(groups)}
