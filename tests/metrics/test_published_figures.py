"""Figures that papers and their authors' files print, by our implementation."""

from __future__ import annotations

import math
from functools import cache

import pytest

from extrinsic.corpus.formats import STATE_SETS
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.fga import FlexibleGoalAccuracy, decay_to_forget
from tests.metrics.dialogs import by_turn, in_percent, states_of, values_of
from tests.published_figures import (
    AGA,
    END_TO_END_JGA,
    KIM_A6,
    RSA,
    RUNNING_EXAMPLE,
    T5_ZERO_SHOT_ATTRACTION,
    WORKED_EXAMPLES,
)
from tests.real_data import FOLDER, needs_data


@cache
def read(name: str) -> StateSets:
    return STATE_SETS.read(FOLDER / "multiwoz" / name)


PUBLISHED = {
    **{f"worked_examples/{name}.json": figures for name, figures in WORKED_EXAMPLES.items()},
    **{f"end_to_end/{name}.json.gz": {"jga": jga} for name, jga in END_TO_END_JGA.items()},
    "t5_zeroshot_attraction.json.gz": T5_ZERO_SHOT_ATTRACTION,
    "som_dst_100.json.gz": {"jga": 49.93},
}


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_what_authors_print_of_their_files(name: str) -> None:
    """The worked examples of the GCA paper, end-to-end systems, T5 and SOM-DST."""
    assert in_percent(read(name), *PUBLISHED[name]) == PUBLISHED[name]


@needs_data
def test_sizes_of_published_files() -> None:
    assert read("t5_zeroshot_attraction.json.gz").n_dialogs == 395
    assert read("som_dst_100.json.gz").n_turns == 751


@needs_data
def test_traits_of_sample_1() -> None:
    """Seven turns, one mistake in turn 2 and two in turn 4."""
    expected = {
        "tail_orientation": ((2 + 4 + 4) / 3 - 3) / 7,
        "tail_orientation(2023)": (-1 + 1 + 1) / 7,
        "non_uniformity": (5 * 3 / 7 + 4 / 7 + 11 / 7) / (3 / 7),
        "non_uniformity(2023)": (5 * 9 + 16 + 121) / 49,
    }
    assert values_of(read("worked_examples/sample_1.json"), *expected) == pytest.approx(expected)


def test_running_example_of_dey() -> None:
    states = states_of(RUNNING_EXAMPLE)
    later = round(1 - math.exp(-0.5), 4)  # .3935, printed as .39
    assert by_turn(states, "fga(0.5)") == [1, 1, 0, later, 0, later]
    expected = {"fga(0.5)": 46.45, "jga": 33.33, "slot_accuracy": 94.44, AGA: 76.19}
    assert in_percent(states, *expected) == expected
    assert by_turn(states, "slot_accuracy")[2] == 0.9333
    assert by_turn(states, AGA)[2:5:2] == [round(4 / 6, 4), round(5 / 7, 4)]


def test_kim_table_3() -> None:
    gold = "restaurant-area-centre, restaurant-food-indian, restaurant-people-2"
    short = "restaurant-area-centre, restaurant-food-chinese, attraction-area-centre"
    long = f"{short}, restaurant-name-nusha, attraction-pricerange-cheap"
    states = states_of([(gold, short), (gold, long)])
    assert by_turn(states, RSA) == [0.25, 0.1667]
    assert by_turn(states, AGA) == [0.3333, 0.3333]
    assert by_turn(states, "jga") == [0, 0]


def test_kim_table_a6() -> None:
    states = states_of(KIM_A6)
    assert by_turn(states, "slot_accuracy") == [0.9667, 0.9667, 0.9333, 0.9333, *[0.9667] * 6]
    assert by_turn(states, RSA) == [0, 0, 0, 0, 0.6667, 0.75, 0.8, 0.8, 0.8, 0.8]
    assert values_of(states, "first_error") == {"first_error": 0}


def test_lambda_that_forgets_by_a_factor() -> None:
    """Dey: after 6 turns a mistake is forgotten by 95 %: 1 - exp(-6 lambda) = .95."""
    assert round(decay_to_forget(6, 0.95), 3) == 0.499
    metric = parse_metric("fga(turns=6, factor=0.95)")
    assert isinstance(metric, FlexibleGoalAccuracy)
    assert 1 - math.exp(-6 * metric.decay) == pytest.approx(0.95)
