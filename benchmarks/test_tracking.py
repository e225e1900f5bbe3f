"""What tracking costs: turns a second of every tracker, on simulated bus calls of DS1's size."""

from __future__ import annotations

from functools import cache

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import LINES, seconds
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.hypotheses import likeliest_assignments
from extrinsic.registry import TRACKERS
from extrinsic.simulation.bus_world import read_simulation
from extrinsic.simulation.datasets import simulate
from extrinsic.trackers.protocol import BuiltInTracker, LearnedTracker
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, needs_data

# Turns a second.
RULE_LIMIT = 20_000
LEARNED_LIMIT = 5_000

# Microseconds a turn.
JOINT_LIMIT = 20.0

ROUNDS = 10


@cache
def calls(split: str) -> Corpus:
    return with_evidence(simulate(read_simulation(), "ds1", split).corpus)


def with_evidence(corpus: Corpus) -> Corpus:
    """Gathered once for all trackers, and so not a part of what one costs."""
    assert corpus.evidence.n_turns == corpus.n_turns
    assert corpus.truth
    return corpus


def taught(name: str, train: Corpus) -> tuple[BuiltInTracker, int, str]:
    """A tracker ready to run, how many turns a second it has to do, and how long it took to learn."""
    tracker = TRACKERS.get(name)
    if not isinstance(tracker, LearnedTracker):
        return tracker, RULE_LIMIT, ""
    fitted: list[BuiltInTracker] = []
    took = min(seconds(lambda: fitted.append(tracker.fit([train]))) for _ in range(2))
    return fitted[0], LEARNED_LIMIT, f"; taught in {took:.2f} s"


def measure(name: str, corpus: Corpus, train: Corpus, what: str) -> tuple[float, int]:
    """All of `track`: updates, joint lists or methods and requests, ranking, what is right."""
    tracker, limit, learning = taught(name, train)
    speed = corpus.n_turns / min(seconds(lambda: track(tracker, corpus, name)) for _ in range(ROUNDS))
    LINES.append(f"{what}, {name}: {speed:,.0f} turns a second (at least {limit:,}){learning}")
    return speed, limit


@pytest.mark.parametrize("name", TRACKERS.names())
def test_bus_calls(benchmark: BenchmarkFixture, name: str) -> None:
    corpus, train = calls("test"), calls("train")
    speed, limit = measure(name, corpus, train, "DS1")
    benchmark.extra_info["turns a second"] = speed
    benchmark.pedantic(track, (taught(name, train)[0], corpus, name), rounds=3)
    assert speed >= limit


@needs_data
def test_restaurant_calls(benchmark: BenchmarkFixture) -> None:
    """The slowest, the median and the fastest tracker on the dev set."""
    train = with_evidence(DSTC2.read_corpus(ARCHIVE, "dstc2_train"))
    corpus = with_evidence(DSTC2.read_corpus(ARCHIVE, "dstc2_dev"))
    speeds = {}
    for name in TRACKERS.names():
        tracker, limit, _ = taught(name, train)
        speeds[name] = corpus.n_turns / min(seconds(lambda: track(tracker, corpus, name)) for _ in range(3))  # noqa: B023
        assert speeds[name] >= limit, name
    ordered = sorted(speeds, key=speeds.__getitem__)
    shown = ", ".join(f"{ordered[i]} {speeds[ordered[i]]:,.0f}" for i in (0, len(ordered) // 2, -1))
    LINES.append(f"DSTC2 dev, turns a second: {shown}")
    benchmark.pedantic(track, (TRACKERS.get("focus"), corpus, "focus"), rounds=3)


def test_joint_lists(benchmark: BenchmarkFixture) -> None:
    """How much of it the joint lists are."""
    corpus = calls("test")
    given = track(TRACKERS.get("focus"), corpus, "focus").given
    took = min(seconds(lambda: likeliest_assignments(given, len(corpus.slots))) for _ in range(ROUNDS))
    cost = took / corpus.n_turns * 1e6
    LINES.append(f"DS1, joint lists of focus: {cost:.1f} us a turn (at most {JOINT_LIMIT:.0f})")
    benchmark.pedantic(likeliest_assignments, (given, len(corpus.slots)), rounds=3)
    assert cost <= JOINT_LIMIT
