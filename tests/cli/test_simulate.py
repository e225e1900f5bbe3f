"""`extrinsic simulate`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from extrinsic.corpus.formats import DSTC1
from extrinsic.simulation import read_simulation, simulate
from tests.contents import corpus_content
from tests.running import Outcome, assert_refused, run, succeed

SMALL = """seed = 5
[datasets.tiny.splits.train]
dialogs = 4
[datasets.tiny.splits.test]
dialogs = 3
[datasets.noisy.recogniser]
noise = 2.0
[datasets.noisy.splits.test]
dialogs = 2
"""
COLUMNS = [
    *("dataset", "dialogs", "turns", "turns_per_dialog", "lee_turns_per_dialog", "rank_1", "in_list"),
    *("list_size", "hang_ups", "completed", "expert_return"),
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def simulate_small(config: Path, folder: Path, *options: object) -> Outcome:
    return run("simulate", "--config", config, "--output", folder, *options)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """DS4's test half of the embedded world."""
    folder = tmp_path_factory.mktemp("simulated") / "new"
    return folder, succeed("simulate", "--output", folder, "--dataset", "ds4_test")


def test_the_embedded_world(embedded: tuple[Path, Outcome], tmp_path: Path) -> None:
    """It is that of Python; and it is read together with a tracker file about it."""
    folder, _ = embedded
    corpus, played = DSTC1.read_corpus(folder), simulate(read_simulation(), "ds4", "test")
    assert corpus.dataset == "ds4_test"
    assert corpus_content(corpus) == corpus_content(played.corpus)
    tracker = tmp_path / "live.json"
    DSTC1.write_tracker(played.output, played.corpus, tracker)
    succeed("validate", "--format", "dstc1", "--corpus", folder, "--dataset", "ds4_test", tracker)


def test_the_table(embedded: tuple[Path, Outcome]) -> None:
    _, outcome = embedded
    head, row = outcome.output.splitlines()
    assert head.split()[:4] == ["dataset", "dialogs", "turns", "turns/dialog"]
    cells = row.split()
    assert cells[:2] == ["ds4_test", "165"]
    assert float(cells[4]) == pytest.approx(979 / 165, abs=0.005)
    assert len(cells) == len(COLUMNS)
    assert "simulate 1/1 ds4_test" in outcome.errors
    assert "165 calls" in outcome.errors


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """Everything of the small configuration, and the table as JSON."""
    root = tmp_path_factory.mktemp("whole")
    (root / "small.toml").write_text(SMALL)
    return root / "out", simulate_small(root / "small.toml", root / "out", "--json", "--quiet")


def test_json(whole: tuple[Path, Outcome]) -> None:
    _, outcome = whole
    assert (outcome.code, outcome.errors) == (0, "")
    written = outcome.json()
    assert written["signature"].startswith("extrinsic:")
    assert [row["dataset"] for row in written["rows"]] == ["tiny_train", "tiny_test", "noisy_test"]
    assert [row["dialogs"] for row in written["rows"]] == [4, 3, 2]
    assert all(list(row) == COLUMNS for row in written["rows"])
    assert all(row["lee_turns_per_dialog"] is None for row in written["rows"])


def test_the_layout(whole: tuple[Path, Outcome]) -> None:
    folder, _ = whole
    names = list(contents(folder))
    assert [name for name in names if name.startswith("config/")] == [
        "config/noisy_test.sessions",
        "config/tiny_test.sessions",
        "config/tiny_train.sessions",
    ]
    assert "tiny_train/tiny_train-00003/dstc.log.json" in names
    assert "tiny_train/tiny_train-00003/dstc.labels.json" in names
    assert len(names) == 2 * (4 + 3 + 2) + 3 + 1
    record = json.loads((folder / "simulation.json").read_text())
    assert list(record) == ["signature", "settings", "datasets"]
    assert record["settings"]["worlds"]["noisy"]["test"]["recogniser"]["noise"] == 2.0


def test_other_processes_write_the_same_bytes(
    whole: tuple[Path, Outcome], config: Path, tmp_path: Path
) -> None:
    """Two of them, with other hashes of texts and more threads."""
    command = ["simulate", "--config", config, "--output", tmp_path / "out", "--json", "--n-jobs", "2"]
    environment = {**os.environ, "PYTHONHASHSEED": "123", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "extrinsic", *command], env=environment, capture_output=True, check=True
    )
    assert contents(tmp_path / "out") == contents(whole[0])
    assert done.stdout.decode() == whole[1].output


def test_again_into_the_same_directory(whole: tuple[Path, Outcome], config: Path, tmp_path: Path) -> None:
    """The same files; datasets made one after the other are those made at once."""
    before = contents(whole[0])
    assert simulate_small(config, whole[0]).code == 0
    assert contents(whole[0]) == before
    for name in ("noisy", "tiny_test", "tiny_train"):
        outcome = simulate_small(config, tmp_path / "parts", "--dataset", name)
        assert outcome.code == 0
        written = [line.split()[0] for line in outcome.output.splitlines()[1:]]
        assert written == [name.replace("noisy", "noisy_test")]
    assert contents(tmp_path / "parts") == before


def test_another_world_in_the_same_directory(
    whole: tuple[Path, Outcome], config: Path, tmp_path: Path
) -> None:
    folder, other = tmp_path / "out", tmp_path / "other.toml"
    other.write_text(SMALL.replace("seed = 5", "seed = 6"))
    shutil.copytree(whole[0], folder)
    before = contents(folder)
    assert_refused(simulate_small(other, folder), "another configuration", "name another one", str(folder))
    assert_refused(simulate_small(other, folder, "--force"), "--force")
    assert contents(folder) == before


def test_a_directory_of_other_things(config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("chapter 1")
    assert_refused(simulate_small(config, folder), "other files", str(folder))
    assert contents(folder).keys() == {"thesis.txt"}


def test_a_run_that_was_broken_off(whole: tuple[Path, Outcome], config: Path, tmp_path: Path) -> None:
    """A file in the way of the last dataset: with it gone, the same configuration goes on, others do not."""
    folder, other = tmp_path / "out", tmp_path / "other.toml"
    other.write_text(SMALL.replace("seed = 5", "seed = 6"))
    assert simulate_small(config, folder, "--dataset", "tiny_train").code == 0
    (folder / "noisy_test").write_text("")
    assert_refused(simulate_small(config, folder, "--n-jobs", 2), "noisy_test")
    record = json.loads((folder / "simulation.json").read_text())
    assert [row["dataset"] for row in record["datasets"]] == ["tiny_train"]
    (folder / "noisy_test").unlink()
    assert_refused(simulate_small(other, folder), "another configuration")
    assert simulate_small(config, folder).code == 0
    assert contents(folder) == contents(whole[0])


def test_the_record_is_there_before_the_calls(
    whole: tuple[Path, Outcome], config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("extrinsic.cli.simulate._write", Mock(side_effect=KeyboardInterrupt))
        assert simulate_small(config, tmp_path / "out").errors == "interrupted\n"
    assert contents(tmp_path / "out").keys() == {"simulation.json"}
    assert simulate_small(config, tmp_path / "out").code == 0
    assert contents(tmp_path / "out") == contents(whole[0])


def test_a_spoilt_record(whole: tuple[Path, Outcome], config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(whole[0], folder)
    signed = {"signature": json.loads((folder / "simulation.json").read_text())["signature"]}
    rows = signed | {"datasets": [3]}
    for record in ("{", "[]", "{}", '{"signature": 3}', "", json.dumps(signed), json.dumps(rows)):
        (folder / "simulation.json").write_text(record)
        assert_refused(simulate_small(config, folder))


def test_a_bad_configuration(config: Path, tmp_path: Path) -> None:
    config.write_text(SMALL.replace("noise = 2.0", "niose = 2.0"))
    places = ("line 7", "datasets.noisy.recogniser.niose", "did you mean 'noise'?")
    assert_refused(simulate_small(config, tmp_path / "out"), str(config), *places)
    assert not (tmp_path / "out").exists()


def test_a_missing_configuration(tmp_path: Path) -> None:
    assert_refused(simulate_small(tmp_path / "no.toml", tmp_path / "out"), "no such file", "no.toml")
    assert_refused(simulate_small(tmp_path, tmp_path / "out"), "directory")


def test_an_unknown_dataset(config: Path, tmp_path: Path) -> None:
    outcome = simulate_small(config, tmp_path / "out", "--dataset", "tiny", "--dataset", "nosy")
    assert_refused(outcome, "no dataset 'nosy'", "did you mean 'noisy'?")
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert_refused(simulate_small(config, file), str(file), "a directory")
    assert_refused(simulate_small(config, file / "below"), str(file))
    assert_refused(simulate_small(config, "/proc/nowhere", "--n-jobs", 2), "/proc/nowhere")
