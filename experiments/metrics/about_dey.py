"""Claims of Dey et al. 2022."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.metrics.files import T5
from experiments.metrics.judging import AGREES, NOT, of_interval, percent, span
from experiments.metrics.lookup import SAID, Claim, Tables, files_of, separated, worked
from experiments.metrics.published import AGA, DEY, FGA, HUMAN_R, JGA, NOTHING_SA, SA, TURN
from experiments.tables import one


def claims(tables: Tables, systems: str) -> Iterator[Claim]:
    paper = "Dey"
    yield worked(tables, paper, DEY)
    nothing = [row["nothing"] for row in files_of(tables["scores"]) if row["file"] != T5]
    near = all(abs(value - 100 * NOTHING_SA) < 1.0 for value in nothing)
    here = f"{min(nothing):.1f} to {max(nothing):.1f} %"
    yield paper, "predicting nothing has a high SA", percent(NOTHING_SA), here, AGREES if near else NOT
    for other in (JGA, SA, AGA):
        told = separated(tables, systems, FGA, other)
        yield paper, f"FGA tells systems apart better than {SAID[other]}", "stated", *told
    turn = one(tables["discrimination"], systems=systems, metric=TURN)
    here = (
        f"{turn['opposite_to_jga']} of {turn['pairs']} pairs are ordered oppositely, "
        f"{turn['opposite_both']} with both differences resolved"
    )
    verdict = AGREES if turn["opposite_both"] else NOT
    yield paper, "a system with higher JGA may have fewer turn matches", "Trippy", here, verdict
    human = one(tables["compared"], what="human")
    here = f"{span(human, 'difference', 'low', 'high')} by Zou; r of JGA and FGA {human['r_between']:.2f}"
    there = f"r {HUMAN_R[FGA]} and {HUMAN_R[JGA]}"
    verdict = of_interval(human["low"], human["high"])
    yield paper, "FGA agrees with people better than JGA", there, here, verdict
