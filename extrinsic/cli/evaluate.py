"""`extrinsic evaluate`: inform and success of a system's states and responses, with JGA beside."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from extrinsic.cli.arguments import (
    add_plugin_argument,
    add_state_arguments,
    import_plugins,
    state_reading,
    unique_names,
)
from extrinsic.errors import InputError, Problems, UsageError, printable

if TYPE_CHECKING:
    from extrinsic.outcomes.multiwoz_evaluator import EvaluationRow

NAME = "evaluate"
HELP = "inform and success of MultiWOZ systems: states x responses x goals x database"
DESCRIPTION = (
    "Evaluate systems as MultiWOZ_Evaluation does: what their responses offer, by their states and the "
    "database, against the goals. A file in that evaluator's format holds states and responses; with "
    "--responses the responses come from another file, so that a tracker's states are put under a "
    "generator's responses. JGA is beside it where --gold (default: the goals' file) has gold states."
)
TOTAL = "all"


def configure(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option("files", nargs="+", metavar="FILE", help="predicted states, with responses or without")
    option("--format", default="multiwoz-eval", metavar="F", help="of the files (default: multiwoz-eval)")
    option("--goals", required=True, metavar="FILE", help="dialogs with their goals")
    option("--booked", required=True, metavar="FILE", help="which domains were booked by which turn")
    option("--database", required=True, metavar="DIR", help="the folder of <domain>_db.json")
    option("--responses", action="append", metavar="FILE", help="a generator's responses instead; repeatable")
    option(
        "--domains",
        choices=("states", "responses"),
        default="states",
        help="which domains a response is about, if its file does not say: whose slots changed in the state "
        "(the standard rule), or that its placeholders name",
    )
    add_state_arguments(parser)
    option("--dialogs", choices=("same", "shared"), default="same", help="shared: those that all have")
    option("--json", action="store_true", help="JSON on stdout")
    option("--quiet", action="store_true", help="no progress")
    add_plugin_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.cli.output import print_rows, print_table
    from extrinsic.cli.progress import show_progress
    from extrinsic.outcomes.multiwoz_evaluator import EvaluationRow, MultiWOZ, evaluate_system
    from extrinsic.registry import FORMATS
    from extrinsic.signature import sign

    import_plugins(arguments)
    form = FORMATS.get(arguments.format)
    reading = state_reading(arguments)
    own = arguments.responses is None
    if own and arguments.format != "multiwoz-eval":
        raise UsageError(
            f"files of format {arguments.format!r} hold no responses: name them with --responses"
        )
    options = (arguments.goals, arguments.booked, arguments.database)
    shared = None if own else MultiWOZ(*options, tuple(arguments.responses), arguments.domains).prepare()
    problems = Problems()
    rows: list[EvaluationRow] = []
    systems = list(zip(arguments.files, unique_names(arguments.files), strict=True))
    signatures: list[str] = []
    for path, name in show_progress(
        systems, len(systems), "evaluate", lambda system: system[1], arguments.quiet
    ):
        try:
            prepared = shared or MultiWOZ(*options, (path,), arguments.domains).prepare()
            evaluated = evaluate_system(
                prepared, form, path, name, reading, arguments.goals, arguments.dialogs, own
            )
            rows += evaluated
            lacking, n_goals = len(prepared.task.goals) - evaluated[0].n, len(prepared.task.goals)
            if lacking and not arguments.quiet:
                text = f"{lacking:,} of {n_goals:,} dialogs that have a goal are not evaluated"
                print(f"{printable(path)}: {text}", file=sys.stderr)
            signatures.append(prepared.signature)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_errors()
    signature = sign(
        command=NAME,
        evaluator="multiwoz",
        domains=arguments.domains,
        values=reading.value_rules or None,
        inputs=_joined(signatures),
    )
    if arguments.json:
        print_rows(signature, rows, sys.stdout)
        return 0
    heads = {name: name for name in EvaluationRow.__struct_fields__}
    if own:
        del heads["generator"]
    if all(row.jga is None for row in rows):
        del heads["jga"]
    print_table([row for row in rows if row.domain == TOTAL or len(systems) == 1], heads, sys.stdout)
    if len(systems) > 1:
        print("\nby domain: --json, or one file at a time")
    print(f"\n{signature}")
    return 0


def _joined(signatures: Sequence[str]) -> str:
    from extrinsic.storage import content_hash

    return content_hash(*signatures)[:12]
