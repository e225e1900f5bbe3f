"""The measures of a corpus: by hand, and the published shape of real calls."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.embedded_world.profile import area_under_curve, calibration_error, profile
from extrinsic.corpus.formats import DSTC2
from extrinsic.simulation import read_simulation
from tests.real_data import ARCHIVE, needs_bus_calls, needs_data, read_bus_calls


def test_area_and_calibration_by_hand() -> None:
    """Of four pairs of a right and a wrong one, three are in order and one is a tie: 3.5 / 4."""
    score, right = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    assert area_under_curve(score, right) == 3.5 / 4
    # Bins [.9, 1], [.5, .6), [.1, .2): |.9 - 1| + |1.0 - 1| + |.1 - 0|, over four.
    assert calibration_error(score, right) == pytest.approx(0.2 / 4)
    assert calibration_error(np.array([1.0]), np.array([True])) == 0.0
    assert np.isnan(area_under_curve(score, np.ones(4, dtype=bool)))


def test_lists_by_plain_counting() -> None:
    corpus = read_simulation().simulate("ds4", "test").corpus
    measured, sizes = profile(corpus), np.diff(corpus.nbest.offsets)
    answered = np.delete(sizes, corpus.offsets[1:] - 1)
    # The world's lists hold no hypothesis twice.
    assert measured.lists_of_one == (sizes[sizes > 0] == 1).mean()
    assert measured.long_lists == (sizes[sizes > 0] >= 10).mean()
    assert measured.longest == sizes.max()
    assert measured.empty_lists == (answered == 0).mean()
    assert measured.turns_per_call == corpus.n_turns / 165
    assert sum(measured.predicates.values()) == pytest.approx(1.0)


@needs_bus_calls
def test_real_bus_calls() -> None:
    """The figures that another program counted: .59, .04, 61, 1.0, .06, .14, .19, 10.3."""
    real = profile(read_bus_calls("train3_plain"))
    assert (real.calls, real.longest, real.concepts, real.ended_by_system) == (447, 61, 1.0, 0.0)
    shares = (real.lists_of_one, real.long_lists, real.empty_lists)
    assert shares == pytest.approx((0.59, 0.04, 0.06), abs=0.005)
    assert (real.predicates["confirm"], real.predicates["request"]) == pytest.approx((0.14, 0.19), abs=0.005)
    assert real.turns_per_call == pytest.approx(10.3, abs=0.05)


@needs_data
def test_real_restaurant_calls() -> None:
    """Half of the best scores are above .9."""
    real = profile(DSTC2.read_corpus(ARCHIVE, "dstc2_train"))
    assert (real.calls, real.longest, real.empty_lists) == (1612, 10, 0.0)
    assert real.sure == pytest.approx(0.52, abs=0.005)
    assert real.auc == pytest.approx(0.83, abs=0.005)
