"""What people call things: one title each, and numbers as they read them."""

from __future__ import annotations

import pytest

from extrinsic.registry import ESTIMATORS, METRICS
from extrinsic.verdict.names import (
    Name,
    amount,
    correlation,
    counted,
    counted_metrics,
    estimator_title,
    family_of,
    interval,
    listing,
    metric_definition,
    metric_title,
    probability,
    share,
    target_title,
    variant_title,
)


@pytest.mark.parametrize(
    ("name", "title", "label"),
    [
        (Name("slot_f1(fill=argmax)", 3, "state"), "slot F1, last turn", "slot_f1(argmax) · state · 3"),
        (Name("slot_f1", 1, "all"), "slot F1, every turn", "slot_f1 · all · 1"),
        (
            Name("accuracy", 2, "goal.joint"),
            "accuracy, joint goal, when mentioned",
            "accuracy · goal.joint · 2",
        ),
        (Name("l2", 1, "goal.food"), "L2, food, every turn", "l2 · goal.food · 1"),
        (Name("mine", 9, ""), "mine, schedule 9", "mine · 9"),
    ],
)
def test_a_metric_has_a_title_and_a_typed_form(name: Name, title: str, label: str) -> None:
    assert (name.title(), name.label()) == (title, label)


def test_a_fill_rule_of_a_metric_is_not_that_of_the_reward() -> None:
    assert metric_title("fga(0.5, fill=argmax)") == "FGA 0.5"
    assert metric_title("jga(fill=threshold)") == "JGA over 0.5"
    assert metric_title("jga(fill=threshold:0.7)") == "JGA over 0.7"
    assert metric_title("changes(wrong)") == "changes (wrong)"
    assert variant_title("fill=argmax") == "reward counts best values"
    assert variant_title("learner=kernel_lspi, fill=threshold") == (
        "learned by kernel lspi, reward counts values over 0.5"
    )
    assert variant_title(None) == ""


def test_titles_are_not_shared() -> None:
    for registry, title in ((METRICS, metric_title), (ESTIMATORS, estimator_title)):
        names = registry.names()
        assert len({title(name) for name in names}) == len(names)
    assert "share of items whose top hypothesis is right" in metric_definition("accuracy")
    assert metric_definition("l2").endswith("(lower is better)")


def test_targets_and_families() -> None:
    assert [target_title(target) for target in ("rl.live", "expert.live", "rl.completed")] == [
        "the learned policy's return",
        "the fixed policy's return",
        "the share of callers served by the learned policy",
    ]
    assert target_title("rl.lstd") == "the learned policy's return by LSTD"
    assert target_title("outcome.success") == "the outcome success"
    metrics = ("l2", "roc.v1_eer_lee", "roc.v2_ca05", "fga(0.5)", "mine")
    assert [family_of(name) for name in metrics] == [
        "score quality",
        "ROC v1",
        "ROC v2",
        "state sets",
        "other",
    ]


def test_metrics_on_schedules_are_counted_as_such() -> None:
    names = [Name(metric, schedule, "all") for metric in ("l2", "mrr") for schedule in (1, 2, 3)]
    assert counted_metrics(names) == "2 metrics on 3 schedules"
    assert (counted_metrics(names[:1]), counted_metrics([])) == ("1 metric", "0 metrics")


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
