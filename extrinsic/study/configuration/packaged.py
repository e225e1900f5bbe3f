"""The studies that come with the package, by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from extrinsic.errors import UsageError, did_you_mean


def packaged_studies() -> dict[str, Path]:
    """Their files by name: `extrinsic/configs` where the package is installed, `configs` in a clone of it."""
    package = Path(str(files("extrinsic")))
    folders = (package / "configs", package.parent / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    return {file.stem: file for file in sorted(folder.glob("*.toml"))} if folder else {}


def find_study(name: str | Path) -> Path:
    """A file as it is named; a name that is no file is a study of the package."""
    path = Path(name)
    studies = packaged_studies()
    if isinstance(name, str) and name in studies and not path.is_file():
        return studies[name]
    if path.suffix == ".toml" or path.parent != Path() or path.exists():
        return path
    raise UsageError(
        f"there is no study {str(name)!r}; {did_you_mean(str(name), studies)}",
        expected="a .toml file, or a name of `extrinsic ls configs`",
    )
