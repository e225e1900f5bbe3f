"""The bridge: beliefs scored as states through a fill rule, and states scored as beliefs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from extrinsic.corpus.hypotheses import Fill
from extrinsic.errors import UsageError
from extrinsic.metrics.scoring import score
from extrinsic.metrics.state_items import predicted_states
from tests.builders import (
    ONTOLOGY,
    Dstc2Files,
    act,
    dstc2_label_turn,
    dstc2_labels,
    dstc2_turn,
    hypothesis,
    log,
)
from tests.builders import log_turn as written_turn
from tests.builders import tracker as written_tracker
from tests.metrics.calls import Turn, files_of
from tests.metrics.dialogs import states_of
from tests.metrics.reading import read_dstc1, read_dstc2

C, D, X = {"route": "61c"}, {"route": "61d"}, {"route": "28x"}


def filled(rule: str, *hypotheses: tuple[float, dict[str, str]]) -> str | None:
    """The route that a belief amounts to in DSTC1."""
    corpus, tracker = read_dstc1(files_of([Turn({"route": hypotheses})]))
    value = predicted_states(corpus, tracker, Fill.parse(rule))[0, corpus.slots.index("route")]
    return corpus.vocabulary.value(value)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("hypotheses", "by_argmax", "by_threshold"),
    [
        ([], None, None),
        ([(0.75, C)], "61c", "61c"),
        ([(0.3, C)], None, None),  # None has .7
        ([(0.4, C), (0.3, D)], "61c", None),  # the best of three, but not above .5
        ([(0.5, C)], None, None),  # ties with None, which comes first; exactly .5 is not above .5
        ([(0.5, C), (0.5, D)], "61c", None),  # None has 0; the first of equals
        ([(0.5, D), (0.5, C)], "61d", None),
        ([(0.51, C), (0.49, D)], "61c", "61c"),
        ([(0.6, C), (0.9, D)], "61d", "61d"),  # sums above 1: .4 and .6
        ([(-0.5, C)], None, None),
    ],
)
def test_rules(
    hypotheses: list[tuple[float, dict[str, str]]], by_argmax: str | None, by_threshold: str | None
) -> None:
    assert filled("argmax", *hypotheses) == by_argmax
    assert filled("threshold", *hypotheses) == by_threshold


def test_a_low_threshold_looks_behind_none() -> None:
    # None .5 stands before 61c .3 and 61d .2.
    belief = [(0.3, C), (0.2, D)]
    assert filled("threshold:0.25", *belief) == "61c"
    assert filled("threshold:0.3", *belief) is None
    assert filled("threshold:0", (0.0, C)) is None
    assert filled("threshold:1", (1.0, C)) is None  # nothing is above 1


def gold_routes(*turns: Turn) -> list[str | None]:
    corpus, tracker = read_dstc1(files_of(list(turns)))
    predicted = predicted_states(corpus, tracker, Fill("argmax"))
    gold = corpus.conventions.gold_states(corpus, predicted, "a")[:, corpus.slots.index("route")]
    return [corpus.vocabulary.value(value) for value in gold]  # type: ignore[misc]


def test_of_several_right_values_the_predicted_one_is_gold() -> None:
    c, d, x = ({"route": [(0.75, value)]} for value in (C, D, X))
    turns = [Turn(x), Turn(c, right=[C]), Turn(c, right=[D]), Turn(d), Turn(x), Turn()]
    # Not observed yet; then 61c; both are right from turn 2 on; a wrong one and None are measured against
    # the one that became right last.
    assert gold_routes(*turns) == [None, "61c", "61c", "61d", "61d", "61d"]
    scores = score(*read_dstc1(files_of(turns)), metrics=["jga(fill=argmax)"], schedules=[1])
    assert scores.rows[0].value == 3 / 6


def test_a_restart_empties_the_gold_state() -> None:
    assert gold_routes(Turn(right=[C]), Turn(restart=True), Turn(right=[D])) == ["61c", None, "61d"]


def test_values_that_become_right_together_do_not_depend_on_other_calls() -> None:
    """Which of the two is gold at turn 1 must not depend on which was read first anywhere in the corpus."""
    call = [Turn({"route": [(0.75, C)]}, right=[C, D]), Turn()]
    other = [Turn(right=[D])]
    orders = [read_dstc1(files_of(*calls)) for calls in ((call, other), (other, call))]
    metrics = ["gca(fill=argmax)", "fga(0.5, fill=argmax)"]
    one, two = ([row.value for row in score(*read, metrics=metrics).rows] for read in orders)
    assert one == two


def test_all_slots_make_one_state_on_every_turn_or_the_last() -> None:
    # 61c is right; the stop is missed at the last turn.
    call = [
        Turn({"route": [(0.75, C)]}, right=[C]),
        Turn({"route": [(0.75, C)]}, right=[{"from.desc": "cmu"}]),
    ]
    rows = score(*read_dstc1(files_of(call)), metrics=["jga(fill=argmax)", "slot_accuracy(fill=argmax)"]).rows
    found = {(row.metric, row.component, row.schedule, row.n): row.value for row in rows}
    assert found == {
        ("jga(fill=argmax)", "state", 1, 2): 1 / 2,
        ("slot_accuracy(fill=argmax)", "state", 1, 2): pytest.approx((1 + 8 / 9) / 2),
        ("jga(fill=argmax)", "state", 3, 1): 0,
        ("slot_accuracy(fill=argmax)", "state", 3, 1): pytest.approx(8 / 9),
    }


THAI, GREEK = {"food": "thai"}, {"food": "greek"}


def restaurant_call(labels: list[dict[str, str]], turns: list[object], system: list[object]) -> Dstc2Files:
    logs = {"c/one": log("one", [written_turn(i, acts, []) for i, acts in enumerate(system)])}
    written = {"c/one": dstc2_labels("one", [dstc2_label_turn(goals) for goals in labels])}
    return Dstc2Files("dstc2_dev", logs, written, written_tracker("dstc2_dev", {"one": turns}), ONTOLOGY)


def jga_by_scheme(files: Dstc2Files, rule: str) -> dict[str | None, float | None]:
    rows = score(*read_dstc2(files), metrics=["jga"], fill=[rule], schedules=[1]).rows
    return {row.label_scheme: row.value for row in rows}


def test_label_scheme_b_holds_backwards() -> None:
    says_thai = dstc2_turn({"food": {"thai": 0.75}})
    files = restaurant_call([{}, THAI], [says_thai, says_thai], [[], []])
    assert jga_by_scheme(files, "argmax") == {"a": 1 / 2, "b": 1}
    # What the system cannot help with is no label of its turn, nor of turns before it.
    helpless = replace(
        files,
        logs={
            "c/one": log(
                "one", [written_turn(0, [], []), written_turn(1, [act("canthelp", ("food", "thai"))], [])]
            )
        },
    )
    assert jga_by_scheme(helpless, "argmax") == {"a": 1 / 2, "b": 0}


def test_none_loses_ties_in_dstc2() -> None:
    files = restaurant_call([THAI], [dstc2_turn({"food": {"thai": 0.5}})], [[]])
    assert jga_by_scheme(files, "argmax")["a"] == 1
    assert jga_by_scheme(files, "threshold")["a"] == 0


def test_a_joint_alone_is_summed_out() -> None:
    """Yarbus writes nothing but the joint: thai has .3 + .3, though no single hypothesis is above .5."""
    joint = [
        hypothesis(0.4, GREEK),
        hypothesis(0.3, THAI),
        hypothesis(0.3, {**THAI, "area": "north"}),
    ]
    files = restaurant_call([THAI], [dstc2_turn({}, joint)], [[]])
    assert jga_by_scheme(files, "argmax")["a"] == jga_by_scheme(files, "threshold")["a"] == 1
    # The components of the official scorer take the marginals as written: None.
    (row,) = score(*read_dstc2(files), metrics=["accuracy"], components=["goal.food"], schedules=[1]).rows[:1]
    assert row.value == 0


STATES = states_of(
    [("a-a-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1"), ("a-a-1, a-b-1", "a-a-1, a-b-2")],
    [("", "b-c-1"), ("", "")],
)


def test_states_as_beliefs() -> None:
    def value(metric: str, component: str, schedule: int = 1) -> float | None:
        (row,) = score(STATES, metrics=[metric], components=[component], schedules=[schedule]).rows
        return row.value

    (jga, last) = (score(STATES, metrics=["jga"], schedules=[at]).rows[0].value for at in (1, 3))
    assert value("accuracy", "joint") == jga == 2 / 5
    assert value("accuracy", "joint", 3) == last == 1 / 2
    assert value("avgp", "joint") == 2 / 5
    # a-b: None, None (gold 1), 2 (gold 1), None, None: three of five are right.
    assert value("accuracy", "a-b") == 3 / 5
    assert value("l2", "a-b") == 2 * 2 / 5
    assert value("mrr", "a-b") == 3 / 5
    # The joint of the fourth turn is None in gold and b-c is predicted: None stands second.
    assert value("mrr", "joint") == (2 + 1 / 2) / 5
    # Ten items, a-a all five, a-b three: b-c is no slot of the gold states, only the system's invention.
    assert value("accuracy", "all") == 8 / 10
    with pytest.raises(UsageError, match="no component 'b-c'"):
        value("accuracy", "b-c")


def test_states_have_no_schedule_2_and_take_no_fill_rule() -> None:
    with pytest.raises(UsageError, match=r"no schedule 2 here \(expected one of 1, 3\)"):
        score(STATES, metrics=["accuracy"], schedules=[2])
    with pytest.raises(UsageError, match="filled already"):
        score(STATES, metrics=["jga(fill=argmax)"])


def test_states_of_beliefs_need_a_rule() -> None:
    corpus, tracker = read_dstc1(files_of([Turn()]))
    with pytest.raises(UsageError, match=r"jga\(fill=argmax\)"):
        score(corpus, tracker, metrics=["jga"])


def test_rules_given_beside_the_metrics_apply_to_metrics_of_states() -> None:
    corpus, tracker = read_dstc1(files_of([Turn()]))
    rows = score(corpus, tracker, metrics=["accuracy", "jga"], fill=["argmax", "threshold:0.7"]).rows
    assert {row.metric for row in rows} == {"accuracy", "jga(fill=argmax)", "jga(fill=threshold:0.7)"}
    everything = {row.metric for row in score(corpus, tracker, fill=["threshold"]).rows}
    assert {"accuracy", "roc.v1_eer", "jga(fill=threshold)", "fga(0.5, fill=threshold)"} <= everything
