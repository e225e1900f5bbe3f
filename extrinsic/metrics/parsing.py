"""From what the user types to a metric: `fga(0.5)`, `gca(weights=plain)`, `jga(fill=argmax)`."""

from __future__ import annotations

import inspect
import re
from typing import Any

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.fill import Fill, Filled
from extrinsic.registry import METRICS

_FORM = re.compile(r"\s*(?P<name>[A-Za-z][\w.]*)\s*(?:\((?P<arguments>[^()]*)\))?\s*")


def parse_metric(text: str) -> Metric | Filled:
    """The metric that a printed form names; with `fill`, a state-set metric of a belief tracker."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no metric", expected="name or name(value, parameter=value)")
    name = match["name"]
    factory = METRICS.get(name)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for argument in (match["arguments"] or "").split(","):
        if not argument.strip():
            continue
        key, equals, value = argument.partition("=")
        if equals:
            if key.strip() in named:
                raise UsageError(f"the parameter {key.strip()!r} stands twice in {text!r}")
            named[key.strip()] = _value(value)
        else:
            positional.append(_value(key))
    fill = named.pop("fill", None)
    metric = build_metric(name, factory, positional, named)
    if fill is None:
        return metric
    if metric.kind != "state":
        raise UsageError(f"the metric {name!r} scores beliefs as they are and takes no fill rule")
    return Filled(metric, Fill.parse(fill))


def _value(text: str) -> Any:
    text = text.strip()
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def build_metric(name: str, factory: Any, positional: list[Any], named: dict[str, Any]) -> Metric:
    """Call a registered factory with parameters, with a clear word about those it does not know."""
    known = list(inspect.signature(factory).parameters)
    for key in named:
        if key not in known:
            raise UsageError(f"the metric {name!r} has no parameter {key!r}; {did_you_mean(key, known)}")
    if len(positional) > min(1, len(known)):
        raise UsageError(
            f"the metric {name!r} takes {'one value' if known else 'no value'} without a name",
            found=", ".join(map(str, positional)),
        )
    try:
        metric: Metric = factory(*positional, **named)
    except TypeError as error:
        raise UsageError(f"the metric {name!r} cannot be made of these parameters: {error}") from None
    return metric
