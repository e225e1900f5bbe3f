"""What `score` prints instead of scores: paired differences, correlations over turns, a fitted lambda."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TextIO

from extrinsic.cli.output import print_data
from extrinsic.cli.text_tables import print_table
from extrinsic.corpus.conventions import STATE_SETS
from extrinsic.corpus.ratings import Ratings
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import printable
from extrinsic.metrics.fga_fitting import FittedLambda
from extrinsic.metrics.paired_scores import PERMUTATIONS, PairedScore
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.sources import Source
from extrinsic.metrics.turn_correlation import TurnCorrelation
from extrinsic.signature import sign
from extrinsic.storage import content_hash, read_bytes


def print_turn_correlations(
    results: Sequence[tuple[StateSets, TurnCorrelation]], form: str, stream: TextIO
) -> None:
    """One document for all files; a table each for people (LaTeX and Markdown have no form of their own)."""
    trackers = content_hash(*(states.signature for states, _ in results))[:12]
    first = results[0][0]
    signature = sign(
        format=first.conventions.name,
        gold=first.gold_signature[:12] or None,
        values=first.value_rules or None,
        trackers=trackers,
        turn_correlation="pearson",
    )
    rows = [{"tracker": states.name, **row} for states, result in results for row in result.as_rows()]
    if print_data(form, rows, signature, stream):
        return
    for states, result in results:
        print(f"{printable(states.name)}: correlation of metrics over {states.n_turns:,} turns", file=stream)
        lines = []
        for metric, values in zip(result.metrics, result.correlation, strict=True):
            texts = ("-" if value != value else f"{value:.4f}" for value in values)
            lines.append({"": metric, **dict(zip(result.metrics, texts, strict=True))})
        print_table(lines, {name: name for name in ("", *result.metrics)}, stream)
        print(file=stream)
    print(printable(signature), file=stream)


def print_paired(
    rows: Sequence[PairedScore],
    sources: tuple[Source, Source],
    n_resamples: int,
    arguments: argparse.Namespace,
    stream: TextIO,
) -> None:
    """One table: both values, their difference with its interval, p, and which tracker the metric prefers."""
    first, second = (source.tracker for source in sources)
    states = first if isinstance(first, StateSets) else None
    signature = sign(
        format=sources[0].conventions.name,
        gold=states.gold_signature[:12] or None if states else None,
        values=states.value_rules or None if states else None,
        corpus=sources[0].corpus.signature[:12] if sources[0].corpus else None,
        paired=content_hash(first.signature, second.signature)[:12],
        bootstrap=f"{n_resamples},seed={arguments.seed}",
        permutations=str(PERMUTATIONS),
    )
    if print_data(arguments.form, [asdict(row) for row in rows], signature, stream):
        return
    chosen = bool(arguments.metric or arguments.schedule or arguments.component)
    shown = [
        row
        for row in rows
        if chosen
        or (row.component in sources[0].conventions.shown_components and row.label_scheme in (None, "a"))
    ]
    labels = ["label_scheme"] if any(row.label_scheme for row in shown) else []
    columns = ("component", "schedule", "first", "second", "difference", "low", "high", "p", "better")
    titles = {"label_scheme": "labels", "first": first.name, "second": second.name}
    heads = {name: titles.get(name, name) for name in ("metric", *labels, *columns)}
    lines = []
    for row in shown:
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


def print_fitted_lambda(
    fitted: FittedLambda,
    ratings: Ratings,
    systems: Sequence[StateSets],
    arguments: argparse.Namespace,
    stream: TextIO,
) -> None:
    """The chosen lambda, what it gets of dialogs that it was not chosen on, and what fixed ones get."""
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
    print(
        f"chosen: {fitted.metric}; over resampled dialogs lambda from {fitted.low:g} to {fitted.high:g}; "
        f"by fold {choices}\n",
        file=stream,
    )
    heads = {"metric": "metric", "choice": "lambda", "correlation": "r", "low": "low", "high": "high"}
    heads |= {"gain": "held out - this", "gain_low": "low", "gain_high": "high"}
    print_table(fitted.rows, heads, stream)
    print(f"\n{printable(signature)}", file=stream)
