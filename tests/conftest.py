"""How hypothesis runs here: no deadline, since a busy machine is no bug. And a package of plugins."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings

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
