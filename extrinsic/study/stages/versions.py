"""What computed a result: the code of the layers it rests on, and the libraries below them."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import extrinsic
from extrinsic.storage import content_hash

LIBRARIES = ("numpy", "scipy", "scikit-learn")

FOUNDATIONS = ("errors.py", "storage.py", "arrays.py", "toml_files.py", "registry.py", "domain", "corpus")
MEASURING = (
    *FOUNDATIONS,
    "simulation",
    "trackers",
    "metrics",
    "study/stages/inputs.py",
    "study/stages/stored_scores.py",
    "study/planning/state_set_plan.py",
)
LEARNING = (
    *FOUNDATIONS,
    "simulation",
    "trackers",
    "policy",
    "value",
    "study/stages/inputs.py",
    "study/stages/learning.py",
)
RELATING = (
    "arrays.py",
    "metrics",
    "correlation",
    "study/stages/store.py",
    "study/stages/stored_scores.py",
    "study/planning/outcomes.py",
    "study/correlating/panel.py",
    "study/correlating",
    "study/tables/schema.py",
)


@cache
def code_version(layers: tuple[str, ...]) -> str:
    """A hash of the sources of some layers and of the libraries' versions.

    A result is computed again when code it may rest on has changed, and not when the report's has.
    """
    root = Path(extrinsic.__file__).parent
    files: list[Path] = []
    for layer in layers:
        place = root / layer
        files += [place] if place.is_file() else [*place.rglob("*.py"), *place.rglob("*.toml")]
    sources = [
        part for path in sorted(set(files)) for part in (str(path.relative_to(root)), path.read_bytes())
    ]
    return content_hash(*sources, *(f"{name} {version(name)}" for name in LIBRARIES))


def versions() -> dict[str, str]:
    """Of everything that a number can depend on."""
    return {
        "extrinsic": extrinsic.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }
