"""How hypothesis runs here (no deadline: a busy machine is no bug), a package of plugins, and shared runs.

Whatever only looks at a run takes `tiny` or `small`; whatever changes one copies it (studies.copied).
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from extrinsic import plugins, registry
from tests.running import run
from tests.study.studies import DISK, SMALL, WORLDS, Study, done, write_study

settings.register_profile("extrinsic", deadline=None)
settings.load_profile("extrinsic")

PACKAGE = Path(__file__).parent / "plugin_package"


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="module")
def plugged(installed: Path) -> Iterator[None]:
    """All registries, asked anew with the test package installed; for other modules they are as before."""
    registries = [things for things in vars(registry).values() if isinstance(things, registry.Registry)]
    for things in registries:
        things.names()  # what a home registers when it is imported has to outlast the copy
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(installed))
        for things in registries:
            patch.setattr(things, "_entries", dict(things._entries))
            patch.setattr(things, "_complete", False)
        yield


@pytest.fixture(autouse=True)
def plugins_of_this_test() -> Iterator[None]:
    """The next test's worker processes do not load what this one did: two files may register one name."""
    before = dict(plugins._LOADED)
    yield
    plugins._LOADED.clear()
    plugins._LOADED.update(before)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Study:
    root = tmp_path_factory.mktemp("tiny")
    return done(write_study(root), root / "run")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A smaller one, for tests that have to compute parts of it again."""
    root = tmp_path_factory.mktemp("small")
    return done(write_study(root, SMALL), root / "run")


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated calls on disk, with files of three trackers, two of which are one and the same."""
    root = tmp_path_factory.mktemp("disk")
    (root / "worlds.toml").write_text(WORLDS)
    assert run("simulate", "--config", root / "worlds.toml", "--output", root / "calls").code == 0
    (root / "files").mkdir()
    for name, tracker in (("first", "hwu"), ("other", "vote")):
        for part in ("train", "test"):
            outcome = run(
                "track",
                "--format",
                "dstc1",
                "--corpus",
                root / "calls",
                "--dataset",
                f"a_{part}",
                "--tracker",
                tracker,
                "--n-jobs",
                "1",
                "--output",
                root / "files" / f"{name}.{part}.json",
            )
            assert outcome.code == 0, outcome.text
    for part in ("train", "test"):
        data = (root / "files" / f"first.{part}.json").read_bytes()
        (root / "files" / f"second.{part}.json").write_bytes(data)
    (root / "study.toml").write_text(DISK)
    return root
