"""Drawn worlds: named by what they are, by a design that fills the ranges; bad ones are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from extrinsic.errors import InputError, UsageError
from extrinsic.simulation import describe, find_simulation
from extrinsic.simulation.drawn_worlds import draw_worlds, read_drawn
from tests.running import assert_refused
from tests.study.studies import SMALL, done, run_in, write_study

KINDS = {"bus": "ds1", "restaurants": "quiet"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_world_is_its_dataset_with_other_settings(kind: str) -> None:
    simulation, base = find_simulation(kind, None, 3), KINDS[kind]
    world = simulation.world(f"{base}(noise=0.3, patience=9, calibration=0.25)", "test")
    plain = simulation.world(base, "test")
    assert world.recogniser.error == 0.3  # type: ignore[union-attr]
    assert world.recogniser.discrimination == 0.25  # type: ignore[union-attr]
    assert world.caller.patience == 9.0  # type: ignore[union-attr]
    assert world.caller.answers == plain.caller.answers  # type: ignore[union-attr]
    assert world.signature() != plain.signature()  # type: ignore[union-attr]
    assert simulation.world(f"{base}()", "test") == plain


@pytest.mark.parametrize("kind", KINDS)
def test_properties_do_what_they_say(kind: str) -> None:
    """More noise: fewer values on rank 1. More slots: more is said. Less patience: shorter calls."""
    simulation, base = find_simulation(kind, None, 3), KINDS[kind]

    def statistics(change: str) -> tuple[float, float, float]:
        played = simulation.simulate(f"{base}({change})", "test")
        statistics = describe(played)
        return statistics.rank_1, statistics.turns_per_dialog, len(played.said_rank) / statistics.dialogs

    assert statistics("noise=0.1")[0] > statistics("noise=0.45")[0] + 0.2
    assert statistics("patience=5")[1] < statistics("patience=20")[1]
    low, high = (2, 4) if kind == "bus" else (1, 3)
    assert statistics(f"slots={low}")[2] < statistics(f"slots={high}")[2]


@pytest.mark.parametrize("kind", KINDS)
def test_every_drawn_world_can_be_simulated(kind: str) -> None:
    simulation, base = find_simulation(kind, None, 3), KINDS[kind]
    names = draw_worlds([base], 4, simulation.properties, {})  # type: ignore[attr-defined]
    assert len(set(names)) == 4
    for name in names:
        corpus = simulation.simulate(name, "train").corpus
        assert corpus.dataset == f"{name}_train"
        assert simulation.identity(name, "train") != simulation.identity(base, "train")


def test_the_ranges_are_filled_and_a_longer_design_begins_with_a_shorter_one() -> None:
    properties = find_simulation("bus").properties  # type: ignore[attr-defined]
    ranges = {"noise": (0.2, 0.5), "slots": (2.0, 4.0)}
    names = draw_worlds(["ds1", "ds3"], 64, properties, ranges)
    assert draw_worlds(["ds1", "ds3"], 10, properties, ranges) == names[:10]
    drawn = [read_drawn(name, properties) for name in names]
    assert [base for base, _ in drawn] == ["ds1", "ds3"] * 32
    noise = np.array([chosen["noise"] for _, chosen in drawn])
    assert ((noise >= 0.2) & (noise <= 0.5)).all()
    counts, _ = np.histogram(noise, bins=4, range=(0.2, 0.5))
    assert counts.min() >= 12
    assert {chosen["slots"] for _, chosen in drawn} == {2.0, 3.0, 4.0}
    assert draw_worlds(["ds1"], 5, properties, ranges, seed=1) != draw_worlds(["ds1"], 5, properties, ranges)


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("ds1(noise=2)", "expected a number from 0.01 to 0.9, found 2"),
        ("ds1(noise=nan)", "out of range"),
        ("ds1(noise=much)", "is no number"),
        ("ds1(noize=0.2)", "did you mean 'noise'"),
        ("ds1(slots=2.5)", "a whole number"),
        ("ds1(noise=0.2, noise=0.3)", "occurs twice"),
        ("ds9(noise=0.2)", "did you mean 'ds"),
        ("ds1(ds2)", "is not a world"),
    ],
)
def test_worlds_that_cannot_be(dataset: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        find_simulation("bus").world(dataset, "test")


def test_ranges_that_cannot_be() -> None:
    properties = find_simulation("bus").properties  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="there are only 3 different worlds"):
        draw_worlds(["ds1"], 4, properties, {"slots": (2.0, 4.0)})
    with pytest.raises(UsageError, match="out of range"):
        draw_worlds(["ds1"], 4, properties, {"noise": (0.2, 1.4)})
    with pytest.raises(UsageError, match="is empty"):
        draw_worlds(["ds1"], 4, properties, {"noise": (0.5, 0.2)})
    with pytest.raises(UsageError, match="did you mean 'noise'"):
        draw_worlds(["ds1"], 4, properties, {"nois": (0.2, 0.5)})


def test_a_world_whose_callers_never_finish(tmp_path: Path) -> None:
    text = "[world.caller]\npatience = inf\n[world.system]\nhangs_up = false\n[datasets.a.splits.test]\n"
    (tmp_path / "worlds.toml").write_text(text)
    with pytest.raises(InputError, match="callers never finish"):
        find_simulation("bus", str(tmp_path / "worlds.toml"))


def test_a_study_of_drawn_worlds(tmp_path: Path) -> None:
    worlds = '\n[simulation.worlds]\ndraws = 2\nbase = ["a"]\nranges = {noise = [0.2, 0.5]}\n'
    text = SMALL.replace('datasets = ["a"]', "") + worlds
    study = done(write_study(tmp_path, text), tmp_path / "run")
    rows = study.rows("worlds")
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    assert len(names) == 2
    assert set(names) == {row["dataset"] for row in study.rows("returns")}
    for name in names:
        (drawn,) = [row for row in rows if row["dataset"] == name and row["drawn"] == "true"]
        assert name == f"a(noise={drawn['value']})"
    bad = text.replace("[0.2, 0.5]", "[0.2, 5.0]")
    outcome = run_in(write_study(tmp_path, bad), tmp_path / "bad")
    assert_refused(outcome, "key simulation.worlds", "noise is out of range")
