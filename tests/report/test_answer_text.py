"""The answer in words: what it says follows from the rows, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_row

from extrinsic.report.results.answer_text import (
    across_variants,
    answer,
    apart_sentence,
    best_sentence,
    core_sentence,
    targets_sentence,
)
from extrinsic.report.results.caveats import caveats
from extrinsic.study.naming import Name, family_of, shortened, target_in_words
from extrinsic.study.number_texts import (
    amount,
    correlation,
    counted,
    interval,
    listing,
    probability,
    share,
)
from extrinsic.report.results.report_tables import Tables
from extrinsic.report.results.variant_results import VariantResults, variant_results
from extrinsic.study.tables.schema import (
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    PairRow,
    PartialRow,
    StabilityRow,
    TrackerRow,
)


def tracker(
    name: str,
    core: bool = True,
    degenerate: bool = False,
    recalibrated: bool = False,
    near_duplicate_of: str | None = None,
) -> TrackerRow:
    return TrackerRow(
        tracker=name,
        core=core,
        degenerate=degenerate,
        recalibrated=recalibrated,
        near_duplicate_of=near_duplicate_of,
        agreement=0.5,
    )


def ranked(*scores: tuple[str, float], low: float = 0.1, high: float = 0.2) -> list[CorrelationRow]:
    """Rows of correlations on schedule 1, each with an interval of this much below and above."""
    return [correlation_row(metric, r, r - low, r + high) for metric, r in scores]


def correlation_row(metric: str, r: float, low: float | None, high: float | None) -> CorrelationRow:
    return CorrelationRow(
        target="rl.live",
        metric=metric,
        schedule=1,
        component="joint",
        scope="within",
        coefficient="pearson",
        r=r,
        low=low,
        high=high,
        n=24,
        trackers="all",
    )


def pair(a: str, b: str, difference: float, low: float, high: float, p: float) -> PairRow:
    return PairRow(
        target="rl.live",
        metric_a=a,
        schedule_a=1,
        component_a="joint",
        metric_b=b,
        schedule_b=1,
        component_b="joint",
        scope="within",
        r_a=0.5 + difference,
        r_b=0.5,
        difference=difference,
        low=low,
        high=high,
        p=p,
        p_both=p,
        r_ab=0.5,
        n=24,
        n_independent=23,
        trackers="all",
    )


def alike(a: str, b: str, difference: float = 0.01) -> PairRow:
    return pair(a, b, difference, -0.1, 0.1, 0.5)


def apart(a: str, b: str, difference: float = 0.3) -> PairRow:
    return pair(a, b, difference, 0.1, 0.5, 0.01)


def chosen(*metrics: tuple[str, bool], reason: str | None = None) -> list[BestSetRow]:
    """Rows of the best set, the best first; whether each may be the best."""
    return [
        BestSetRow(
            target="rl.live",
            metric=metric,
            schedule=1,
            component="joint",
            scope="within",
            coefficient="pearson",
            r=0.92 - 0.1 * number,
            low=0.7 - 0.1 * number,
            high=0.97 - 0.1 * number,
            in_set=in_set,
            rank=1 + number,
            trackers="all",
            reason=reason,
        )
        for number, (metric, in_set) in enumerate(metrics)
    ]


TWELVE = [tracker(f"t{i}") for i in range(12)]

PLAIN = VariantResults(
    variant="fill=argmax",
    target="rl.live",
    datasets=("ds1", "ds2"),
    trackers=TWELVE,
    ranked={"all": ranked(("avgp", 0.92), ("l2", 0.9), ("accuracy", 0.6)), "core": []},
    best_set=chosen(("avgp", True), ("l2", True), ("accuracy", False)),
    pairs=[alike("avgp", "l2"), apart("avgp", "accuracy"), apart("l2", "accuracy")],
)


def text_of(evidence: VariantResults) -> str:
    made = answer(evidence)
    return " ".join((*made.sentences, *made.caveats))


def test_the_best_metric_carries_its_uncertainty() -> None:
    made = answer(PLAIN)
    assert made.sentences[0] == (
        "Under fill=argmax, avgp on schedule 1 (joint) correlates best with the live return of the learned "
        "policies: r = .92 [.70, .97] over 12 trackers on 2 datasets."
    )
    assert made.figure == "r = .92 [.70, .97]"
    assert made.sentences[1] == "Of 2 others l2 on schedule 1 (joint) may be the best too."
    assert made.sentences[-1].startswith("At the other end is accuracy on schedule 1 (joint), r = .60")


def test_one_tracker_and_one_dataset_are_singular() -> None:
    evidence = replace(PLAIN, datasets=("ds1",), trackers=[tracker("one")])
    assert "over 1 tracker on 1 dataset." in best_sentence(evidence, evidence.ranked["all"][0])
    assert "Only 1 tracker:" in text_of(evidence)
    assert "All of this is one dataset (ds1)" in text_of(evidence)


def test_without_a_variant_the_sentence_begins_with_the_metric() -> None:
    evidence = replace(PLAIN, variant="", target="outcome.success")
    assert answer(evidence).heading == "The answer"
    assert (
        answer(evidence)
        .sentences[0]
        .startswith("Avgp on schedule 1 (joint) correlates best with the outcome success: r = .92")
    )


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ([], ""),
        ([("avgp", True)], ""),
        ([("avgp", True), ("l2", False)], "The only other metric is worse."),
        ([("avgp", True), ("l2", True)], "The best may as well be the only other one."),
        ([("avgp", True), ("l2", False), ("mrr", False)], "No other metric may be the best."),
        ([("avgp", True), ("l2", True), ("mrr", True)], "The best may as well be any of the 2 others."),
    ],
)
def test_which_metrics_may_be_the_best(metrics: list[tuple[str, bool]], sentence: str) -> None:
    evidence = replace(PLAIN, best_set=chosen(*metrics))
    assert apart_sentence(evidence, PLAIN.ranked["all"][0]) == sentence


def test_of_many_the_first_are_named() -> None:
    metrics = [("avgp", True), *((f"m{i}", True) for i in range(1, 5)), ("accuracy", False)]
    assert apart_sentence(replace(PLAIN, best_set=chosen(*metrics)), PLAIN.ranked["all"][0]) == (
        "4 of the 5 others may be the best too, among them m1 on schedule 1 (joint), m2 on schedule 1 "
        "(joint) and m3 on schedule 1 (joint)."
    )


def test_too_few_trackers_decide_nothing() -> None:
    rows = chosen(("avgp", False), ("l2", False), reason="not decided: 4 trackers, at least 5 are needed")
    sentence = apart_sentence(replace(PLAIN, best_set=rows), PLAIN.ranked["all"][0])
    assert sentence == "Which metric is the best is not decided: 4 trackers, at least 5 are needed."


def test_a_withheld_interval_is_said_to_be() -> None:
    row = replace_row(PLAIN.ranked["all"][0], low=None, high=None, reason="one tracker carries it")
    evidence = replace(PLAIN, ranked={"all": [row], "core": []})
    assert "No interval of the best metric is to be trusted: one tracker carries it." in text_of(evidence)


CORE = replace(
    PLAIN,
    trackers=[
        *TWELVE[:9],
        tracker("odd", False, degenerate=True),
        tracker("copy", False, recalibrated=True),
        tracker("twin", False, near_duplicate_of="t0"),
        tracker("twin2", False, near_duplicate_of="t1"),
    ],
    ranked={**PLAIN.ranked, "core": ranked(("l2", 0.7), ("avgp", 0.5))},
    # Without a best set, a metric has its own interval.
    best_set=[],
)


def test_without_the_trackers_that_could_carry_it_another_metric_wins() -> None:
    assert core_sentence(CORE, CORE.ranked["all"][0]) == (
        "Without the degenerate tracker (odd), recalibrated tracker (copy) and near-duplicate trackers (twin "
        "and twin2) the best is l2 on schedule 1 (joint), r = .70 [.60, .90] over 9 trackers on 2 datasets; "
        "avgp on schedule 1 (joint) is then at .50, rank 2."
    )
    assert "The best metric changes with the trackers" in text_of(CORE)
    assert "Only 9 trackers of 13 are the core" in text_of(CORE)


def test_the_same_metric_may_stay_the_best() -> None:
    evidence = replace(CORE, ranked={**PLAIN.ranked, "core": ranked(("avgp", 0.8))})
    assert "it stays the best, r = .80 [.70, 1.00]" in core_sentence(evidence, evidence.ranked["all"][0])
    assert "changes with the trackers" not in text_of(evidence)


def test_too_few_core_trackers_are_said_to_be_too_few() -> None:
    evidence = replace(CORE, ranked={**PLAIN.ranked, "core": []})
    assert core_sentence(evidence, evidence.ranked["all"][0]).endswith(
        "too few trackers are left to correlate anything."
    )


def test_where_all_trackers_are_core_nothing_is_said_of_it() -> None:
    assert core_sentence(PLAIN, PLAIN.ranked["all"][0]) == ""


def test_what_else_the_best_metric_predicts() -> None:
    best = PLAIN.ranked["all"][0]
    beyond = PartialRow(
        target="rl.live",
        given="behaviour.observed",
        metric=best.metric,
        schedule=1,
        component="joint",
        scope="within",
        r=0.8,
        r_given=0.7,
        partial=0.1,
        low=-0.2,
        high=0.4,
        n=24,
        trackers="all",
    )
    elsewhere = [
        replace_row(best, target="rl.completed", r=0.6, low=0.3, high=0.8),
        replace_row(best, target="rl.gain", r=0.2, low=None, high=None, reason="one tracker carries it"),
        replace_row(best, target="rl.lstd", r=0.9, low=0.8, high=0.95),
    ]
    evidence = replace(PLAIN, elsewhere=elsewhere, partial=[beyond])
    assert targets_sentence(evidence) == (
        "Over all trackers avgp on schedule 1 (joint) also predicts the share of live callers served by the "
        "learned policies (r = .60 [.30, .80]); it is not shown to predict the gain of the learned policies "
        "over the logged one (r = .20) and the return beyond what the logged policy earned "
        "(partial r = .10 [−.20, .40])."
    )
    assert targets_sentence(PLAIN) == ""


def test_no_correlation_at_all_gives_the_reason() -> None:
    nothing = replace(PLAIN, ranked={"all": [], "core": []}, reason="fewer than 3 trackers")
    made = answer(nothing)
    assert made.metric is None and made.caveats == ()
    assert made.sentences == (
        "Under fill=argmax, no metric could be correlated with the live return of the learned policies: "
        "fewer than 3 trackers.",
    )
    assert answer(replace(nothing, variant="", reason=None)).sentences[0].startswith("No metric could be")


def test_an_interval_around_zero_is_no_finding() -> None:
    evidence = replace(PLAIN, ranked={"all": ranked(("avgp", 0.1)), "core": []}, best_set=[])
    assert "includes 0 (.10 [.00, .30])" in text_of(evidence)
    assert "includes 0" not in text_of(PLAIN)


def test_a_wide_interval_is_said_to_be_wide() -> None:
    wide = {"all": ranked(("avgp", 0.9), low=0.5, high=0.05), "core": []}
    evidence = replace(PLAIN, ranked=wide, best_set=[])
    assert "The interval is wide: r may as well be .40 as .95." in text_of(evidence)


def test_a_missing_interval_is_left_out() -> None:
    row = correlation_row("avgp", 0.9, None, None)
    evidence = replace(PLAIN, ranked={"all": [row], "core": []}, pairs=[], best_set=[])
    assert "r = .90 over 12 trackers" in answer(evidence).sentences[0]
    assert not [text for text in caveats(evidence, row) if "interval" in text]


def composite(method: str, r: float, low: float, high: float) -> CompositeRow:
    return CompositeRow(
        target="rl.live",
        scope="within",
        method=method,
        r=r,
        low=r - 0.1,
        high=r + 0.05,
        above_low=low,
        above_high=high,
        n=24,
        trackers="all",
    )


@pytest.mark.parametrize(
    ("r", "low", "high", "told"),
    [
        (0.9, 0.05, 0.4, "predicts better than"),
        (0.9, -0.05, 0.4, "predicts at least as well as"),
        (0.75, -0.2, 0.1, "predicts about as well as"),
        (0.5, -0.4, -0.1, None),
    ],
)
def test_the_behaviour_return_is_compared_with_the_best_metric(
    r: float, low: float, high: float, told: str | None
) -> None:
    rows = [composite("best_single", 0.8, 0.0, 0.0), composite("behaviour", r, low, high)]
    text = text_of(replace(PLAIN, composite=rows))
    assert (told in text) if told else "logged dialogs" not in text


def test_the_best_of_many_is_flattered() -> None:
    many = ranked(*((f"m{i}", 0.9 - i / 100) for i in range(30)))
    evidence = replace(
        PLAIN, ranked={"all": many, "core": []}, composite=[composite("best_single", 0.6, 0, 0)]
    )
    assert (
        "The best of 30 is flattered by the choice: a metric chosen on some trackers reaches .60 [.50, .65]"
        in (text_of(evidence))
    )
    assert "flattered" not in text_of(replace(PLAIN, composite=evidence.composite))


@pytest.mark.parametrize(
    ("same", "agreement", "settled"), [(0.5, 0.9, False), (0.9, 0.5, False), (0.9, 0.9, True)]
)
def test_an_order_that_has_not_settled_is_said_so(same: float, agreement: float, settled: bool) -> None:
    rows = [
        StabilityRow(
            target="rl.live",
            scope="within",
            coefficient="pearson",
            n_trackers=n,
            n_subsets=5,
            agreement=value,
            same_winner=same,
            trackers="all",
        )
        for n, value in ((10, 0.1), (11, agreement), (12, 1.0))
    ]
    text = text_of(replace(PLAIN, stability=rows))
    assert ("with 1 tracker fewer" not in text) if settled else "with 1 tracker fewer" in text


def test_whether_the_winner_depends_on_the_fill_rule() -> None:
    other = replace(
        PLAIN, variant="fill=threshold", ranked={"all": ranked(("l2", 0.8), ("avgp", 0.7)), "core": []}
    )
    assert across_variants([PLAIN]) == ""
    assert across_variants([PLAIN, replace(PLAIN, ranked={"all": [], "core": []})]) == ""
    assert across_variants([PLAIN, replace(PLAIN, variant="b")]).startswith("The winner does not depend")
    assert across_variants([PLAIN, other]) == (
        "The winner depends on when a concept counts as filled: avgp on schedule 1 (joint) under fill=argmax "
        "and l2 on schedule 1 (joint) under fill=threshold. avgp on schedule 1 (joint) comes 2nd of 2 under "
        "fill=threshold (r = .70). l2 on schedule 1 (joint) comes 2nd of 3 under fill=argmax (r = .90)."
    )


def test_evidence_of_no_rows_is_none() -> None:
    assert variant_results(Tables()) == []


def test_numbers_as_people_read_them() -> None:
    values = (0.924, -0.12, 0.0, -0.001, 1.0, -1.0, 0.9969, 0.99999, None)
    assert [correlation(value) for value in values] == [
        ".92",
        "−.12",
        ".00",
        ".00",
        "1.00",
        "−1.00",
        ".997",
        ".999",
        "–",
    ]
    assert (interval(-0.1, 0.5), interval(None, 0.5)) == ("[−.10, .50]", "")
    assert [share(value) for value in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
    ]
    assert (probability(0.0002), probability(0.012)) == ("< .001", ".012")
    assert (amount(-1840.0), amount(0.5), amount(float("inf")), amount(None)) == ("−1,840", "0.500", "∞", "–")
    assert (counted(1, "tracker"), counted(1200, "tracker")) == ("1 tracker", "1,200 trackers")
    assert (listing([]), listing(["a"]), listing(["a", "b", "c"]), listing(["a", "b", "c"], 1)) == (
        "",
        "a",
        "a, b and c",
        "a and 2 more",
    )


def test_names() -> None:
    assert Name("jga(fill=argmax)", 3, "state").label() == "jga(argmax) · state · 3"
    assert Name("a_long_name", 3, "").label(6) == "a_lon… · 3"
    assert shortened("fga(0.5, fill=threshold:0.7)") == "fga(0.5, threshold:0.7)"
    metrics = ("l2", "roc.v1_eer_lee", "roc.v2_ca05", "fga(0.5)", "mine")
    assert [family_of(name).title for name in metrics] == [
        "score quality",
        "ROC v1",
        "ROC v2",
        "state sets",
        "other",
    ]
    assert target_in_words("rl.lstd") == "the return of the learned policies by lstd"
    assert target_in_words("sl_sampled.live") == "the live return of the sampled supervised policies"
    assert target_in_words("behaviour.observed") == "the return observed in the logged dialogs"
