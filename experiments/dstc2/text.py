"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from experiments.dstc2.answer import answer
from experiments.dstc2.candidates import ESTIMATOR, N_FOLDS
from experiments.dstc2.choose import ASKED, NEAR_BEST
from experiments.dstc2.shown import (
    DEGENERATE,
    Rows,
    cell_table,
    choice_table,
    control_table,
    difference_table,
    gain_table,
    main_table,
    slots_table,
    target_table,
    together_table,
    ways_table,
)
from experiments.dstc2.told import (
    apart_from_accuracy,
    first_metrics,
    flags_of,
    prototype_table,
    told_of_cells,
    told_of_choice,
    told_of_control,
    told_of_gains,
    told_of_prototype,
    told_of_schedules,
)

TEXT = """# Which metric predicts the return on real calls?

Lee (2014) leaves it to future work to ask this of other data. Here it is asked of DSTC2: {n_trackers}
trackers ({n_given} that others ran, {n_ours} of ours), policies learned on train (1,612 calls), valued on dev
(506 calls), with the four conditions of recogniser and dialog manager (S0A0 to S1A1) in the part of his four
datasets. Nobody can be played live: the return is `{estimator}`, which came nearest to live play in the
simulated world (`experiments/truth`).

## The answer

{answer}

## What was fixed before dev was read

{candidates} settings of the learner were tried on train alone: learned without one of {folds} folds of the
calls, valued on it, for {asked}, under both fill rules. {choice}

{choices}

gain: over the logged policy, in points. behind: how much less than the first, with its standard error over
trackers. flags: of the values ({flagged}; q_range is LSTD's Q passing what can be earned somewhere, not the
value). Also on train: {n_good} trackers are *good*, their joint goals right at most {near:.2f} less often
than the best one's, nearly equal ones counted once: {good}. The estimator, proxies and rewards are those of
the design document and of `experiments/truth`.

The commands, in this order; the first opens dstc2_train and `*.train.json.gz` only (a test sees to it), and
the second refuses to run with settings other than those that the first wrote:

```
python -m experiments.dstc2.choose    # wrote candidates.csv, trackers.csv, choices.toml
git log --format='%h %ad %s' -- experiments/dstc2/choices.toml experiments/dstc2/correlations.csv
python -m experiments.dstc2           # everything below
```

Dev itself was not new to us: earlier work on this tool valued policies on it with other settings. What is
new is that nothing here was chosen by it.

## Metrics against the return

Pearson's r between metric and return, within condition, with 95 % intervals over resampled trackers and
calls. Metrics are those of joint goals (label scheme a) and of states filled by argmax; higher is better for
all. *core*: without `{degenerate}` and without near-duplicates. @1, @2, @3: the schedules.

{main}

{first}

Differences of r, on the same resamples:

{differences}

{apart}

{schedules}

![correlations and gains](dstc2.svg)

## With and without the manager, absent concepts, fill rules

Core trackers, r of metrics over all turns; *first*: the best of the headline metrics on any schedule.

{cells}

{told_cells}

Other words on the same policies, core trackers (`rl.lstd` is Lee's own; `behaviour.observed` is what the
logged policy earned, with the tracker's belief judged at the end):

{targets}

The slots together (`goal.all`) cannot be asked over all trackers: five files hold joint hypotheses only, so
that the challenge's scorer finds every slot empty. *slots*: the core without them.

{slots}

## What is gained

Points of return on dev, means over trackers but `{degenerate}`; clear: the 95 % interval of the difference
(resampled calls; the estimator's own error is not in it) lies above 0.

{gains}

{told_gains}

The design document found most of the gain to be a confounder: without the manager in the state, a policy
seems to gain by doing what the other manager does. Here every condition has one manager and is valued by
itself, so that nothing of the kind is credited. Valued on all of dev together (`python -m
experiments.dstc2.prototype`; gain over what the same estimator says of the logged policy, {n_together}
trackers, argmax):

{together}

## A negative control: the caller's success

Callers said whether they got what they wanted, of calls that another tracker was part of. It is the same
figure whoever tracks a call afterwards: between trackers, within condition, it correlates with nothing, and
the tool says so instead of giving a number. Between calls (within condition, mean over trackers):

{control}

{told_control}

## Beside the prototype

All, core and good trackers; argmax / threshold.

{prototype}

{told_prototype} With the manager seen, all of dev together, filled by argmax:

{ways}

## What this does not tell

The return is an estimate from a log without propensities; in the simulated world the same estimator errs by
{rmse:.0f} points, and its r with live play is {r_core:.2f} among trackers that are not degenerate. The
reward is ours, not the callers'. Conditions share trackers, and trackers are a family that somebody put
together. Intervals resample dev calls and trackers, not the calls learned from. The settings chosen are the
best of {candidates} by a margin that is mostly noise.
"""


def describe(tables: dict[str, Rows]) -> str:
    """tables: those of this study, of its choices, and `truth`: the summary of experiments/truth."""
    truth = next(row for row in tables["truth"] if row["estimator"] == ESTIMATOR)
    correlations, gains = tables["correlations"], tables["gains"]
    judged = tables["trackers"]
    n_given = sum(row["given"] == "True" for row in judged)
    good = [row["tracker"] for row in judged if row["good"] == "True" and not row["nearly"]]
    return TEXT.format(
        n_trackers=len(judged), n_given=n_given, n_ours=len(judged) - n_given, estimator=ESTIMATOR,
        candidates=len(tables["candidates"]), folds=N_FOLDS, asked=", ".join(ASKED),
        choice=told_of_choice(tables["candidates"]), choices=choice_table(tables["candidates"]),
        flagged=flags_of(tables["candidates"]), n_good=len(good), near=NEAR_BEST, good=", ".join(good),
        degenerate=DEGENERATE, main=main_table(correlations), first=first_metrics(correlations),
        differences=difference_table(tables["differences"]), apart=apart_from_accuracy(tables["differences"]),
        schedules=told_of_schedules(tables["differences"]), cells=cell_table(correlations),
        told_cells=told_of_cells(correlations), targets=target_table(correlations),
        slots=slots_table(correlations), gains=gain_table(gains),
        told_gains=told_of_gains(gains, tables["placebo"]), control=control_table(tables["control"]),
        told_control=told_of_control(tables["control"]), rmse=truth["rmse"], r_core=truth["r_core"],
        prototype=prototype_table(correlations, gains),
        together=together_table(tables["prototype"]), n_together=tables["prototype"][0]["trackers"],
        answer=answer(correlations, tables["differences"], gains, tables["placebo"]),
        told_prototype=told_of_prototype(tables["prototype"]),
        ways=ways_table(tables["prototype"]),
    )  # fmt: skip
