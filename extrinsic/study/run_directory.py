"""A run's directory: whose it is, and who is at work in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from extrinsic.errors import InputError, OutputError
from extrinsic.storage import decode_json, read_bytes

MANIFEST = "manifest.json"
CONFIG = "config.toml"
STAGES = "stages"
LOCK = ".lock"


def require_fit(folder: Path, study: str, overwrite: bool = False) -> None:
    """Refuse a directory that holds something else than this study, unless it may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise OutputError("this is a file", path=str(folder), expected="a directory, or nothing")
    if overwrite or not folder.exists():
        return
    manifest = read_manifest(folder)
    if manifest is None:
        # What a run leaves that was killed before it could say whose the directory is.
        own = (STAGES, CONFIG)
        strange = [
            path.name for path in sorted(folder.iterdir()) if path.name not in own and not is_part(path)
        ]
        if strange:
            raise OutputError(
                "the directory holds other files; name an empty one, or add --overwrite",
                path=str(folder),
                found=", ".join(strange[:3]),
            )
    elif manifest.get("study") != study:
        raise OutputError(
            "the directory holds another study; name another one, or add --overwrite",
            path=str(folder),
            expected=study,
            found=str(manifest.get("study")),
        )


def make(folder: Path) -> None:
    try:
        (folder / STAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot be made: {error.strerror or error}", path=str(folder)) from None


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What a directory says of itself; None where it says nothing."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    manifest = decode_json(read_bytes(path), str(path))
    if not isinstance(manifest, dict):
        raise InputError("this is not the record of a run", path=str(path))
    return manifest


def is_part(path: Path) -> bool:
    """Whether a file was being written by a process that is gone."""
    return path.name.startswith(".") and path.name.endswith(".part")


def clear_parts(folder: Path) -> None:
    """Remove what killed runs left half written; only for who is alone in the directory."""
    for place in (folder, folder / STAGES, folder / "figures", folder / "tables"):
        for path in place.glob(".*.part") if place.is_dir() else ():
            path.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Nobody else writes here meanwhile: a second run waits, and then finds its work done.

    The lock belongs to the process, so that of a killed run is gone with it.
    """
    path = folder / STAGES / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path=str(path)) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            tell(f"another run is at work in {folder}; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
