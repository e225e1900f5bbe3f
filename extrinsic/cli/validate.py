"""`extrinsic validate`: every problem of some files, not just the first."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeVar

from extrinsic.cli.arguments import refuse_corpus, require_corpus, state_reading
from extrinsic.cli.output import SHOWN_PROBLEMS, print_problems, print_rows
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import load_domain
from extrinsic.corpus.formats import BeliefFormat, read_state_file
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problems, UsageError, printable
from extrinsic.plugins import load_plugins
from extrinsic.registry import FORMATS
from extrinsic.storage import sign

Read = TypeVar("Read", bound=Corpus | StateSets | TrackerOutput)


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    form = FORMATS.get(arguments.format)
    reading = state_reading(arguments)
    corpus = None
    if isinstance(form, BeliefFormat):
        require_corpus(arguments)
        # A mistake in the domain's own file is no problem of the corpus, and is raised.
        domain = load_domain(arguments.domain or form.default_domain)
        place = (arguments.corpus, arguments.dataset, domain)
        corpus, row = _checked(arguments.corpus, lambda: form.read_corpus(*place), arguments.strict)
        # Without its corpus a tracker file cannot be judged: then the corpus's problems are the result.
        alone = corpus is None or not arguments.files
        rows = [row] if alone or row["problems"] else []
    else:
        refuse_corpus(arguments)
        rows, alone = [], False
        if not arguments.files:
            raise UsageError("nothing to validate: name at least one file")
    for path in () if alone else arguments.files:
        if corpus is None:
            read: Callable[[], StateSets | TrackerOutput] = partial(
                read_state_file, form, path, reading=reading
            )
        else:
            read = partial(form.read_tracker, path, corpus)
        rows.append(_checked(path, read, arguments.strict)[1])
    if arguments.json:
        signature = sign(
            command=arguments.command,
            format=form.name,
            dataset=corpus.dataset if corpus else None,
            corpus=corpus.signature[:12] if corpus else None,
            values=reading.value_rules or None,
        )
        plain = ({**row, "problems": [asdict(each) for each in row["problems"]]} for row in rows)
        print_rows(signature, plain, sys.stdout)
    else:
        for row in rows:
            _print_row(row)
    return 2 if any(row["errors"] for row in rows) else 0


def _checked(path: str, read: Callable[[], Read], strict: bool) -> tuple[Read | None, dict[str, Any]]:
    """What is read, None where it cannot be; and a row with every problem of it."""
    problems, thing = Problems(path), None
    try:
        thing = read()
        problems.extend(thing.problems)
    except InputError as error:
        problems.extend(error.problems)
    if strict:
        problems.strict()
    counts = Counter(problem.severity for problem in problems)
    return thing, {
        "file": path,
        "sessions": thing.n_dialogs if thing else None,
        "turns": thing.n_turns if thing else None,
        "errors": counts["error"],
        "repairs": counts["repair"],
        "warnings": counts["warning"],
        "notes": counts["note"],
        "problems": list(problems),
    }


def _print_row(row: dict[str, Any]) -> None:
    kinds = ("sessions", "turns", "errors", "repairs", "warnings", "notes")
    numbers = {kind: row[kind] for kind in kinds if row[kind]}
    counts = [f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in numbers.items()]
    if not row["problems"]:
        counts.append("no problems")
    print(f"{printable(row['file'])}: {', '.join(counts)}")
    # The file is named above; where a problem lies in it is enough below.
    problems = [replace(p, path=None) if p.path == row["file"] else p for p in row["problems"]]
    print_problems(problems, sys.stdout, SHOWN_PROBLEMS, indent="  ")
