"""One registry for everything that has a name, plugins included."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from extrinsic.errors import UsageError
from extrinsic.registry import FORMATS, Registry

GROUP = "extrinsic.test_things"


@pytest.fixture
def things() -> Registry[object]:
    return Registry("thing", GROUP)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path, as if a package with entry points were installed there."""
    monkeypatch.syspath_prepend(tmp_path)
    information = tmp_path / "my_plugin-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\nmine = my_plugin_module:THING\n")
    (tmp_path / "my_plugin_module.py").write_text("THING = 'a thing of my own'\n")
    monkeypatch.delitem(sys.modules, "my_plugin_module", raising=False)
    return information


def test_a_name_is_taken_only_once(things: Registry[object]) -> None:
    things.register("one", 1, "first")
    with pytest.raises(UsageError, match="'one' is registered twice: 1 and 2"):
        things.register("one", 2, "again")
    assert things.get("one") == 1
    things.unregister("one")
    things.unregister("never there")
    assert "one" not in things
    things.register("one", 2, "again")
    things.register("accuracy", 1, "second")
    assert things.get("one") == 2
    listed = [(entry.name, entry.summary) for entry in things.entries()]
    assert listed == [("accuracy", "second"), ("one", "again")]
    with pytest.raises(UsageError, match="no thing 'acuracy'; did you mean 'accuracy'"):
        things.get("acuracy")


def test_a_lazy_target_is_imported_when_asked_for_and_not_before(
    things: Registry[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lazy_module_of_test.py").write_text("THING = object()\n")
    things.register("lazy", "lazy_module_of_test:THING", "")
    assert things.names() == ["lazy"]
    assert "lazy_module_of_test" not in sys.modules
    thing = things.get("lazy")
    assert thing is sys.modules["lazy_module_of_test"].THING
    assert things.get("lazy") is thing


@pytest.mark.parametrize(
    "target", ["no_such_module_here:X", "extrinsic.errors:NoSuchName", "my_plugin_module:THING"]
)
def test_a_broken_lazy_target_is_named(things: Registry[object], plugin: Path, target: str) -> None:
    (plugin.parent / "my_plugin_module.py").write_text("def broken(:\n")
    things.register("broken", target, "")
    for name in ("broken", "mine"):
        with pytest.raises(UsageError, match=f"'{name}' cannot be loaded"):
            things.get(name)
    with pytest.raises(UsageError, match=f"from '{target}'"):
        things.get("broken")


@pytest.mark.parametrize(
    ("target", "found"),
    [("THING", "a thing of my own"), ("THING.title [extra]", "A Thing Of My Own")],
)
def test_plugins_are_found_through_entry_points(
    things: Registry[object], plugin: Path, target: str, found: str
) -> None:
    """They are `module:object.attribute [extras]`, by the packaging standard."""
    (plugin / "entry_points.txt").write_text(f"[{GROUP}]\nmine = my_plugin_module:{target}\n")
    assert [(entry.name, entry.summary) for entry in things.entries()] == [("mine", "from my-plugin")]
    assert "my_plugin_module" not in sys.modules  # listing imports nothing
    thing = things.get("mine")
    assert (thing() if callable(thing) else thing) == found


def test_a_plugin_cannot_take_a_name_that_exists(things: Registry[object], plugin: Path) -> None:
    things.register("mine", "built in", "")
    for _ in range(2):  # and it is not forgotten after the first time
        with pytest.raises(UsageError, match="'mine' is registered twice"):
            things.names()


def test_the_home_package_registers_what_comes_with_it() -> None:
    assert {"dstc1", "dstc2", "state-sets", "trade", "trippy", "simpletod", "sgd"} <= set(FORMATS.names())
