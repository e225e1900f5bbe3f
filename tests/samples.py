"""Three small inputs made by hand, whose figures the tests know."""

from __future__ import annotations

from tests.builders import (
    ONTOLOGY,
    Dstc1Files,
    Dstc2Files,
    StateSetFiles,
    act,
    dstc1_labels,
    dstc1_turn,
    dstc2_label_turn,
    dstc2_labels,
    dstc2_turn,
    heard,
    hypothesis,
    log,
    log_turn,
    slu_label,
    tracker,
)


def small_dstc1() -> Dstc1Files:
    """Two calls, the second with a restart; every value of the tracker was labelled."""
    one = log(
        "one",
        [
            log_turn(
                0,
                [act("hello"), act("request", ("slot", "route"))],
                [heard(0.6, act("inform", ("route", "61d"))), heard(0.3, act("inform", ("route", "61c")))],
                [heard(0.8, act("inform", ("route", "61c")))],
            ),
            log_turn(
                1,
                [act("expl-conf", ("route", "61d"))],
                [heard(0.9, act("negate"), act("inform", ("route", "61c")))],
                [],
                restart=False,
            ),
        ],
    )
    two = log(
        "two",
        [
            log_turn(
                0,
                [act("open-request")],
                [heard(0.7, act("inform", ("time.hour", "7"), ("time.ampm", "pm"), ("from.desc", "cmu")))],
            ),
            log_turn(1, [act("restart")], [heard(0.5, act("inform", ("from.desc", "forbes")))], restart=True),
            log_turn(2, [act("schedule", ("route", "28x"))], [heard(0.9, act("bye"))]),
        ],
    )
    right, wrong = slu_label(True, {"route": "61c"}), slu_label(False, {"route": "61d"})
    seven = {"time.hour": "7", "time.ampm": "pm"}
    labels = {
        "calls/one": dstc1_labels("one", [[wrong, right], [right]]),
        "calls/two": dstc1_labels(
            "two",
            [
                [slu_label(True, seven), slu_label(True, {"from.desc": "cmu"})],
                [slu_label(False, {"from.desc": "forbes"})],
                [],
            ],
        ),
    }
    beliefs = {
        "one": [
            dstc1_turn(
                route=[hypothesis(0.5, {"route": "61d"}), hypothesis(0.25, {"route": "61c"})],
                joint=[hypothesis(0.5, {"route": "61d"})],
            ),
            dstc1_turn(
                route=[hypothesis(0.75, {"route": "61c"})], joint=[hypothesis(0.75, {"route": "61c"})]
            ),
        ],
        "two": [
            dstc1_turn(
                time=[hypothesis(0.5, seven)],
                from__desc=[hypothesis(0.625, {"from.desc": "cmu"})],
                joint=[hypothesis(0.5, {**seven, "from.desc": "cmu"})],
            ),
            dstc1_turn(from__desc=[hypothesis(0.5, {"from.desc": "forbes"})], joint=[]),
            dstc1_turn(),
        ],
    }
    return Dstc1Files("train4", {"calls/one": one, "calls/two": two}, labels, tracker("train4", beliefs))


def small_dstc2() -> Dstc2Files:
    """Three calls of two, one and two turns, taken by two dialog managers."""
    said = {
        "first": act("welcomemsg"),
        "area": act("request", ("slot", "area")),
        "confirm": act("expl-conf", ("food", "thai")),
    }
    thai, any_area = act("inform", ("food", "thai")), act("inform", ("this", "dontcare"))
    ask_address = act("request", ("slot", "addr"))
    logs = {
        "Mar13_S0A0/one": log(
            "one",
            [
                log_turn(0, [said["first"]], [heard(0.7, thai), heard(0.2, ask_address)]),
                log_turn(1, [said["area"]], [heard(0.9, any_area)]),
            ],
            dialog_manager=0,
        ),
        "Mar13_S0A0/two": log("two", [log_turn(0, [said["first"]], [])], dialog_manager=0),
        "Mar13_S1A1/three": log(
            "three",
            [
                log_turn(0, [said["first"]], [heard(0.5, thai)]),
                log_turn(1, [said["confirm"]], [heard(0.9, act("affirm"))]),
            ],
            dialog_manager=1,
        ),
    }
    wants_thai = dstc2_label_turn({"food": "thai"}, "byconstraints", [], [thai])
    labels = {
        "Mar13_S0A0/one": dstc2_labels(
            "one",
            [
                wants_thai,
                dstc2_label_turn({"food": "thai", "area": "dontcare"}, "byconstraints", [], [any_area]),
            ],
            success=True,
        ),
        "Mar13_S0A0/two": dstc2_labels("two", [dstc2_label_turn({})], success=False),
        "Mar13_S1A1/three": dstc2_labels("three", [wants_thai, wants_thai]),
    }
    sure = dstc2_turn(
        {"food": {"thai": 0.75, "greek": 0.125}},
        [hypothesis(0.75, {"food": "thai"}), hypothesis(0.125, {"food": "greek"})],
        {"byconstraints": 0.875},
        {"phone": 0.25},
    )
    beliefs = {
        "one": [sure, dstc2_turn({"food": {"thai": 0.75}, "area": {"dontcare": 0.5}}, [])],
        "two": [dstc2_turn({})],
        "three": [sure, sure],
    }
    return Dstc2Files("dstc2_dev", logs, labels, tracker("dstc2_dev", beliefs), ONTOLOGY)


def small_state_sets() -> StateSetFiles:
    """Two dialogs; the second turn of the first has a wrong value, a hyphen, a "none" and an empty one."""
    return StateSetFiles(
        {
            "PMUL0001.json": {
                "0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}},
                "1": {
                    "gt": {"hotel": {"area": "north", "name": "none"}, "taxi": {"leave at": "10:15"}},
                    "pr": {"hotel": {"area": "south", "name": "a-and-b"}, "taxi": {"leave at": ""}},
                },
            },
            "SNG0002.json": {"0": {"gt": {}, "pr": {"train": {}}}},
        }
    )
