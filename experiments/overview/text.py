"""The page, made from the tables of the studies."""

from __future__ import annotations

from experiments.overview.answers import answers, in_short
from experiments.overview.places import FILL, METRICS, Found, Tables, places
from experiments.tables import markdown, spelled

TEXT = """# Which metric of a dialog state tracker predicts how good a policy built on it will be?

A tracker is scored by itself: accuracy, L2, joint goal accuracy, and dozens more. What it is for is a policy.
Lee (2014) asked which score foretells the policy's return, on four corpora of one domain, with one estimator,
and without saying how sure the answer is. These studies ask again: in a simulated world where every policy is
played live, on the real calls of DSTC2, and on thirteen end-to-end systems on MultiWOZ. Every result below is
read from the tables beside the studies; `python -m experiments.overview` makes this page from them, and a
test makes sure of it. A concept counts as filled by its best hypothesis (argmax) or by one above .5
(threshold); @1, @2, @3 are the challenge's schedules: all turns, turns of a mention, the end.

## The answers so far

{short}

{answers}

## Every metric in every study

Pearson's r with 95 % intervals over trackers (simulated) or trackers and dialogs together; metrics turned so
that higher is better, over all turns (of joint goals; from `jga` on, of states, filled by {fill}).
*simulated*: {n_embedded} trackers, the live return, {n_seeds} seeds, within dataset. *DSTC2*: {n_dstc2}
trackers, the return estimated on dev, within condition; *core*: without degenerate trackers and
near-duplicates. *MultiWOZ*: success, between {n_systems} systems, and between dialogs within a system
({n_points:,} points).

{table}

![every metric in every study](overview.svg)

## The studies

| study | question | command |
|---|---|---|
{studies}

The first four take at most 15 minutes each on two cores; those on DSTC2, MultiWOZ and the papers' metrics
need `EXTRINSIC_DATA` (see the main README). `experiments/learners` and `experiments/embedded_world` are about
the learner and the simulated corpora.

## What none of this tells

The reward pays for every concept that is right at the end, so that metrics which count concepts stand near it
by construction. No policy here talked to people. Simulated callers are ours; on DSTC2 the return is
estimated; MultiWOZ's success comes from an evaluator that answers for the user. Trackers and systems are no
sample of anything: an interval tells what hangs on single ones, and holds {coverage:.0f} % where it claims 95
(`experiments/uncertainty`).

To cite: the name of this tool, its version, the commit, and the study's folder; each table can be made again
by the command beside it.
"""

STUDIES = {
    "dstc2": "Which metric predicts the return on real calls?",
    "multiwoz": "Does a metric of states predict which dialogs succeed?",
    "lee2014": "Which of Lee's findings hold, and how many trackers does it take to say so?",
    "metrics": "What agrees with the papers on FGA, GCA and RSA?",
    "truth": "What are estimates of a policy's value worth?",
    "uncertainty": "Do intervals and p-values keep their word?",
}

COLUMNS = {
    "embedded": "simulated",
    "dstc2": "DSTC2",
    "dstc2 core": "DSTC2, core",
    "between systems": "MultiWOZ, between systems",
    "within a system": "MultiWOZ, within a system",
}


def describe(tables: Tables) -> str:
    coverage = [
        row["coverage"]
        for row in tables["uncertainty/coverage"]
        if (row["way"], row["method"]) == ("both", "percentile") and row["population"] in ("normal", "heavy")
    ]
    counts = tables["multiwoz/counts"][0]
    return TEXT.format(
        answers="\n".join(f"{number}. {text}" for number, text in enumerate(answers(tables), start=1)),
        short=in_short(tables),
        fill=FILL,
        n_embedded=len({row["tracker"] for row in tables["lee2014/trackers"]}),
        n_seeds=len({row["seed"] for row in tables["lee2014/trackers"]}),
        n_dstc2=len(tables["dstc2/trackers"]),
        n_systems=counts["systems"],
        n_points=counts["points"],
        table=_table(places(tables)),
        studies="\n".join(
            f"| [{name}]({name}/README.md) | {question} | `python -m experiments.{name}` |"
            for name, question in STUDIES.items()
        ),
        coverage=100.0 * sum(coverage) / len(coverage),
    )


def _table(found: dict[str, Found]) -> str:
    lines = []
    for metric in METRICS:
        cells = {}
        for study, head in COLUMNS.items():
            cells[head] = spelled(found[study][metric])
        lines.append({"metric": metric, **cells})
    return markdown(lines, ("metric", *COLUMNS.values()))
