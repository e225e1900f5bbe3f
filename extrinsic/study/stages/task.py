"""A stage: everything it is computed from, and the key that follows from that."""

from __future__ import annotations

from typing import Protocol

import msgspec

from extrinsic.storage import encode_json
from extrinsic.study.stages.store import Result, Results, StageKey


class Task(Protocol):
    """A stage of a study, to be computed by any process.

    label: shown as progress.   tracker, variant: None where it covers several.
    """

    @property
    def key(self) -> StageKey:
        """The name of its result: a hash of inputs, settings, and the code that computes it."""
        ...

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        """The results of earlier stages that it reads."""
        ...

    @property
    def label(self) -> str: ...

    @property
    def tracker(self) -> str | None: ...

    @property
    def variant(self) -> str | None: ...

    def run(self, results: Results) -> Result[msgspec.Struct]:
        """Compute the stage; results of earlier stages are read from `results`."""
        ...


def encoded(settings: msgspec.Struct) -> bytes:
    """Settings as bytes, to be hashed into a key."""
    return encode_json(msgspec.to_builtins(settings))
