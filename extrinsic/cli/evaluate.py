"""`extrinsic evaluate`: inform and success of a system's states and responses, with JGA beside."""

from __future__ import annotations

import argparse
import sys

from extrinsic.cli.arguments import state_reading, unique_names
from extrinsic.cli.output import print_rows, print_table
from extrinsic.cli.progress import show_progress
from extrinsic.errors import InputError, Problems, UsageError, printable
from extrinsic.outcomes.multiwoz_evaluator import EvaluationRow, MultiWOZ, evaluate_system
from extrinsic.plugins import load_plugins
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash, sign


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    form = FORMATS.get(arguments.format)
    reading = state_reading(arguments)
    own = arguments.responses is None
    if own and arguments.format != "multiwoz-eval":
        message = f"files of format {arguments.format!r} hold no responses"
        raise UsageError(f"{message}: name them with --responses")
    options = (arguments.goals, arguments.booked, arguments.database)
    shared = None if own else MultiWOZ(*options, tuple(arguments.responses), arguments.domains).prepare()
    problems = Problems()
    rows: list[EvaluationRow] = []
    systems = list(zip(arguments.files, unique_names(arguments.files), strict=True))
    signatures: list[str] = []
    steps = show_progress(systems, len(systems), arguments.command, lambda system: system[1], arguments.quiet)
    for path, name in steps:
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
        command=arguments.command,
        evaluator="multiwoz",
        domains=arguments.domains,
        values=reading.value_rules or None,
        inputs=content_hash(*signatures)[:12],
    )
    if arguments.json:
        print_rows(signature, rows, sys.stdout)
        return 0
    heads = {name: name for name in EvaluationRow.__struct_fields__}
    if own:
        del heads["generator"]
    if all(row.jga is None for row in rows):
        del heads["jga"]
    print_table([row for row in rows if row.domain == "all" or len(systems) == 1], heads, sys.stdout)
    if len(systems) > 1:
        print("\nby domain: --json, or one file at a time")
    print(f"\n{signature}")
    return 0
