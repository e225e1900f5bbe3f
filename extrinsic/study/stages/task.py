"""What a stage is: everything it is computed from, and the key that follows from that."""

from __future__ import annotations

from typing import Protocol

import msgspec

from extrinsic.storage import encode_json
from extrinsic.study.stages.store import Result, Results, StageKey


class Task(Protocol):
    """A stage of a study, to be computed by any process.

    label: what progress shows.   tracker, variant: whom and what it is about, where it is about one.
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
        """Compute; what earlier stages stored is read from `results`."""
        ...


def encoded(settings: msgspec.Struct) -> bytes:
    """Settings as bytes that keys are made of."""
    return encode_json(msgspec.to_builtins(settings))
