"""`extrinsic track`: files that validate, the same whatever the number of processes; and bad input."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from extrinsic.corpus.formats import DSTC1
from extrinsic.registry import TRACKERS
from tests.cli.bench import Bench, belief_formats
from tests.running import Outcome, assert_refused, run
from tests.trackers.calls import noisy_calls


def track(bench: Bench, form: str, *arguments: object) -> Outcome:
    return run("track", "--format", form, "--corpus", bench.written[form].corpus, *arguments)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@belief_formats
def test_all_trackers_write_files_that_validate(bench: Bench, form: str) -> None:
    folder = bench.root / "out"
    outcome = track(bench, form, "--tracker", "all", "--output", folder, "--folds", 2)
    assert (outcome.code, outcome.output) == (0, "")
    assert sorted(written(folder)) == [f"{name}.json" for name in TRACKERS.names()]
    assert "gradient_boosting, logistic, random_forest: cross-fitted in 2 folds" in outcome.errors
    assert f"{len(TRACKERS.names())}/{len(TRACKERS.names())} " in outcome.errors
    corpus = ("--corpus", bench.written[form].corpus)
    check = run("validate", "--format", form, *corpus, "--strict", *folder.iterdir())
    assert check.code == 0, check.text
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
        outcome = run("track", "--format", "dstc1", *corpora, *chosen, *output)
        assert outcome.code == 0, outcome.text
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


def test_files_can_be_scored(bench: Bench) -> None:
    corpus = bench.written["dstc1"]
    path = bench.root / "focus.json"
    assert track(bench, "dstc1", "--tracker", "focus", "--output", path).code == 0
    outcome = run("score", "--format", "dstc1", "--corpus", corpus.corpus, path, "--json")
    assert outcome.code == 0
    assert any(row["component"] == "joint" for row in outcome.json()["rows"])


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (["--tracker", "fokus"], ["no tracker 'fokus'", "did you mean 'focus'?"]),
        (["--tracker", "logistic", "--folds", "99"], ["number of folds", "found 99"]),
        (["--tracker", "logistic", "--folds", "1"], ["number of folds"]),
        (["--tracker", "focus", "--folds", "2"], ["none of the trackers learns"]),
        (["--tracker", "focus", "--train-dataset", "dstc2_dev"], ["none of the trackers learns"]),
        (["--tracker", "logistic", "--folds", "2", "--train-dataset", "x"], ["--folds is for cross-fitting"]),
        (["--tracker", "logistic", "--train-dataset", "dstc2_dev"], ["learned from it"]),
        (["--tracker", "logistic", "--train-dataset", "nowhere"], ["nowhere"]),
        (["--tracker", "focus", "--n-jobs", "0"], ["the number of processes must be"]),
        (["--tracker", "focus", "--dataset", "nowhere"], ["nowhere"]),
    ],
)
def test_bad_requests(bench: Bench, arguments: list[str], places: list[str]) -> None:
    output = bench.root / "never.json"
    assert_refused(track(bench, "dstc2", *arguments, "--output", output), *places)
    assert not output.exists()


def test_formats_without_dialogs_are_refused(bench: Bench) -> None:
    output = bench.root / "out.json"
    outcome = run("track", "--format", "state-sets", "--tracker", "focus", "--output", output)
    assert_refused(outcome, "'state-sets'", "no dialogs to track")
    assert_refused(run("track", "--format", "dstc1", "--tracker", "focus", "--output", output), "--corpus")


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


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom extrinsic.cli.main import main\n"
        "try:\n    main(['track', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([n for n in ('numpy', 'scipy', 'sklearn', 'joblib', 'rich') if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
