"""Directories of runs that were damaged, changed, or made to mislead: refused in words, nothing executed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extrinsic.errors import InputError
from extrinsic.study.policy_values import PolicyValues
from extrinsic.study.run import Run
from extrinsic.study.run_directory import is_within, lock_directory, read_manifest
from extrinsic.study.score_stage import TrackerScores
from extrinsic.study.store import Result, StageKey
from tests.running import assert_refused, run
from tests.study.studies import SMALL, Study, copied, run_in, write_study


def edit_manifest(folder: Path, change: Callable[[Any], object], signed: bool = True) -> None:
    """Change the record of a run; signed: as somebody does who knows about its check sum."""
    path = folder / "manifest.json"
    record = json.loads(path.read_text())
    change(record)
    if signed:
        record["check_sum"] = ""
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda record: record["tables"].update({"../../etc/hostname": "0"}), "lies elsewhere"),
        (lambda record: record["tables"].update({"/etc/hostname": "0"}), "lies elsewhere"),
        (lambda record: record["plan"]["scored"].pop("hwu"), "not those of the run's trackers"),
        (lambda record: record["plan"]["learned"].clear(), "has no results"),
        (lambda record: record["plan"]["trackers"].pop(), "not those of the run's trackers"),
        (lambda record: record["plan"]["scored"]["hwu"][0].update({"kind": "../x"}), "matching regex"),
        (lambda record: record["plan"]["scored"]["hwu"][0].update({"hash": "x"}), "matching regex"),
        (lambda record: record.update({"tables": []}), "Expected `object`"),
        (lambda record: record.update({"study": 1}), "Expected `str`"),
        (lambda record: record.pop("form"), "made by another version of extrinsic"),
        (lambda record: record["tables"].update({"nothing.csv": "0"}), "nothing.csv: there is no such file"),
    ],
)
def test_records_that_no_run_writes(
    small: Study, tmp_path: Path, change: Callable[[Any], object], said: str
) -> None:
    study = copied(small, tmp_path / "run")
    edit_manifest(study.folder, change)
    for command in (("report",), ("compare", "hwu", "vote")):
        outcome = run(command[0], study.folder, *command[1:])
        assert_refused(outcome, str(study.folder), said)


def test_a_record_that_was_changed(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    edit_manifest(study.folder, lambda record: record["seeds"].update({"study": 9}), signed=False)
    with pytest.raises(InputError, match="its check sum does not hold"):
        read_manifest(study.folder)


@pytest.mark.parametrize("name", ["", "/x", "../x", "a/../../x", "a\0b"])
def test_names_that_leave_the_directory(name: str) -> None:
    assert not is_within(name)
    assert is_within("policies/a/b.policy")


def test_a_stage_with_a_check_sum_that_holds_and_no_sense(small: Study) -> None:
    """Whoever writes a stage can compute its check sum: values of another kind are refused."""
    key = StageKey("score", "a" * 64)
    data = Result(Run(small.folder).scores("hwu")[0].values).encode(key)
    assert Result.decode(data, key, TrackerScores).arrays == {}
    with pytest.raises(InputError, match="a stored result is damaged: score-a"):
        Result.decode(data, key, PolicyValues)


def test_a_damaged_stage_is_named(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    for path in (study.folder / "stages").glob("score-*"):
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="a stored result is damaged: score-"):
        Run(study.folder).scores("hwu")


def test_tables_that_were_changed_are_said_and_never_a_traceback(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    path = study.folder / "trackers.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:1] + [line.replace("hwu", "other") for line in lines[1:]]) + "\n")
    page = tmp_path / "page.html"
    for command in (
        ("compare", study.folder, "hwu", "vote", "--json"),
        ("report", study.folder, "--output", page),
    ):
        outcome = run(*command)
        assert outcome.code in (0, 2), outcome.text
        assert "not as the run wrote them: trackers.csv" in outcome.errors


def test_settings_that_were_changed_are_said(small: Study, tmp_path: Path) -> None:
    """The page calls its intervals by the level that the settings name."""
    study = copied(small, tmp_path / "run")
    config = study.folder / "config.toml"
    text = config.read_text()
    assert "level = 0.95" in text
    config.write_text(text.replace("level = 0.95", "level = 0.5"))
    page = tmp_path / "page.html"
    for command in (("report", study.folder, "--output", page), ("compare", study.folder, "hwu", "vote")):
        assert "not as the run wrote them: config.toml" in run(*command).errors
    assert "config.toml: not as the run wrote it." in page.read_text()


SPY = "from pathlib import Path\nPath({!r}).write_text('imported')\n"


def test_reading_a_run_imports_no_plugin_of_it(small: Study, tmp_path: Path) -> None:
    """Somebody sends a directory; `compare` and `report` do not execute what its configuration names."""
    study, spy = copied(small, tmp_path / "run"), tmp_path / "spy.txt"
    (tmp_path / "evil.py").write_text(SPY.format(str(spy)))
    config = study.folder / "config.toml"
    text = config.read_text().replace("plugins = []", f'plugins = ["{tmp_path}/evil.py"]')
    config.write_text(text)
    commands = (
        ("report", study.folder, "--output", tmp_path / "page.html"),
        ("compare", study.folder, "hwu", "vote"),
    )
    for command in commands:
        outcome = run(*command)
        assert outcome.code == 0, outcome.text
        assert f"not imported without --trust-plugins: {tmp_path}/evil.py" in outcome.errors
        assert not spy.exists()
    outcome = run(*commands[1], "--trust-plugins")
    assert outcome.code == 0, outcome.text
    assert f"importing {tmp_path}/evil.py" in outcome.errors
    assert spy.exists()


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (("[policy]", "[policy]\nnonsense = 1"), ()),
        (('datasets = ["a"]', 'datasets = ["a", "a"]'), ()),
        (("[simulation]", "[states]\nfiles = []\n[simulation]"), ()),
        (("worlds.toml", "nosuch.toml"), ()),
        (("seed = 5", "seed = 5"), ("--engine", "dsk")),
        (("seed = 5", "seed = 5"), ("--output", "{tmp}/other")),
        (('plugins = ["spy.py"]', 'plugins = ["spy.py", "missing.py"]'), ()),
        (('plugins = ["spy.py"]', 'plugins = ["spy.py", "broken.py"]'), ()),
    ],
)
def test_a_study_that_is_refused_imports_nothing(
    tmp_path: Path, change: tuple[str, str], options: tuple[str, ...]
) -> None:
    spy = tmp_path / "spy.txt"
    (tmp_path / "spy.py").write_text(SPY.format(str(spy)))
    (tmp_path / "broken.py").write_text("def")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    text = SMALL.replace("seed = 5", 'seed = 5\nplugins = ["spy.py"]')
    config = write_study(tmp_path, text.replace(*change))
    arguments = [part.replace("{tmp}", str(tmp_path)) for part in options]
    assert_refused(run_in(config, tmp_path / "run", *arguments))
    assert not spy.exists()


def test_a_run_says_what_it_imports(small: Study, tmp_path: Path) -> None:
    spy = tmp_path / "spy.txt"
    (tmp_path / "spy.py").write_text(SPY.format(str(spy)))
    config = write_study(tmp_path, SMALL.replace("seed = 5", 'seed = 5\nplugins = ["spy.py"]'))
    outcome = run_in(config, tmp_path / "run", "--set", "metrics.names=['acuracy']")
    assert_refused(outcome, f"importing {tmp_path}/spy.py", "did you mean 'accuracy'?")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("schedules = [1, 3]", "schedules = [1, 9]"), "key metrics.schedules: there is no schedule 9 here"),
        (
            ("schedules = [1, 3]", 'components = ["jiont"]'),
            "key metrics.components: there is no component 'jiont'; did you mean 'joint'?",
        ),
    ],
)
def test_what_only_the_dialogs_show_names_file_and_line(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    config = write_study(tmp_path, SMALL.replace(*change))
    line = next(n for n, text in enumerate(config.read_text().splitlines(), 1) if text == change[1])
    assert_refused(run_in(config, tmp_path / "run"), f"{config}: line {line}, {said}")


@pytest.mark.parametrize(
    ("text", "dialogs", "said"),
    [
        (
            SMALL.replace("fill = [", "kind = 'outcome'\noutcome = 'succes' # ["),
            30,
            "has no outcome 'succes'",
        ),
        (SMALL.replace('"hwu"', '"logistic"'), 1, "what learns from dialogs needs at least two"),
    ],
)
def test_what_only_a_stage_shows_names_the_study(tmp_path: Path, text: str, dialogs: int, said: str) -> None:
    config = write_study(tmp_path, text)
    worlds = tmp_path / "worlds.toml"
    worlds.write_text(worlds.read_text().replace("dialogs = 30", f"dialogs = {dialogs}"))
    assert_refused(run_in(config, tmp_path / "run"), f"{config}: ", said)


def test_the_directory_is_locked_until_the_report_is_written(
    small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run used to begin when the first had its tables, and took the record away from its report."""
    held = []

    def write(finished: Run) -> Path:
        lock = str(tmp_path / "run" / "stages" / ".lock")
        probe = [
            sys.executable,
            "-c",
            f"from filelock import FileLock\nFileLock({lock!r}).acquire(timeout=0)",
        ]
        held.append(subprocess.run(probe, capture_output=True, check=False).returncode)
        assert finished.is_complete
        return finished.folder / "report.html"

    for module in ("report.page", "cli.report"):
        monkeypatch.setattr(f"extrinsic.{module}.write_report", write)
    copied(small, tmp_path / "run")
    arguments = ("--output", tmp_path / "run", "--n-jobs", "1", "--quiet")
    assert run("run", small.config, *arguments).code == 0
    assert held == [1]
    assert run("report", tmp_path / "run").code == 0
    assert held == [1, 1]


def test_parts_of_a_killed_report_are_removed_by_the_next(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    for name in (".report.html.1-ab.part", "figures/.heat_map.svg.1-ab.part"):
        (study.folder / name).parent.mkdir(exist_ok=True)
        (study.folder / name).write_text("half")
    assert run("report", study.folder, "--quiet").code == 0
    assert not list(study.folder.rglob("*.part"))


@pytest.mark.parametrize("name", ["manifest.json", "intrinsic.csv", "config.toml"])
def test_a_page_replaces_nothing_but_a_page(small: Study, tmp_path: Path, name: str) -> None:
    study = copied(small, tmp_path / "run")
    before = (study.folder / name).read_bytes()
    for command in (("report", study.folder), ("compare", study.folder, "hwu", "vote")):
        assert_refused(run(*command, "--output", study.folder / name), name, "no page")
        assert run(*command, "--output", tmp_path / "page.html").code == 0  # the second over the first
    assert (study.folder / name).read_bytes() == before


def test_a_report_writes_into_no_other_folder(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    (tmp_path / "thesis").mkdir()
    (study.folder / "figures").symlink_to(tmp_path / "thesis")
    assert_refused(run("report", study.folder), f"{study.folder}/figures: this is a link")
    assert not list((tmp_path / "thesis").iterdir())


def test_an_input_in_the_directory_of_the_run_is_not_replaced(tmp_path: Path) -> None:
    config = write_study(tmp_path, SMALL.replace("worlds.toml", "run/config.toml"))
    (tmp_path / "run").mkdir()
    (tmp_path / "worlds.toml").rename(tmp_path / "run" / "config.toml")
    before = (tmp_path / "run" / "config.toml").read_bytes()
    assert_refused(run_in(config, tmp_path / "run", "--overwrite"), "run/config.toml: this input lies in")
    assert (tmp_path / "run" / "config.toml").read_bytes() == before


def test_the_lock_is_made_where_there_is_none(tmp_path: Path) -> None:
    with lock_directory(tmp_path, print):
        assert (tmp_path / "stages" / ".lock").exists()


def table_cells(folder: Path) -> dict[str, list[list[str]]]:
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        if path.name != "timings.csv":
            with path.open(newline="") as file:
                tables[path.name] = list(csv.reader(file))
    return tables


def same_number(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return abs(float(one) - float(other)) <= 1e-8 * max(1.0, abs(float(one)))
    except ValueError:
        return False


def test_another_processor_gives_the_same_numbers(tiny: Study, tmp_path: Path) -> None:
    """OpenBLAS computes in another order: the last bits differ, and nothing that is decided by comparing."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "extrinsic", "run", tiny.config, "--output", tmp_path / "run"]
    options = ["--n-jobs", "1", "--quiet", "--no-report"]
    subprocess.run([*map(str, command), *options], env=environment, check=True, capture_output=True)
    here, there = table_cells(tiny.folder), table_cells(tmp_path / "run")
    assert list(here) == list(there)
    for name, rows in here.items():
        cells, others = ([cell for row in table for cell in row] for table in (rows, there[name]))
        assert [pair for pair in zip(cells, others, strict=True) if not same_number(*pair)] == [], name


def test_a_domain_whose_reward_has_no_such_option(tmp_path: Path) -> None:
    from extrinsic.corpus.domain import FOLDER, load_domain

    text = (FOLDER / "bus.toml").read_text()
    (tmp_path / "task.toml").write_text(text.replace("[reward]\n", '[reward]\nabsnt = "zero"\n'))
    with pytest.raises(InputError, match=r"task\.toml: line \d+, key reward.*did you mean 'absent'"):
        load_domain(str(tmp_path / "task.toml"))
