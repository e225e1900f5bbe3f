"""The belief oracles against the outside world: the challenge's own scores, and dialogs worked by hand."""

import math

import pytest

from . import belief_stats, dstc1, dstc2
from .real_data import data_directory, read_dstc2_dev, read_json

# ---- DSTC2 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["focus.dev", "baseline_published.dev"])
def test_dstc2_equals_the_official_scores(name):
    directory = data_directory() / "dstc2"
    logs, labels, ontology = read_dstc2_dev()
    tracker = read_json(directory / "trackers" / f"{name}.json.gz")
    assert [log["session-id"] for log in logs] == [call["session-id"] for call in tracker["sessions"]]
    found = {}
    for row in dstc2.score(logs, labels, tracker, ontology):
        value = "-" if row.value is None else f"{row.value:.7f}"
        found[row.component, row.metric, str(row.schedule), row.label_scheme] = (str(row.n), value)
    expected = {}
    lines = (directory / "official_scores" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        component, metric, schedule, scheme, n, value = (field.strip() for field in line.split(","))
        if component != "basic":
            metric = "accuracy" if metric == "acc" else metric
            expected[component, metric, schedule, scheme] = (n, value)
    assert len(expected) == 810
    assert {key: found[key] for key in expected} == expected


def test_dstc2_schedule_three_is_the_last_turn_of_every_call():
    logs, labels, ontology = read_dstc2_dev()
    tracker = read_json(data_directory() / "dstc2" / "trackers" / "focus.dev.json.gz")
    counts = {
        row.component: row.n for row in dstc2.score(logs, labels, tracker, ontology) if row.schedule == 3
    }
    assert counts["method"] == counts["goal.joint"] == counts["goal.food"] == counts["requested.addr"] == 506
    assert (counts["goal.all"], counts["requested.all"], counts["all"]) == (506 * 4, 506 * 8, 506 * 13)


def test_dstc2_true_joint_hypothesis_named_twice():
    true = {"food": "thai"}
    item = dstc2.item_of_ranked([({}, 0.4), (true, 0.3), (true, 0.2), (None, 0.1)], true)
    assert (item.p, item.reciprocal_rank) == (0.2, 0.5)
    assert item.l2 == pytest.approx(0.8**2 + 0.4**2 + 0.1**2)
    assert item.l2_binary == pytest.approx(0.8**2 + 0.5**2)


# ---- DSTC1, worked by hand -----------------------------------------------------------------------------


def test_dstc1_short_dialog_worked_by_hand():
    """Turn 0 hears 61c (wrong); turn 1 61d (right); turn 2 restarts and mentions a neighborhood."""

    def log_turn(restart, *slots):
        acts = [{"act": "inform", "slots": [[slot, "x"]]} for slot in slots]
        hypotheses = [{"slu-hyp": acts, "score": 1.0}]
        return {
            "restart": restart,
            "output": {"dialog-acts": []},
            "input": {"live": {"slu-hyps": hypotheses}},
        }

    def hypothesis(score, **slots):
        return {"slots": slots, "score": score}

    logs = [{"turns": [log_turn(False, "route"), log_turn(False), log_turn(True, "from.neighborhood")]}]
    wrong = {"slots": {"route": "61c"}, "label": False}
    right = {"slots": {"route": "61d"}, "label": True}
    labels = [{"turns": [{"slu-labels": [wrong]}, {"slu-labels": [right]}, {"slu-labels": []}]}]
    belief = [hypothesis(0.75, route="61d"), hypothesis(0.5, route="61c")]
    turns = [
        {"route": {"hyps": [hypothesis(0.5, route="61c")]}},
        {"route": {"hyps": belief}, "joint": {"hyps": [hypothesis(1.0, route="61d")]}},
        {"route": {"hyps": [hypothesis(-1.0, route="61d")]}},
    ]
    found = {}
    for row in dstc1.score(logs, labels, {"sessions": [{"turns": turns}]}, "train2", n_thresholds=11):
        found[row.component, row.metric, row.schedule] = (row.n, row.value)
    # None ties with 61c at .5 and goes first: right. Then 61d with .75/1.25 = .6. Then None with 1.
    assert found["route", "accuracy", 1] == (3, 1.0)
    assert found["route", "avgp", 1] == (3, pytest.approx((0.5 + 0.6 + 1.0) / 3))
    assert found["route", "l2", 1] == (3, pytest.approx(math.sqrt(2) * (0.5 + 0.4 + 0.0) / 3))
    assert found["route", "hypothesis_count", 1] == (3, pytest.approx(4 / 3))
    # All three are right: FR >= FA = 0 holds at the lowest threshold, which accepts all.
    assert found["route", "roc.v1_eer", 1] == (3, 0.0)
    assert found["route", "roc.v1_ca05", 1] == (3, 1.0)
    assert found["route", "roc.v2_ca05", 1] == (3, None)
    assert found["route", "accuracy", 2] == (1, 1.0)
    assert found["route", "roc.v1_eer", 2] == (1, None)
    assert found["from.neighborhood", "nonempty", 2] == (1, 0.0)
    # Schedule 3: turn 1 (before the restart) has a route label; the last turn has none.
    assert found["route", "avgp", 3] == (1, pytest.approx(0.6))
    assert found["all", "accuracy", 3] == (1, 1.0)
    assert found["joint", "accuracy", 3] == (1, 1.0)
    assert found["joint", "accuracy", 1] == (3, 1.0)
    assert found["date", "accuracy", 3] == (0, None)
    in_train3 = dstc1.groups_on_schedule_two(logs[0]["turns"][2], "train3a")
    assert in_train3 == {"from.desc"}


def test_dstc1_curve_worked_by_hand():
    """Scores .25 wrong, .5 right, .75 wrong, 1 right; thresholds .25, .5, .75 and one that rejects all."""
    curve = belief_stats.threshold_curve([(0.25, False), (0.5, True), (0.75, False), (1.0, True)], 4)
    assert curve == [(2, 2), (2, 1), (1, 1), (0, 0)]
    values = belief_stats.read_curve(curve, 2, 2)
    assert (values["roc.v1_eer"], values["roc.v1_eer_lee"]) == (0.5, 0.25)
    assert (values["roc.v1_ca20"], values["roc.v2_ca20"]) == (0.0, 0.0)
