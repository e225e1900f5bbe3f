"""Variants of the default estimators. What helped became the default; these are what else was tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from extrinsic.registry import ESTIMATORS
from extrinsic.value.estimator import Estimator, Need
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fqe import Fqe, TreeSettings
from extrinsic.value.lstd_value import Lstd
from extrinsic.value.q_function import KernelSettings
from extrinsic.value.result import ResampledOver, Value


@dataclass(frozen=True)
class WithoutColumns:
    """An estimator on augmented states without the columns whose names begin with `prefix`."""

    estimator: Lstd | Fqe
    prefix: str
    resampled_over: ResampledOver = "dialogs"

    @property
    def name(self) -> str:
        return self.estimator.name

    @property
    def needs(self) -> tuple[Need, ...]:
        return self.estimator.needs

    def estimate(self, problem: EvaluationProblem) -> Value:
        states = problem.augmented
        assert states is not None
        kept = [i for i, name in enumerate(states.continuous_names) if not name.startswith(self.prefix)]
        names = tuple(states.continuous_names[i] for i in kept)
        fewer = replace(states, continuous=states.continuous[:, kept], continuous_names=names)
        return self.estimator.estimate(replace(problem, augmented=fewer))


def _lstd(name: str, **settings: Any) -> Lstd:
    return Lstd(f"lstd, {name}", KernelSettings(**settings), augmented=True)


def _trees(name: str, **settings: int) -> Fqe:
    return Fqe(f"fqe, {name}", TreeSettings(**settings), augmented=True)


_ALL: tuple[Estimator, ...] = (
    WithoutColumns(_lstd("proxies without worth"), "worth"),
    WithoutColumns(_lstd("worth without proxies"), "proxy"),
    _lstd("ridge 300", ridge=300.0),
    _lstd("ridge 1000", ridge=1000.0),
    _lstd("width 1.5", width=1.5),
    _lstd("width 3", width=3.0),
    _lstd("gamma .97", gamma=0.97),
    WithoutColumns(_trees("proxies without worth"), "worth"),
    WithoutColumns(_trees("worth without proxies"), "proxy"),
    _trees("leaves of 20", smallest_leaf=20),
    _trees("100 trees", trees=100),
)
VARIANTS = {variant.name: variant for variant in _ALL}


@contextmanager
def registered_variants() -> Iterator[None]:
    """Studies know the variants by their names while this lasts."""
    for name, variant in VARIANTS.items():
        ESTIMATORS.register(name, variant, "a variant")
    try:
        yield
    finally:
        for name in VARIANTS:
            ESTIMATORS.unregister(name)
