"""What callers ask for and how they search, on calls short enough to follow."""

from __future__ import annotations

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.requests import Rule, method_hypotheses, track_requests
from tests.builders import act, heard
from tests.trackers.calls import restaurant_calls

PHONE = act("request", ("slot", "phone"))
THAI, NAMED = act("inform", ("food", "thai")), act("inform", ("name", "nandos"))


def phone(corpus: Corpus, rule: Rule) -> list[float]:
    return track_requests(corpus, rule).requested[:, corpus.requestable.index("phone")].tolist()


def methods(corpus: Corpus, rule: Rule) -> list[dict[str, float]]:
    found = method_hypotheses(corpus, track_requests(corpus, rule).method)
    return [
        {
            str(corpus.vocabulary.value(int(found.value[i]))): round(float(found.score[i]), 9)
            for i in range(*found.offsets[turn : turn + 2])
        }
        for turn in range(corpus.n_turns)
    ]


def test_what_is_asked_stays_asked_until_it_is_told() -> None:
    told = act("inform", ("phone", "01223"))
    corpus = restaurant_calls(
        [
            ([act("welcomemsg")], [heard(0.2, PHONE, PHONE), heard(0.1, PHONE)]),
            ([act("repeat")], [heard(0.9, act("null"))]),
            ([act("repeat")], [heard(0.2, PHONE)]),
            ([told], [heard(0.9, act("thankyou"))]),
            ([told], [heard(0.4, PHONE)]),
        ]
    )
    # Focus adds .2 twice to the .3 it has; when just told, .4 alone counts.
    assert phone(corpus, "focus") == pytest.approx([0.3, 0.3, 0.7, 0.0, 0.4])
    assert phone(corpus, "baseline") == pytest.approx([0.3, 0.3, 0.2, 0.0, 0.4])


def test_how_callers_search() -> None:
    corpus = restaurant_calls(
        [
            ([act("welcomemsg")], [heard(0.6, THAI), heard(0.3, act("null"))]),
            ([act("repeat")], [heard(0.5, act("null")), heard(0.5, act("reqalts"), THAI)]),
            ([act("repeat")], [heard(1.0, act("bye"))]),
        ]
    )
    # None keeps .4 beside .5 + .5 * .6: divided by 1.2.
    assert methods(corpus, "focus") == [
        {"byconstraints": 0.6, "none": 0.4},
        pytest.approx({"byconstraints": 0.3 / 1.2, "byalternatives": 0.5 / 1.2, "none": 0.4 / 1.2}),
        pytest.approx({"finished": 1 / (1 + 1 / 3), "none": (1 / 3) / (1 + 1 / 3)}),
    ]
    assert methods(corpus, "baseline") == [
        {"byconstraints": 0.6, "none": 0.3},
        {"byconstraints": 0.5, "byalternatives": 0.5},
        {"finished": 1.0},
    ]


@pytest.mark.parametrize(
    ("acts", "method"),
    [
        ([THAI, NAMED], "byname"),
        ([NAMED, act("reqalts")], "byalternatives"),
        ([act("reqalts"), act("bye")], "finished"),
        ([act("bye"), act("reqalts")], "byalternatives"),
        ([act("affirm")], "none"),
    ],
)
def test_which_act_decides(acts: list[object], method: str) -> None:
    corpus = restaurant_calls([([act("welcomemsg")], [heard(1.0, *acts)])])
    assert methods(corpus, "baseline") == [{method: 1.0}]
