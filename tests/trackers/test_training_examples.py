"""What learned trackers are trained on does not depend on how many dialogs are tracked beside each other."""

from __future__ import annotations

import numpy as np

from extrinsic.simulation import BusSimulation
from extrinsic.trackers.candidate_classifiers import _examples


def test_the_examples_of_many_dialogs_are_those_of_each() -> None:
    """Many candidates in some of more than a hundred dialogs: these are tracked apart, but not here."""
    corpus = BusSimulation.read(seed=11).simulate("letsgo", "test").corpus.take(np.arange(150))
    rows, right = _examples(corpus)
    parts = [_examples(corpus.take(np.array([dialog]))) for dialog in range(corpus.n_dialogs)]
    alone = np.concatenate([np.column_stack([*of_dialog]) for of_dialog in parts])
    whole = np.column_stack([rows, right])
    assert len(whole) == len(alone)
    assert np.array_equal(whole[np.lexsort(whole.T)], alone[np.lexsort(alone.T)])
