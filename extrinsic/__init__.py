"""Which intrinsic metric of a dialog state tracker predicts how good a policy built on it will be?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extrinsic.corpus.formats import read_corpus as read_corpus
    from extrinsic.corpus.formats import read_states as read_states
    from extrinsic.corpus.formats import read_tracker as read_tracker
    from extrinsic.metrics.scoring import Scores as Scores
    from extrinsic.metrics.scoring import score as score
    from extrinsic.panel import Panel as Panel
    from extrinsic.policy.saved_policies import KeptPolicy as KeptPolicy
    from extrinsic.policy.saved_policies import load_policy as load_policy
    from extrinsic.policy.transitions import read_transitions as read_transitions
    from extrinsic.study.run import Run as Run
    from extrinsic.study.runner import run_policies as run_policies
    from extrinsic.study.runner import run_study as run_study
    from extrinsic.study.settings_file import read_policies as read_policies
    from extrinsic.study.settings_file import read_study as read_study
    from extrinsic.value.single_policy import SinglePolicy as SinglePolicy
    from extrinsic.value.single_policy import learn as learn
    from extrinsic.value.single_policy import play as play
    from extrinsic.value.single_policy import value as value

__version__ = "0.1.0"

# Imported on first access: `extrinsic --help` and `validate` must not pay for what they do not use.
# Type checkers read the imports above; a stub file would make a cycle that mypy cannot resolve.
_NAMES = {
    "extrinsic.panel": ("Panel",),
    "extrinsic.metrics.scoring": ("score", "Scores"),
    "extrinsic.corpus.formats": ("read_corpus", "read_tracker", "read_states"),
    "extrinsic.policy.saved_policies": ("KeptPolicy", "load_policy"),
    "extrinsic.policy.transitions": ("read_transitions",),
    "extrinsic.value.single_policy": ("learn", "value", "play", "SinglePolicy"),
    "extrinsic.study.settings_file": ("read_study", "read_policies"),
    "extrinsic.study.runner": ("run_study", "run_policies"),
    "extrinsic.study.run": ("Run",),
}
_API = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_API]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name in _API:
        from importlib import import_module

        return getattr(import_module(_API[name]), name)
    # With its name and module Python adds what was perhaps meant.
    message = f"module 'extrinsic' has no attribute {name!r}"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])
