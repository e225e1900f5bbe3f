"""Populations fill their space with distinct members; doses move one thing at a time or all."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.trackers.families import FAMILIES
from extrinsic.trackers.forms import canonical_name, dosed, population, read_form


def test_members_are_distinct_and_say_what_they_are() -> None:
    names = population(240)
    assert len(set(names)) == 240
    assert all(canonical_name(name) == name for name in names if "(" in name)
    counts = {name: sum(read_form(member).name == name for member in names) for name in FAMILIES}
    assert {count for name, count in counts.items() if name != "dosed"} == {12}
    for name in names[:40]:
        assert TRACKERS.get(name) is not None


def test_a_larger_population_begins_with_the_smaller_one() -> None:
    assert population(90)[:50] == population(50)
    assert population(50, seed=1) != population(50)


def test_a_population_does_not_depend_on_the_process() -> None:
    code = "from extrinsic.trackers.forms import population; print(population(30))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert other.stdout.strip() == str(population(30))


def test_the_space_is_filled() -> None:
    """Of 128 points of a Sobol sequence every sixteenth of an axis gets its share."""
    names = population(128, families=["bayes"])
    confusion = [dict(read_form(name).settings)["confusion"] for name in names]
    counts, _ = np.histogram(np.array(confusion, dtype=float), bins=4, range=(-0.01, 0.61))
    assert counts.min() >= 25


def test_a_population_larger_than_its_space_says_how_many_there_are() -> None:
    assert len(set(population(54, families=["delayed"]))) == 54
    with pytest.raises(UsageError, match="delayed has 54 distinct members"):
        population(55, families=["delayed"])
    with pytest.raises(UsageError, match="did you mean 'bayes'"):
        population(5, families=["bays"])


def test_one_dose_at_a_time_or_all() -> None:
    doses = {"wrong": [0.1, 0.2], "temperature": [0.5]}
    assert dosed(["hwu"], doses) == [
        "hwu",
        "dosed(hwu, wrong=0.1)",
        "dosed(hwu, wrong=0.2)",
        "dosed(hwu, temperature=0.5)",
    ]
    assert dosed(["hwu"], doses, factorial=True) == [
        "hwu",
        "dosed(hwu, temperature=0.5)",
        "dosed(hwu, wrong=0.1)",
        "dosed(hwu, wrong=0.1, temperature=0.5)",
        "dosed(hwu, wrong=0.2)",
        "dosed(hwu, wrong=0.2, temperature=0.5)",
    ]
    placed = dosed(["hwu"], {"wrong": [0.1]}, [{"turns": "early"}, {"slot": "food"}])
    assert placed == ["hwu", "dosed(hwu, wrong=0.1, turns=early)", "dosed(hwu, wrong=0.1, slot=food)"]
    with pytest.raises(UsageError, match="did you mean 'wrong'"):
        dosed(["hwu"], {"wron": [0.1]})


def test_recalibrated_members_say_so() -> None:
    assert TRACKERS.get("dosed(hwu, temperature=0.5)").recalibrated_from == "hwu"
    assert TRACKERS.get("dosed(logistic, temperature=2)").recalibrated_from == "logistic"
    assert TRACKERS.get("dosed(hwu, temperature=0.5, wrong=0.1)").recalibrated_from is None
    assert TRACKERS.get("hwu(trust=0.5)").recalibrated_from is None
