"""What learned trackers are trained on does not depend on how many dialogs are tracked beside each other."""

from __future__ import annotations

import numpy as np

from extrinsic.simulation import BusSimulation
from extrinsic.trackers.candidate_classifiers import Logistic, examples_of


def test_the_examples_of_many_dialogs_are_those_of_each() -> None:
    """Many candidates in some of more than a hundred dialogs: these are tracked apart, but not here."""
    corpus = BusSimulation.read(seed=11).simulate("letsgo", "test").corpus.take(np.arange(150))
    whole = examples_of(corpus)
    for dialog in range(corpus.n_dialogs):
        alone, chosen = examples_of(corpus.take(np.array([dialog]))), whole.dialog == dialog
        assert np.array_equal(whole.rows[chosen], alone.rows)
        assert np.array_equal(whole.right[chosen], alone.right)


def test_training_on_a_part_is_training_on_its_dialogs() -> None:
    corpus = BusSimulation.read(seed=11).simulate("ds4", "train").corpus
    parts = [np.arange(0, corpus.n_dialogs, 2), np.arange(1, 40)]
    for tracker in (Logistic(), Logistic(share=0.3, features="now", seed=4)):
        fitted = tracker.fit_parts(corpus, parts)
        for part, one in zip(parts, fitted, strict=True):
            alone = tracker.fit([corpus.take(part)])
            assert np.array_equal(one.model.weights, alone.model.weights)  # type: ignore[attr-defined]
            assert one.model.constant == alone.model.constant  # type: ignore[attr-defined]
