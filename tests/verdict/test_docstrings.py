"""The examples in the docstrings of the package are what it does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import extrinsic.correlation
import extrinsic.verdict

WITH_EXAMPLES = {
    *("best_set", "deciding", "dialog_level", "disattenuation", "estimate", "multiple_testing", "partial"),
    *("soft_pairwise", "tie_calibration", "two_way", "verdicts", "composite", "intervals", "item_level"),
}


MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (extrinsic.correlation, extrinsic.verdict)
    for module in iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    results = doctest.testmod(import_module(name))
    assert results.failed == 0
    assert results.attempted > 0 or name.rpartition(".")[2] not in WITH_EXAMPLES
