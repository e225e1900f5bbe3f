"""Small calls for trackers: written turn by turn, with a perfect recogniser, with a noisy one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.registry import TRACKERS
from extrinsic.trackers.protocol import BuiltInTracker, LearnedTracker
from tests.builders import Json, act, heard, slu_label
from tests.corpus.bus_calls import bus_corpus, restaurant_files
from tests.metrics.reading import read_dstc2

Turn = tuple[list[Json], list[Json]]
"""What the system says, and the recogniser's hypotheses."""

NAMES = TRACKERS.names()
LEARNED = [name for name in NAMES if isinstance(TRACKERS.get(name), LearnedTracker)]
MEMBERS = [
    "focus(trust=0.8, threshold=0.1, discount=0.9)",
    "mixture(bayes_low, window, weight=0.4)",
    "mixture(delayed(vote, turns=1), yarbus(consent=0.5), weight=0.7)",
    "recalibrated(delayed(hwu, turns=2), temperature=3)",
]
EVERY = [*NAMES, *MEMBERS]
SANE = [name for name in NAMES if not TRACKERS.get(name).degenerate]


def restaurant_calls(*calls: Sequence[Turn]) -> Corpus:
    """DSTC2 calls that nobody labelled."""
    files = restaurant_files(*([{"system": said, "live": live} for said, live in turns] for turns in calls))
    return read_dstc2(files)[0]


def bus_turn(system: Json, live: list[Json], restart: bool = False, labels: Sequence[Json] = ()) -> Json:
    return {"system": [system], "live": live, "batch": [], "restart": restart, "labels": labels}


ROUTES = tuple(f"{number}c" for number in range(60, 68))
STOPS = ("cmu", "forbes", "airport", "waterfront", "fifth", "centre")


def draw_goal(rng: np.random.Generator) -> dict[str, dict[str, str]]:
    """What a caller wants: per slot the pairs of its value."""
    return {
        "route": {"route": str(rng.choice(ROUTES))},
        "from.desc": {"from.desc": str(rng.choice(STOPS))},
        "to.desc": {"to.desc": str(rng.choice(STOPS))},
        "time": {"time.hour": str(rng.integers(1, 12)), "time.ampm": str(rng.choice(["am", "pm"]))},
    }


@cache
def perfect_calls(n_dialogs: int, seed: int = 0) -> Corpus:
    """One hypothesis of score 1 a turn, true, a yes after every confirmation; the second half begins anew."""
    rng = np.random.default_rng(seed)
    calls = []
    for _ in range(n_dialogs):
        turns: list[Json] = []
        for anew in (False, True):
            goal = draw_goal(rng)
            begin = len(turns)
            for slot in rng.permutation(list(goal)):
                pairs = goal[str(slot)]
                said = act("inform", *pairs.items())
                asked = act("request", ("slot", str(slot)))
                first = len(turns) == begin
                label = slu_label(True, pairs)
                turns.append(bus_turn(asked, [heard(1.0, said)], anew and first, [label]))
                confirmation = act(str(rng.choice(["expl-conf", "impl-conf"])), *pairs.items())
                if rng.random() < 0.5:
                    explicit = confirmation["act"] == "expl-conf"
                    answer = [heard(1.0, act("affirm"))] if explicit else [heard(1.0, act("null"))]
                    turns.append(bus_turn(confirmation, answer))
        calls.append(turns)
    return bus_corpus(*calls)


@cache
def noisy_calls(n_dialogs: int, n_turns: int = 5, seed: int = 0) -> Corpus:
    """Two or three hypotheses a turn, the first of which is right in most turns."""
    rng = np.random.default_rng(seed)
    calls = []
    for _ in range(n_dialogs):
        goal = draw_goal(rng)
        turns: list[Json] = []
        for _ in range(n_turns):
            slot = str(rng.choice(list(goal)))
            confusions = [goal[slot], *(draw_goal(rng)[slot] for _ in range(int(rng.integers(1, 3))))]
            distinct = [pairs for i, pairs in enumerate(confusions) if pairs not in confusions[:i]]
            if rng.random() < 0.25:
                distinct.reverse()
            scores = np.sort(rng.dirichlet(np.ones(len(distinct) + 1)))[::-1]
            live = [
                heard(float(score), act("inform", *pairs.items()))
                for score, pairs in zip(scores, distinct, strict=False)
            ]
            labels = [slu_label(pairs == goal[slot], pairs) for pairs in distinct]
            turns.append(bus_turn(act("request", ("slot", slot)), live, labels=labels))
        calls.append(turns)
    return bus_corpus(*calls)


@cache
def ready(name: str) -> BuiltInTracker:
    """A tracker by its name; a learned one was taught by noisy calls, once for all tests."""
    found = TRACKERS.get(name)
    fitted: BuiltInTracker = found
    if isinstance(found, LearnedTracker):
        fitted = found.fit([noisy_calls(80), perfect_calls(20)])
    return fitted


def tops_of(output: TrackerOutput, corpus: Corpus) -> list[dict[str, Any]]:
    """The best value of each slot at each turn, None left out."""
    best = output.beliefs.value[output.beliefs.top].reshape(corpus.n_turns, -1)
    return [
        {
            corpus.slots[column]: corpus.vocabulary.value(int(row[column]))
            for column in np.flatnonzero(row != NONE)
        }
        for row in best
    ]
