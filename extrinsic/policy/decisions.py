"""The decisions of a corpus: which turns they are, in what order, and what was observed before them."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, UsageError
from extrinsic.policy.observations import BEFORE, Observations, observations_of_corpus
from extrinsic.policy.reward import is_decision


def decision_turns(corpus: Corpus) -> Ints:
    """The turns that are decisions, in the order of the transitions made of them."""
    return _in_canonical_order(corpus, np.flatnonzero(is_decision(corpus)))


def decision_observations(corpus: Corpus, output: TrackerOutput) -> Observations:
    """The observations before every decision of a corpus, in the order of its transitions."""
    turns = decision_turns(corpus)
    seen = np.where(corpus.turn_in_dialog[turns] == 0, BEFORE, turns - 1)
    return observations_of_corpus(corpus, output, seen, corpus.dialog_of_turn[turns])


def require_predicates(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError unless there are decisions and each has a predicate."""
    unmapped = np.flatnonzero(decides & (corpus.predicate < 0))
    if len(unmapped):
        raise InputError(_unmapped_problems(corpus, unmapped))
    if not decides.any():
        raise UsageError(f"the corpus {corpus.dataset!r} has no decisions: every system turn is a greeting")


def require_possible(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError where the log says that what was done was not possible."""
    if corpus.possible is None:
        return
    turns = np.flatnonzero(decides)
    names = corpus.domain.predicate_names
    impossible = turns[~corpus.possible[turns, corpus.predicate[turns]]]
    problems = [
        Problem(
            "what the system did is not among what the log calls possible",
            session=corpus.sessions[corpus.dialog_of_turn[turn]],
            turn=int(corpus.turn_in_dialog[turn]),
            expected=", ".join(names[column] for column in np.flatnonzero(corpus.possible[turn])),
            found=names[corpus.predicate[turn]],
        )
        for turn in impossible
    ]
    if problems:
        raise InputError(problems)


def _unmapped_problems(corpus: Corpus, turns: Ints) -> list[Problem]:
    acts = corpus.system
    kinds: dict[str, list[int]] = {}
    for turn in turns.tolist():
        names = acts.name[acts.offsets[turn] : acts.offsets[turn + 1]]
        kinds.setdefault(" + ".join(corpus.vocabulary.text(int(name)) for name in names), []).append(turn)
    problems = []
    for kind, rows in sorted(kinds.items(), key=lambda entry: -len(entry[1])):
        dialog = int(corpus.dialog_of_turn[rows[0]])
        problems.append(
            Problem(
                f"{len(rows):,} system turns with acts that {corpus.domain.name!r} maps to no predicate",
                session=corpus.sessions[dialog],
                turn=int(rows[0] - corpus.offsets[dialog]),
                expected=f"acts of {', '.join(corpus.domain.predicate_names)}",
                found=kind or "no acts at all",
            )
        )
    return problems


def _in_canonical_order(corpus: Corpus, turns: Ints) -> Ints:
    """Sorted by session id: sparsification depends on order, and a file's order must not matter."""
    rank = np.empty(corpus.n_dialogs, dtype=np.int64)
    rank[np.argsort(corpus.sessions, kind="stable")] = np.arange(corpus.n_dialogs)
    return turns[np.lexsort((turns, rank[corpus.dialog_of_turn[turns]]))]
