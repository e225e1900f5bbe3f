"""The bench on which the tests of bad input work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import write_dstc1, write_dstc2
from tests.cli.bench import Bench
from tests.samples import small_dstc1, small_dstc2


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(
        tmp_path,
        {
            "dstc1": write_dstc1(tmp_path / "dstc1", small_dstc1()),
            "dstc2": write_dstc2(tmp_path / "dstc2", small_dstc2()),
        },
    )
