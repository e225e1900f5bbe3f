"""Things of one's own: from an installed package by its entry points, and from a file that a study names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from extrinsic.errors import InputError
from extrinsic.study.configuration.settings_file import read_study
from tests.builders import write_state_sets
from tests.samples import small_state_sets

PACKAGE = Path(__file__).parent / "plugin_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the test package as an installer leaves it there: its modules and its metadata."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    shutil.copytree(PACKAGE / "tiny_plugin", site / "tiny_plugin")
    metadata = site / f"tiny_plugin-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = [
        line
        for group, names in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in names.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(points) + "\n")
    return site


def extrinsic(site: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, "-m", "extrinsic", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
    )


def test_an_installed_package_is_listed(installed: Path) -> None:
    listed = extrinsic(installed, "ls", "metrics").stdout
    assert "nearly_right" in listed and "from tiny-plugin" in listed
    assert "stubborn" in extrinsic(installed, "ls", "trackers").stdout
    assert "at most one wrong slot" in extrinsic(installed, "ls", "metrics", "nearly_right").stdout


def test_its_metric_scores(installed: Path, tmp_path: Path) -> None:
    file = write_state_sets(tmp_path, small_state_sets())
    done = extrinsic(installed, "score", "--format", "state-sets", file, "--metric", "nearly_right", "--csv")
    assert done.returncode == 0, done.stderr
    # Of the three turns of the sample one state is wrong, and in more than one slot.
    assert "nearly_right,1,,3,0.6666666666666666" in done.stdout


def test_its_tracker_plays_in_a_study_with_two_processes(installed: Path, tmp_path: Path) -> None:
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more="", world=_tiny_world(tmp_path)))
    done = extrinsic(installed, "run", config, "--output", tmp_path / "run", "--n-jobs", "2", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "stubborn" in (tmp_path / "run" / "returns.csv").read_text()


def test_a_file_that_a_study_names(tmp_path: Path) -> None:
    source = (PACKAGE / "tiny_plugin" / "things.py").read_text()
    (tmp_path / "mine.py").write_text(
        source.replace(
            "STUBBORN = Stubborn()", 'TRACKERS.register("stubborn", Stubborn(), "first stays")'
        ).replace("import numpy as np", "import numpy as np\n\nfrom extrinsic.registry import TRACKERS")
    )
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more='plugins = ["mine.py"]', world=_tiny_world(tmp_path)))
    done = extrinsic(tmp_path, "run", config, "--output", tmp_path / "run", "--n-jobs", "2", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "stubborn" in (tmp_path / "run" / "returns.csv").read_text()


@pytest.mark.parametrize(
    ("text", "message"), [(None, "no such file"), ("1 / 0", "ZeroDivisionError"), ("def", "SyntaxError")]
)
def test_a_file_that_cannot_be_imported(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more='plugins = ["mine.py"]', world=_tiny_world(tmp_path)))
    with pytest.raises(InputError, match=message):
        read_study(config)


STUDY = """
name = "plugged"
{more}
[simulation]
config = "{world}"
[trackers]
built_in = ["stubborn", "baseline", "hwu"]
[policy]
policies = ["rl"]
[reward]
fill = ["argmax"]
[value]
estimators = ["live"]
live_dialogs = 20
[correlation]
resamples = 100
permutations = 99
"""


def _tiny_world(folder: Path) -> Path:
    path = folder / "world.toml"
    path.write_text("[datasets.tiny.splits.train]\ndialogs = 30\n[datasets.tiny.splits.test]\ndialogs = 20\n")
    return path
