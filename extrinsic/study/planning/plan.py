"""What a study computes of its trackers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from extrinsic.storage import encode_json
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.correlating.panel import TargetValue
from extrinsic.study.planning.variants import Variant
from extrinsic.study.stages.inputs import TrackerInput, file_hash
from extrinsic.study.stages.store import Result


@dataclass(frozen=True)
class Task:
    """A stage: what it is called, the key of its result, and the function that computes it.

    tracker, variant: whom and what it is about, where it is about one.
    """

    kind: str
    label: str
    key: str
    function: Callable[..., Result]
    arguments: tuple[Any, ...]
    tracker: str | None = None
    variant: str | None = None


@dataclass
class Plan:
    """What a study computes of its trackers, before anything is related.

    bundles: stages that share a tracker and its dialogs, to be computed in one place.
    measured: by tracker, keys of its measurements.   learned: by variant and tracker.
    dialogs: of each dataset, the identity of its dialogs.   inputs: hashes of the files read.
    """

    settings: StudySettings
    trackers: list[TrackerInput] = field(default_factory=list)
    dialogs: dict[str, str] = field(default_factory=dict)
    variants: list[Variant] = field(default_factory=list)
    bundles: list[list[Task]] = field(default_factory=list)
    measured: dict[str, list[str]] = field(default_factory=dict)
    learned: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], dict[str, TargetValue]] | None = None

    def __post_init__(self) -> None:
        self.inputs |= {path: file_hash(path) for path in self.settings.plugins}

    @property
    def tasks(self) -> list[Task]:
        return [task for bundle in self.bundles for task in bundle]


def encoded(settings: msgspec.Struct) -> bytes:
    return encode_json(msgspec.to_builtins(settings))
