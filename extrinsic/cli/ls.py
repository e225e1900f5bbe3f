"""`extrinsic ls`: what is available, one line each; the first word of a line is the key."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from msgspec import NODEFAULT

from extrinsic import registry
from extrinsic.cli.commands import KINDS
from extrinsic.cli.output import print_rows, put
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.registry import ESTIMATORS, FEATURES, METRICS, TRACKERS, WORLDS, Registry
from extrinsic.storage import sign

REGISTRIES: dict[str, Registry[Any]] = {
    kind: getattr(registry, kind.upper()) for kind in KINDS if hasattr(registry, kind.upper())
}
"""A kind is listed by its registry: `formats` by `registry.FORMATS`."""

Lines = list[tuple[str, str]]


def lines_of(kind: str) -> Lines:
    """Key and summary of everything of a kind."""
    if kind in REGISTRIES:
        return [(entry.name, entry.summary) for entry in REGISTRIES[kind].entries()]
    return {"domains": _domains, "populations": _populations, "configs": _configs}[kind]()


def _domains() -> Lines:
    from extrinsic.corpus.domain import built_in_domains, load_domain

    return [(name, load_domain(name).description) for name in built_in_domains()]


def _configs() -> Lines:
    from extrinsic.study.settings_file import packaged_studies
    from extrinsic.typed_files import read_tree

    lines = []
    for name, path in packaged_studies().items():
        tree, text = read_tree(path)
        needs = " Needs EXTRINSIC_DATA." if "${EXTRINSIC_DATA" in text else ""
        lines.append((name, f"{tree.get('description', '')}{needs}"))
    return lines


def _populations() -> Lines:
    from extrinsic.trackers.populations import FAMILIES

    return [
        (
            family.name,
            f"{family.summary}; {', '.join(family.options)}"
            + (f"; {family.size:,} distinct" if family.in_populations else ""),
        )
        for family in FAMILIES.values()
    ]


def run(arguments: argparse.Namespace) -> int:
    if arguments.plugin:
        from extrinsic.plugins import load_plugins

        load_plugins(arguments.plugin)
    if arguments.key is not None:
        # A tracker with parameters has the name of its family, which need not be that of a tracker.
        more = _populations() if arguments.kind == "trackers" else []
        summaries = {**dict(more), **dict(lines_of(arguments.kind))}
        return _show_details(arguments.kind, arguments.key, summaries, arguments.json)
    lines = list(KINDS.items()) if arguments.kind is None else lines_of(arguments.kind)
    if arguments.json:
        rows = [
            {"key": key, "summary": summary, **(_flags(key) if arguments.kind == "trackers" else {})}
            for key, summary in lines
        ]
        print_rows(sign(command=arguments.command, kind=arguments.kind), rows, sys.stdout)
        return 0
    width = max((len(key) for key, _ in lines), default=0)
    for key, summary in lines:
        put(f"{key:<{width}}  {summary}")
    if not lines:
        print(f"this version has no {arguments.kind} yet", file=sys.stderr)
    return 0


def _show_details(kind: str, key: str, summaries: Mapping[str, str], as_json: bool) -> int:
    """Print what an entry is, its source and its parameters; summaries: the lines of its kind."""
    name = key.partition("(")[0]
    if name not in summaries:
        raise UsageError(f"there is no {kind.removesuffix('s')} {name!r}; {did_you_mean(name, summaries)}")
    about = {"key": key, "summary": summaries[name], **_details(kind, key)}
    if as_json:
        print_rows(sign(command="ls", kind=kind), [about], sys.stdout)
        return 0
    details = {head: value for head, value in about.items() if value is not None}
    width = max(map(len, details))
    for head, value in details.items():
        text = "yes" if value is True else "no" if value is False else str(value)
        put(f"{head.replace('_', ' '):<{width}}  {text}")
    return 0


def _details(kind: str, key: str) -> dict[str, Any]:
    if kind == "metrics":
        return _of_metric(key)
    if kind == "trackers":
        return {**_flags(key), "what": _first_paragraph(type(TRACKERS.get(key)))}
    if kind == "populations":
        return _of_family(key)
    if kind == "worlds":
        properties = getattr(WORLDS.get(key), "properties", {})
        return {
            part.name: f"{part.what}; {part.expected}; drawn from {part.drawn[0]:g} to {part.drawn[1]:g}"
            for part in properties.values()
        }
    if kind == "features":
        return {"blocks": ", ".join(FEATURES.get(key).blocks)}
    if kind == "estimators":
        estimator = ESTIMATORS.get(key)
        about = {"what": _first_paragraph(type(estimator))}
        return about | (_options(estimator.settings) if hasattr(estimator, "settings") else {})
    if kind in ("learners", "behaviours", "rewards"):  # classes whose fields are the options of a study
        config = REGISTRIES[kind].get(key)
        return {"what": _first_paragraph(config), **(_options(config) if is_dataclass(config) else {})}
    if kind == "configs":
        from extrinsic.study.settings_file import packaged_studies

        return {"file": str(packaged_studies()[key])}
    return {}


def _flags(tracker: str) -> dict[str, Any]:
    from extrinsic.trackers.protocol import flags_of

    return flags_of(TRACKERS.get(tracker))


def _of_family(key: str) -> dict[str, Any]:
    """The parameters of a family of trackers: what there is, the default, and what a population draws."""
    from extrinsic.printed_forms import value_text
    from extrinsic.trackers.populations import FAMILIES

    family = FAMILIES[key]
    about: dict[str, Any] = {"made_of": f"{family.n_parts} other trackers"} if family.n_parts else {}
    for name, part in family.options.items():
        default = "required" if part.default is NODEFAULT else f"default {value_text(part.default)}"
        about[name] = f"{part.meta.description}; {part.expected}; {default}"
        if family.in_populations:
            values = list(map(value_text, part.drawn))
            some = (
                f"{len(values)} values, {values[0]} to {values[-1]}" if len(values) > 6 else ", ".join(values)
            )
            about[name] += f"; drawn: {some}"
    return about | ({"distinct": family.size} if family.in_populations else {})


def _options(config: Any) -> dict[str, Any]:
    """The fields of a dataclass: of a class with their defaults, of an instance with their values."""
    texts = []
    for field in fields(config):
        value = field.default if isinstance(config, type) else getattr(config, field.name)
        unset = "(required)" if value is MISSING else "(unset)" if value is None else None
        texts.append(f"{field.name} {unset or f'= {json.dumps(value)}'}")
    return {"options": ", ".join(texts)}


def _of_metric(key: str) -> dict[str, Any]:
    """A metric by its printed form; one that needs a parameter and has none, by its class."""
    from extrinsic.metrics.definition import parse_metric

    try:
        metric: Any = parse_metric(key)
    except UsageError:
        if "(" in key:
            raise
        metric = METRICS.get(key)
    better = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
    scored = {"belief": "beliefs", "state": "states; of beliefs by a fill rule, as name(fill=argmax)"}
    about = {
        "formula": getattr(metric, "formula", None),
        "paper": getattr(metric, "citation", None),
        "direction": better[getattr(metric, "higher_is_better", True)],
        "scores": scored.get(getattr(metric, "kind", "")),
    }
    if is_dataclass(metric) and fields(metric):
        set_to = [f"{field.name}={getattr(metric, field.name, '...')}" for field in fields(metric)]
        about["parameters"] = ", ".join(set_to)
    return about


def _first_paragraph(kind: type) -> str | None:
    text = inspect.getdoc(kind)
    return text.partition("\n\n")[0].replace("\n", " ") if text else None
