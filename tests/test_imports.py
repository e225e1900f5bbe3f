"""The story is told in one direction: a module imports only from its own layer and those before it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import extrinsic

LAYERS = (
    "errors",
    "printed_forms",
    "registry",
    "storage",
    "typed_files",
    "tables",
    "plugins",
    "arrays",
    "records",
    "parallel",
    "panel",
    "panel_tables",
    "corpus",
    "trackers",
    "simulation",
    "metrics",
    "outcomes",
    "policy",
    "value",
    "verdict",
    "study",
    "report",
    "cli",
)
ROOT = Path(extrinsic.__file__).parent
ENTRY = {"__init__", "__main__"}


def imported(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """The extrinsic modules that a source imports anywhere, also inside functions and for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer_of(module: str) -> str | None:
    """The layer a dotted name lies in; None for what is no part of a layer, such as __version__."""
    parts = module.split(".")
    return parts[1] if parts[0] == "extrinsic" and len(parts) > 1 and parts[1] in LAYERS else None


def violations(source: str, layer: str, package: list[str]) -> list[str]:
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    return [name for name in imported(ast.parse(source), package) if layer_of(name) not in (*allowed, None)]


def test_every_module_lies_in_a_layer() -> None:
    found = {path.stem if path.is_file() else path.name for path in ROOT.iterdir() if path.suffix != ".toml"}
    assert found - ENTRY - {"__pycache__", "py"} <= {*LAYERS, "py.typed"}


def test_the_page_of_the_layout_has_the_layers_in_order() -> None:
    page = (ROOT.parent / "docs" / "architecture.md").read_text()
    first_cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `extrinsic/")]
    names = [name.removeprefix("extrinsic/") for name in re.findall(r"`([^`]+)`", " ".join(first_cells))]
    assert [name.removesuffix(".py").removesuffix("/") for name in names] == list(LAYERS)


def test_imports_go_downwards_only() -> None:
    wrong = []
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] not in ENTRY:
            package = ["extrinsic", *parts[:-1]]
            wrong += [f"{path}: {name}" for name in violations(path.read_text(), parts[0], package)]
    assert wrong == []


BELOW_THE_WAIST = ("panel", "panel_tables", "verdict")
"""They know the panel and what they make of it: no corpus, tracker, metric, policy, plan or store."""


def test_nothing_below_the_waist_imports_what_is_above_it() -> None:
    above = {*LAYERS[LAYERS.index("corpus") : LAYERS.index("verdict")], "study", "report", "cli"}
    wrong = []
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] in BELOW_THE_WAIST:
            names = imported(ast.parse(path.read_text()), ["extrinsic", *parts[:-1]])
            wrong += [f"{path.name}: {name}" for name in names if layer_of(name) in above]
    assert wrong == []


def test_a_wrong_import_would_be_found() -> None:
    """The checker itself: plain, nested, relative and types-only imports of a later layer."""
    source = (
        "import extrinsic.cli.main\nfrom extrinsic import study, errors\n"
        "def f():\n    from ..metrics import roc\n"
        "if TYPE_CHECKING:\n    from extrinsic.policy import kernel_lspi\n"
    )
    assert set(violations(source, "corpus", ["extrinsic", "corpus"])) == {
        "extrinsic.cli.main",
        "extrinsic.study",
        "extrinsic.policy.kernel_lspi",
        "extrinsic.metrics.roc",
    }


def folder_edges() -> dict[str, set[str]]:
    """Which folder's modules import modules of which other folder; the names are dotted."""
    modules = {
        ".".join(["extrinsic", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in ROOT.rglob("*.py")
    }
    packages = {name for name, path in modules.items() if path.name == "__init__.py"}

    def folder(module: str) -> str:
        return module if module in packages else module.rpartition(".")[0]

    def resolved(name: str) -> str | None:
        """The module that holds an imported name."""
        while name and name not in modules:
            name = name.rpartition(".")[0]
        return name if name.startswith("extrinsic.") else None

    edges: dict[str, set[str]] = {}
    for module, path in modules.items():
        # What an __init__ gathers from its own folder's parts is no step in the order; nor is the top level,
        # whose modules are layers of their own.
        if path.name == "__init__.py" or folder(module) == "extrinsic":
            continue
        package = folder(module).split(".")
        targets = {resolved(name) for name in imported(ast.parse(path.read_text()), package)}
        folders = {folder(name) for name in targets if name} - {"extrinsic"}
        edges.setdefault(folder(module), set()).update(folders)
    return {source: targets - {source} for source, targets in edges.items()}


def test_a_folder_and_its_sub_folder_do_not_import_each_other() -> None:
    edges = folder_edges()
    both = [
        (source, target)
        for source, targets in edges.items()
        for target in targets
        if target.startswith(f"{source}.") and source in edges.get(target, ())
    ]
    assert both == []


def test_folders_are_in_an_order() -> None:
    """No circle of folders: each can be read after those that it imports."""
    from graphlib import TopologicalSorter

    order = list(TopologicalSorter(folder_edges()).static_order())
    assert order.index("extrinsic.corpus") < order.index("extrinsic.study") < order.index("extrinsic.cli")


def test_every_folder_is_a_package() -> None:
    """One that is none is left out of the wheel."""
    folders = {path.parent for path in ROOT.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_what_the_page_of_the_layout_names_is_there() -> None:
    """Functions of the way from a file to the verdict, and files."""
    from importlib import import_module

    page = (ROOT.parent / "docs" / "architecture.md").read_text()
    for module, name in re.findall(r"[`( ]((?:[a-z_]+\.)+)([A-Za-z_]+)\(", page):
        assert hasattr(import_module(f"extrinsic.{module.rstrip('.')}"), name), (module, name)
    for path in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page):
        assert (ROOT / path).is_file() or (ROOT.parent / path).is_file(), path
