"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from experiments.metrics.claims import HEADS, WITHOUT, judged
from experiments.metrics.columns import ALWAYS
from experiments.metrics.files import COPY, FEWER, RESAMPLES, SEED, SOM, SYSTEMS, T5
from experiments.metrics.lookup import Row, Tables
from experiments.metrics.published import AKSU, EARLIER
from experiments.metrics.shown import of_columns, of_slots, of_thirds, of_traits
from experiments.metrics.traits import EDGES
from experiments.tables import markdown

TEXT = """# Three papers on metrics, on the files we have

`python -m experiments.metrics` puts the tables and figures of Dey et al. 2022 (FGA), Aksu and Chen 2024
(GCA; its earlier version beside it) and Kim et al. 2022 (RSA), in their form, on our files: {som} of the
FGA authors, {t5} of the GCA authors (attraction alone), and {systems} of end-to-end dialog on the
MultiWOZ 2.1 test set. The outputs on the whole test set that the papers used are not among them.
Intervals are of 95 %, by resampling dialogs ({resamples:,} times, seed {seed}, the same dialogs for all
systems), unless Zou's is named. "a / b / c" counts files: the claim holds, its opposite does, not
resolved.

**{copy}: {copied}.** In its file {always} of {slots} slots are found in more than {almost:.0f} % of the
turns that have them (in another system's at most {others_always}), {never} are never found (also:
{also_never}), and {precision:.1f} % of what it has is right (others: at most {others_precision:.1f} %).
Its JGA is number {rank} of {n_systems}. Every verdict is therefore given with and without it ({fewer}):
{changed}.

## What agrees and what does not

{claims}

mostly: in more than half, but the opposite somewhere. Worked examples that disagree, in percent:

{worked}

Dey's mean adds figures that were rounded before; the states of that example are rebuilt from the figures
in the text (Fig. 1 is an image), so that JGA, SA and AGA agree by construction. Of the GCA figures
{in_print} stand in the text of the paper that we have; the others are from this project's scoring notes.
The earlier version prints its two samples with other turns than its files have: of its figures
{earlier_printed} come out of the turns as printed and {earlier_files} out of the files.

## The columns of Dey's and Kim's Tables 1

In percent. turn: turn match; IAGA: Dey's remark on AGA, over turns with a nonempty union.

{scores}

How they tell the {systems} apart: mean and standard deviation over systems, mean standard error of a
system, the ratio of the two; of {pairs} pairs, those whose difference (paired by dialog) exceeds 1.96
standard errors; those ordered against JGA, and of these the ones with both differences so large; pairs
separated of the {fewer_pairs} without {copy}.

{discrimination}

- {widest} has the largest standard deviation, {sharpest} the largest for its error, {most} separate the
  most pairs: a wide spread {spread_word}. All lie between {fewest_pairs} and {most_pairs} of {pairs}
  pairs.
- JGA and turn match order {turn_opposite} pairs oppositely, {turn_both} of them resolved on both sides;
  JGA and GCA {gca_opposite} and {gca_both}.

## Where mistakes fall (TO, NU) against FGA and GCA

r over dialogs, forms of 2024. A dialog without a mistake has neither trait, and the paper does not say
what it did with such; here they are left out. Every file is in traits.csv.

{beside}

Both forms; dialogs without a mistake left out, or with 0. FGA, GCA: r in the {systems} together, each
centred. Then files where GCA correlates less / FGA does / not resolved: by Zou's interval of the
difference of r; by the resampled difference of absolute r; by the same with the numbers of turns and of
mistakes held fixed (partial correlations). Last: difference of absolute r in the {systems} together.

{by_form}

![traits](traits.svg)

Fig. 4 of the paper: means by the trait in standard deviations of its file, bins of {width} (the outer
ones open), a point's area for its dialogs; and r in every file.

- Zou's interval is of r. "Less susceptible" is about absolute r, and where r has two signs, as the
  paper's of TO, the first says little of the second. For TO (2024) it is {to_zou} by Zou and
  {to_absolute} by absolute r. Of all metrics in the table {worst_to} follows TO the most
  ({worst_to_r:.2f} in the {systems}).
- NU (2024) is {length_word} length: r {nu_turns:.2f} with the number of turns. A single mistake in n
  turns has 2 (n - 1). With turns and mistakes held fixed FGA has r {partial_fga:.2f} and GCA
  {partial_gca:.2f}, {partial_word} apart than without.
- NU (2023) has r {nu_mistakes:.2f} with the number of mistakes, which a metric has to follow:
  {nu_absolute} by absolute r, {nu_partial} with turns and mistakes held fixed.
- To give dialogs without a mistake 0 {zero_word} of r with NU (2024): {zero_fga:.2f} (FGA) and
  {zero_gca:.2f} (GCA), as the best dialogs get the least NU. By Zou it is then {zero_zou}, by absolute r
  {zero_absolute}. With them left out {som} has {som_fga:.2f} and {som_gca:.2f}; the paper has
  {paper_fga:.2f} and {paper_gca:.2f}.
- {crossing}

Both traits together, as in Fig. 1c of the earlier version (its forms of TO and NU): FGA / GCA of the
{systems} in percent, and the dialogs, by thirds of each trait in each file; R of both traits is in
both_traits.csv.

{thirds}

## Kim's figures

![slots](slots.svg)

- Turns without a slot on either side have RSA 0 by definition, and JGA 1. They {empty_word}. They are
  {empty:.1f} % of the turns of the {systems} ({t5_empty:.0f} % in {t5}): r(JGA, RSA) is {every_rsa:.2f}
  with and {active_rsa:.2f} without them, r(JGA, SA) {every_sa:.2f} and {active_sa:.2f}.
- Table 2 over turns whose gold state has the domain, SA over 30 slots as there: JGA / SA / RSA, for the
  {systems} the median.

{domains}

## What this does not tell

The {systems} met the same dialogs: so many files are not so many confirmations. Their gold states lack
`dontcare`. {som} is {som_dialogs} dialogs, and another training of SOM-DST than Kim's. End-to-end systems
are not the trackers of the papers. Few-shot curves and human ratings cannot be repeated here. That a
metric does not follow a trait is a virtue only where the trait does not matter to users, which nobody has
measured. Three things were added after we had seen the figures, and no paper has them: the verdicts
without {copy}, turns with a slot, and traits with turns and mistakes held fixed.
"""


def describe(tables: Tables) -> str:
    claims = judged(tables)
    wrong = [row for row in tables["worked"] if row["agrees"] == "no"]
    return TEXT.format(
        som=SOM,
        t5=T5,
        systems=SYSTEMS,
        fewer=FEWER,
        copy=COPY,
        resamples=RESAMPLES,
        seed=SEED,
        almost=100 * ALWAYS,
        width=EDGES[1] - EDGES[0],
        claims=markdown(claims, (*HEADS, WITHOUT)),
        changed=_changed(claims),
        worked=markdown(wrong, ("source", "example", "metric", "published", "ours")),
        in_print=_in_print(tables["worked"]),
        earlier_printed=_right(tables["worked"], "as printed"),
        earlier_files=_right(tables["worked"], "file"),
        **of_columns(tables),
        **of_traits(tables),
        thirds=of_thirds(tables["thirds"]),
        **of_slots(tables),
    )


def _changed(claims: list[Row]) -> str:
    changed = sum(row["verdict"] != row[WITHOUT] for row in claims)
    return f"{changed} of {len(claims)} change" if changed else f"none of {len(claims)} changes"


def _right(rows: list[Row], example: str) -> str:
    """Of the figures of the earlier version, by where the states were taken from."""
    of = [row for row in rows if row["source"].startswith(EARLIER) and row["example"].startswith(example)]
    return f"{sum(row['agrees'] == 'yes' for row in of)} of {len(of)}"


def _in_print(rows: list[Row]) -> str:
    of = [row["source"] for row in rows if row["source"].startswith("Aksu & Chen")]
    return f"{sum(source.startswith(AKSU) for source in of)} of {len(of)}"
