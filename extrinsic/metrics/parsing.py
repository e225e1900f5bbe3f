"""Parsing the printed form of a metric: `fga(0.5)`, `gca(weights=plain)`, `jga(fill=argmax)`."""

from __future__ import annotations

import inspect
import re
from typing import Any

from extrinsic.corpus.fill import Fill
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Filled, Metric
from extrinsic.registry import METRICS

_FORM = re.compile(r"\s*(?P<name>[A-Za-z][\w.]*)\s*(?:\((?P<arguments>[^()]*)\))?\s*")


ALIASES = {"lambda": "decay"}
"""Parameter names of the papers that are keywords in Python."""


def parse_metric(text: str) -> Metric:
    """The metric that a printed form names; with `fill`, a state-set metric of a belief tracker."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a metric", expected="name or name(value, parameter=value)")
    name = match["name"]
    factory = METRICS.get(name)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for argument in (match["arguments"] or "").split(","):
        if not argument.strip():
            continue
        key, equals, value = argument.partition("=")
        if equals:
            if ALIASES.get(key.strip(), key.strip()) in named:
                raise UsageError(f"the parameter {key.strip()!r} occurs twice in {text!r}")
            named[ALIASES.get(key.strip(), key.strip())] = _value(value)
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
    """Call a registered factory with parameters; UsageError for unnames ones."""
    parameters = dict(inspect.signature(factory).parameters)
    takes_any = [key for key, parameter in parameters.items() if parameter.kind is parameter.VAR_KEYWORD]
    for key in takes_any:
        del parameters[key]
    names = list(parameters)
    for key in named:
        if key not in names and not takes_any:
            raise UsageError(f"the metric {name!r} has no parameter {key!r}; {did_you_mean(key, names)}")
    if len(positional) > min(1, len(names)):
        raise UsageError(
            f"the metric {name!r} takes {'one value' if names else 'no value'} without a name",
            found=", ".join(map(str, positional)),
        )
    specified = {*names[: len(positional)], *named}
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in specified:
            summary = next(entry.summary for entry in METRICS.entries() if entry.name == name)
            raise UsageError(f"the metric {name!r} needs a value for {key!r}; {summary}")
    try:
        metric: Metric = factory(*positional, **named)
    except TypeError as error:
        raise UsageError(f"the metric {name!r} cannot be made of these parameters: {error}") from None
    return metric
