"""`extrinsic track`: files that validate, whatever the number of processes; members of populations."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest

from extrinsic.corpus.formats import DSTC1
from extrinsic.registry import TRACKERS
from extrinsic.trackers.populations import population
from tests.builders import Written, write_dstc1, write_dstc2
from tests.running import Outcome, assert_refused, run, succeed
from tests.samples import small_dstc1, small_dstc2
from tests.trackers.calls import noisy_calls


@dataclass(frozen=True)
class Bench:
    """Both corpora on disk, to be written into."""

    root: Path
    written: dict[str, Written]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    one, two = write_dstc1(tmp_path / "dstc1", small_dstc1()), write_dstc2(tmp_path / "dstc2", small_dstc2())
    return Bench(tmp_path, {"dstc1": one, "dstc2": two})


both_formats = pytest.mark.parametrize("form", ["dstc1", "dstc2"])


def track(bench: Bench, form: str, *arguments: object) -> Outcome:
    return run("track", "--format", form, "--corpus", bench.written[form].corpus, *arguments)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@both_formats
def test_all_trackers_write_files_that_validate(bench: Bench, form: str) -> None:
    folder = bench.root / "out"
    outcome = track(bench, form, "--tracker", "all", "--output", folder, "--folds", 2)
    assert (outcome.code, outcome.output) == (0, "")
    assert sorted(written(folder)) == [f"{name}.json" for name in TRACKERS.names()]
    assert "gradient_boosting, logistic, random_forest: cross-fitted in 2 folds" in outcome.errors
    assert f"{len(TRACKERS.names())}/{len(TRACKERS.names())} " in outcome.errors
    corpus = ("--corpus", bench.written[form].corpus)
    succeed("validate", "--format", form, *corpus, "--strict", *folder.iterdir())
    assert b"wall-time" not in written(folder)["focus.json"]


def test_the_number_of_processes_does_not_matter(tmp_path: Path) -> None:
    corpus, train = noisy_calls(12, seed=12), noisy_calls(15, seed=13)
    DSTC1.write_corpus(corpus, tmp_path / "corpus")
    DSTC1.write_corpus(train, tmp_path / "train")
    names = ("focus", "bayes_low", "logistic", "random_forest", "gradient_boosting")
    chosen = [part for name in names for part in ("--tracker", name)]
    for n_jobs in (1, 2):
        corpora = ("--corpus", tmp_path / "corpus", "--train-corpus", tmp_path / "train")
        output = ("--output", tmp_path / f"jobs-{n_jobs}", "--n-jobs", n_jobs)
        outcome = succeed("track", "--format", "dstc1", *corpora, *chosen, *output)
        assert "trained on 15 dialogs of train4" in outcome.errors
        assert "warning: 12 session ids are in both corpora" in outcome.errors
    assert written(tmp_path / "jobs-1") == written(tmp_path / "jobs-2")
    assert len(written(tmp_path / "jobs-1")) == len(names)


def test_one_tracker_goes_where_it_is_told(bench: Bench) -> None:
    file, folder = bench.root / "new" / "mine.json", bench.root / "folder"
    folder.mkdir()
    for output in (file, folder, f"{bench.root / 'other'}/", bench.root / "zipped.json"):
        zipped = ["--gzip"] if "zipped" in str(output) else []
        assert track(bench, "dstc2", "--tracker", "focus", "--output", output, *zipped).code == 0
    expected = file.read_bytes()
    assert (folder / "focus.json").read_bytes() == expected
    assert (bench.root / "other" / "focus.json").read_bytes() == expected
    assert gzip.decompress((bench.root / "zipped.json.gz").read_bytes()) == expected


def test_outputs_that_cannot_be_written(bench: Bench) -> None:
    file = bench.root / "file"
    file.write_text("")
    both = ["--tracker", "focus", "--tracker", "vote"]
    assert_refused(track(bench, "dstc2", *both, "--output", file), "file", "expected a directory")
    assert_refused(track(bench, "dstc2", *both, "--output", file / "below"), "below", "cannot be made")
    assert_refused(
        track(bench, "dstc2", "--tracker", "focus", "--output", file / "x.json"), "expected a directory"
    )


def test_no_file_of_the_corpus_is_overwritten(bench: Bench) -> None:
    corpus = bench.written["dstc2"].corpus
    log = next(corpus.rglob("log.json"))
    before = log.read_bytes()
    assert_refused(track(bench, "dstc2", "--tracker", "focus", "--output", log), "a file of the corpus")
    assert log.read_bytes() == before
    for _ in range(2):  # its own file is written again
        assert track(bench, "dstc2", "--tracker", "focus", "--output", corpus / "mine.json").code == 0


@both_formats
def test_any_member_can_be_written(bench: Bench, form: str) -> None:
    folder = bench.root / "out"
    names = population(14)
    outcome = track(bench, form, "--population", 14, "--output", folder)
    assert outcome.code == 0, outcome.text
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.json" for name in names)
    alone = bench.root / "one.json"
    assert track(bench, form, "--tracker", names[0], "--output", alone).code == 0
    assert alone.read_bytes() == (folder / f"{names[0]}.json").read_bytes()
    corpus = ("--corpus", bench.written[form].corpus)
    succeed("validate", "--format", form, *corpus, "--strict", *folder.iterdir())


def test_near_duplicates_are_left_out(bench: Bench) -> None:
    folder = bench.root / "out"
    same = ("--tracker", "focus", "--tracker", "focus(trust=0.9999)")
    outcome = track(bench, "dstc1", *same, "--tracker", "bayes_high", "--output", folder, "--distinct", 0.99)
    assert outcome.code == 0, outcome.text
    assert "focus(trust=0.9999): left out, it agrees with focus" in outcome.errors
    assert sorted(path.name for path in folder.iterdir()) == ["bayes_high.json", "focus.json"]
