"""Which intrinsic metric of a dialog state tracker predicts how good a policy built on it will be?"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# Imported when first asked for: `extrinsic --help` and `validate` must not pay for what they do not use.
_API = {
    "score": "extrinsic.metrics.scoring",
    "Scores": "extrinsic.metrics.scoring",
    "read_corpus": "extrinsic.corpus.formats",
    "read_tracker": "extrinsic.corpus.formats",
    "read_states": "extrinsic.corpus.formats",
}

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    if name in _API:
        from importlib import import_module

        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module 'extrinsic' has no attribute {name!r}")
