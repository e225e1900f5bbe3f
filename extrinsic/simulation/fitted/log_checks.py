"""What a log must have for a world to be fitted to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.mentions import SlotNames
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import InputError, Problem, UsageError
from extrinsic.simulation.fitted.act_forms import PLAIN
from extrinsic.simulation.fitted.form_reading import roles_of_acts

WITHOUT_WORLD = "policies can still be learned, and valued by estimators that need no world"

MOSTLY = 0.5
"""A predicate has no rule if in a larger share of its turns only acts of unknown meaning name values."""


def require_logs(logs: Sequence[Corpus]) -> None:
    """Raise an error that names everything for which a world cannot be fitted to the logs."""
    if not logs:
        raise UsageError("there are no logs to fit a world to", expected="at least one corpus")
    last = logs[-1]
    for log in logs[:-1]:
        if log.domain != last.domain or log.requestable != last.requestable or log.slots != last.slots:
            raise UsageError(
                f"the logs {log.dataset!r} and {last.dataset!r} are of different tasks",
                expected=f"the domain {last.domain.name!r} with the slots {', '.join(last.slots)}",
                found=f"{log.domain.name!r} with {', '.join(log.slots)}",
            )
    problems = [problem for log in logs for problem in _problems(log)]
    if problems:
        raise InputError([*problems, Problem(WITHOUT_WORLD, severity="note")])


def _problems(log: Corpus) -> Iterator[Problem]:
    where = f"the log {log.dataset!r}"
    if not (~log.nbest.batch).any():
        yield Problem(
            f"{where} has no N-best lists: what callers said cannot be heard again",
            expected="hypotheses with scores",
        )
    labels = log.labels
    labelled = labels.correct.any() if isinstance(labels, LabelEvents) else (labels.goal != NONE).any()
    if not labelled:
        yield Problem(
            f"{where} has no labels: nobody knows what its callers want",
            expected="values labelled as right",
        )
    column = SlotNames(log.domain, log.slots, log.vocabulary).column
    if not (column[log.system.slot] >= 0).any() and not log.evidence.requested.any():
        yield Problem(
            f"{where} has no arguments of acts: what the system asked for, confirmed and offered is unknown",
            expected="acts with slots and values, as expl-conf(food=thai)",
        )
        return
    greets = log.predicate[log.offsets[:-1]]
    if (greets < 0).mean() > MOSTLY:
        yield Problem(
            f"{where} begins with acts that the domain {log.domain.name!r} has no predicate for",
            expected="a predicate for the greeting",
        )
    yield from _without_rule(log, where)


def _without_rule(log: Corpus, where: str) -> Iterator[Problem]:
    """Predicates that name values by acts of which no rule says which value to name."""
    acts, words = log.system, log.vocabulary
    act, owner = acts.act_of_pair(), acts.owner_of_act()
    roles = roles_of_acts(log)
    column = SlotNames(log.domain, log.slots, words).column
    names_value = (column[acts.slot] >= 0) & (acts.value != NONE) & (roles[act] == PLAIN)
    has_rule = np.bincount(owner, roles != PLAIN, minlength=log.n_turns) > 0
    unruled = np.bincount(owner[act[names_value]], minlength=log.n_turns) > 0
    unruled &= ~has_rule
    for number, predicate in enumerate(log.domain.predicate_names):
        turns = log.predicate == number
        pairs = np.flatnonzero(names_value & (turns & unruled)[owner[act]])
        # The same value every time is a part of the prompt.
        if turns.any() and unruled[turns].mean() > MOSTLY and len(np.unique(acts.value[pairs])) > 1:
            names = sorted({words.text(int(name)) for name in np.unique(acts.name[act[pairs]])})
            yield Problem(
                f"{where}: no rule says which values the predicate {predicate!r} names",
                expected="expl-conf, impl-conf, request, or a predicate that the domain lists as offer",
                found=", ".join(names),
            )
