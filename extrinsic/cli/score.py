"""`extrinsic score`: the intrinsic metrics of tracker files."""

from __future__ import annotations

import argparse
import sys

from extrinsic.cli.arguments import refuse_corpus, require_corpus, state_reading, unique_names
from extrinsic.cli.output import print_problems
from extrinsic.cli.score_comparisons import print_comparison
from extrinsic.cli.score_tables import print_scores
from extrinsic.corpus.formats import BeliefFormat, ChallengeFormat, Format, read_state_file
from extrinsic.corpus.formats.long_corpora import LongCorpus
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, printable
from extrinsic.metrics.scoring import RunningScores, merge_scores, score
from extrinsic.plugins import load_plugins
from extrinsic.registry import FORMATS
from extrinsic.study.health import joint_only_notes


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    if (long := _long_corpus(arguments)) is not None:
        return _print_long(arguments, long)
    scored = _read(arguments)
    if arguments.paired or arguments.turn_correlation or arguments.fit_fga:
        print_comparison(scored, arguments, sys.stdout)
        return 0
    chosen = {"metrics": arguments.metric, "schedules": arguments.schedule, "components": arguments.component}
    more = {"fill": arguments.fill, "bootstrap": arguments.bootstrap, "seed": arguments.seed}
    results = [score(labelled, output, **chosen, **more) for labelled, output in scored]
    shown = None if any(chosen.values()) else scored[0][0].conventions
    form = arguments.form or "table"
    names = [output.name for _, output in scored if output is not None and output.joint_only]
    print_scores(merge_scores(results), form, shown, sys.stdout, arguments.all, joint_only_notes(names))
    return 0


def _long_corpus(arguments: argparse.Namespace) -> LongCorpus | None:
    """A corpus to work through in parts; whatever resamples or compares dialogs needs all of them at once."""
    form = FORMATS.get(arguments.format)
    at_once = arguments.paired or arguments.turn_correlation or arguments.fit_fga or arguments.bootstrap
    if at_once or not isinstance(form, ChallengeFormat):
        return None
    require_corpus(arguments)
    long: LongCorpus | None = form.long_corpus(arguments.corpus, arguments.dataset, arguments.domain)
    return long


def _print_long(arguments: argparse.Namespace, long: LongCorpus) -> int:
    """Scores of tracker files that are read along with a long corpus."""
    state_reading(arguments)
    names = unique_names(arguments.files)
    files = [long.tracker(path, name) for path, name in zip(arguments.files, names, strict=True)]
    chosen = (arguments.metric, arguments.schedule, arguments.component, arguments.fill)
    running = [RunningScores(*chosen) for _ in files]
    for part in long.parts():
        for file, scores in zip(files, running, strict=True):
            scores.add(part, file.take(part))
    for file in files:
        file.require_end(part.dataset)
    print_problems(long.problems, sys.stderr, most=None)
    for file in files:
        _report_repairs(file.path, file.n_repairs)
        print_problems(file.about_file(), sys.stderr, most=None)
    shown = None if any(chosen[:3]) else part.conventions
    results = [scores.scores(long.signature) for scores in running]
    joint_only = joint_only_notes([file.name for file in files if file.joint_only])
    print_scores(
        merge_scores(results), arguments.form or "table", shown, sys.stdout, arguments.all, joint_only
    )
    return 0


def _report_repairs(path: str, n_repairs: int) -> None:
    if n_repairs:
        counted = "1 repair" if n_repairs == 1 else f"{n_repairs:,} repairs"
        text = f"{counted} by the scoring rules; `extrinsic validate` lists them"
        print(f"{printable(path)}: {text}", file=sys.stderr)


def _read(arguments: argparse.Namespace) -> list[tuple[Corpus | StateSets, TrackerOutput | None]]:
    """The corpus and output of every tracker, or its state sets; problems of all files are raised at once."""
    reading = state_reading(arguments)
    form: Format = FORMATS.get(arguments.format)
    corpus = None
    if isinstance(form, BeliefFormat):
        require_corpus(arguments)
        corpus = form.read_corpus(arguments.corpus, arguments.dataset, arguments.domain)
        print_problems(corpus.problems, sys.stderr, most=None)
    else:
        refuse_corpus(arguments)
    scored: list[tuple[Corpus | StateSets, TrackerOutput | None]] = []
    problems: list[Problem] = []
    for path, name in zip(arguments.files, unique_names(arguments.files), strict=True):
        try:
            if isinstance(form, BeliefFormat):
                assert corpus is not None
                output = form.read_tracker(path, corpus, name)
                scored.append((corpus, output))
                reported = output.problems
            else:
                states = read_state_file(form, path, name, reading)
                scored.append((states, None))
                reported = states.problems
                if reading.normalise:
                    counted = f"{states.n_values_changed:,} of {states.n_predicted:,} predicted values"
                    print(f"{path}: {counted} changed by {states.value_rules}", file=sys.stderr)
                elif states.value_rules:
                    changed = f"{states.n_values_changed:,} predicted values count as gold ones"
                    print(f"{printable(path)}: {changed} by {states.value_rules} alone", file=sys.stderr)
        except InputError as error:
            problems.extend(error.problems)
            continue
        _report_repairs(path, sum(problem.severity == "repair" for problem in reported))
        about_file = [
            problem
            for problem in reported
            if problem.severity == "warning" or (problem.severity == "note" and problem.session is None)
        ]
        print_problems(about_file, sys.stderr, most=None)
    if problems:
        raise InputError(problems)
    return scored
