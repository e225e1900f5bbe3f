"""`extrinsic ls`: what is available, one line each; the first word of a line is the key."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from extrinsic.cli.arguments import add_plugin_argument, import_plugins
from extrinsic.cli.output import print_rows, put
from extrinsic.errors import did_you_mean
from extrinsic.registry import (
    BEHAVIOURS,
    BLOCKS,
    ESTIMATORS,
    EVALUATORS,
    FEATURES,
    FORMATS,
    LEARNERS,
    METRICS,
    REWARDS,
    TRACKERS,
    WORLDS,
    Registry,
)
from extrinsic.signature import sign

NAME = "ls"
HELP = "list what is available: formats, metrics, trackers, learners, rewards, estimators, worlds, ..."
DESCRIPTION = (
    "List what is available, one line each; the first word of a line is the key. Without a kind: the kinds. "
    "With a key: everything about it."
)

Lines = list[tuple[str, str]]


def _registered(registry: Registry[Any]) -> Lines:
    return [(entry.name, entry.summary) for entry in registry.entries()]


def _domains() -> Lines:
    from extrinsic.domain import built_in_domains, load_domain

    return [(name, load_domain(name).description) for name in built_in_domains()]


def _configs() -> Lines:
    from extrinsic.study.configuration.packaged import packaged_studies
    from extrinsic.toml_files import read_tree

    lines = []
    for name, path in packaged_studies().items():
        tree, text = read_tree(path)
        needs = " Needs EXTRINSIC_DATA." if "${EXTRINSIC_DATA" in text else ""
        lines.append((name, f"{tree.get('description', '')}{needs}"))
    return lines


def _populations() -> Lines:
    from extrinsic.trackers.families import FAMILIES

    return [
        (
            family.name,
            f"{family.summary}; {', '.join(part.name for part in family.all_parameters)}"
            + (f"; {family.size:,} distinct" if family.in_populations else ""),
        )
        for family in FAMILIES.values()
    ]


def _details(kind: str | None, key: str) -> dict[str, Any]:
    """Further fields of --json."""
    if kind != "trackers":
        return {}
    from extrinsic.trackers.protocol import flags_of

    return flags_of(TRACKERS.get(key))


KINDS: dict[str, tuple[str, Callable[[], Lines]]] = {
    "formats": ("file formats of corpora and tracker outputs", partial(_registered, FORMATS)),
    "domains": ("tasks: slots, groups, what the system's acts mean", _domains),
    "metrics": ("intrinsic metrics of a tracker", partial(_registered, METRICS)),
    "trackers": ("trackers that run on any corpus with an SLU N-best", partial(_registered, TRACKERS)),
    "populations": ("families of trackers with parameters, to draw populations from", _populations),
    "features": ("maps from beliefs to the state of a policy", partial(_registered, FEATURES)),
    "blocks": (
        "parts of feature maps; `policy.features` may be a list of them",
        partial(_registered, BLOCKS),
    ),
    "behaviours": ("models of how the logged system acts", partial(_registered, BEHAVIOURS)),
    "learners": ("learners of policies", partial(_registered, LEARNERS)),
    "rewards": ("rewards that policies are learned for", partial(_registered, REWARDS)),
    "estimators": ("estimators of the value of a policy", partial(_registered, ESTIMATORS)),
    "evaluators": ("evaluators of outcomes, for [outcomes] evaluator", partial(_registered, EVALUATORS)),
    "worlds": ("simulated worlds that policies can be played in", partial(_registered, WORLDS)),
    "configs": ("studies: `extrinsic run NAME`; of policies: `extrinsic policies NAME`", _configs),
}


def _kind(text: str) -> str:
    if text not in KINDS:
        raise argparse.ArgumentTypeError(f"there is no {text!r} to list; {did_you_mean(text, list(KINDS))}")
    return text


def configure(parser: argparse.ArgumentParser) -> None:
    kinds = " | ".join(KINDS)
    parser.add_argument("kind", nargs="?", type=_kind, choices=list(KINDS), metavar="KIND", help=kinds)
    parser.add_argument("key", nargs="?", metavar="KEY", help="one of them in detail, e.g. metrics fga")
    parser.add_argument("--json", action="store_true", help="as JSON on stdout")
    add_plugin_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    import_plugins(arguments)
    if arguments.key is not None:
        from extrinsic.cli.ls_details import show_details

        # A tracker with parameters has the name of its family, which need not be that of a tracker.
        more = _populations() if arguments.kind == "trackers" else []
        summaries = {**dict(more), **dict(KINDS[arguments.kind][1]())}
        return show_details(arguments.kind, arguments.key, summaries, arguments.json)
    if arguments.kind is None:
        lines = [(kind, description) for kind, (description, _) in KINDS.items()]
    else:
        lines = KINDS[arguments.kind][1]()
    if arguments.json:
        rows = [{"key": key, "summary": summary, **_details(arguments.kind, key)} for key, summary in lines]
        print_rows(sign(command=NAME, kind=arguments.kind), rows, sys.stdout)
        return 0
    width = max((len(key) for key, _ in lines), default=0)
    for key, summary in lines:
        put(f"{key:<{width}}  {summary}")
    if not lines:
        print(f"this version has no {arguments.kind} yet", file=sys.stderr)
    return 0
