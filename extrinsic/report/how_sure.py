"""How sure: the chosen metric against the target, tracker by tracker; behind it, what it predicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from extrinsic.report.figures import INK, draw, panels, place_labels, put_dataset, put_legend, short
from extrinsic.report.page_parts import (
    Block,
    Fold,
    Head,
    Picture,
    Section,
    Text,
    by_variant,
    described,
    name_term,
    table,
    target_term,
)
from extrinsic.report.run_data import Study, Values, VariantResults, centred
from extrinsic.report.trackers_left_out import decided_blocks, influence_picture, stability_picture
from extrinsic.study.tables import CountRow, PartialRow, ReturnRow, StabilityRow
from extrinsic.verdict.findings import is_clear
from extrinsic.verdict.names import (
    NOTHING,
    Name,
    correlation,
    counted,
    is_higher_better,
    listing,
    share,
    symbol,
    target_title,
    with_interval,
)
from extrinsic.verdict.rows import BestSetRow, CompositeRow, CorrelationRow, TrackerRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def how_sure_section(study: Study) -> Section:
    """The chosen metric against the target, what it predicts, and what trackers left out show."""

    def of_variant(evidence: VariantResults) -> tuple[Block, ...]:
        name = chosen(study, evidence)
        if name is None:
            return ()
        made: list[Block] = [_text(study, evidence, name), _picture(study, evidence, name, evidence.group)]
        if len(evidence.groups) > 1 and evidence.group == "core":
            title = "With the trackers outside the core"
            made.append(Fold(title, (_picture(study, evidence, name, "all"),)))
        predicted = _predicted_blocks(study, evidence, name)
        if predicted:
            made.append(Fold("What it predicts, target by target", predicted))
        influence = influence_picture(evidence)
        if influence:
            made.append(Fold("Without each tracker in turn", (influence,)))
        return tuple(made)

    blocks = list(by_variant(study, of_variant))
    settled = stability_picture(study)
    if settled:
        blocks.append(Fold("How the order of metrics settles as trackers are added", (settled,)))
    decided = decided_blocks(study)
    if decided:
        blocks.append(Fold("Which of two trackers is better, by scores alone", decided))
    return Section("sure", "How sure?", tuple(blocks))


def chosen(study: Study, evidence: VariantResults) -> Name | None:
    """The metric of the verdict on the primary target; where nothing is decided, that with the highest r."""
    for verdict in study.verdict.verdicts:
        is_about = verdict.target == evidence.target and evidence.variant in (verdict.variants or ("",))
        if is_about and verdict.metric is not None:
            return verdict.metric.name
    ranked, judged = evidence.ranked.get(evidence.group, []), evidence.judged
    best = next((row for row in ranked if not judged or Name.of(row) in judged), None)
    return Name.of(best) if best else None


def _text(study: Study, evidence: VariantResults, name: Name) -> Text:
    """On trackers left out, and without the one tracker that matters most."""
    sign, group = symbol(evidence.coefficient), evidence.group
    singles = [row for row in evidence.rows(CompositeRow, group) if row.method == "best_single"]
    row = evidence.sets.get(name)
    sentences = []
    if singles and row is not None:
        tested = singles[0]
        sentences.append(
            f"{name.title()} has {sign} = {correlation(row.r)} here; a metric chosen without the trackers "
            f"that it is tested on reaches {with_interval(tested.r, tested.low, tested.high)}."
        )
    influence = [row for row in evidence.influence if Name.of(row) == name]
    carrier = next((each.carried_by for each in evidence.ranked[group] if Name.of(each) == name), None)
    if influence:
        single = influence[0]
        it = (
            f"{sign} with each tracker's mean over generators is {correlation(single.r)}, and without"
            if evidence.n_generators
            else "Without"
        )
        matters = "alone has half of the variance or more" if single.tracker == carrier else "matters most"
        sentences.append(
            f"{it} {single.tracker}, which {matters}, it would be {correlation(single.r_without)}."
        )
    elif carrier:
        sentences.append(f"{carrier} alone has half of the variance or more.")
    n = evidence.n_trackers(group)
    settled = [row for row in evidence.rows(StabilityRow, group) if row.n_trackers < n]
    last = max(settled, key=lambda row: row.n_trackers, default=None)
    if last is not None and last.same_winner is not None and len(sentences) < 2:
        sentences.append(
            f"With {counted(n - last.n_trackers, 'tracker')} fewer the same metric is first in "
            f"{share(last.same_winner)} of the choices."
        )
    if not sentences:
        trackers = counted(n, "tracker")
        sentences = [f"{trackers} cannot show how sure it is; the points are what there is to see."]
    return Text((evidence.heading + " ".join(sentences),))


def target_values(study: Study, evidence: VariantResults, group: str = "all") -> Values:
    """The primary target of the trackers of a group, on every dataset."""
    members = {row.tracker for row in study.tables[TrackerRow] if group == "all" or row.core}
    policy, _, estimator = evidence.target.partition(".")
    return {
        (row.dataset, row.tracker): row.value
        for row in study.tables[ReturnRow]
        if (row.policy, row.estimator) == (policy, estimator)
        and ((row.variant or "") == evidence.variant or policy == "outcome")
        and row.value is not None
        and row.tracker in members
    }


def _picture(study: Study, evidence: VariantResults, name: Name, group: str) -> Picture:
    targets = target_values(study, evidence, group)
    several = len(study.datasets) > 1
    row = next((row for row in evidence.ranked[group] if Name.of(row) == name), None)
    title = f"{short(name.title(), 44)}: {group} trackers"

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 5.6, 3.4)
        values = {key: value for key, value in study.metric_values(name).items() if key in targets}
        wanted = {key: targets[key] for key in values}
        if several:
            values, wanted = centred(values), centred(wanted)
        for number, dataset in enumerate(study.datasets):
            points = [(values[key], wanted[key]) for key in values if key[0] == dataset]
            put_dataset(axes, number, dataset, points)
        axes.margins(0.12)
        axes.locator_params(nbins=5)
        lower = not is_higher_better(name.metric)
        if lower:
            axes.invert_xaxis()
        centre = ", less the dataset's mean" if several else ""
        axes.set_xlabel(short(name.title(), 50) + centre + (" (lower is better)" if lower else ""))
        axes.set_ylabel(short(target_title(evidence.target).removeprefix("the "), 44))
        if row is not None:
            r = f"{symbol(evidence.coefficient)} = {with_interval(row.r, row.low, row.high)}"
            r += f", carried by {short(row.carried_by, 24)}" if row.carried_by else ""
            axes.set_title(", ".join(filter(None, (r, evidence.title))), color=INK)
        place_labels(axes, [(values[key], wanted[key], short(key[1], 18)) for key in values])
        if several:
            put_legend(axes, above=0.26)

    caption = (
        "Every point is a tracker on a dataset. Look for a single point that determines the slope. The "
        f"interval is at {study.level} over trackers, by leaving out each of them, for a metric named in "
        "advance."
    )
    if evidence.n_generators:
        caption += f" Outcomes are means over {evidence.n_generators} generators; the verdict is within them."
    return draw(f"scatter_{group}", title, caption, paint, evidence.variant)


def _predicted_blocks(study: Study, evidence: VariantResults, name: Name) -> tuple[Block, ...]:
    """A sentence and a line for each target of the variant; empty where there is one target only."""
    tables = study.tables
    own = {
        row.target: row
        for row in _of_evidence(tables[CorrelationRow], evidence)
        if (row.scope, row.coefficient) == ("within", evidence.coefficient) and Name.of(row) == name
    }
    if len(own) < 2:
        return ()
    sets = [row for row in _of_evidence(tables[BestSetRow], evidence) if row.r is not None]
    counts = {(row.target, bool(row.given)): row for row in _of_evidence(tables[CountRow], evidence)}
    partial = {row.target: row for row in _of_evidence(tables[PartialRow], evidence) if Name.of(row) == name}
    lines = []
    for target, row in own.items():
        of_target = [each for each in sets if each.target == target]
        first = min(of_target, key=lambda each: each.rank or len(of_target), default=None)
        given = partial.get(target)
        best = (
            [name_term(Name.of(first)), with_interval(first.r, first.low, first.high)] if first else ["", ""]
        )
        in_set = f"{sum(each.in_set for each in of_target)} of {len(of_target)}" if of_target else NOTHING
        r = with_interval(row.r, row.low, row.high)
        beyond = with_interval(given.partial, given.jackknife_low, given.jackknife_high) if given else ""
        clear, clear_given = (_clear(counts.get((target, is_given))) for is_given in (False, True))
        lines.append((target_term(target), *best, in_set, clear, r, beyond, clear_given))
    sign = symbol(evidence.coefficient)
    heads: tuple[Head, ...] = (
        *described(BestSetRow, "target", metric="first metric", r=f"#its {sign}, all at once"),
        *described(BestSetRow, in_set="#may be the best"),
        *described(CountRow, clear="#metrics above 0"),
        *described(CorrelationRow, r=f"#{sign} of {name.title()}"),
        *described(PartialRow, partial="#given the logged return"),
        *described(CountRow, given="#metrics above 0, given it"),
    )
    caption = (
        "In brackets how many of the metrics would lie above 0 by chance: on average, and at most in 95 %."
    )
    at_once = {each.target for each in sets if Name.of(each) == name and (each.low or 0.0) > 0.0}
    return _predicted(own, partial, name, at_once), table(caption, heads, lines, "counts.csv")


class _VariantRow(Protocol):
    """A row about a variant and a group of trackers."""

    @property
    def variant(self) -> str | None: ...

    @property
    def trackers(self) -> str: ...


R = TypeVar("R", bound=_VariantRow)


def _of_evidence(rows: Sequence[R], evidence: VariantResults) -> list[R]:
    return [row for row in rows if (row.variant or "", row.trackers) == (evidence.variant, evidence.group)]


def _predicted(
    own: dict[str, CorrelationRow], partial: dict[str, PartialRow], name: Name, at_once: Collection[str]
) -> Text:
    """By intervals for all metrics at once and p over all of them, since this one was chosen.

    at_once: the targets for which that interval lies above 0, as the verdict demands.
    """
    clear = [target for target, row in own.items() if is_clear(row.low, row.high, row.p_max_t)]
    shown = [target for target in clear if target in at_once]
    against = [target for target in clear if (own[target].r or 0.0) < 0.0]
    open_ = [target for target in own if target not in (*shown, *against)]
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
            f"Beyond the logged return it predicts {titles(beyond)} (by interval and p over all metrics)."
            if beyond
            else "That it says more than the logged return does is not shown."
        )
    return Text((" ".join(filter(None, sentences)),))


def _clear(row: CountRow | None) -> str:
    """`60 of 81 (2.0, 12)`."""
    return f"{row.clear} of {row.metrics} ({row.expected:.1f}, {row.most})" if row else ""
