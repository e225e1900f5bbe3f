"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from typing import Any

from experiments.beyond import told_of_beyond
from experiments.lee2014.judging import Where
from experiments.lee2014.needed import SUBSETS, TARGETS
from experiments.lee2014.points import Points
from experiments.lee2014.policies import tracker_means
from experiments.lee2014.relating import RESAMPLES
from experiments.lee2014.runs import FILLS
from experiments.lee2014.shown import (
    beyond_table,
    count_table,
    finding_table,
    foretold_table,
    metric_table,
    number_table,
    policy_table,
    spread_table,
)
from experiments.lee2014.told import (
    told_of_fill,
    told_of_foretelling,
    told_of_metrics,
    told_of_needed,
    told_of_policies,
    told_of_scope,
    told_of_spread,
    told_of_tool,
)

Rows = list[dict[str, Any]]

TEXT = """# Which of Lee's findings hold, and how many trackers does it take to say so?

`python -m experiments.lee2014` runs `configs/lee2014.toml` with seeds {seeds} (of calls and of callers;
used for nothing else), without its sensitivity variants, and looks at what Lee (2014) found. {n_trackers}
trackers on {n_datasets} datasets of the embedded bus world; {n_core} are core ones (no recalibrated copies,
no degenerate tracker). Lee had one entry of each team of the challenge but one, one draw of dialogs, and
LSTD; here every policy is also played live. The reward counts a concept as filled by the best hypothesis
(`argmax`) or above one half (`threshold`): he does not say. `mean_augmented` is the best estimate without
live play (`experiments/truth`).

In how many combinations of fill rule, trackers (all, core) and target (live; estimated by LSTD, as Lee did,
or by mean_augmented) a finding holds, does not, or is not resolved:

{counts}

## Figure 2: policies

![policies](fig2.svg)

Dataset by dataset, as Lee has it: [fig2_datasets.svg](fig2_datasets.svg).

Means over datasets and seeds; bars: the range over seeds. Differences in points of return, with 95 % over
trackers, their range over seeds, and on how many trackers they are above 0. Behaviour is always the observed
return. Trackers share the calls and the callers: what these add to a difference the interval does not see,
the range over seeds does.

{policies}

"a little, not always": above behaviour, by at most half of what RL gains, and not on every point. "always":
with every seed. tau: Kendall's, of mean return and mean accuracy; reversed: pairs of trackers that every
seed puts in one order by accuracy and in the other by return.

- RL gains over behaviour by LSTD {gain_lstd_argmax:.0f} points (argmax) and {gain_lstd_threshold:.0f}
  (threshold), live {gain_live_argmax:.0f} and {gain_live_threshold:.0f}.
- Consistently? Live, RL earns less than behaviour on {below_argmax} (argmax) and on {below_threshold}
  (threshold).
- The best tracker for RL is live {best_live_argmax} (argmax) and {best_live_threshold} (threshold); by LSTD
  {best_lstd_argmax} and {best_lstd_threshold}, which live are number {place_argmax} and {place_threshold} of
  {n_trackers}.

## Figure 3: metrics

![metrics](fig3.svg)

Every metric where it correlates best with the return of RL: r within datasets, mean over seeds; in brackets
r of the core trackers; component and schedule. State-set metrics are filled by the rule of the reward, on
schedule 1. All of them, with intervals and with Lee's pooled r, are in correlations.csv.

{metrics}

{told_metrics}

## More than the logged return?

A metric may foretell only what the logged policy earns with a tracker. Core trackers, seeds averaged, played
live: r with the return of RL given the logged one, and with what RL gains on it; first the metrics that go
best with the gain, then some others (all in beyond.csv).

{beyond}

Of all metrics, {told_beyond}.

## Which findings hold

The unit is the tracker: its metric and its return are averaged over seeds, correlated within datasets, and
trackers are drawn {resamples:,} times. n/{n_seeds}: how many seeds alone come to the same verdict. Lee's
three findings about metrics are judged by the rule of the tool's report (`extrinsic/report/lee.py`). It
counts MRR among the metrics of score quality; Lee calls it one of rank, so "L2 or AvgP first" stands beside
it. Numbers: r of the first less r of the best other; mean of r on schedules 1 and 3 less r on 2; mean r of
ROC.V2; r of accuracy at the end (all slots).

{findings}

{fill}

Pooled over datasets as they are, which is what Lee did, {pooled_changed} of {pooled_of} verdicts about
metrics change, {pooled_against} of them into the opposite. The tool's own reports (live, with dialogs
resampled too, seed by seed, both fill rules, all and core):

{tool}

## How many trackers

Core trackers, seeds averaged; the number of the table above ± its standard error with all {size_core} of
them. right: of {subsets} subsets of so many trackers (Lee had about as many as the first), the share whose
95 % interval leaves out 0 on the side where all trackers are; of ROC.V2, above 0 is against Lee. needed:
trackers for that with probability .8, the error falling with the root of n - 3 (of means, of n); in
brackets if the number lies at the far or at the near end of its own interval (none: the interval holds 0,
so no number of trackers is known to do). Metrics compared because they came out best look better than they
are.

{numbers}

{told_needed}

Does this extrapolation keep its word? Subsets of at most {learned_from} trackers foretell the error of all
({size_core} core ones, {size_all} in all); foretold over found, of all findings, and by how many points
they miss the share that is right at {right_at_core}:

{foretold}

{ratio_verdict}

## Dialogs or trackers?

Standard deviation of r (medians of Lee's metrics) over seeds, which are other calls to learn from, other
calls to value on and other callers; and over drawn trackers. seeds_share: of the variance of a study of one
seed. attenuation: what r gains when seeds are averaged first. reliability: correlation of the return with
itself between two seeds.

{spread}

{told_spread}

## What this does not tell

These are {n_trackers} trackers that we put together, most of them rules on the same N-best lists; Lee's
were made by teams that competed. Our callers are simulated. Intervals take trackers as draws from a
population, and cover less than they claim (`experiments/uncertainty`). With {n_seeds} seeds, the spread
over seeds is itself known roughly. Lee's coefficients are not known to us, only the order that his text
tells.
"""


def describe(tables: dict[str, Rows], points: Points) -> str:
    means = {
        (fill, target): tracker_means(points, Where(fill, target)) for fill in FILLS for target in TARGETS
    }
    findings, n_seeds = tables["findings"], len(points.seeds)
    return TEXT.format(
        seeds=", ".join(map(str, points.seeds)),
        n_trackers=len(points.trackers),
        n_datasets=len(points.datasets),
        n_core=len(points.core),
        n_seeds=n_seeds,
        resamples=RESAMPLES,
        policies=policy_table(tables["policies"]),
        metrics=metric_table(tables["correlations"]),
        beyond=beyond_table(tables["beyond"]),
        told_beyond=told_of_beyond(tables["beyond"]),
        findings=finding_table(findings, n_seeds),
        counts=count_table(findings),
        tool=told_of_tool(tables["tool"]),
        fill=told_of_fill(findings),
        numbers=number_table(tables["numbers"], tables["subsets"], "core"),
        subsets=SUBSETS,
        spread=spread_table(tables["spread"]),
        foretold=foretold_table(tables["numbers"]),
        **told_of_policies(tables["policies"], means),
        **told_of_metrics(tables["correlations"]),
        **told_of_scope(findings),
        **told_of_foretelling(tables["numbers"]),
        **told_of_needed(tables["numbers"], tables["subsets"]),
        **told_of_spread(tables["spread"]),
    )
