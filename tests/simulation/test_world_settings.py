"""Configurations: what a table leaves out it takes from the one above, and every mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.errors import InputError, UsageError
from extrinsic.simulation import BusSimulation, WorldSettings, read_simulation

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


def read(tmp_path: Path, text: str) -> BusSimulation:
    path = tmp_path / "worlds.toml"
    path.write_text(text)
    return read_simulation(path)


def complaints(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return [str(problem) for problem in caught.value.problems]


def test_tables_are_laid_over_each_other(tmp_path: Path) -> None:
    found = read(tmp_path, LAYERED)
    assert found.seed == 7
    assert found.corpora() == [("a", "train"), ("a", "test"), ("b", "test")]
    assert found.dialogs == {"a": {"train": 12, "test": 100}, "b": {"test": 100}}
    answers = {corpus: found.world(*corpus).caller.answers for corpus in found.corpora()}
    assert answers == {("a", "train"): 0.7, ("a", "test"): 0.6, ("b", "test"): 0.5}
    for corpus in found.corpora():
        world = found.world(*corpus)
        assert (world.longest_dialog, world.recogniser.noise) == (9, 3.0)
        assert world.caller.patience == float("inf")
        assert world.expert == WorldSettings().expert
    assert [found.world(*corpus).no_connection for corpus in found.corpora()] == [0.0, 0.0, 0.25]


def test_a_world_is_signed_by_its_settings(tmp_path: Path) -> None:
    spaced, louder = LAYERED.replace("[datasets.b", "\n[datasets.b"), LAYERED.replace("3.0", "2")
    one, same, other = (read(tmp_path, text) for text in (LAYERED, spaced, louder))
    assert one.hash == same.hash != other.hash
    assert one.world("a").signature() != other.world("a").signature()
    assert one.plain()["worlds"]["a"]["test"]["caller"]["patience"] == "inf"


def test_unknown_datasets_and_splits(tmp_path: Path) -> None:
    found = read(tmp_path, LAYERED)
    with pytest.raises(UsageError, match="no dataset 'c'"):
        found.world("c")
    with pytest.raises(UsageError, match="did you mean 'train'"):
        found.world("a", "trian")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("answers = 0.7", "ansers = 0.7", "line 14, key datasets.a.splits.train.caller.ansers: unknown"),
        ("answers = 0.7", 'answers = "often"', "line 14, key datasets.a.splits.train.caller.answers"),
        ("answers = 0.6", "answers = 1.5", "line 10, key datasets.a.caller.answers"),
        ("answers = 0.6", "answers = nan", "datasets.a.caller.answers"),
        ("noise = 3.0", "noise = -1", "line 8, key world.recogniser.noise"),
        ("noise = 3.0", "noise = nan", "world.recogniser.noise"),
        ("patience = inf", "patience = 0", "line 5, key world.caller.patience"),
        ("patience = inf", "patience = nan", "world.caller.patience"),
        ("patience = inf", "patience_shape = inf", "line 5, key world.caller.patience_shape"),
        ("patience = inf", "annoyed_by_wrong_offer = inf", "line 5, key world.caller.annoyed_by_wrong_offer"),
        ("noise = 3.0", "noise = inf", "line 8, key world.recogniser.noise"),
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
    (text,) = complaints(tmp_path, LAYERED.replace(old, new, 1))
    assert message in text
    assert "worlds.toml" in text


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    spoilt = LAYERED.replace("seed = 7", 'seed = "x"').replace("answers = 0.5", "answer = 0.5")
    found = complaints(
        tmp_path, spoilt.replace("dialogs = 12", "dialogs = -1").replace("noise = 3.0", "noise = true")
    )
    assert len(found) == 4


@pytest.mark.parametrize(
    "text", ["# nothing", "seed = 3\n", "[datasets.a.caller]\nanswers = 0.5\n", "[datasets]\n"]
)
def test_nothing_to_simulate(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="nothing to simulate"):
        read(tmp_path, text)


@pytest.mark.parametrize("name", ["../up", "a/b", "/abs", "..", ""])
def test_a_dataset_is_a_name_and_no_path(tmp_path: Path, name: str) -> None:
    """It becomes a directory and a part of file names."""
    with pytest.raises((InputError, UsageError)):
        read(tmp_path, f'[datasets."{name}".splits.test]\ndialogs = 1\n')


def test_two_corpora_of_one_name_are_refused(tmp_path: Path) -> None:
    """Dataset a_b with split c, and dataset a with split b_c, would both be a_b_c."""
    with pytest.raises((InputError, UsageError)):
        read(tmp_path, "[datasets.a_b.splits.c]\n[datasets.a.splits.b_c]\n")


def test_shares_of_places_must_not_exceed_one(tmp_path: Path) -> None:
    with pytest.raises((InputError, UsageError)):
        read(tmp_path, "[world.goal]\nstop = 0.8\nneighborhood = 0.8\n[datasets.a.splits.test]\n")


def test_an_expert_does_not_more_than_everything(tmp_path: Path) -> None:
    """What is left of its chances goes to the second choice; there may be nothing left."""
    text = "[datasets.a.splits.test]\n[datasets.a.splits.test.expert]\nmain = {}\nexploration = {}\n"
    (complaint,) = complaints(tmp_path, text.format(0.9, 0.2))
    assert "datasets.a.splits.test" in complaint
    assert "expert.main and expert.exploration sum above 1" in complaint
    assert read(tmp_path, text.format(0.9, 0.1)).world("a").expert.main == 0.9
