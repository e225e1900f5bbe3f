"""A run's directory: the manifest that says which study it holds, and the lock on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from extrinsic.errors import InputError, OutputError, Problems
from extrinsic.storage import content_hash, decode_json, encode_json, read_bytes
from extrinsic.study.plan import Plan

MANIFEST = "manifest.json"
CONFIG = "config.toml"
STAGES = "stages"
POLICIES = "policies"
LOCK = ".lock"
FORM = 2
"""Of the manifest and what it names: a directory with another one was made by another version."""
PART = ".*.part"
"""The partial output of a killed process."""


def require_same_study(folder: Path, study: str, overwrite: bool = False) -> None:
    """Refuse a directory that holds anything but this study, unless it may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise OutputError("this is a file", path=str(folder), expected="a directory, or nothing")
    if overwrite or not folder.exists():
        return
    manifest = read_manifest(folder)
    if manifest is None:
        # Files of a run that was killed before it wrote its manifest.
        names = sorted({path.name for path in folder.iterdir() if not path.match(PART)} - {STAGES, CONFIG})
        if names:
            message = "the directory holds other files; name an empty one, or add --overwrite"
            raise OutputError(message, path=str(folder), found=", ".join(names[:3]))
    elif manifest.study != study:
        message = "the directory holds another study; name another one, or add --overwrite"
        raise OutputError(message, path=str(folder), expected=study, found=manifest.study)


def make_directory(folder: Path) -> None:
    try:
        (folder / STAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot be made: {error.strerror or error}", path=str(folder)) from None


Status = Literal["running", "complete"]


class StageRecord(msgspec.Struct, frozen=True):
    """A stage of a run, with the key of its result."""

    stage: str
    name: str
    key: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a run: its inputs, its plan, its results and the versions that computed them.

    form: see `FORM`.   signature: None until it is complete.   inputs: hashes of the files it read.
    plan: with names resolved.   tables: hashes of the files it wrote, settings and kept policies included.
    check_sum: of all the rest; empty for a record that was made by hand.
    """

    form: int = 0
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
    check_sum: str = ""

    def encode(self) -> bytes:
        """As JSON, with its check sum."""
        signed = msgspec.structs.replace(self, check_sum=self._sum())
        return encode_json(msgspec.to_builtins(signed), indent=2)

    def _sum(self) -> str:
        plain = msgspec.structs.replace(self, check_sum="")
        return content_hash(encode_json(msgspec.to_builtins(plain)))

    def check(self, problems: Problems) -> None:
        """Report what a run would not have written: a directory may be damaged, or made to mislead."""
        if self.check_sum not in ("", self._sum()):
            problems.add("the record of the run is damaged: its check sum does not hold")
        for name in self.tables:
            if not is_within(name):
                problems.add("a file of the run lies elsewhere", expected="a relative name", found=repr(name))
        plan = self.plan
        results = {"scored": plan.scored, "outcomes": plan.outcomes, **plan.learned}
        for name, keys in results.items():
            if keys and set(keys) != set(plan.tracker_names):
                problems.add(f"the results under {name!r} are not those of the run's trackers")
        for variant in plan.variants:
            if variant.name not in plan.learned:
                problems.add(f"the variant {variant.name!r} has no results")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a directory, checked; None where there is none."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        manifest = msgspec.convert(decode_json(read_bytes(path), str(path)), Manifest)
    except msgspec.ValidationError as error:
        message = f"the record of the run is damaged, or of another version: {error}"
        raise InputError(f"{message}; run the study again with --overwrite", path=str(path)) from None
    if manifest.form != FORM:
        message = "the run was made by another version of extrinsic; run the study again with --overwrite"
        raise InputError(message, path=str(path), expected=f"form {FORM}", found=f"form {manifest.form}")
    problems = Problems(str(path))
    manifest.check(problems)
    problems.raise_errors()
    return manifest


def is_within(name: str) -> bool:
    """Whether a name, relative to a directory, stays in it."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def clear_parts(folder: Path) -> None:
    """Remove the partial files of killed runs; the caller must hold the lock."""
    for directory in (folder, folder / STAGES, folder / "figures"):
        for path in directory.glob(PART) if directory.is_dir() else ():
            path.unlink(missing_ok=True)
    for path in (folder / POLICIES).rglob(PART):
        path.unlink(missing_ok=True)


@contextmanager
def lock_directory(folder: Path, notify: Callable[[str], None]) -> Iterator[None]:
    """Keep other runs from writing here: a second run waits, and then finds its work done.

    The lock belongs to the process, so a killed run releases it.
    """
    path = folder / STAGES / LOCK
    lock = FileLock(path)
    try:
        path.parent.mkdir(exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            notify(f"another run is at work in {folder}; waiting for it")
            lock.acquire()
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path=str(path)) from None
    try:
        yield
    finally:
        lock.release()
