"""A study's own Python files: trackers, metrics and features that register themselves when imported.

Every process imports them. Packages that are installed and have entry points need not be named.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from extrinsic.errors import InputError
from extrinsic.storage import content_hash, read_bytes


def load_plugins(paths: Sequence[str]) -> None:
    """Import files, each once in this process."""
    for path in paths:
        name = f"extrinsic_plugin_{content_hash(path)[:16]}"
        if name in sys.modules:
            continue
        read_bytes(path)  # says in our own words that a file is not there
        specification = importlib.util.spec_from_file_location(name, path)
        if specification is None or specification.loader is None:
            raise InputError("this is no Python file", path=path, expected="a name that ends in .py")
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        try:
            specification.loader.exec_module(module)
        except Exception as error:  # whatever somebody's own code may raise
            del sys.modules[name]
            raise InputError(
                f"the file cannot be imported: {type(error).__name__}: {error}", path=path
            ) from error


def hash_of_plugins(paths: Sequence[str]) -> str:
    """Of what the files say; the same file elsewhere is the same plugin."""
    return content_hash(*(read_bytes(path) for path in paths)) if paths else ""
