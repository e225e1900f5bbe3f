"""`extrinsic run` as a command: what it takes, where it may write, and what it says when it may not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from extrinsic.study.run import Run
from extrinsic.verdict.bounds import RECOMMENDED
from extrinsic.verdict.names import Name, in_unit
from tests.running import Outcome, assert_refused, run, succeed
from tests.study.studies import SMALL, copied, done, run_in, statuses, write_study
from tests.study.studies import Study as Made

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_study(tmp_path, SMALL)


def test_studies_are_listed() -> None:
    lines = {line.split()[0]: line for line in run("ls", "configs").output.splitlines()}
    assert set(lines) == {path.stem for path in CONFIGS.glob("*.toml")}
    assert {"quick", "lee2014", "lee2014_literal", "dstc2", "multiwoz"} <= set(lines)
    assert "EXTRINSIC_DATA" in lines["dstc2"]


SET = [
    (["correlation.permutatoins=200"], "correlation.permutatoins: unknown; did you mean 'permutations'?"),
    (["corelation.resamples=200"], "key corelation: unknown; did you mean 'correlation'?"),
    (["correlation.resamples"], "--set: no key and value (expected table.key=value, found"),
    (["=3"], "--set: no key and value (expected table.key=value, found"),
    (["correlation..resamples=200"], "--set: no key and value (expected table.key=value, found"),
    (["seed="], "key seed"),
    (["seed=-1", "value.live_dialogs=0"], "key value.live_dialogs"),
    (["seed=-1", "value.live_dialogs=0"], "key seed"),
    (["seed=x", "foo"], "key seed"),
    (["seed=5\nname = 3"], "seed"),
    (['trackers.built_in=["hwo"]'], "--set: key trackers.built_in: there is no tracker 'hwo'"),
    (['simulation.datasets=["ds9"]'], "--set: key simulation.datasets: there is no dataset 'ds9'"),
]


@pytest.mark.parametrize(
    ("changes", "said"), SET, ids=[" ".join(changes) + " " + said for changes, said in SET]
)
def test_settings_that_cannot_be_set(config: Path, changes: list[str], said: str) -> None:
    options = [part for change in changes for part in ("--set", change)]
    assert_refused(
        run_in(config, config.parent / "run", *options), "--set" if "--set" in said else said, said
    )
    assert not (config.parent / "run").exists()


def test_settings_are_set(small: Made, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    options = ["--set", "correlation.permutations=199", "--set", "correlation.level = 0.9"]
    outcome = run_in(study.config, study.folder, *options)
    assert "made with other settings:\n  correlation.permutations: 99 -> 199\n" in outcome.errors
    assert "  correlation.level: 0.95 -> 0.9\n" in outcome.errors
    assert "other settings" not in run_in(study.config, study.folder, *options).errors
    text = (study.folder / "config.toml").read_text()
    assert "permutations = 199" in text
    assert "level = 0.9" in text


def test_configurations_that_are_not_there(tmp_path: Path) -> None:
    assert_refused(run("run", tmp_path / "no.toml"), "no.toml: there is no such file")
    for text, said in (("name = \n", "malformed"), ("", "the file is empty")):
        (tmp_path / "study.toml").write_text(text)
        assert_refused(run("run", tmp_path / "study.toml"), "study.toml", said)
    assert_refused(run("run", tmp_path), "this is a directory")
    assert_refused(run("run", "quik"), "there is no study 'quik'; did you mean 'quick'?")
    assert_refused(run("run", "zzz"), "available: dstc1, dstc2, lee2014")
    assert_refused(run("run"), "usage: extrinsic run")


OPTIONS = [
    (["--n-jobs", "0"], "-1 or at least 1"),
    (["--n-jobs", "-2"], "-1 or at least 1"),
    (["--n-jobs", "two"], "invalid int value"),
    (["--engine", "dusk"], "did you mean 'dask'?"),
    (["--scheduler", "tcp://127.0.0.1:8786"], "--engine dask"),
]


@pytest.mark.parametrize(("options", "said"), OPTIONS, ids=[" ".join(options) for options, _ in OPTIONS])
def test_options_that_make_no_sense(config: Path, options: list[str], said: str) -> None:
    assert_refused(run_in(config, config.parent / "run", *options), said)
    assert not (config.parent / "run").exists()


def test_the_directory_of_another_study(small: Made, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    before = (study.folder / "correlations.csv").read_bytes()
    other = ["--set", "name=other", "--set", 'trackers.built_in=["hwu", "vote"]']
    outcome = run_in(study.config, study.folder, *other)
    assert_refused(outcome, str(study.folder), "another study", "--overwrite", "expected other, found tiny")
    assert (study.folder / "correlations.csv").read_bytes() == before
    done(study.config, study.folder, *other, "--overwrite")
    assert (study.folder / "correlations.csv").read_bytes() != before
    # Its stages are known by what is in them, whoever's they were.
    assert statuses(study.folder)["score a hwu"] == "reused"


def test_a_directory_with_something_else(small: Made, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("x")
    assert_refused(run_in(small.config, folder), "thesis", "other files", "chapter.tex", "--overwrite")
    assert [path.name for path in folder.iterdir()] == ["chapter.tex"]
    done(small.config, folder, "--overwrite")
    assert (folder / "chapter.tex").read_text() == "x"


@pytest.mark.parametrize("content", ["{", "[1]", ""])
def test_a_manifest_that_is_none(small: Made, tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    assert_refused(run_in(small.config, tmp_path), "manifest.json")


def test_places_that_cannot_be_written(small: Made, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert_refused(run_in(small.config, tmp_path / "file"), "this is a file", "expected a directory")
    assert_refused(run_in(small.config, tmp_path / "file", "--overwrite"), "this is a file")
    assert_refused(run_in(small.config, tmp_path / "file" / "run"), "cannot be made: Not a directory")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "stages").write_text("x")
    assert_refused(run_in(small.config, tmp_path / "run"), "run: cannot be made")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(small: Made, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    assert_refused(run_in(small.config, tmp_path / "locked" / "run"), "Permission denied")


@pytest.mark.parametrize("after", [0, 3, 8, 14])
def test_a_disk_that_is_full(
    small: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Said with the file that did not fit; with more room the run goes on to the same bytes."""
    sync, count = os.fsync, 0

    def sync_while_there_is_room(descriptor: int) -> None:
        nonlocal count
        count += 1
        if count > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync_while_there_is_room)
    outcome = run_in(small.config, tmp_path / "run")
    assert_refused(outcome, str(tmp_path / "run"), "cannot be written: No space left on device")
    monkeypatch.undo()
    assert not list((tmp_path / "run").rglob("*.part"))
    study = done(small.config, tmp_path / "run")
    for name in ("correlations", "returns", "manifest"):
        suffix = "json" if name == "manifest" else "csv"
        ours, theirs = (folder / f"{name}.{suffix}" for folder in (study.folder, small.folder))
        assert ours.read_bytes() == theirs.read_bytes()


def test_progress_is_told_line_by_line(small: Made, tmp_path: Path) -> None:
    outcome = run("run", small.config, "--output", tmp_path / "run", "--n-jobs", "1", "--no-report")
    lines = outcome.errors.splitlines()
    assert lines[:3] == [f"run: reading {small.config}", "run: planning", "run 1/6 score a baseline"]
    assert lines[7] == "run 6/6 learn a vote fill=argmax"
    assert lines[-1].startswith("done in ")
    assert lines[-1].endswith(f"everything is in {tmp_path / 'run'}")
    again = run("run", small.config, "--output", tmp_path / "run", "--n-jobs", "1", "--no-report")
    assert again.errors.splitlines()[:2] == lines[:2]
    assert [line for line in again.errors.splitlines() if "/6" in line] == []
    quiet = run_in(small.config, tmp_path / "run")
    assert quiet.errors == ""
    assert quiet.output == outcome.output == again.output


def test_a_run_without_a_directory_goes_under_runs(
    small: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copied(small, tmp_path / "runs" / "tiny")
    succeed("run", small.config, "--n-jobs", "1", "--quiet", "--no-report")
    assert set(statuses(tmp_path / "runs" / "tiny").values()) == {"reused"}


def test_nothing_is_promised_by_three_trackers(small: Made, tmp_path: Path) -> None:
    """In words and for programs."""
    study = copied(small, tmp_path / "run")
    outcome = run_in(study.config, study.folder)
    assert "health: 3 core trackers of 3" in outcome.output
    assert "nothing can be promised for other trackers (3 systems are too few" in outcome.output
    answer = run_in(study.config, study.folder, "--json").json()
    verdict = answer["verdict"]["verdicts"][0]
    assert (verdict["recommended"]["bound"], verdict["n_systems"]) == (None, 3)
    assert answer["verdict"]["health"][0]["kind"] == "few_trackers"
    assert verdict["target"] in {row["target"] for row in answer["rows"]}
    assert answer["signature"] == Run(study.folder).signature and isinstance(answer["rows"][0]["lost"], float)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Run]:
    """A run with enough trackers to promise something, and what it said."""
    root = tmp_path_factory.mktemp("judged")
    drawn = 'population = {size = 16, families = ["focus", "hwu", "accumulate"]}'
    config = write_study(root, SMALL.replace('"vote"]', f'"vote"]\n{drawn}'))
    outcome = run_in(config, root / "run")
    assert outcome.code == 0, outcome.text
    return outcome, Run(root / "run")


def test_one_decision_everywhere(judged: tuple[Outcome, Run]) -> None:
    """The terminal, `best`, `recommended`, the verdict and choices.csv name one metric for each target."""
    outcome, made = judged
    lines = outcome.output.splitlines()
    verdicts = made.verdict().verdicts
    assert [verdict.target for verdict in verdicts] == ["rl.live", "rl.completed"]
    for verdict in verdicts:
        (row,) = (
            row
            for row in made.choices
            if (row.target, row.systems, row.group) == (verdict.target, "core", RECOMMENDED)
        )
        best, choice = made.best(target=verdict.target), made.recommended(verdict.target)
        assert best[0] == row and {other.group for other in best[1:]} <= {"as good"}
        assert choice == verdict.recommended
        assert (choice.name, choice.lost, choice.bound) == (Name.of(row), row.lost, row.bound)
        (line,) = (line for line in lines if line.startswith(verdict.target_title.removeprefix("the ")))
        assert f"  {choice.title}  " in line
        assert line.endswith(in_unit(row.bound, verdict.unit)) or len(best) > 1
    assert made.recommended() == verdicts[0].recommended
    assert lines[-1] == made.verdict().compromise.sentence


def test_what_choosing_by_a_metric_costs_on_a_pair(judged: tuple[Outcome, Run]) -> None:
    """0 where a metric picks the better one, the whole difference where it picks the other."""
    _, made = judged
    answer = run("compare", made.folder, "hwu", "vote", "--json").json()
    verdict, costs = answer["verdict"][0], answer["costs"]
    declared = {choice.name for choice in made.verdict().verdicts[0].choices}
    assert {(cost["metric"], cost["schedule"], cost["component"]) for cost in costs} == declared
    ahead, apart = "hwu" if verdict["difference"] > 0 else "vote", abs(verdict["difference"])
    for cost in costs:
        expected = {ahead: 0.0, None: apart / 2}.get(cost["picks"], apart)
        assert cost["cost"] == pytest.approx(expected)
    chosen = made.recommended()
    assert Name(*(verdict["by_metric"][key] for key in Name._fields)) == chosen.name


def test_the_report_is_written_and_told(small: Made, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "run"
    outcome = succeed("run", small.config, "--output", folder, "--n-jobs", "1")
    assert outcome.errors.splitlines()[-1] == f"the report: {folder / 'report.html'}"
    page = (folder / "report.html").read_bytes()
    succeed("report", folder, "--quiet")
    assert (folder / "report.html").read_bytes() == page
