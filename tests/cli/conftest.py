"""Both corpora and a file of states on disk: to be read by many tests, or a copy to be spoilt by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import Written, write_dstc1, write_dstc2, write_state_sets
from tests.samples import small_dstc1, small_dstc2, small_state_sets


@pytest.fixture(scope="session")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write_dstc1(tmp_path_factory.mktemp("bus"), small_dstc1())


@pytest.fixture(scope="session")
def restaurants(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write_dstc2(tmp_path_factory.mktemp("restaurants"), small_dstc2())


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_state_sets(tmp_path_factory.mktemp("states"), small_state_sets())
