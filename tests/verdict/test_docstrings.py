"""The examples in the docstrings of the package are what it does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import extrinsic.verdict

WITH_EXAMPLES = {"choices", "composite", "intervals", "item_level"}
MODULES = [f"extrinsic.verdict.{module.name}" for module in iter_modules(extrinsic.verdict.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    results = doctest.testmod(import_module(name))
    assert results.failed == 0
    assert results.attempted > 0 or name.rpartition(".")[2] not in WITH_EXAMPLES
