"""The verdict: what it says follows from the rows, and nothing is decided without reason."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from extrinsic.panel import Note, Target
from extrinsic.verdict.rows import BestSetRow, CompositeRow, CorrelationRow, TrackerRow
from extrinsic.verdict.verdict import StudyVerdict, certainty, study_verdict
from tests.verdict.panels import made_panel


def tracker(name: str, **more: object) -> TrackerRow:
    values = {"core": True, "degenerate": False, "recalibrated": False, **more}
    return msgspec.convert({"tracker": name, **values}, TrackerRow)


TWELVE = [tracker(f"t{i}") for i in range(12)]


def row(metric: str, r: float, rank: int, in_set: bool = True, **more: object) -> BestSetRow:
    values = {"target": "rl.live", "low": r - 0.2, "high": min(r + 0.1, 1.0), "trackers": "core", **more}
    return msgspec.convert(
        {
            "metric": metric,
            "schedule": 3,
            "component": "joint",
            "scope": "within",
            "coefficient": "pearson",
            "r": r,
            "rank": rank,
            "in_set": in_set,
            **values,
        },
        BestSetRow,
    )


def verdict(
    rows: Sequence[BestSetRow],
    trackers: Sequence[TrackerRow] = TWELVE,
    composite: Sequence[CompositeRow] = (),
    correlations: Sequence[CorrelationRow] = (),
    notes: Sequence[Note] = (),
) -> StudyVerdict:
    pairs = list(dict.fromkeys((row.variant, row.target) for row in rows)) or [(None, "rl.live")]
    names = list(dict.fromkeys(name for _, name in pairs))
    targets = [
        Target(name, variant, items="none", primary=name == names[0], rank=names.index(name))
        for variant, name in pairs
    ]
    panel = made_panel([each.tracker for each in trackers], targets, notes=notes)
    return study_verdict(panel, trackers, rows, composite, correlations)


def correlated(metric: str, carried_by: str | None) -> CorrelationRow:
    named = {"metric": metric, "schedule": 3, "component": "joint", "scope": "within"}
    values = {"target": "rl.live", "coefficient": "pearson", "r": 0.9, "n": 24, "trackers": "core"}
    return msgspec.convert({**named, **values, "carried_by": carried_by}, CorrelationRow)


THREE = [row("avgp", 0.9, 1), row("l2", 0.8, 2, trackers_needed=30), row("accuracy", 0.4, 3, in_set=False)]


def test_a_tracker_that_carries_the_correlation_is_named_beside_the_interval() -> None:
    rows = [correlated("avgp", "t3"), correlated("l2", None), correlated("accuracy", "t3")]
    made = verdict(THREE, correlations=rows)
    (only,) = made.verdicts
    assert [candidate.carried_by for candidate in only.candidates] == ["t3", None]
    carried = "t3 alone has half of the variance or more"
    assert certainty(only) == f"r = .90 [.70, 1.00] over 12 trackers, for all metrics at once; {carried}"
    (note,) = made.health
    assert (note.kind, note.trackers) == ("carried", ("t3",))
    assert "in 2 of 3 correlations" in note.text
    assert verdict(THREE, correlations=rows[1:2]).health == ()


def test_the_metric_to_use_and_what_may_do_as_well() -> None:
    made = verdict(THREE)
    (only,) = made.verdicts
    assert only.sentence == (
        "Use AvgP, joint goal, last turn. This one may do as well: L2. Not decided: which of them is the "
        "best; ruling out half of them would take about 18 more trackers."
    )
    sure = "r = .90 [.70, 1.00] over 12 trackers, for all metrics at once"
    assert certainty(only) == sure
    # A line has the typed name of its target, and how sure the verdict is.
    assert made.sentences == [f"For the learned policy's return (rl.live): {only.sentence} How sure: {sure}."]
    assert (made.agreement, made.health) == ("", ())


def test_a_metric_that_has_no_equal() -> None:
    rows = [THREE[0], *(msgspec.structs.replace(other, in_set=False) for other in THREE[1:])]
    (only,) = verdict(rows).verdicts
    assert only.sentence == "Use AvgP, joint goal, last turn. None of the 2 other metrics does as well."


def test_schedules_of_one_metric_are_not_several_metrics() -> None:
    rows = [*THREE, msgspec.structs.replace(THREE[0], schedule=1, r=0.85, rank=2)]
    (only,) = verdict(rows).verdicts
    assert (only.n_metrics, only.n_schedules, only.may_do_as_well) == (3, 2, ["L2"])
    assert len(only.others) == 2


def test_no_number_of_trackers_would_do() -> None:
    (only,) = verdict([THREE[0], msgspec.structs.replace(THREE[1], trackers_needed=None), THREE[2]]).verdicts
    assert only.more_trackers is None
    assert only.sentence.endswith("is not a matter of more trackers like these.")


def test_few_trackers_cannot_tell_how_many_more() -> None:
    """Simulated studies of fewer than 12 (`extrinsic.correlation.best_set`)."""
    (only,) = verdict(THREE, TWELVE[:11]).verdicts
    assert only.more_trackers is None
    assert only.sentence.endswith("would take more trackers, and 11 trackers cannot tell how many.")
    (open_,) = verdict(THREE[:2], TWELVE[:11]).verdicts
    assert "more tracker" not in open_.sentence


def test_too_few_trackers_have_no_winner() -> None:
    reason = "not decided: 4 trackers, at least 5 are needed"
    rows = [msgspec.structs.replace(other, in_set=False, low=None, reason=reason) for other in THREE]
    made = verdict(rows, TWELVE[:4])
    assert made.verdicts[0].metric is None
    title = "For the learned policy's return (rl.live)"
    assert made.sentences == [f"{title}: Not decided: 4 trackers, at least 5 are needed."]
    assert made.health[0].kind == "few_trackers"
    assert verdict([], TWELVE[:2]).sentences == [
        f"{title}: Not decided: 2 trackers, too few for any correlation."
    ]
    # Said once where it is the same of every target.
    served = [msgspec.structs.replace(other, target="rl.completed") for other in rows]
    assert verdict([*rows, *served], TWELVE[:4]).sentences == [
        "Not decided: 4 trackers, at least 5 are needed."
    ]


def test_what_one_tracker_carries_is_not_recommended() -> None:
    """The highest correlation has no interval: the next that has one is shown to predict."""
    carried = msgspec.structs.replace(THREE[0], low=None, high=None, reason="one tracker carries it")
    (only,) = verdict([carried, *THREE[1:]]).verdicts
    assert only.metric is not None and only.metric.metric == "l2"
    (none,) = verdict([carried, THREE[2]]).verdicts
    assert none.metric is None
    assert none.reason == (
        "AvgP, joint goal, last turn comes first over 12 trackers, r = .90, but no metric that may be the "
        "best is shown to predict the learned policy's return (one tracker carries it)"
    )
    assert certainty(only).endswith(
        "; AvgP, joint goal, last turn comes first with .90, which has no interval"
    )


def test_where_any_may_be_the_best_nothing_is_decided() -> None:
    (only,) = verdict(THREE[:2]).verdicts
    assert only.sentence == (
        "Not decided: any of the 2 metrics may be the best; AvgP, joint goal, last turn comes first over 12 "
        "trackers, r = .90 [.70, 1.00] for all metrics at once. Ruling out half of what may be the best "
        "would take about 18 more trackers."
    )


def test_only_the_core_counts() -> None:
    """What all trackers show, a degenerate one among them, is not in the verdict."""
    everyone = [msgspec.structs.replace(other, trackers="all", metric="mrr") for other in THREE]
    made = verdict([*everyone, *THREE], [*TWELVE[:9], tracker("odd", core=False, degenerate=True)])
    assert made.verdicts[0].metric is not None and made.verdicts[0].metric.metric == "avgp"
    assert made.verdicts[0].n_trackers == 9
    assert [note.kind for note in made.health] == ["few_trackers", "degenerate"]
    assert made.health[1].trackers == ("odd",)


def variant_rows(name: str, *metrics: tuple[str, bool]) -> list[BestSetRow]:
    rows = [row(metric, 0.9 - 0.1 * i, 1 + i, in_set) for i, (metric, in_set) in enumerate(metrics)]
    return [msgspec.structs.replace(other, variant=name) for other in rows]


def test_fill_rules_that_agree_have_one_verdict() -> None:
    first = variant_rows("fill=argmax", ("avgp", True), ("l2", True), ("mrr", False))
    second = variant_rows("fill=threshold", ("l2", True), ("mrr", True), ("avgp", False))
    (only,) = verdict([*first, *second]).verdicts
    assert only.metric is not None and (only.metric.metric, only.others) == ("l2", ())
    assert only.variants == ("fill=argmax", "fill=threshold")


def test_fill_rules_that_differ_stand_side_by_side() -> None:
    first = variant_rows("fill=argmax", ("avgp", True), ("l2", False), ("mrr", False))
    second = variant_rows("fill=threshold", ("l2", True), ("avgp", False), ("mrr", False))
    made = verdict([*first, *second])
    assert [sentence.partition(":")[0] for sentence in made.sentences] == [
        "For the learned policy's return (rl.live), reward counts best values",
        "For the learned policy's return (rl.live), reward counts values over 0.5",
    ]


def test_fill_rules_are_one_verdict_only_where_a_metric_is_shown_under_all() -> None:
    first = variant_rows("fill=argmax", ("avgp", True), ("l2", True), ("mrr", False))
    second = variant_rows("fill=threshold", ("l2", True), ("avgp", True), ("mrr", False))
    wide = [msgspec.structs.replace(one, low=-0.1) if one.metric == "l2" else one for one in second]
    (only,) = verdict([*first, *wide]).verdicts
    assert only.metric is not None and only.metric.metric == "avgp"
    wide = [msgspec.structs.replace(one, low=-0.1) if one.metric == "avgp" else one for one in first]
    narrow = [msgspec.structs.replace(one, low=-0.1) if one.metric == "l2" else one for one in second]
    both = verdict([*wide, *narrow]).verdicts
    assert [one.metric.metric for one in both if one.metric] == ["l2", "avgp"]


def test_whether_the_targets_agree() -> None:
    served = [msgspec.structs.replace(other, target="rl.completed") for other in THREE]
    made = verdict([*THREE, *served])
    assert made.agreement == (
        "The targets agree: AvgP, joint goal, last turn may do as well as the best by each of them."
    )
    other = [
        msgspec.structs.replace(one, target="expert.live", in_set=one.metric == "accuracy", low=0.1)
        for one in THREE
    ]
    assert verdict([*THREE, *other]).agreement == (
        "The targets disagree: no metric is among the best by all of them."
    )
    earlier = [msgspec.structs.replace(one, target="expert.live", schedule=1) for one in THREE]
    assert verdict([*THREE, *earlier]).agreement == (
        "The targets disagree: no metric on one schedule and component is among the best by all of them; "
        "AvgP and L2 are, on one or another."
    )
    unclear = [msgspec.structs.replace(one, target="expert.live", low=None) for one in THREE]
    assert "is not decided" in verdict([*THREE, *unclear]).agreement


def test_flags_of_its_own_target_stand_beside_it() -> None:
    served = [msgspec.structs.replace(other, target="expert.live") for other in THREE]
    notes = [Note(0, 0, 3, ("q_range",)), Note(1, 0, 4, ("infeasible",))]
    made = verdict([*THREE, *served], notes=notes)
    (flag,) = made.verdicts[0].flags
    assert (flag.flag, flag.n, flag.total) == ("q_range", 1, 12)
    first, _ = made.health
    assert first.text.startswith("q_range on 1 of 12 values of the learned policy's return: Q is outside")
    assert first.trackers == ("t3",)


def test_trackers_left_out_are_part_of_how_sure() -> None:
    single = CompositeRow(
        target="rl.live",
        scope="within",
        method="best_single",
        r=0.7,
        low=0.2,
        high=0.9,
        n=24,
        trackers="core",
    )
    made = verdict(THREE, composite=[single, msgspec.structs.replace(single, trackers="all", r=0.1)])
    assert certainty(made.verdicts[0]) == (
        "r = .90 [.70, 1.00] over 12 trackers, for all metrics at once; "
        ".70 [.20, .90] for a metric chosen without the trackers it is tested on"
    )


def left_out(low: float | None, **more: object) -> CompositeRow:
    values = {"scope": "within", "method": "best_single", "r": 0.4, "high": 0.8, "n": 24, "trackers": "core"}
    return msgspec.convert({"target": "rl.live", "low": low, **values, **more}, CompositeRow)


def test_nothing_is_recommended_that_trackers_left_out_do_not_show() -> None:
    (only,) = verdict(THREE, composite=[left_out(-0.1)]).verdicts
    assert only.metric is None
    assert only.sentence.startswith(
        "Not decided: AvgP, joint goal, last turn comes first over 12 trackers, r = .90 [.70, 1.00] for all "
        "metrics at once, but a metric chosen without the trackers it is tested on has r = .40 [−.10, .80], "
        "which includes 0."
    )
    # Of other trackers, or another target: no matter.
    foreign = [left_out(-0.1, trackers="all"), left_out(-0.1, target="expert.live")]
    assert verdict(THREE, composite=foreign).verdicts[0].decided


def test_nothing_is_recommended_that_is_not_shown_itself() -> None:
    """An interval for all metrics at once that includes 0: the next whose does not, whatever others show."""
    wide = [msgspec.structs.replace(THREE[0], low=-0.1), *THREE[1:]]
    for composite in ([], [left_out(0.1)]):
        (next_one,) = verdict(wide, composite=composite).verdicts
        assert next_one.metric is not None and next_one.metric.metric == "l2"
        assert next_one.may_do_as_well == ["AvgP"]
        assert certainty(next_one).endswith(
            "AvgP, joint goal, last turn comes first with .90 [−.10, 1.00], which includes 0"
        )
    none = [*(msgspec.structs.replace(one, low=-0.1) for one in THREE[:2]), THREE[2]]
    (only,) = verdict(none, composite=[left_out(0.1)]).verdicts
    assert only.sentence == (
        "Not decided: AvgP, joint goal, last turn comes first over 12 trackers, r = .90 [−.10, 1.00] for all "
        "metrics at once, but no metric that may be the best is shown to predict the learned policy's "
        "return. Ruling out half of what may be the best would take about 18 more trackers."
    )


def test_every_variant_needs_its_trackers_left_out() -> None:
    rows = [
        one
        for name in ("fill=argmax", "fill=threshold")
        for one in variant_rows(name, ("avgp", True), ("l2", False))
    ]
    composite = [left_out(0.1, variant="fill=argmax"), left_out(-0.1, variant="fill=threshold")]
    first, second = verdict(rows, composite=composite).verdicts
    assert first.decided and not second.decided


def test_r_of_several_variants_is_their_mean() -> None:
    names = ("fill=argmax", "fill=threshold")
    rows = [one for name in names for one in variant_rows(name, ("avgp", True), ("l2", False))]
    (both,) = verdict(rows, composite=[left_out(0.1, variant=name) for name in names]).verdicts
    assert both.variants == names
    assert "on average over" in certainty(both)


def test_trackers_crossed_with_generators() -> None:
    rows = [msgspec.structs.replace(one, target="outcome.success", n_generators=3) for one in THREE]
    (only,) = verdict(rows).verdicts
    assert certainty(only) == "r = .90 [.70, 1.00] over 12 trackers x 3 generators, for all metrics at once"


def test_health_names_the_trackers() -> None:
    rows = [*TWELVE, tracker("twin", core=False, near_duplicate_of="t0")]
    rows += [tracker("gold", core=False, flags=["gold"])]
    notes = {note.kind: note for note in verdict(THREE, rows).health}
    assert notes["near_duplicates"].trackers == ("twin",)
    assert "have the gold states" in notes["flagged_trackers"].text


def test_single_slots_of_a_joint_only_tracker_decide_nothing() -> None:
    """Its per-slot scores are those of an empty belief: a metric of single slots is not in the verdict."""
    slots = [msgspec.structs.replace(one, component="all", r=0.95, rank=1) for one in THREE[:1]]
    assert verdict([*slots, *THREE]).verdicts[0].candidates[0].component == "all"
    made = verdict([*slots, *THREE], [*TWELVE, tracker("yarbus", flags=["joint_only"])])
    assert {one.component for one in made.verdicts[0].candidates} == {"joint"}
    (note,) = made.health
    assert (note.kind, note.trackers) == ("joint_only", ("yarbus",))


def test_nothing_correlated() -> None:
    made = study_verdict(made_panel([], []), [], [], [])
    assert made.verdicts == () and made.sentences == []
