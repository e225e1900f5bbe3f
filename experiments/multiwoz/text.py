"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from experiments.multiwoz.between import SHARED
from experiments.multiwoz.between_verdicts import (
    between_verdict,
    differing,
    influence_verdict,
    lacking,
    steps_verdict,
)
from experiments.multiwoz.published import GIVEN_STATES
from experiments.multiwoz.shown import (
    Tables,
    between_table,
    controls_table,
    final_table,
    inform_table,
    jga_table,
    main_table,
    others_table,
    ranked,
    told,
    wrapped,
)
from experiments.multiwoz.verdicts import (
    LEVEL,
    above_jga,
    against_jga,
    beside_verdict,
    by_system,
    difficulty_verdict,
    final_verdict,
    first_of,
    listed,
    metrics_that_predict,
    near_first,
    orders_agree,
)
from experiments.tables import chosen, markdown

FAIR = 75.0
"""Percent of pairs in order, half way from a coin to certainty."""

TEXT = """# Does a metric of states predict which dialogs succeed?

`python -m experiments.multiwoz` takes the states of {systems} end-to-end systems on the {dialogs:,} test
dialogs of MultiWOZ 2.1, and inform and success (0 or 1) of each dialog by the standard evaluator. First it
runs the tool itself (`extrinsic run configs/multiwoz.toml`), where systems are points, on the {shared}
dialogs that all systems have. Then dialogs of systems are points. Of {systems} times {dialogs:,} there are
{points:,}; lacking are: {lacking}.

Each of the {n_metrics} metrics that have a direction gets a value for every dialog of every system: the
mean over its turns; for `slot_f1` and `gca` the ratio of the dialog's own counts. {without_value} of these
points have no value.

## The answer

- Within a system, {predict}. The first is {first_within}. {near_within}.
- How sure is that for one dialog? {weak}: of two dialogs of one system, one successful and one not,
  `{first_metric}` puts {area:.1f} % in the right order (JGA {area_jga:.1f} %, a coin 50 %).
- With the effects of systems and of dialogs taken away (is the system with the better state on this very
  dialog the one that succeeds on it?), {predict_both}. The first is {first_both}. {clear_both}.
- Between systems, {between}. The first there is {first_between}.
- The order of metrics within a system is {order_within}; with dialogs taken away too, it is {order_both}.
- Inform: within a system, {predict_inform}. The first is {first_inform}.

![r of every metric](multiwoz.svg)

Success, Pearson's r with 95 % intervals:

{main}

pooled: all points. between: the systems' means over all their dialogs. within: every system's mean taken
away. same dialog: every dialog's mean taken away. both centred: the effects of systems and of dialogs taken
away. Intervals: systems and dialogs drawn anew, {resamples:,} times. `splits.csv` also has those of dialogs
drawn alone (these {systems} systems and no others), and by leaving out systems and dialogs one by one. p of
the sentences above: the outcomes of dialogs permuted, one permutation for all systems, {permutations} times
on the {shared} dialogs that all have; Holm's over metrics.

Against JGA (p: twice the share of resamples on the other side of 0; jackknife: t of leaving out systems and
dialogs one by one, with {others} degrees of freedom; Holm's over metrics), and how far r can go. A metric
is said to beat JGA clearly if both intervals of the difference lie above 0 and both p are at most {level}.
area: under the ROC curve, over pairs of dialogs of one system. ceiling: r within, if in every system the
dialogs with the highest values had been the successful ones; with an outcome of 0 or 1 no metric with these
values can have more.

{jga}

Inform:

{inform}

By system, r of `{first_metric}` with success goes from {lowest:.2f} in {lowest_system}{given} to
{highest:.2f} in {highest_system}; it is above 0 in {systems_positive} of {systems} systems, and above JGA's
in {systems_above}.

## Between systems: the tool's own run

{systems} points, {shared} dialogs, success. Pearson, Spearman: intervals by systems and dialogs drawn anew;
jackknife: of Pearson's r, the interval that kept its word best in `experiments/uncertainty`; p: systems
permuted. own dialogs: every system on all it has; without labes: {others} systems on the {shared_by_others}
dialogs they share. `between.csv` has inform too.

{between_success}

- Every system on its own dialogs: no r of success or inform changes by more than {change_own:.2f}. Without
  labes: {change_without:.2f}.
- {carried} Without {mover}, JGA goes from {jga_r:.2f} to {jga_without:.2f}, and the {n_metrics} metrics
  have {left_low:.2f} to {left_high:.2f}. Without {up}, JGA has {jga_up:.2f}.
- The first metric against JGA: {tool_against}.
- With the published Inform and Success, JGA has {from_inform:.2f} and {from_success:.2f}, {prototype_word}
  ({prototype_inform} and {prototype_success}). Our outcomes are the published ones but for {differing}.
  Step by step, JGA's r from there to here (the largest step for success: {largest_step}):

{steps}

## Is it only that some dialogs are hard?

{only_difficulty} With domains and slots of the gold state at the end and turns of the dialog held fixed,
`{first_metric}` keeps {kept:.0f} % of its r within; with dialogs taken away altogether {kept_both:.0f} %.
{both_positive} of {n_metrics} metrics have intervals above 0 even so. The lead of `{first_metric}` over JGA
with difficulty held is {control_jga} and {control_word}.

{controls}

For comparison, other predictors of success within a system. searched: the slots by which the evaluator
searches its database; not searched: those of bookings and taxis. others: the share of the other systems
that succeed on the same dialog. The last two lines are multiple correlations, in sample.

{beside}

- What the other systems made of the dialog says {others_word} ({others_r:.2f}) than all {n_metrics} metrics
  of the state together ({all_r:.2f}).
- {slots_word} (`slot_accuracy` of the slots searched {searched:.2f}, of the others {not_searched:.2f}); JGA
  and the other metrics count both alike.

## The last turn alone

The metric on the last turn, against its mean over all turns, is {final_verdict}. The evaluator reads the
state at the turns where the system names a venue or a train, wherever they are. (`gca` judges whole
dialogs.)

{final}

## What this does not mean

- The evaluator searches its database with the system's own predicted state, so some correlation is built
  in. The rest it takes from the delexicalised responses (is there a name, a phone number, a reference?),
  which no metric of states sees, and from the user's goal. No user took part: systems answered logged
  turns.
- How much a system's answers depend on its state differs from system to system; {given_systems} is listed
  by the benchmark among those that are given the true state when they answer, and its file holds the true
  states themselves, less the slots of bookings (`experiments/metrics`): it is no tracker.
- States are normalised and `dontcare` is dropped; gold is MultiWOZ 2.1's, with its errors.
- Thirteen published systems are no sample of systems; several share code and language models. Drawing them
  anew is a way to see what hangs on single ones, not more.
- The first metric was found on the same data that its r is from. Correlation within a system does not say
  that a better state would make the dialog succeed.
"""


def describe(tables: Tables) -> str:
    (counts,) = tables["counts"]
    within, both = ranked(tables, "success", "within"), ranked(tables, "success", "both")
    first = within[0]["metric"]
    shown = list(dict.fromkeys([first, both[0]["metric"], "average_goal_accuracy", "gca", "fga(0.5)", "jga"]))
    by_r = sorted(chosen(tables["between"], dialogs=SHARED, outcome="success"), key=lambda row: -row["r"])
    tool = by_r[0]
    areas = {row["metric"]: 100.0 * row["area"] for row in chosen(tables["ceilings"], outcome="success")}
    filled = TEXT.format(
        **counts,
        level=LEVEL,
        others=counts["systems"] - 1,
        n_metrics=len(within),
        lacking=lacking(tables),
        predict=metrics_that_predict(tables, "success"),
        first_within=first_of(tables, "success", "within"),
        near_within=near_first(tables, "success", "within"),
        first_metric=first,
        area=areas[first],
        area_jga=areas["jga"],
        weak="Little" if areas[first] < FAIR else "Fairly",
        predict_both=metrics_that_predict(tables, "success", "both"),
        first_both=first_of(tables, "success", "both"),
        clear_both=above_jga(tables, "success", "both"),
        between=between_verdict(tables, "success"),
        first_between=f"`{tool['metric']}`, r = {told(tool)}",
        order_within=orders_agree(tables, "within"),
        order_both=orders_agree(tables, "both"),
        predict_inform=metrics_that_predict(tables, "inform"),
        first_inform=first_of(tables, "inform", "within"),
        main=main_table(tables),
        jga=jga_table(tables),
        inform=inform_table(tables),
        **by_system(tables),
        between_success=between_table(tables, "success"),
        tool_against=against_jga(tool),
        differing=differing(tables),
        steps=markdown(tables["steps"], ("step", "success", "inform")),
        **steps_verdict(tables),
        **influence_verdict(tables),
        **difficulty_verdict(tables),
        controls=controls_table(tables, shown),
        beside=others_table(tables),
        **beside_verdict(tables),
        final_verdict=final_verdict(tables),
        final=final_table(tables),
        given_systems=listed(list(GIVEN_STATES)),
    )
    return wrapped(filled)
