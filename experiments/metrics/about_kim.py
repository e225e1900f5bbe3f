"""Claims of Kim et al. 2022."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.metrics.files import SOM, SYSTEMS
from experiments.metrics.judging import Tally, of_counts, of_figure, of_interval, percent, span
from experiments.metrics.lookup import SAID, Claim, Row, Tables, files_of, separated, whole_test, worked
from experiments.metrics.published import (
    AGA,
    JGA,
    KIM,
    KIM_FEW_SHARE,
    KIM_FEW_SLOTS,
    KIM_LAST_WRONG,
    KIM_MODELS,
    KIM_RECOVERED,
    KIM_TEST,
    RSA,
    SA,
)
from experiments.metrics.slots import ACTIVE, EVERY
from experiments.tables import one

PAPER = "Kim"


def claims(tables: Tables, systems: str) -> Iterator[Claim]:
    yield worked(tables, PAPER, KIM)
    yield whole_test(tables, PAPER, KIM)
    yield from _errors(tables, systems)
    yield from _spread(tables, systems)
    for turns in (EVERY, ACTIVE):
        rows = [row for row in tables["turn_correlations"] if row["turns"] == turns]
        tally, pooled = Tally(files_of(rows), "low", "high"), one(rows, file=systems)
        r = f"{pooled[f'{JGA} {RSA}']:.2f} and {pooled[f'{JGA} {SA}']:.2f}"
        here = f"{tally} of {len(files_of(rows))} files; {systems} {r}"
        claim = f"by turn, JGA correlates less with RSA than with SA ({turns})"
        yield PAPER, claim, "Fig. 3", here, tally.verdict
    yield _domains(tables)


def _errors(tables: Tables, systems: str) -> Iterator[Claim]:
    """Figs. 1 and 2."""
    som, together = (one(tables["positions"], file=name) for name in (SOM, systems))
    files = files_of(tables["positions"])
    tally = Tally(files, "first_half_low", "first_half_high", 0.5)
    shown = f"{SOM} {span(som, 'first_half')}, {systems} {span(together, 'first_half')}"
    here = f"in the first half: {shown}; above .5: {tally} of {len(files)} files"
    yield PAPER, "the first wrong turn mostly comes early", "Fig. 1", here, tally.verdict
    for key, claim, number, total in (
        ("wrong_share", "dialogs wrong at the end (SOM-DST)", KIM_LAST_WRONG, KIM_TEST),
        ("recovered_share", "of these right again in between (SOM-DST)", KIM_RECOVERED, KIM_LAST_WRONG),
    ):
        here = f"{SOM} {span(som, key)}, {systems} {span(together, key)}"
        verdict = of_figure(number / total, som[f"{key}_low"], som[f"{key}_high"])
        yield PAPER, claim, f"{number} of {total} ({number / total:.2f})", here, verdict
    few, test = (one(tables["used_slots"], file=name, slots=0) for name in (SOM, SYSTEMS))
    shown = span(few, "few_share", "few_low", "few_high")
    here = f"{SOM} {shown}, gold of the systems {test['few_share']:.2f}"
    verdict = of_figure(KIM_FEW_SHARE, few["few_low"], few["few_high"])
    claim = f"dialogs with fewer than {KIM_FEW_SLOTS} slots"
    yield PAPER, claim, f"about {percent(KIM_FEW_SHARE)}", here, verdict


def _spread(tables: Tables, systems: str) -> Iterator[Claim]:
    """Table 1 and Fig. 4."""
    wide = one(tables["compared"], what="deviation", systems=systems)
    rows = {row["metric"]: row for row in tables["discrimination"] if row["systems"] == systems}
    theirs = {name: 100 * float(np.std(KIM_MODELS[name], ddof=1)) for name in (SA, RSA)}
    there = f"standard deviation {theirs[RSA]:.2f} and {theirs[SA]:.2f}"
    here = f"standard deviation {rows[RSA]['deviation']:.2f} and {rows[SA]['deviation']:.2f}"
    yield PAPER, "RSA spreads systems wider than SA", there, here, of_interval(wide["low"], wide["high"])
    for metric in (SA, AGA):
        told = separated(tables, systems, RSA, metric)
        yield PAPER, f"RSA tells systems apart better than {SAID[metric]}", "stated", *told


def _domains(tables: Tables) -> Claim:
    """Table 2, in files that have all domains."""
    found: dict[str, dict[str, Row]] = {}
    for row in tables["domains"]:
        found.setdefault(row["file"], {})[row["domain"]] = row
    by_file = [of for of in found.values() if len(of) > 1]
    lowest = [min(of.values(), key=lambda row: row[RSA])["domain"] == "taxi" for of in by_file]
    hidden = [of["hotel"][SA] < of["taxi"][SA] for of in by_file]
    both, n = sum(a and b for a, b in zip(lowest, hidden, strict=True)), len(by_file)
    shown = f"RSA: taxi lowest in {sum(lowest)} of {n} files; SA: hotel below taxi in {sum(hidden)}"
    verdict = of_counts(both, n - both, n)
    return PAPER, "taxi is the hardest by RSA, not by SA", "Table 2", f"{shown}; both in {both}", verdict
