"""Settings as TOML again, with all defaults filled in."""

from __future__ import annotations

import msgspec
import tomli_w

from extrinsic.study.configuration.choices import Tree, spread_options
from extrinsic.study.configuration.settings import StudySettings


def settings_text(settings: StudySettings) -> str:
    """A file that makes the same study when it is run."""
    return tomli_w.dumps(_filled(spread_options(msgspec.to_builtins(settings))))


def _filled(tree: Tree) -> Tree:
    """The tree without keys that have no value, and without tables that have no key."""
    values = {key: _filled(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in values.items() if value is not None and value != {}}
