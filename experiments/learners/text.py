"""The text beside the tables, made from their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.tables import markdown

HEADS = (
    "policy",
    "return",
    "difference",
    "lowest",
    "above_zero",
    "cells",
    "completed",
    "three_alike",
    "kernels",
    "largest_q",
    "zero_kernel",
)

TEXT = """# Which learner holds up in live play?

`python -m experiments.learners` learns from the training halves of DS1 to DS4 in worlds that were not used
while building (seeds {seeds}; the defaults were chosen on 7 and 8), on the trackers
{trackers}, and plays every policy against the same {n_live:,} callers as the expert.

{table}

difference: to the expert's return, on the same callers; lowest: in the worst cell; above_zero: cells in which
the paired 95 % interval lies above zero; three_alike: share of calls in which the system says the very same
three times in a row; zero_kernel: share of (state, admitted action) pairs met in live play that no kernel
speaks of.

- The default (`lspi`, features `compact`) earns {lspi[difference]:.1f} more than the expert; its interval is
  above zero in {lspi[above_zero]} of {lspi[cells]} cells. One step of improvement on the behaviour policy
  earns {once[difference]:.1f} more; the two cannot be told apart here, and `lspi` stays because it is Lee's.
- What the state holds matters more than anything else. `grouped_history`, the best of an earlier prototype,
  does not know how the caller just reacted (a no, a new value) nor what the system did last; in this world
  it is no match for the expert. `compact` has both, and few numbers otherwise.
- Lee's state to the letter has the top value of every slot under a delta kernel: {zero:.0f} % of the pairs
  met in live play have no kernel, Q is its prior there, and the policy does what was most usual.
- The likeliest action of the supervised policy earns more than a draw from it.
"""


def describe(
    summary: list[dict[str, Any]], seeds: Sequence[int], trackers: Sequence[str], n_live: int
) -> str:
    by_name = {row["policy"]: row for row in summary}
    return TEXT.format(
        seeds=", ".join(map(str, seeds)),
        trackers=", ".join(trackers),
        n_live=n_live,
        table=markdown(summary, HEADS),
        lspi=by_name["lspi"],
        once=by_name["one_step"],
        zero=100 * by_name["lspi, lee2014_literal"]["zero_kernel"],
    )
