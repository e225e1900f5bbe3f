"""The text beside the tables, made from their numbers."""

from __future__ import annotations

import numpy as np

from experiments.tables import markdown
from experiments.uncertainty.shown import (
    LEVEL,
    TESTS,
    Rows,
    default_table,
    in_percent,
    interval_table,
    names,
    null_table,
    span,
    told_of_intervals,
    told_of_p,
    told_of_pairs,
    values,
)
from experiments.uncertainty.worlds import DEGREES, FAR, N_DATASETS, N_DIALOGS, NOISE, NOISY, OUTLIERS, World

KOLMOGOROV = 1.358
"""Over the root of n: the distance that one in twenty samples exceeds."""

TEXT = """# Do intervals and p-values keep their word?

`python -m experiments.uncertainty` draws studies from worlds whose truth is known (seed {seed}, used for
nothing else) and asks the functions of `extrinsic.correlation` about each. Trackers are drawn from a
population; they stand on {n_datasets} datasets that differ by shifts and by an interaction with the tracker;
all trackers meet the same {n_dialogs} dialogs of a dataset. What is asked for is the correlation, over the
population of trackers and within a dataset, of the values that endless dialogs would show.

Populations: `normal`; `heavy`, one t distribution with {degrees:.0f} degrees of freedom for metric and
target together (`heavy_apart`: one for each, so that they are independent); `degenerate`, one tracker in
{one_in:.0f} (on average) worse by {far:.0f} standard deviations in everything; `noisy`, a dialog's noise
{noisy:.0f} standard deviations of the trackers instead of {noise:.0f}. noise_r: correlation of the noises of
metric and target on the same dialog of the same tracker ({noise_r} for intervals).

## Intervals

Coverage of intervals that claim {level:.0f} %, in percent: of `normal` with each number of trackers, and of
the other populations, means over correlations {correlations} (and numbers of trackers). here: of the
correlation that endless trackers with as few dialogs would show, mean over `normal`, `heavy` and `noisy`.
lowest: the worst of all {cells} cells, each of {studies:,} studies. width: mean over `normal`.

{intervals}

`closed form` needs no resamples: Fisher's interval with as many points as there are (less what centring
takes) or as there are trackers; and `jackknife`, atanh(r) with the standard error from leaving out one
tracker after the other, and a t distribution.

The default ({default}), cell by cell: coverage in percent, mean r beside the truth, mean width.

{by_cell}

![coverage](uncertainty.svg)

- Of the resampled intervals, those nearest to {level:.0f} % in `normal` and `heavy` are {best} (off
  by {best_off:.1f} points a cell, {best_mean:.1f} % on average) and {second} (off by {second_off:.1f},
  {second_mean:.1f} %); chance alone moves a cell by {error:.1f} points. BCa is off by {bca_trackers:.1f}
  (trackers) and {bca_both:.1f} (both).
- The default ({default}) holds {default_mean:.1f} % of `normal` and `heavy`:
{default_by_size}
- Where the default fails, the truth lies above the interval ({default_above:.1f} % of the studies of
  `normal` at the highest correlation) and hardly ever below ({default_below:.1f} %). The noise of dialogs is
  already in the values that trackers show; to resample dialogs on top counts it twice, which makes the
  interval wider and draws it towards 0. Where noise is large (`noisy`), of the correlation that so few
  dialogs show the default holds {default_here_low:.1f} to {default_here_high:.1f} %, and resampled trackers
  alone ({trackers}) {trackers_here_low:.1f} to {trackers_here_high:.1f} %.
- Few dialogs: r itself is drawn towards 0, or towards noise_r. No interval knows of that; in `noisy` at the
  highest correlation the default holds {noisy_worst:.1f} % at worst, and more trackers make it worse.
- A population with a degenerate tracker now and then: a study without one cannot know of it
  ({degenerate_mean:.1f} %).
- Resampled dialogs alone hold {dialogs_mean:.1f} % of `normal` (of all cells at worst {dialogs_worst:.1f} %):
  they tell how sure the correlation over these very trackers is, not over trackers like these.
- Fisher's interval with all points holds {points_mean:.1f} % of `normal`: the same tracker on another dataset
  is no new draw. With the number of trackers it holds {fisher_mean:.1f} %: datasets do add something.
- The jackknife of atanh(r) holds {jackknife_mean:.1f} % of `normal` and `heavy`, off by {jackknife_off:.1f} a
  cell; of `normal` at the fewest trackers {jackknife_few:.1f} %, where the default has {default_few:.1f} %.
  It was the only one tried beside the others; since then correlations.csv has it as jackknife_low and
  jackknife_high.

## p-values of one metric that has nothing to do with the target

Share of p <= .05 and of p <= .01, in percent, and the largest distance of the p-values' distribution from an
even one (Kolmogorov and Smirnov; above {critical:.3f} in one of twenty cells of {null_studies:,} studies by
chance), with {n_trackers} trackers permuted.

{null}

- Where metric and target are independent, with or without interaction and whatever the tails, p <= .05 in
  {null_low:.1f} to {null_high:.1f} % of the studies.
- Heavy tails shared by metric and target: uncorrelated, but not independent, and it is independence that is
  tested. p <= .05 in {heavy_low:.1f} to {heavy_high:.1f} %.
- Noise shared by metric and target (noise_r above 0) is a correlation of what was observed: p <= .05 in
  {shared_low:.1f} to {shared_high:.1f} % of `normal`, and in {loud_low:.1f} to {loud_high:.1f} % of `noisy`.

## Two metrics

Share of studies in which two metrics are told apart at .05, in percent. The last rows are of metrics that do
differ.

{differences}

- Equally good metrics are told apart by swapped trackers in {swap_low:.1f} to {swap_high:.1f} % of the
  studies, by swapped dialogs (PERM-BOTH) in {both_low:.1f} to {both_high:.1f} %: that test asks about these
  trackers only.
- By resampled trackers and dialogs (0 outside of the interval of the difference): {resampled_low:.1f} to
  {resampled_high:.1f} %.
- By Williams's test with all points: {williams_low:.1f} to {williams_high:.1f} %; with the number of trackers
  {few_low:.1f} to {few_high:.1f} %. Points of the same tracker are not independent; trackers are too few.

Zou's interval of the difference where its assumption holds, {zou_studies:,} times each:

{zou}

It holds {zou_low:.1f} to {zou_high:.1f} %.

## What this does not tell

Only Pearson's r within datasets. Values are normal given the tracker, and dialogs independent; the
interaction hangs together as the trackers themselves do; real trackers are no draws from a population at all,
but a family that somebody put together.
"""


def describe(tables: dict[str, Rows], seed: int) -> str:
    coverage = [
        in_percent(row, ("coverage", "coverage_here", "below", "above")) for row in tables["coverage"]
    ]
    null = [in_percent(row, ("at_05", "at_01")) for row in tables["null"]]
    pairs = [in_percent(row, TESTS) for row in tables["differences"]]
    zou = [in_percent(row, ("coverage",)) for row in tables["independent"]]
    sizes = values(coverage, "n_trackers")
    return TEXT.format(
        seed=seed,
        n_datasets=N_DATASETS,
        n_dialogs=N_DIALOGS,
        degrees=DEGREES,
        one_in=1.0 / OUTLIERS,
        far=FAR,
        noisy=NOISY,
        noise=NOISE,
        noise_r=World.noise_r,
        level=LEVEL,
        correlations=", ".join(map(str, values(coverage, "r"))),
        cells=len(coverage) // len(names(coverage)),
        studies=coverage[0]["studies"],
        intervals=interval_table(coverage, sizes),
        by_cell=default_table(coverage, sizes),
        n_trackers=", ".join(map(str, sizes)),
        critical=KOLMOGOROV / np.sqrt(null[0]["studies"]),
        null_studies=null[0]["studies"],
        null=null_table(null, sizes),
        differences=markdown(pairs, ("n_trackers", "r_a", "r_b", "r_ab", *TESTS)),
        zou=markdown(zou, ("n_points", "r_a", "r_b", "r_ab", "coverage", "width")),
        zou_studies=zou[0]["studies"],
        **span("zou", [row["coverage"] for row in zou]),
        **told_of_intervals(coverage, sizes),
        **told_of_p(null),
        **told_of_pairs(pairs),
    )
