"""How hypothesis runs here: no deadline, since a busy machine is no bug. And a package of plugins."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from extrinsic import plugins, registry

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
