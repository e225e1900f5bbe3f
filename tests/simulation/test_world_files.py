"""Settings files of worlds: layers, names, refusals with places; datasets of the paper; drawn worlds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from extrinsic.errors import InputError, UsageError
from extrinsic.simulation import (
    BusSimulation,
    Play,
    WorldSettings,
    describe,
    find_simulation,
    read_simulation,
)
from extrinsic.simulation.restaurant_world import RestaurantSimulation
from extrinsic.simulation.world_files import FileSimulation, draw_worlds, read_drawn
from tests.running import assert_refused
from tests.simulation.worlds import dialogs_of
from tests.study.studies import SMALL, done, run_in, write_study

LAYERED = """seed = 7
[world]
longest_dialog = 9
[world.caller]
patience = inf
answers = 0.5
[world.recogniser]
noise = 3.0
[datasets.a.caller]
answers = 0.6
[datasets.a.splits.train]
dialogs = 12
[datasets.a.splits.train.caller]
answers = 0.7
[datasets.a.splits.test]
[datasets.b.splits.test]
no_connection = 0.25
"""

LEE = {
    "ds1_train": (274, 9.5),
    "ds1_test": (312, 6.9),
    "ds2_train": (321, 10.6),
    "ds2_test": (339, 7.6),
    "ds3_train": (277, 8.0),
    "ds3_test": (286, 7.0),
    "ds4_train": (141, 7.5),
    "ds4_test": (165, 5.9),
}
"""Dialogs, and mean turns of a dialog, of Lee 2014, Table 1."""

DRAWN = {"bus": "ds1", "restaurants": "quiet"}
"""Kinds of worlds that can be drawn, and a dataset of each."""


def read(folder: Path, text: str, kind: type[FileSimulation[WorldSettings]] = BusSimulation) -> BusSimulation:
    path = folder / "worlds.toml"
    path.write_text(text)
    simulation: BusSimulation = kind.read(str(path))  # type: ignore[assignment]
    return simulation


def test_tables_are_laid_over_each_other(tmp_path: Path) -> None:
    simulation = read(tmp_path, LAYERED)
    assert simulation.seed == 7
    assert simulation.corpora() == [("a", "train"), ("a", "test"), ("b", "test")]
    assert simulation.dialogs == {"a": {"train": 12, "test": 100}, "b": {"test": 100}}
    worlds = [simulation.world(*corpus) for corpus in simulation.corpora()]
    assert [world.caller.answers for world in worlds] == [0.7, 0.6, 0.5]
    assert [world.no_connection for world in worlds] == [0.0, 0.0, 0.25]
    for world in worlds:
        assert (world.longest_dialog, world.recogniser.noise) == (9, 3.0)
        assert world.caller.patience == float("inf")
        assert world.expert == WorldSettings().expert


def test_a_world_is_signed_by_its_settings(tmp_path: Path) -> None:
    spaced, louder = LAYERED.replace("[datasets.b", "\n[datasets.b"), LAYERED.replace("3.0", "2")
    first, same, other = (read(tmp_path, text) for text in (LAYERED, spaced, louder))
    assert first.hash == same.hash != other.hash
    assert first.world("a").signature() != other.world("a").signature()
    assert first.plain()["worlds"]["a"]["test"]["caller"]["patience"] == "inf"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("answers = 0.7", "ansers = 0.7", "line 14, key datasets.a.splits.train.caller.ansers: unknown"),
        ("answers = 0.7", 'answers = "often"', "line 14, key datasets.a.splits.train.caller.answers"),
        ("answers = 0.6", "answers = 1.5", "line 10, key datasets.a.caller.answers"),
        ("answers = 0.6", "answers = nan", "datasets.a.caller.answers"),
        ("noise = 3.0", "noise = -1", "line 8, key world.recogniser.noise"),
        ("patience = inf", "patience = 0", "line 5, key world.caller.patience"),
        ("patience = inf", "patience_shape = inf", "line 5, key world.caller.patience_shape"),
        ("patience = inf", "annoyed_by_wrong_offer = inf", "line 5, key world.caller.annoyed_by_wrong_offer"),
        ("noise = 3.0", "lengthens = inf", "line 8, key world.recogniser.lengthens"),
        ("dialogs = 12", "dialogs = 0", "line 12, key datasets.a.splits.train.dialogs"),
        ("dialogs = 12", "dialogs = 1.5", "line 12, key datasets.a.splits.train.dialogs"),
        ("longest_dialog = 9", "longest_dialog = 1", "key world.longest_dialog"),
        ("seed = 7", "seed = -7", "line 1, key seed"),
        ("[datasets.b.splits.test]", "[dataset.b.splits.test]", "did you mean 'datasets'?"),
        ("seed = 7", "world = 3", "malformed"),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, LAYERED.replace(old, new, 1))
    (problem,) = map(str, caught.value.problems)
    assert message in problem
    assert "worlds.toml" in problem


SPLIT = "[datasets.a.splits.test]\n"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (BusSimulation, "[world.caller]\npatience = 9.0\n", "nothing to simulate"),
        (BusSimulation, '[datasets."../up".splits.test]\n', "no name"),
        (BusSimulation, '[datasets."".splits.test]\n', "no name"),
        (BusSimulation, '[datasets.a.splits."b/c"]\n', "no name"),
        (BusSimulation, "[datasets.a_b.splits.c]\n[datasets.a.splits.b_c]\n", "is called 'a_b_c'"),
        (
            BusSimulation,
            f"[world.goal]\nstop = 0.8\nneighborhood = 0.8\n{SPLIT}",
            "goal.stop and goal",
        ),
        (BusSimulation, f"[world.expert]\nmain = 0.9\nexploration = 0.2\n{SPLIT}", "exploration sum above 1"),
        (BusSimulation, f'[world.system]\nrequired = ["from", "to", "wen"]\n{SPLIT}', "no group 'wen'"),
        (BusSimulation, f'[world.system]\nrequired = ["from"]\n{SPLIT}', "needs from and to"),
        (
            BusSimulation,
            f"[world.caller]\npatience = inf\n[world.system]\nhangs_up = false\n{SPLIT}",
            "callers never finish",
        ),
        (RestaurantSimulation, f"[world.system]\nmain = 0.9\nexploration = 0.2\n{SPLIT}", "sum above 1"),
        (RestaurantSimulation, f"[world.caller]\nanswer = 0.9\n{SPLIT}", "did you mean 'answers'"),
    ],
)
def test_worlds_that_do_not_fit_together(tmp_path: Path, kind: type, text: str, message: str) -> None:
    """Names become directories; shares sum to at most 1; what is asked for exists."""
    with pytest.raises((InputError, UsageError), match=message):
        read(tmp_path, text, kind)


@pytest.fixture(scope="module")
def plays() -> dict[str, Play]:
    """The datasets of the paper."""
    simulation = read_simulation()
    names = [(dataset, split) for dataset, split in simulation.corpora() if f"{dataset}_{split}" in LEE]
    return {f"{dataset}_{split}": simulation.simulate(dataset, split) for dataset, split in names}


@pytest.mark.parametrize("name", LEE)
def test_datasets_are_near_those_of_the_paper(plays: dict[str, Play], name: str) -> None:
    """Turns within 15 %; the said value at rank 1 in 42-65 % of the lists, anywhere in 68-80 %."""
    statistics, corpus = describe(plays[name]), plays[name].corpus
    assert (statistics.dialogs, corpus.dataset) == (LEE[name][0], name)
    assert statistics.turns == corpus.n_turns == corpus.offsets[-1]
    assert statistics.turns_per_dialog == pytest.approx(LEE[name][1], rel=0.15)
    assert statistics.turns_per_dialog == corpus.n_turns / corpus.n_dialogs
    assert statistics.lee_turns_per_dialog == pytest.approx(LEE[name][1], abs=0.05)
    assert 0.42 <= statistics.rank_1 <= 0.65
    assert 0.68 <= statistics.in_list <= 0.80
    ranks = plays[name].said_rank.tolist()
    assert statistics.rank_1 == ranks.count(0) / len(ranks)
    assert statistics.in_list == sum(rank >= 0 for rank in ranks) / len(ranks)
    assert statistics.list_size > 2
    assert statistics.completed == plays[name].completed.mean()
    assert 0.0 < statistics.hang_ups < 1.0 - statistics.completed


def test_a_dialog_depends_on_nothing_but_its_name(plays: dict[str, Play]) -> None:
    """Not on how many there are of it, nor on what else the configuration holds."""
    whole = read_simulation()
    small = BusSimulation(whole.seed, {"ds4": {"test": whole.world("ds4")}}, {"ds4": {"test": 20}})
    alone = small.simulate("ds4", "test")
    assert dialogs_of(alone) == dialogs_of(plays["ds4_test"])[:20]
    assert alone.corpus.sessions == plays["ds4_test"].corpus.sessions[:20]


@pytest.mark.parametrize("kind", DRAWN)
def test_a_drawn_world_is_its_dataset_with_other_settings(kind: str) -> None:
    """More noise: fewer values on rank 1. More slots: more is said. Less patience: shorter calls."""
    simulation, base = find_simulation(kind, None, 3), DRAWN[kind]
    plain = simulation.world(base, "test")
    assert simulation.world(f"{base}()", "test") == plain
    world = simulation.world(f"{base}(noise=0.3, patience=9, calibration=0.25)", "test")
    assert (world.recogniser.error, world.recogniser.discrimination) == (0.3, 0.25)  # type: ignore[union-attr]
    assert (world.caller.patience, world.caller.answers) == (9.0, plain.caller.answers)  # type: ignore[union-attr]
    assert world.signature() != plain.signature()  # type: ignore[union-attr]

    def statistics(change: str) -> tuple[float, float, float]:
        played = simulation.simulate(f"{base}({change})", "test")
        statistics = describe(played)
        return statistics.rank_1, statistics.turns_per_dialog, len(played.said_rank) / statistics.dialogs

    assert statistics("noise=0.1")[0] > statistics("noise=0.45")[0] + 0.2
    assert statistics("patience=5")[1] < statistics("patience=20")[1] - 1.0
    assert statistics("slots=2")[2] < statistics("slots=3")[2]


def test_the_ranges_are_filled_and_a_longer_design_begins_with_a_shorter_one() -> None:
    properties = BusSimulation.properties
    ranges = {"noise": (0.2, 0.5), "slots": (2.0, 4.0)}
    names = draw_worlds(["ds1", "ds3"], 64, properties, ranges)
    assert draw_worlds(["ds1", "ds3"], 10, properties, ranges) == names[:10]
    drawn = [read_drawn(name, properties) for name in names]
    assert [base for base, _ in drawn] == ["ds1", "ds3"] * 32
    noise = np.array([chosen["noise"] for _, chosen in drawn])
    assert ((noise >= 0.2) & (noise <= 0.5)).all()
    assert np.histogram(noise, bins=4, range=(0.2, 0.5))[0].min() >= 12
    assert {chosen["slots"] for _, chosen in drawn} == {2.0, 3.0, 4.0}
    assert draw_worlds(["ds1"], 5, properties, ranges, seed=1) != draw_worlds(["ds1"], 5, properties, ranges)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("ds1(noise=2)", "expected a number from 0.01 to 0.9, found 2"),
        ("ds1(noise=nan)", "out of range"),
        ("ds1(noise=much)", "is no number"),
        ("ds1(noize=0.2)", "did you mean 'noise'"),
        ("ds1(slots=2.5)", "a whole number"),
        ("ds1(noise=0.2, noise=0.3)", "occurs twice"),
        ("ds9(noise=0.2)", "did you mean 'ds"),
        ("ds1(ds2)", "is not a world"),
        ("ds7", "did you mean 'ds"),
    ],
)
def test_worlds_that_cannot_be(dataset: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_simulation("bus").world(dataset, "test")


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"slots": (2.0, 4.0)}, "there are only 3 different worlds"),
        ({"noise": (0.2, 1.4)}, "out of range"),
        ({"noise": (0.5, 0.2)}, "is empty"),
        ({"nois": (0.2, 0.5)}, "did you mean 'noise'"),
    ],
)
def test_ranges_that_cannot_be(ranges: dict[str, tuple[float, float]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw_worlds(["ds1"], 4, BusSimulation.properties, ranges)


def test_a_study_of_drawn_worlds(tmp_path: Path) -> None:
    worlds = '\n[simulation.worlds]\ndraws = 2\nbase = ["a"]\nranges = {noise = [0.2, 0.5]}\n'
    text = SMALL.replace('datasets = ["a"]', "") + worlds
    study = done(write_study(tmp_path, text), tmp_path / "run")
    names = {row["dataset"] for row in study.rows("returns")}
    assert len(names) == 2
    for name in names:
        base, drawn = read_drawn(name, BusSimulation.properties)
        assert base == "a" and 0.2 <= drawn["noise"] <= 0.5
    bad = text.replace("[0.2, 0.5]", "[0.2, 5.0]")
    outcome = run_in(write_study(tmp_path, bad), tmp_path / "bad")
    assert_refused(outcome, "key simulation.worlds", "noise is out of range")
