"""A run's directory: whose it is, and who is at work in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from extrinsic.errors import InputError, OutputError
from extrinsic.storage import decode_json, read_bytes
from extrinsic.study.planning.plan import Plan

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
    elif manifest.study != study:
        raise OutputError(
            "the directory holds another study; name another one, or add --overwrite",
            path=str(folder),
            expected=study,
            found=manifest.study,
        )


def make(folder: Path) -> None:
    try:
        (folder / STAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot be made: {error.strerror or error}", path=str(folder)) from None


Status = Literal["running", "complete"]


class StageRecord(msgspec.Struct, frozen=True):
    """A stage of a run: the key of its result, and what it is about."""

    stage: str
    name: str
    key: str
    tracker: str | None = None
    variant: str | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run says of itself.

    signature: None until it is complete.   inputs: hashes of the files it read.
    plan: what it was made of, resolved.   tables: hashes of the files it wrote.
    """

    signature: str | None = None
    study: str
    status: Status
    versions: dict[str, str]
    seeds: dict[str, int]
    inputs: dict[str, str]
    plan: Plan
    stages: tuple[StageRecord, ...] = ()
    tables: dict[str, str] = {}
    timings: str


def read_manifest(folder: Path) -> Manifest | None:
    """What a directory says of itself; None where it says nothing."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        return msgspec.convert(decode_json(read_bytes(path), str(path)), Manifest)
    except msgspec.ValidationError as error:
        raise InputError(
            f"the record of the run is damaged, or of another version: {error}; run the study again with "
            "--overwrite",
            path=str(path),
        ) from None


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
    lock = FileLock(path)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            tell(f"another run is at work in {folder}; waiting for it")
            lock.acquire()
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path=str(path)) from None
    try:
        yield
    finally:
        lock.release()
