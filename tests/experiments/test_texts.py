"""Stored tables and texts of experiments that are not yet read as structs; goes with the last of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.tables import read_csv


def stored(path: Path) -> Path:
    if not path.exists():
        pytest.skip(
            f"{path.parent.name}/{path.name} is not there: run python -m experiments.{path.parent.name}"
        )
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return read_csv(stored(path))
