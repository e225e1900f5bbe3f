"""Every rule on a call of four turns, by hand from its formula; the challenge's own trackers on all calls."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import row_of_each
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.builders import act, heard
from tests.contents import hypotheses_content
from tests.real_data import ARCHIVE, FOLDER, needs_data
from tests.trackers.calls import LEARNED, NAMES, Turn, restaurant_calls

THAI, GREEK = act("inform", ("food", "thai")), act("inform", ("food", "greek"))

# What is informed: thai .6 greek .3; thai .5 (by a yes) greek .1, with a no of .2 to thai; greek .8; thai .4.
CALL: list[Turn] = [
    ([act("welcomemsg")], [heard(0.6, THAI), heard(0.3, GREEK)]),
    (
        [act("expl-conf", ("food", "thai"))],
        [heard(0.5, act("affirm")), heard(0.2, act("negate")), heard(0.1, GREEK)],
    ),
    ([act("request", ("slot", "area"))], [heard(0.8, GREEK)]),
    ([act("repeat")], [heard(0.4, THAI)]),
]

# Per turn (thai, greek). Where no number is given for a later turn, the first ones say it all.
EXPECTED: dict[str, list[tuple[float, float]]] = {
    "baseline": [(0.6, 0), (0.6, 0), (0, 0.8), (0, 0.8)],
    # Twice where there was a belief: .5 + .4 (.5 + .4 * .6), then .2 * .2 * .796.
    "focus": [(0.6, 0.3), (0.796, 0.188), (0.03184, 0.96752)],
    "focus_once": [(0.6, 0.3), (0.74, 0.22), (0.148, 0.844), (0.4888, 0.5064)],
    "focus_overconfident": [(0.36 / 0.46, 0.09 / 0.46)],
    "focus_underconfident": [
        (0.6**0.5 / (0.6**0.5 + 0.3**0.5 + 0.1**0.5), 0.3**0.5 / (0.6**0.5 + 0.3**0.5 + 0.1**0.5))
    ],
    "top_hypothesis": [(0.6, 0), (0.8, 0), (0.16, 0.8), (0.496, 0.48)],
    # Weights 1 and 1/2, then 1 and 1/3, beside 1/2 for None.
    "rank_only": [(0.5, 0.25), (7.5 / 11, 2.75 / 11), (2.5 / 11, 2 / 3 + 2.75 / 33)],
    # (1 - (1 - .6 * .9) .5) .8 and 1 - (1 - .3 * .5) .9.
    "hwu": [(0.6, 0.3), (0.616, 0.235), (0.1232, 0.847)],
    # .64 and .37 are above 1 in sum, and so are what follows.
    "hwu_original": [(0.6, 0.3), (0.64 / 1.01, 0.37 / 1.01), (64 / 152.2, 88.2 / 152.2)],
    "yarbus": [(0.6, 0.3), (0.62, 0.22), (0.124, 0.844)],
    "yarbus_implicit": [(0.6, 0.3), (0.62, 0.22), (0.124, 0.844)],
    "bayes_none": [(0.602, 0.302), (0.23282656 / 0.26503336, 0.0310932 / 0.26503336)],
    "bayes_low": [(0.5438, 0.2738)],
    "bayes_high": [(0.3692, 0.1892)],
    "dempster_shafer": [(0.6, 0.3), (0.542 / 0.802, 0.172 / 0.802)],
    # Heard of at all: .9, .96, .992, .9952.
    "accumulate": [
        (0.6, 0.3),
        (0.704, 0.256),
        (0.992 * 1.1 / 2.3, 0.992 * 1.2 / 2.3),
        (0.9952 * 1.5 / 2.7, 0.9952 * 1.2 / 2.7),
    ],
    "discount": [
        (0.6, 0.3),
        (0.96 * 0.8 / 1.05, 0.96 * 0.25 / 1.05),
        (0.992 * 0.4 / 1.325, 0.992 * 0.925 / 1.325),
    ],
    # The fourth turn sees .5 + .4 and .1 + .8, heard of with 1 - .4 * .2 * .6.
    "window": [(0.6, 0.3), (0.704, 0.256), (0.992 * 1.1 / 2.3, 0.992 * 1.2 / 2.3), (0.476, 0.476)],
    "noisy_or": [(0.6, 0.3), (0.8 / 1.17, 0.37 / 1.17), (0.8 / 1.674, 0.874 / 1.674)],
    "vote": [(1 / 1.5, 0), (2 / 2.5, 0), (2 / 3.5, 1 / 3.5), (3 / 4.5, 1 / 4.5)],
    # (1 - .4 * .5) .8; greek never has more than .7.
    "confirm_aware": [(0.6, 0.3), (0.64, 0.3), (0.64 / 1.34, 0.7 / 1.34)],
    "confident_only": [(0.6, 0), (0.6, 0), (0, 0.8), (0, 0.8)],
    "last_mention": [(0.6, 0), (0.5, 0), (0, 0.8), (0.4, 0)],
    "last_turn": [(0.6, 0.3), (0.5, 0.1), (0, 0.8), (0.4, 0)],
}


def food(name: str, call: list[Turn]) -> list[tuple[float, float]]:
    corpus = restaurant_calls(call)
    items = hypotheses_content(track(TRACKERS.get(name), corpus, name).given, corpus.vocabulary)
    turns = map(dict, items[corpus.slots.index("food") :: len(corpus.slots)])
    return [(scores.get("thai", 0.0), scores.get("greek", 0.0)) for scores in turns]


def test_every_rule_has_its_numbers() -> None:
    assert set(EXPECTED) == set(NAMES) - set(LEARNED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_call_by_hand(name: str) -> None:
    for found, expected in zip(food(name, CALL), EXPECTED[name], strict=False):
        assert found == pytest.approx(expected, abs=1e-12)


IMPLICIT: list[Turn] = [
    CALL[0],
    (
        [act("impl-conf", ("food", "thai")), act("request", ("slot", "area"))],
        [heard(0.7, act("inform", ("area", "north"))), heard(0.2, act("negate"))],
    ),
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("yarbus", (0.8 * 0.6, 0.3)),
        ("yarbus_implicit", (0.8 * (0.6 + 0.5 * 0.4), 0.5 * 0.3)),
        ("hwu", (0.8 * 0.6, 0.3)),
        ("focus_once", (0.6, 0.3)),
    ],
)
def test_an_implicit_confirmation(name: str, expected: tuple[float, float]) -> None:
    """Silence is consent to some, a no counts against what was confirmed, and focus hears neither."""
    assert food(name, IMPLICIT)[1] == pytest.approx(expected, abs=1e-12)


def test_a_firm_no_removes_the_value() -> None:
    call: list[Turn] = [CALL[0], ([act("expl-conf", ("food", "thai"))], [heard(0.9, act("negate"))])]
    assert food("confident_only", call)[1] == (0, 0)
    assert food("yarbus", call)[1] == pytest.approx((0.06, 0.3))
    assert food("confirm_aware", call)[1] == pytest.approx((0.06, 0.3))


@pytest.mark.parametrize("name", ["bayes_none", "dempster_shafer"])
def test_a_contradiction_in_full(name: str) -> None:
    """Where nothing is possible any more the turn is believed, also when a value had been ruled out."""
    call: list[Turn] = [
        ([act("welcomemsg")], [heard(1.0, THAI)]),
        ([act("repeat")], [heard(1.0, GREEK)]),
        ([act("expl-conf", ("food", "greek"))], [heard(1.0, act("negate"))]),
        ([act("repeat")], [heard(1.0, GREEK)]),
    ]
    found = food(name, call)
    assert found[:2] == [(1.0, 0.0), (0.0, 1.0)]
    assert found[2][1] == 0.0
    assert found[3] == (0.0, 1.0)


def test_tuning_by_hand() -> None:
    """CALL informs thai .6 greek .3; thai .5 greek .1, no .2 to thai; greek .8; thai .4."""
    # Half of every score: .3 .15; then thai .25 + (1 - .25 - .05 - .1) .3, greek .05 + .7 * .15.
    assert food("yarbus(trust=0.5)", CALL)[:2] == approx([(0.3, 0.15), (0.43, 0.155)])
    # Below .25 nothing is heard: neither greek's .1 nor the no of .2.
    assert food("yarbus(threshold=0.25)", CALL)[:2] == approx([(0.6, 0.3), (0.8, 0.15)])
    # Half of the memory: thai .5 + (1 - .6 - .2) .3, greek .1 + .4 * .15.
    assert food("yarbus(discount=0.5)", CALL)[:2] == approx([(0.6, 0.3), (0.56, 0.16)])
    # Ranks below the threshold do not count: 1 / 1.5 alone.
    assert food("rank_only(threshold=0.35)", CALL)[:1] == approx([(1 / 1.5, 0.0)])


def test_combinations_by_hand() -> None:
    hwu, vote = food("hwu", CALL), food("vote", CALL)
    mixed = [
        tuple(0.3 * a + 0.7 * b for a, b in zip(*turns, strict=True)) for turns in zip(hwu, vote, strict=True)
    ]
    assert food("mixture(hwu, vote, weight=0.3)", CALL) == approx(mixed)
    assert food("delayed(hwu, turns=2)", CALL) == approx([(0, 0), (0, 0), *hwu[:2]])
    assert food("recalibrated(focus, temperature=0.5)", CALL) == food("focus_overconfident", CALL)


def approx(turns: list[tuple[float, ...]]) -> list[object]:
    return [pytest.approx(turn, abs=1e-12) for turn in turns]


TOLERANCE = 1e-9


def n_different(ours: Hypotheses, theirs: Hypotheses, n_values: int) -> int:
    """Items that hold a value whose scores differ; a score of 0 is as good as none."""
    tables = []
    for found in (ours, theirs):
        keys = row_of_each(found.offsets) * n_values + found.value
        tables.append(dict(zip(keys.tolist(), found.score.tolist(), strict=True)))
    wrong = {
        key // n_values
        for key in tables[0].keys() | tables[1].keys()
        if abs(tables[0].get(key, 0.0) - tables[1].get(key, 0.0)) > TOLERANCE
    }
    return len(wrong)


@needs_data
@pytest.mark.parametrize("part", ["dev", "train"])
@pytest.mark.parametrize("name", ["baseline", "focus"])
def test_our_file_is_theirs(name: str, part: str) -> None:
    """Every goal, method, request and joint list; focus has no joint lists."""
    corpus = DSTC2.read_corpus(ARCHIVE, f"dstc2_{part}")
    theirs = DSTC2.read_tracker(FOLDER / "dstc2" / "trackers" / f"{name}.{part}.json.gz", corpus)
    ours = track(TRACKERS.get(name), corpus, name)
    n_values = len(ours.vocabulary)
    assert n_different(ours.given, theirs.given, n_values) == 0
    assert n_different(ours.given_method, theirs.given_method, n_values) == 0
    assert np.abs(ours.requested - theirs.requested).max() <= TOLERANCE
    joint, other = ours.given_joint, theirs.given_joint
    assert np.array_equal(joint.given, other.given)
    assert np.array_equal(joint.offsets, other.offsets)
    assert np.array_equal(joint.assignment, other.assignment)
    assert np.allclose(joint.score, other.score, rtol=0.0, atol=TOLERANCE)
