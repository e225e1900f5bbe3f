"""The wheel, installed where nothing else of the project is; imports on systems without posix modules."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = (
    'simulation.datasets=["ds4"]',
    "trackers.population.size=2",
    'trackers.built_in=["hwu", "focus", "vote"]',
    "value.live_dialogs=50",
    "correlation.resamples=100",
    "correlation.permutations=99",
)


def call(*command: object, cwd: Path, path: str = "") -> str:
    """Run a program, which sees the modules of `path` beside its own."""
    environment = {**os.environ, "PYTHONPATH": path}
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def why_not() -> str | None:
    """Why a wheel cannot be built and installed here without a network."""
    try:
        version("pip")
        setuptools = int(version("setuptools").partition(".")[0])
    except PackageNotFoundError as error:
        return f"there is no {error.name} here"
    return None if setuptools >= 77 else f"setuptools {setuptools} is too old to build: 77 is needed"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel; its dependencies are those of this environment."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, since building leaves files beside the sources.
    source = folder / "source"
    for name in ("extrinsic", "configs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    quiet = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    wheel = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source)
    call(sys.executable, *quiet, *wheel, cwd=folder)
    venv.create(folder / "venv", with_pip=False)
    bin_folder = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    (file,) = folder.glob("extrinsic-*.whl")
    site = Path(
        call(
            bin_folder / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
        ).strip()
    )
    # After its own folder, so that the installed package comes first.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(here) + "\n")
    python = ("--python", bin_folder / "python")
    call(sys.executable, *quiet, *python, "install", "--no-deps", f"{file}[report]", cwd=folder)
    return bin_folder


def test_the_installed_package_is_whole(programs: Path, tmp_path: Path) -> None:
    where = call(programs / "python", "-P", "-c", "import extrinsic; print(extrinsic.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(programs.parent)
    listed = call(programs / "extrinsic", "ls", "configs", cwd=tmp_path)
    assert {line.split()[0] for line in listed.splitlines()} == {
        path.stem for path in (ROOT / "configs").glob("*.toml")
    }
    options = [part for change in SMALL for part in ("--set", change)]
    call(programs / "extrinsic", "run", "quick", "--n-jobs", "1", *options, cwd=tmp_path)
    assert (tmp_path / "runs" / "quick" / "report.html").stat().st_size > 10_000


POSIX_ONLY = ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog")


def test_imports_need_no_posix_modules(tmp_path: Path) -> None:
    """As on Windows: every module but the bridges to optional libraries."""
    script = f"""
import sys, pkgutil, importlib
import asyncio, multiprocessing, subprocess, socket, uuid, shutil, tempfile
for name in {POSIX_ONLY!r}:
    sys.modules[name] = None
import extrinsic
from extrinsic.cli.main import build_parser
build_parser()
optional = ("minari", "gymnasium")
for module in pkgutil.walk_packages(extrinsic.__path__, "extrinsic."):
    if not any(name in module.name for name in (*optional, "__main__")):
        importlib.import_module(module.name)
for name in extrinsic.__all__:
    getattr(extrinsic, name)
"""
    call(sys.executable, "-c", script, cwd=tmp_path, path=str(ROOT))
