"""`extrinsic score`: the intrinsic metrics of tracker files, or two files compared, or metrics over turns."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict

from extrinsic.cli.arguments import refuse_corpus, require_corpus, state_reading, unique_names
from extrinsic.cli.output import print_aligned, print_data, print_problems, print_table, put
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import BeliefFormat, Format, read_state_file
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, UsageError, printable
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import Source
from extrinsic.metrics.scoring import Score, Scores, choose_metrics, merge_scores, origin_of, score
from extrinsic.metrics.state_items import ALL, STATE
from extrinsic.metrics.state_metrics import KIM_METRICS, turn_correlation
from extrinsic.plugins import load_plugins
from extrinsic.registry import FORMATS
from extrinsic.storage import content_hash, sign
from extrinsic.study.paired_scores import PERMUTATIONS, paired_scores, sources_of
from extrinsic.verdict.health import joint_only_notes
from extrinsic.verdict.names import Name, is_of_single_slots

Scored = Sequence[tuple[Corpus | StateSets, TrackerOutput | None]]


def run(arguments: argparse.Namespace) -> int:
    load_plugins(arguments.plugin)
    scored = _read(arguments)
    if arguments.paired:
        _print_paired(scored, arguments)
    elif arguments.turn_correlation:
        _print_turn_correlations(scored, arguments)
    else:
        _print_scores(scored, arguments)
    return 0


def _read(arguments: argparse.Namespace) -> Scored:
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
        n_repairs = sum(problem.severity == "repair" for problem in reported)
        if n_repairs:
            counted = "1 repair" if n_repairs == 1 else f"{n_repairs:,} repairs"
            text = f"{counted} by the scoring rules; `extrinsic validate` lists them"
            print(f"{printable(path)}: {text}", file=sys.stderr)
        about_file = [
            problem
            for problem in reported
            if problem.severity == "warning" or (problem.severity == "note" and problem.session is None)
        ]
        print_problems(about_file, sys.stderr, most=None)
    if problems:
        raise InputError(problems)
    return scored


TELLING = ("accuracy", "l2", "jga", "slot_f1")
"""The metrics that a table shows unless more are asked for; beside the tracker they fit in 80 columns."""


def _print_scores(scored: Scored, arguments: argparse.Namespace) -> None:
    """Rows for programs; for people the few telling ones: the joint goal, all slots; or what was chosen."""
    chosen = {"metrics": arguments.metric, "schedules": arguments.schedule, "components": arguments.component}
    more = {"fill": arguments.fill, "bootstrap": arguments.bootstrap, "seed": arguments.seed}
    scores = merge_scores([score(labelled, output, **chosen, **more) for labelled, output in scored])
    health = joint_only_notes([output.name for _, output in scored if output and output.joint_only])
    noted = {"health": health} if health else {}
    if print_data(arguments.form, scores.as_rows(), scores.signature, sys.stdout, **noted):
        return
    rows: Sequence[Score] = scores.rows
    if not any(chosen.values()):
        conventions = scored[0][0].conventions
        components, schemes = (*conventions.shown_components, STATE), (None, conventions.label_schemes[0])
        rows = [row for row in rows if row.component in components and row.label_scheme in schemes]
        components = (*conventions.shown_components[:2], STATE)
        telling = [row for row in rows if row.metric.partition("(")[0] in TELLING]
        if not arguments.all:
            rows = [row for row in telling if row.component in components] or telling or rows
    _print_score_table(rows, scores, {name for note in health for name in note.trackers})


WIDE = 1_000
MARK = "*"


def _print_score_table(rows: Sequence[Score], scores: Scores, joint_only: Collection[str]) -> None:
    """A line for each tracker, component, schedule and label scheme, a column for each metric."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    lines: dict[tuple[str, str, int, str | None], dict[str, Score]] = {}
    for row in rows:
        key = (row.tracker, row.component, row.schedule, row.label_scheme)
        lines.setdefault(key, {})[row.metric] = row
    columns = {
        "tracker": [tracker for tracker, *_ in lines],
        "component": [component for _, component, *_ in lines],
        "schedule": [str(schedule) for _, _, schedule, _ in lines],
        "labels": [labels or "" for *_, labels in lines],
        # Metrics of one line may count different items (turns with a gold state); the largest n is shown.
        "n": [f"{max(score.n for score in line.values()):,}" for line in lines.values()],
        "changed": [f"{max(score.changed or 0 for score in line.values()):,}" for line in lines.values()],
    }
    if not any(columns["labels"]):
        del columns["labels"]
    if all(row.changed is None for row in rows):
        del columns["changed"]
    first = [[head, *map(printable, cells)] for head, cells in columns.items()]
    numbers = [
        [printable(metric), *(_number(by_metric.get(metric), joint_only) for by_metric in lines.values())]
        for metric in metrics
    ]
    right = [head in ("n", "schedule", "changed") for head in columns]
    for part in _fitting(first, numbers):
        print_aligned([*first, *part], right + [True] * len(part), sys.stdout)
        print()
    if any(_is_empty(row, joint_only) for row in rows):
        print(f"{MARK} says nothing of the tracker: its file has joint hypotheses only")
    if len(rows) < len(scores.rows):
        shown = f"{len(rows):,} of {len(scores.rows):,} scores shown"
        print(f"{shown}; --all: every metric; --component, --json, --csv: more")
    put(scores.signature)


def _number(score: Score | None, joint_only: Collection[str]) -> str:
    if score is None:
        return ""
    mark = MARK if _is_empty(score, joint_only) else ""
    if score.value is None:
        return f"-{mark}"
    text = f"{score.value:.4f}" if abs(score.value) < 1000 else f"{score.value:,.0f}"
    if score.low is not None and score.high is not None:
        text += f" [{score.low:.4f}, {score.high:.4f}]"
    return text + mark


def _is_empty(score: Score, joint_only: Collection[str]) -> bool:
    """Whether it is of single slots, of a tracker that has no beliefs about them."""
    return score.tracker in joint_only and is_of_single_slots(Name.of(score))


def _fitting(first: Sequence[list[str]], numbers: Sequence[list[str]]) -> Iterator[list[list[str]]]:
    """The columns of numbers in groups that fit beside the first columns, at least one in each."""
    # A pipe has no width, and a number must never be cut off.
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    room = shutil.get_terminal_size().columns if has_width else WIDE
    room -= sum(max(map(len, column)) + 2 for column in first)
    group: list[list[str]] = []
    used = 0
    for column in numbers:
        needed = max(map(len, column)) + 2
        if group and used + needed > room:
            yield group
            group, used = [], 0
        group.append(column)
        used += needed
    yield group


def _refuse(option: str, arguments: argparse.Namespace, others: Sequence[str]) -> None:
    """Options that would be ignored."""
    ignored = [name.replace("_", "-") for name in others if getattr(arguments, name)]
    if ignored:
        raise UsageError(f"{option} does not go with --{', --'.join(ignored)}")


def _print_paired(scored: Scored, arguments: argparse.Namespace) -> None:
    """One table: both values, their difference with its interval, p, and which tracker the metric prefers."""
    if len(scored) != 2:
        raise UsageError("--paired compares two files", expected="2 files", found=str(len(scored)))
    _refuse("--paired", arguments, ("turn_correlation",))
    sources = sources_of(scored)
    conventions, corpus = sources[0].conventions, sources[0].corpus
    metrics = choose_metrics(sources[0], arguments.metric, arguments.fill)
    n_resamples = arguments.bootstrap or 1_000
    rows = paired_scores(
        *sources, metrics, arguments.schedule, arguments.component, n_resamples, seed=arguments.seed
    )
    first, second = (source.tracker for source in sources)
    signature = sign(
        **origin_of(sources[0]),
        corpus=corpus.signature[:12] if corpus else None,
        paired=content_hash(first.signature, second.signature)[:12],
        bootstrap=f"{n_resamples},seed={arguments.seed}",
        permutations=str(PERMUTATIONS),
    )
    if print_data(arguments.form, [asdict(row) for row in rows], signature, sys.stdout):
        return
    if not (arguments.metric or arguments.schedule or arguments.component):
        usual = [row for row in rows if row.component in conventions.shown_components]
        rows = [row for row in usual if row.label_scheme in (None, "a")]
    labels = ["label_scheme"] if any(row.label_scheme for row in rows) else []
    columns = ("component", "schedule", "first", "second", "difference", "low", "high", "p", "better")
    titles = {"label_scheme": "labels", "first": first.name, "second": second.name}
    heads = {name: titles.get(name, name) for name in ("metric", *labels, *columns)}
    lines = []
    for row in rows:
        undecided = row.difference is not None and parse_metric(row.metric).higher_is_better is not None
        better = row.better or ("not decided" if undecided else None)
        # Three decimals would print a small p as 0.
        lines.append(asdict(row) | {"p": "-" if row.p is None else f"{row.p:.4f}", "better": better})
    print_table(lines, heads, sys.stdout)
    print(
        f"\ndifference: {first.name} less {second.name}; low, high: 95 % over {n_resamples:,} resamples of "
        f"{sources[0].n_dialogs:,} dialogs; p: {PERMUTATIONS:,} permutations, not adjusted for many metrics"
    )
    print(f"\n{signature}")


def _print_turn_correlations(scored: Scored, arguments: argparse.Namespace) -> None:
    """One document for all files; a table each for people."""
    _refuse("--turn-correlation", arguments, ("schedule", "fill", "bootstrap"))
    if arguments.component and len(arguments.component) > 1:
        raise UsageError("--turn-correlation takes one --component at a time")
    component = arguments.component[0] if arguments.component else ALL
    systems = [states for states, _ in scored if isinstance(states, StateSets)]
    if len(systems) < len(scored):
        raise UsageError("--turn-correlation compares metrics of state sets; this format has beliefs")
    results = [turn_correlation(states, arguments.metric or KIM_METRICS, component) for states in systems]
    signature = sign(
        **origin_of(Source(None, systems[0])),
        trackers=content_hash(*(states.signature for states in systems))[:12],
        turn_correlation="pearson",
    )
    both = list(zip(systems, results, strict=True))
    rows = [{"tracker": states.name, **row} for states, result in both for row in result.as_rows()]
    if print_data(arguments.form, rows, signature, sys.stdout):
        return
    for states, result in both:
        put(f"{states.name}: correlation of metrics over {states.n_turns:,} turns")
        lines = []
        for metric, values in zip(result.metrics, result.correlation, strict=True):
            texts = ("-" if value != value else f"{value:.4f}" for value in values)
            lines.append({"": metric, **dict(zip(result.metrics, texts, strict=True))})
        print_table(lines, {name: name for name in ("", *result.metrics)}, sys.stdout)
        print()
    put(signature)
