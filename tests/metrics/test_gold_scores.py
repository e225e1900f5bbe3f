"""A tracker that puts everything on the truth scores perfectly, in every format."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from pytest import approx

from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.scoring import score
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles, dstc2_turn, hypothesis, tracker
from tests.metrics.reading import read_dstc1, read_dstc2, read_states
from tests.oracles.dstc1 import Truth
from tests.strategies import dstc1_files, dstc2_files, state_set_files

N_EXAMPLES = 40

PERFECT = {
    "accuracy": 1,
    "avgp": 1,
    "mrr": 1,
    "l2": 0,
    "l2.lee": 0,
    "brier": 0,
    "l2.binary": 0,
    "neglogp": 0,
    "update.acc": 1,
    "update.prec": 1,
    "roc.v1_eer": 0,
    "roc.v1_eer_lee": 0,
    "roc.v1_ca05": 1,
    "roc.v1_ca10": 1,
    "roc.v1_ca20": 1,
    "jga(fill=argmax)": 1,
    "jga(fill=threshold)": 1,
    "gca(drops=once, fill=argmax)": 1,
}

WITHOUT_VALUE = {"roc.v2_ca05", "roc.v2_ca10", "roc.v2_ca20"}
"""No wrong item, no rate of false accepts."""

FILLED = ("jga", "gca(drops=once)")


def assert_perfect(rows: Any, unless_empty: set[str]) -> None:
    """The perfect value; none only where there is nothing to score, or too little for a curve."""
    for row in rows:
        if row.metric in WITHOUT_VALUE:
            assert row.value is None, row
        elif row.metric in PERFECT:
            may_lack = (
                row.n == 0 or row.metric in unless_empty or (row.n <= 2 and row.metric.startswith("roc"))
            )
            assert row.value == approx(PERFECT[row.metric]) or (row.value is None and may_lack), row


def dstc1_gold(files: Dstc1Files) -> Dstc1Files:
    """One of the right values of every slot, and all of these as the joint."""
    beliefs: dict[str, list[Any]] = {}
    for log, labels in zip(files.logs.values(), files.labels.values(), strict=True):
        truth, turns = Truth(), []
        for log_turn, label_turn in zip(log["turns"], labels["turns"], strict=True):
            truth = Truth() if log_turn.get("restart") else truth
            truth.add(label_turn)
            right = {
                group: next(dict(pairs) for pairs, is_right in seen.items() if is_right)
                for group, seen in truth.label_of.items()
                if any(seen.values())
            }
            joint = {name: value for pairs in right.values() for name, value in pairs.items()}
            turn = {group: {"hyps": [hypothesis(1.0, pairs)]} for group, pairs in right.items()}
            turns.append({**turn, "joint": {"hyps": [hypothesis(1.0, joint)] if joint else []}})
        beliefs[log["session-id"]] = turns
    return replace(files, tracker=tracker(files.dataset, beliefs))


@settings(max_examples=2 * N_EXAMPLES)
@given(dstc1_files() | dstc2_files())
def test_belief_formats(files: Dstc1Files | Dstc2Files) -> None:
    read = read_dstc1(dstc1_gold(files)) if isinstance(files, Dstc1Files) else read_dstc2(dstc2_gold(files))
    # In DSTC2 the tracker gives the labels of scheme a; an update has no value where nothing ever changes.
    own = [row for row in score(*read).rows if row.label_scheme in (None, "a")]
    if isinstance(files, Dstc2Files):
        assert {row.metric for row in own} >= {"l2.binary", "neglogp", "update.acc"}
    assert_perfect(own, {"update.acc", "update.prec"})
    filled = score(*read, metrics=FILLED, fill=["argmax", "threshold"]).rows
    of_scheme = [row for row in filled if row.label_scheme in (None, "a")]
    assert_perfect(of_scheme, {"gca(drops=once, fill=argmax)"})


def dstc2_gold(files: Dstc2Files) -> Dstc2Files:
    beliefs = {}
    for labels in files.labels.values():
        beliefs[labels["session-id"]] = [
            dstc2_turn(
                {slot: {value: 1.0} for slot, value in turn["goal-labels"].items()},
                [hypothesis(1.0, turn["goal-labels"])] if turn["goal-labels"] else [],
                {turn["method-label"]: 1.0},
                dict.fromkeys(turn["requested-slots"], 1.0),
            )
            for turn in labels["turns"]
        ]
    return replace(files, tracker=tracker(files.dataset, beliefs))


@settings(max_examples=2 * N_EXAMPLES)
@given(state_set_files())
def test_state_sets(files: StateSetFiles) -> None:
    gold = {
        dialog: {turn: {"gt": sides["gt"], "pr": sides["gt"]} for turn, sides in turns.items()}
        for dialog, turns in files.states.items()
    }
    states = read_states(StateSetFiles(gold))
    values = {row.metric: row.value for row in score(states).rows}
    assert {values[name] for name in ("jga", "slot_accuracy", "turn_match", "fga(0.5)")} == {1}
    # These leave out turns with nothing in them, or count such turns as 0.
    stated = (states.gold > 1).any(axis=1)
    where_stated = {1} if stated.any() else {None}
    assert {values["average_goal_accuracy"], values["slot_f1"]} == where_stated
    assert values["improved_average_goal_accuracy"] == values["average_goal_accuracy"]
    assert values["relative_slot_accuracy"] == stated.mean()
    # Without a mistake a dialog has no traits of mistakes.
    assert values["first_error"] is None
    assert_changes_are_perfect(states)
    assert_perfect(score(states, metrics=[*PERFECT_AS_BELIEFS]).rows, {"update.acc", "update.prec"})


PERFECT_AS_BELIEFS = ("accuracy", "l2", "l2.binary", "avgp", "mrr", "neglogp", "update.acc", "update.prec")


def assert_changes_are_perfect(states: StateSets) -> None:
    metrics = ("gca", "gca(drops=once)", "changes(correct)", "changes(wrong)", "changes(missed)")
    rows = score(states, metrics=metrics).rows
    gca, counted_once, correct, wrong, missed = (row.value for row in rows)
    assert wrong == 0
    assert counted_once == (approx(1) if correct else None)
    # As published, a slot that both sides drop is correct and missed: the only way for gold to lose.
    assert (gca == approx(1)) == bool(correct and not missed)
