"""The words of a verdict: its sentence, how sure it is, whether the targets of a study agree."""

from __future__ import annotations

from collections.abc import Sequence

from extrinsic.study.naming import symbol, variant_title
from extrinsic.study.number_texts import correlation, counted, listing, with_interval
from extrinsic.study.verdict_types import Verdict

NAMED = 4
"""How many of the metrics that do as well are named in a sentence."""


def sentence(verdict: Verdict) -> str:
    """`Use X. These N do as well: ... . Not decided: ...`"""
    if verdict.metric is None:
        parts = [f"Not decided: {verdict.reason}."]
        if verdict.more_trackers is not None:
            parts.append(
                f"Ruling out half of what may be the best would take about {_more(verdict.more_trackers)}."
            )
        return " ".join(parts)
    parts = [f"Use {verdict.metric.title}."]
    as_good = verdict.as_good
    if as_good:
        which = "This one does as well" if len(as_good) == 1 else f"These {len(as_good)} do as well"
        parts.append(f"{which}: {listing(as_good, NAMED)}.")
    else:
        parts.append(f"None of the {verdict.n_metrics - 1} other metrics does as well.")
    if verdict.others:
        more = verdict.more_trackers
        effort = (
            "more trackers like these would not decide it"
            if more is None
            else f"ruling out half of them would take about {_more(more)}"
        )
        parts.append(f"Not decided: which of them is the best; {effort}.")
    return " ".join(parts)


def _more(number: int) -> str:
    return counted(number, "more tracker")


def sample(verdict: Verdict, kind: str = "tracker") -> str:
    """`11 trackers`, or `19 trackers x 12 generators`."""
    trackers = counted(verdict.n_trackers, kind)
    return (
        trackers
        if verdict.n_generators is None
        else f"{trackers} x {counted(verdict.n_generators, 'generator')}"
    )


def certainty(verdict: Verdict) -> str:
    """`r = .75 [.20, .93] on trackers left out of the choice, .93 over all 11 trackers`.

    Where no tracker was left out: r over all of them, with its interval for all metrics at once.
    """
    if verdict.metric is None:
        return ""
    chosen = verdict.metric
    several = len(verdict.left_out) > 1
    tested = [
        with_interval(part.r, part.low, part.high) + (f" ({variant_title(part.variant)})" if several else "")
        for part in verdict.left_out
    ]
    text = f"{symbol(verdict.coefficient)} = "
    if tested:
        mean = "on average " if several else ""
        over = f"{mean}{correlation(chosen.r)} over all {sample(verdict)}"
        text += f"{listing(tested)} on trackers left out of the choice, {over}"
    else:
        text += f"{with_interval(chosen.r, chosen.low, chosen.high)} over {sample(verdict)}"
    if chosen.carried_by:
        text += f"; {chosen.carried_by} alone has half of the variance or more"
    return text


def agreement(verdicts: Sequence[Verdict]) -> str:
    """Whether one metric does as well as the best by every target."""
    targets = list(dict.fromkeys(verdict.target for verdict in verdicts))
    decided = [verdict for verdict in verdicts if verdict.decided]
    if len(targets) < 2 or not decided:
        return ""
    if len(decided) < len(verdicts):
        first = decided[0].metric
        assert first is not None
        kept = [v for v in decided if first.name in {candidate.name for candidate in v.candidates}]
        return (
            f"Whether the targets agree is not decided; {first.title} does as well as the best by "
            f"{len(kept)} of the {len(verdicts)} verdicts."
        )
    common = set.intersection(*({candidate.name for candidate in v.candidates} for v in decided))
    shared = [candidate.title for candidate in decided[0].candidates if candidate.name in common]
    if not shared:
        return "The targets disagree: no metric is among the best by all of them."
    return f"The targets agree: {shared[0]} does as well as the best by each of them."
