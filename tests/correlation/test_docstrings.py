"""The examples in the docstrings of the package are what it does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import extrinsic.correlation

WITH_EXAMPLES = {
    "best_set",
    "composite",
    "deciding",
    "dialog_level",
    "disattenuation",
    "estimate",
    "influence",
    "intervals",
    "multiple_testing",
    "partial",
    "permutation",
    "power",
    "soft_pairwise",
    "tie_calibration",
    "two_way",
    "verdicts",
}


@pytest.mark.parametrize("name", [module.name for module in iter_modules(extrinsic.correlation.__path__)])
def test_examples(name: str) -> None:
    results = doctest.testmod(import_module(f"extrinsic.correlation.{name}"))
    assert results.failed == 0
    assert results.attempted > 0 or name not in WITH_EXAMPLES
