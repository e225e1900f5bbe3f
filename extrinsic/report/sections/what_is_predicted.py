"""What the chosen metric predicts: return, gain, callers served, and what the logged return leaves of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from extrinsic.report.drawing.page_parts import Block, Head, Text, described, table
from extrinsic.report.drawing.terms import name_term, target_term
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults, is_clear
from extrinsic.study.naming import Name, symbol, target_title
from extrinsic.study.number_texts import NOTHING, listing, with_interval
from extrinsic.study.tables.schema import BestSetRow, CorrelationRow, CountRow, PartialRow


def predicted_blocks(study: Study, evidence: VariantResults, name: Name) -> tuple[Block, ...]:
    """A sentence and a line for each target of the variant; empty where there is one target only."""
    tables = study.tables
    own = {
        row.target: row
        for row in _of(tables.correlations, evidence)
        if (row.scope, row.coefficient) == ("within", evidence.coefficient) and Name.of(row) == name
    }
    if len(own) < 2:
        return ()
    sets = [row for row in _of(tables.best_set, evidence) if row.r is not None]
    counts = {(row.target, bool(row.given)): row for row in _of(tables.counts, evidence)}
    partial = {row.target: row for row in _of(tables.partial, evidence) if Name.of(row) == name}
    lines = []
    for target, row in own.items():
        of_target = [each for each in sets if each.target == target]
        first = min(of_target, key=lambda each: each.rank or len(of_target), default=None)
        given = partial.get(target)
        lines.append(
            (
                target_term(target),
                name_term(Name.of(first)) if first else "",
                with_interval(first.r, first.low, first.high) if first else "",
                f"{sum(each.in_set for each in of_target)} of {len(of_target)}" if of_target else NOTHING,
                _clear(counts.get((target, False))),
                with_interval(row.r, row.low, row.high),
                with_interval(given.partial, given.jackknife_low, given.jackknife_high) if given else "",
                _clear(counts.get((target, True))),
            )
        )
    sign = symbol(evidence.coefficient)
    heads: tuple[Head, ...] = (
        *described(BestSetRow, target="target", metric="first metric", r=f"#its {sign}, all at once"),
        *described(BestSetRow, in_set="#may be the best"),
        *described(CountRow, clear="#metrics above 0"),
        *described(CorrelationRow, r=f"#{sign} of {name.title()}"),
        *described(PartialRow, partial="#given the logged return"),
        *described(CountRow, given="#metrics above 0, given it"),
    )
    caption = (
        "In brackets how many of the metrics would lie above 0 by chance: on average, and at most in 95 %."
    )
    return _text(own, partial, name), table(caption, heads, lines, "counts.csv")


class _GroupRow(Protocol):
    """A row about a variant and a group of trackers."""

    @property
    def variant(self) -> str | None: ...

    @property
    def trackers(self) -> str: ...


R = TypeVar("R", bound=_GroupRow)


def _of(rows: Sequence[R], evidence: VariantResults) -> list[R]:
    return [row for row in rows if (row.variant or "", row.trackers) == (evidence.variant, evidence.group)]


def _text(own: dict[str, CorrelationRow], partial: dict[str, PartialRow], name: Name) -> Text:
    """By the interval, and by p over all metrics at once, since this one was chosen."""
    clear = [target for target, row in own.items() if is_clear(row.low, row.high, row.p_max_t)]
    shown, against = ([target for target in clear if (own[target].r or 0.0) * side > 0.0] for side in (1, -1))
    open_ = [target for target in own if target not in clear]
    beyond = [
        target
        for target, row in partial.items()
        if row.partial > 0.0 and is_clear(row.jackknife_low, row.jackknife_high, row.p_max_t)
    ]

    def titles(targets: Sequence[str]) -> str:
        return listing([target_title(target) for target in targets])

    sentences = [f"{name.title()} is shown to predict {titles(shown)}." if shown else ""]
    sentences.append(f"The higher it is, the lower is {titles(against)}." if against else "")
    sentences.append(f"That it predicts {titles(open_)} is not shown." if open_ else "")
    if partial:
        sentences.append(
            f"Beyond the logged return it predicts {titles(beyond)}."
            if beyond
            else "That it says more than the logged return does is not shown."
        )
    return Text((" ".join(filter(None, sentences)),))


def _clear(row: CountRow | None) -> str:
    """`60 of 81 (2.0, 12)`."""
    return f"{row.clear} of {row.metrics} ({row.expected:.1f}, {row.most})" if row else ""
