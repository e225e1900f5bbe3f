"""Logs that no world can be fitted to."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from extrinsic.corpus.acts import Acts
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.errors import InputError, UsageError
from extrinsic.simulation.fitted.fitted_world import fit_world
from tests.simulation.fitted.logs import bus_logs


def log() -> Corpus:
    return bus_logs()[1].take(np.arange(30))


def without_lists() -> Corpus:
    corpus = log()
    return replace(corpus, nbest=replace(corpus.nbest, batch=np.ones(len(corpus.nbest.batch), dtype=bool)))


def without_labels() -> Corpus:
    corpus = log()
    assert isinstance(corpus.labels, LabelEvents)
    nothing = np.zeros(len(corpus.labels.correct), dtype=bool)
    return replace(corpus, labels=replace(corpus.labels, correct=nothing))


def without_arguments() -> Corpus:
    corpus = log()
    acts, n_acts = corpus.system, len(corpus.system.name)
    empty = np.zeros(0, dtype=np.int32)
    return replace(
        corpus, system=Acts(acts.offsets, acts.name, np.zeros(n_acts + 1, dtype=np.int64), empty, empty)
    )


def with_unknown_acts() -> Corpus:
    """The confirmations are called `verify`, and the domain knows."""
    corpus = log()
    words = corpus.vocabulary
    verify, confirms = words.id("verify"), corpus.system.name == words.find("expl-conf")
    name = np.where(confirms, np.int32(verify), corpus.system.name)
    rules = tuple(
        msgspec.structs.replace(rule, acts=("verify",)) if rule.name == "confirm" else rule
        for rule in corpus.domain.predicates
    )
    domain = msgspec.structs.replace(corpus.domain, predicates=rules)
    return replace(corpus, domain=domain, system=replace(corpus.system, name=name.astype(np.int32)))


def test_no_logs() -> None:
    with pytest.raises(UsageError, match="no logs"):
        fit_world([])


def test_logs_of_different_tasks() -> None:
    other = replace(log(), slots=log().slots[:-1], dataset="short")
    with pytest.raises(UsageError, match=r"'short'.*different tasks"):
        fit_world([other, log()])


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (without_lists, "no N-best lists"),
        (without_labels, "no labels"),
        (without_arguments, "no arguments"),
    ],
)
def test_what_is_missing_is_named_with_what_still_works(corpus, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message) as raised:
        fit_world([log(), corpus()])
    assert "can still be learned" in str(raised.value)


def test_all_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(InputError) as raised:
        fit_world([without_lists(), without_labels()])
    assert len([problem for problem in raised.value.problems if problem.severity == "error"]) == 2


def test_a_predicate_without_a_rule_for_its_values_is_named() -> None:
    with pytest.raises(InputError, match=r"'confirm'.*verify"):
        fit_world([with_unknown_acts()])
