"""What `score` prints instead of scores: paired differences, correlations over turns, a fitted lambda."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TextIO

from extrinsic.cli.output import print_data, print_table
from extrinsic.corpus.conventions import STATE_SETS
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.ratings import read_ratings
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError, printable
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.fga import fit_fga
from extrinsic.metrics.items.state_tables import ALL
from extrinsic.metrics.paired_scores import PERMUTATIONS, paired_scores, sources_of
from extrinsic.metrics.scoring import choose_metrics
from extrinsic.metrics.state_metrics import KIM_METRICS, turn_correlation
from extrinsic.signature import sign
from extrinsic.storage import content_hash, read_bytes

Scored = Sequence[tuple[Corpus | StateSets, TrackerOutput | None]]


def print_comparison(scored: Scored, arguments: argparse.Namespace, stream: TextIO) -> None:
    """Whichever of the three the arguments ask for."""
    if arguments.paired:
        _print_paired(scored, arguments, stream)
    elif arguments.turn_correlation:
        _print_turn_correlations(scored, arguments, stream)
    else:
        _print_fitted_lambda(scored, arguments, stream)


def _refuse(option: str, arguments: argparse.Namespace, others: Sequence[str], forms: Sequence[str]) -> None:
    """Options and forms of output that would be ignored."""
    ignored = [name.replace("_", "-") for name in others if getattr(arguments, name)]
    ignored += [arguments.form] if arguments.form in forms else []
    if ignored:
        raise UsageError(f"{option} does not go with --{', --'.join(ignored)}")


def _print_paired(scored: Scored, arguments: argparse.Namespace, stream: TextIO) -> None:
    """One table: both values, their difference with its interval, p, and which tracker the metric prefers."""
    if len(scored) != 2:
        raise UsageError("--paired compares two files", expected="2 files", found=str(len(scored)))
    _refuse("--paired", arguments, ("turn_correlation", "fit_fga"), ("latex",))
    sources = sources_of(scored)
    conventions, corpus = sources[0].conventions, sources[0].corpus
    metrics = choose_metrics(sources[0], arguments.metric, arguments.fill)
    n_resamples = arguments.bootstrap or 1_000
    rows = paired_scores(
        *sources, metrics, arguments.schedule, arguments.component, n_resamples, seed=arguments.seed
    )
    first, second = (source.tracker for source in sources)
    states = first if isinstance(first, StateSets) else None
    signature = sign(
        format=conventions.name,
        gold=states.gold_signature[:12] or None if states else None,
        values=states.value_rules or None if states else None,
        corpus=corpus.signature[:12] if corpus else None,
        paired=content_hash(first.signature, second.signature)[:12],
        bootstrap=f"{n_resamples},seed={arguments.seed}",
        permutations=str(PERMUTATIONS),
    )
    if print_data(arguments.form, [asdict(row) for row in rows], signature, stream):
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
    print_table(lines, heads, stream, markdown=arguments.form == "markdown")
    print(
        f"\ndifference: {first.name} less {second.name}; low, high: 95 % over {n_resamples:,} resamples of "
        f"{sources[0].n_dialogs:,} dialogs; p: {PERMUTATIONS:,} permutations, not adjusted for many metrics",
        file=stream,
    )
    print(f"\n{signature}", file=stream)


def _print_turn_correlations(scored: Scored, arguments: argparse.Namespace, stream: TextIO) -> None:
    """One document for all files; a table each for people (LaTeX and Markdown have no form of their own)."""
    _refuse("--turn-correlation", arguments, ("schedule", "fill", "bootstrap"), ("latex", "markdown"))
    if arguments.component and len(arguments.component) > 1:
        raise UsageError("--turn-correlation takes one --component at a time")
    component = arguments.component[0] if arguments.component else ALL
    systems = [states for states, _ in scored if isinstance(states, StateSets)]
    if len(systems) < len(scored):
        raise UsageError("--turn-correlation compares metrics of state sets; this format has beliefs")
    results = [turn_correlation(states, arguments.metric or KIM_METRICS, component) for states in systems]
    signature = sign(
        format=systems[0].conventions.name,
        gold=systems[0].gold_signature[:12] or None,
        values=systems[0].value_rules or None,
        trackers=content_hash(*(states.signature for states in systems))[:12],
        turn_correlation="pearson",
    )
    both = list(zip(systems, results, strict=True))
    rows = [{"tracker": states.name, **row} for states, result in both for row in result.as_rows()]
    if print_data(arguments.form, rows, signature, stream):
        return
    for states, result in both:
        print(f"{printable(states.name)}: correlation of metrics over {states.n_turns:,} turns", file=stream)
        lines = []
        for metric, values in zip(result.metrics, result.correlation, strict=True):
            texts = ("-" if value != value else f"{value:.4f}" for value in values)
            lines.append({"": metric, **dict(zip(result.metrics, texts, strict=True))})
        print_table(lines, {name: name for name in ("", *result.metrics)}, stream)
        print(file=stream)
    print(printable(signature), file=stream)


def _print_fitted_lambda(scored: Scored, arguments: argparse.Namespace, stream: TextIO) -> None:
    """The chosen lambda, what it gets of dialogs that it was not chosen on, and what fixed ones get."""
    others = ("metric", "schedule", "component", "fill")
    _refuse("--fit-fga", arguments, others, ("latex", "markdown"))
    systems = [states for states, _ in scored if isinstance(states, StateSets)]
    if len(systems) < len(scored):
        raise UsageError("--fit-fga is about state sets; this format has beliefs")
    ratings = read_ratings(arguments.fit_fga, systems, _scale(arguments.rating_scale))
    fitted = fit_fga(systems, ratings, arguments.folds, arguments.bootstrap or 1000, arguments.seed)
    signature = sign(
        format=STATE_SETS.name,
        trackers=content_hash(*(states.signature for states in systems))[:12],
        ratings=content_hash(read_bytes(arguments.fit_fga))[:12],
        folds=str(arguments.folds),
        seed=str(arguments.seed),
    )
    if print_data(arguments.form, fitted.as_rows(), signature, stream):
        return
    rated = "turns" if fitted.of_turns else "dialogs"
    counted = f"{ratings.n_ratings:,} ratings by {len(ratings.raters):,} people"
    print(f"{counted} of {fitted.n_units:,} {rated} ({fitted.n_dialogs:,} dialogs)", file=stream)
    choices = ", ".join(f"{decay:g}" for decay in fitted.of_folds)
    resampled = f"over resampled dialogs lambda from {fitted.low:g} to {fitted.high:g}"
    print(f"chosen: {fitted.metric}; {resampled}; by fold {choices}\n", file=stream)
    heads = {"metric": "metric", "choice": "lambda", "correlation": "r", "low": "low", "high": "high"}
    heads |= {"gain": "held out - this", "gain_low": "low", "gain_high": "high"}
    print_table(fitted.rows, heads, stream)
    print(f"\n{printable(signature)}", file=stream)


def _scale(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        scale = float(low), float(high)
    except ValueError:
        scale = (0.0, 0.0)
    if not scale[0] < scale[1]:
        raise UsageError("--rating-scale has no such form", expected="LOW:HIGH, e.g. 1:5", found=repr(text))
    return scale
