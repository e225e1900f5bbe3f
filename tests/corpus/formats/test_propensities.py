"""Logged propensities in files: read, written, taken along, and complained about."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.errors import InputError
from tests.builders import Dstc1Files, write_dstc1, write_dstc2
from tests.samples import small_dstc1, small_dstc2


def with_propensities(logged: dict[tuple[str, int], Any]) -> Dstc1Files:
    """The small corpus, its turns (call, number) with these propensities."""
    files = copy.deepcopy(small_dstc1())
    for (call, number), propensities in logged.items():
        files.logs[f"calls/{call}"]["turns"][number]["output"]["propensities"] = propensities
    return files


def read(root: Path, logged: dict[tuple[str, int], Any]) -> Corpus:
    return DSTC1.read_corpus(write_dstc1(root, with_propensities(logged)).corpus)


def by_name(corpus: Corpus, turn: int) -> dict[str, float]:
    assert corpus.propensities is not None
    row = corpus.propensities[turn]
    return {corpus.domain.predicate_names[column]: row[column].item() for column in np.flatnonzero(row)}


LOGGED = {("one", 1): {"confirm": 0.75, "request": 0.25}, ("two", 2): {"offer": 1}}


def test_propensities_by_predicate(tmp_path: Path) -> None:
    """Turns without any are unknown (NaN), predicates left out have none (0)."""
    corpus = read(tmp_path, LOGGED)
    assert corpus.propensities is not None
    assert corpus.propensities.shape == (5, len(corpus.domain.predicate_names))
    assert np.isnan(corpus.propensities).all(axis=1).tolist() == [True, False, True, True, False]
    assert by_name(corpus, 1) == {"confirm": 0.75, "request": 0.25}
    assert by_name(corpus, 4) == {"offer": 1.0}


def test_a_corpus_without_any(tmp_path: Path) -> None:
    assert read(tmp_path / "1", {}).propensities is None
    assert read(tmp_path / "1", {("one", 0): None}).propensities is None
    assert DSTC2.read_corpus(write_dstc2(tmp_path / "2", small_dstc2()).corpus).propensities is None


def test_they_are_written_and_taken_along(tmp_path: Path) -> None:
    corpus = read(tmp_path / "first", LOGGED)
    assert corpus.propensities is not None
    DSTC1.write_corpus(corpus, tmp_path / "again")
    for other, turns in (
        (DSTC1.read_corpus(tmp_path / "again"), [0, 1, 2, 3, 4]),
        (corpus.take([1]), [2, 3, 4]),
        (corpus.take([1, 0]), [2, 3, 4, 0, 1]),
    ):
        assert other.propensities is not None
        assert np.array_equal(other.propensities, corpus.propensities[turns], equal_nan=True)


def test_every_unknown_predicate_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, {("one", 0): {"a": 0.5, "b": 0.5}, ("two", 1): {"c": 1.0, "confirm": 0.0}})
    places = [(problem.session, problem.turn) for problem in caught.value.problems]
    assert [turn for _, turn in places] == [0, 0, 1]
    assert [str(session)[-3:] for session, _ in places] == ["one", "one", "two"]
