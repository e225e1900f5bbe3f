"""What scoring costs: time for each turn, against the plain oracle, over three orders of size; and memory."""

from __future__ import annotations

import gzip
import json
import tarfile
import tracemalloc
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import LINES, seconds
from benchmarks.synthetic_calls import make_calls
from extrinsic.corpus.conventions import RocPoints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2, STATE_SETS
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.measuring import resampled_values
from extrinsic.metrics.scoring import score
from extrinsic.panel import item_weights
from tests.metrics.reading import assert_same, keyed
from tests.metrics.test_dialog_resampling import ROC_METRICS, one_curve_after_the_other, statistics_of
from tests.oracles import dstc1 as oracle
from tests.real_data import ARCHIVE, DATA, FOLDER, needs_data

# Microseconds a turn.
DSTC1_LIMIT = 20.0
DSTC2_LIMIT = 65.0
STATE_LIMIT = 5.0

TIMES_FASTER_THAN_ORACLE = 500.0
GROWTH_LIMIT = 1.5
BYTES_A_HYPOTHESIS = 200.0

# Times faster than one curve after the other.
RESAMPLED_ROC = {
    ("even_thresholds", 2_200): 30.0,
    ("even_thresholds", 20_000): 20.0,
    ("distinct_scores", 2_200): 6.0,
    ("distinct_scores", 20_000): 12.0,
}
RESAMPLED_ROC_BYTES = 100_000_000

ORACLE_DIALOGS = 20


def microseconds_a_turn(action: Callable[[], object], n_turns: int, rounds: int) -> float:
    """The best of several rounds: what the work costs, not what else the machine was doing."""
    return min(seconds(action) for _ in range(rounds)) / n_turns * 1e6


def score_anew(corpus: Corpus, tracker: TrackerOutput) -> Any:
    """Without what a corpus remembers of an earlier scoring."""
    return score(replace(corpus), tracker)


def test_dstc1_from_arrays(benchmark: BenchmarkFixture) -> None:
    """All metrics, schedules and components of 1,000 calls of 8 turns with 10 hypotheses a slot."""
    corpus, tracker = make_calls(1_000)
    assert len(score_anew(corpus, tracker).rows) == 14 * 3 * 11
    cost = microseconds_a_turn(lambda: score_anew(corpus, tracker), corpus.n_turns, rounds=15)
    LINES.append(f"DSTC1, 1,000 calls: {cost:.1f} us a turn (at most {DSTC1_LIMIT:.0f})")
    benchmark.pedantic(score_anew, (corpus, tracker), rounds=3)
    assert cost <= DSTC1_LIMIT


def count_at_every_threshold(scores: list[tuple[float, bool]], n_thresholds: int) -> list[tuple[int, int]]:
    """The oracle's curve in the plainest way: at every threshold look at every item.

    The oracle itself sorts once and bisects, to be fast enough for tests; both give the same points.
    """
    values = [score for score, _ in scores]
    lowest, highest = min(values), max(values)
    step = (highest - lowest) / (n_thresholds - 1)
    curve = []
    for number in range(n_thresholds - 1):
        threshold = lowest + number * step
        accepted = [is_right for score, is_right in scores if score >= threshold]
        right = accepted.count(True)
        curve.append((right, len(accepted) - right))
    return [*curve, (0, 0)]


def test_dstc1_against_the_oracle(
    benchmark: BenchmarkFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same calls, a small part of them as files for the oracle; cost for each turn on either side.

    Counting at every threshold costs the same for each turn whatever the size of the corpus; bisecting does
    not, so that figure flatters us on a small part and is only printed.
    """
    corpus, tracker = make_calls(1_000)
    ours = microseconds_a_turn(lambda: score_anew(corpus, tracker), corpus.n_turns, rounds=15)
    few = list(range(ORACLE_DIALOGS))
    part, part_tracker = corpus.take(few), tracker.take(few)
    files = _written(part, part_tracker, tmp_path)
    bisecting = microseconds_a_turn(lambda: oracle.score(*files), part.n_turns, rounds=2)
    monkeypatch.setattr(oracle, "threshold_curve", count_at_every_threshold)
    found: list[Any] = []
    plain = microseconds_a_turn(lambda: found.append(oracle.score(*files)), part.n_turns, rounds=1)
    assert_same(keyed(score(part, part_tracker).rows), keyed(found[0]))
    LINES.append(
        f"DSTC1 against the plain oracle: {ours:.1f} us a turn against {plain:,.0f}, "
        f"{plain / ours:,.0f} times (at least {TIMES_FASTER_THAN_ORACLE:.0f}); "
        f"against the bisecting one {bisecting / ours:,.0f} times"
    )
    benchmark.pedantic(score_anew, (corpus, tracker), rounds=3)
    assert plain / ours >= TIMES_FASTER_THAN_ORACLE


def _written(corpus: Corpus, tracker: TrackerOutput, folder: Path) -> tuple[Any, Any, Any, str]:
    """Logs, labels and tracker as the oracle takes them."""
    DSTC1.write_corpus(corpus, folder / "corpus")
    DSTC1.write_tracker(tracker, corpus, folder / "tracker.json")
    logs, labels = (
        [json.loads((folder / "corpus" / call / name).read_text()) for call in corpus.directories]
        for name in ("dstc.log.json", "dstc.labels.json")
    )
    return logs, labels, json.loads((folder / "tracker.json").read_text()), corpus.dataset


def bytes_of_arrays(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_dataclass(value):
        return sum(bytes_of_arrays(getattr(value, field.name)) for field in fields(value))
    return 0


def test_time_is_linear_and_memory_small(benchmark: BenchmarkFixture) -> None:
    """From 10,000 to 1,000,000 turns, with 3 hypotheses a slot so that the largest fits into memory."""
    costs: dict[int, float] = {}
    for n_turns, rounds in ((10_000, 30), (100_000, 10), (1_000_000, 3)):
        corpus, tracker = make_calls(n_turns // 8, n_hypotheses=3)
        costs[n_turns] = microseconds_a_turn(lambda: score_anew(corpus, tracker), n_turns, rounds)  # noqa: B023
    growth = max(costs.values()) / min(costs.values())
    shown = ", ".join(f"{cost:.1f} at {n:,}" for n, cost in costs.items())
    LINES.append(f"DSTC1, us a turn: {shown} turns; {growth:.2f} times (at most {GROWTH_LIMIT})")

    peak = _peak_of(lambda: score_anew(corpus, tracker)) + bytes_of_arrays(corpus) + bytes_of_arrays(tracker)
    n_hypotheses = len(tracker.given.value) + len(tracker.given_joint.score)
    LINES.append(
        f"DSTC1, 1,000,000 turns: {peak / n_hypotheses:.0f} bytes a hypothesis at most, arrays included "
        f"(at most {BYTES_A_HYPOTHESIS:.0f}); {peak / 1e9:.1f} GB for {n_hypotheses:,} hypotheses"
    )
    benchmark.pedantic(score_anew, (corpus, tracker), rounds=1)
    assert peak / n_hypotheses <= BYTES_A_HYPOTHESIS
    assert growth <= GROWTH_LIMIT


def _peak_of(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@needs_data
@pytest.mark.parametrize("name", ["focus.dev", "baseline_published.dev"])
def test_dstc2_from_files(benchmark: BenchmarkFixture, name: str, tmp_path: Path) -> None:
    """Reading the calls and the tracker file, and all metrics on the challenge's two schedules."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    path = FOLDER / "dstc2" / "trackers" / f"{name}.json.gz"

    def read_and_score(root: Path) -> int:
        corpus = DSTC2.read_corpus(root, "dstc2_dev")
        score(corpus, DSTC2.read_tracker(path, corpus), schedules=[1, 2])
        return corpus.n_turns

    n_turns = read_and_score(tmp_path)
    directory, packed = (
        microseconds_a_turn(lambda root=root: read_and_score(root), n_turns, rounds=10)  # type: ignore[misc]
        for root in (tmp_path, ARCHIVE)
    )
    LINES.append(
        f"DSTC2, {name} from files: {directory:.1f} us a turn (at most {DSTC2_LIMIT:.0f}), "
        f"from the archive {packed:.1f}"
    )
    benchmark.pedantic(read_and_score, (tmp_path,), rounds=3)
    assert directory <= DSTC2_LIMIT


SYSTEMS = sorted((FOLDER / "multiwoz" / "end_to_end").glob("*.json.gz")) if DATA else []


@needs_data
@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.name.partition(".")[0])
def test_state_sets(benchmark: BenchmarkFixture, path: Path, tmp_path: Path) -> None:
    """All state-set metrics of a file that was read; what reading costs beside json.loads is printed."""
    data = gzip.decompress(path.read_bytes())
    plain = tmp_path / "states.json"
    plain.write_bytes(data)
    states = STATE_SETS.read(plain)
    cost, reading, decoding = (
        microseconds_a_turn(action, states.n_turns, rounds)
        for action, rounds in (
            (lambda: score(states), 15),
            (lambda: STATE_SETS.read(plain), 5),
            (lambda: json.loads(data), 5),
        )
    )
    LINES.append(
        f"{path.name}: {cost:.1f} us a turn (at most {STATE_LIMIT:.0f}); "
        f"reading {reading:.1f}, of which json.loads alone {decoding:.1f}"
    )
    benchmark.pedantic(score, (states,), rounds=3)
    assert cost <= STATE_LIMIT


@pytest.mark.parametrize(("points", "n_items"), RESAMPLED_ROC)
def test_resampled_roc(benchmark: BenchmarkFixture, points: RocPoints, n_items: int) -> None:
    """All ROC values of 1,000 resamples of 300 calls, against one curve after the other; the same bits."""
    rng = np.random.default_rng(n_items)
    scores = np.round(rng.beta(3, 0.5, n_items), 3)
    dialogs = np.sort(rng.integers(0, 300, n_items))
    items = points, 300, scores, rng.random(n_items) < 0.3 + 0.5 * scores, dialogs
    weights = item_weights("calls", 300, 1_000, seed=0)

    def at_once() -> Any:
        # Statistics made anew remember no ranking.
        return resampled_values(weights, ROC_METRICS, statistics_of(*items))

    found: list[Any] = []
    one_by_one = seconds(lambda: found.append(one_curve_after_the_other(weights, statistics_of(*items))))
    np.testing.assert_array_equal(at_once(), found[0])
    ours = min(seconds(at_once) for _ in range(15))
    peak, limit = _peak_of(at_once), RESAMPLED_ROC[points, n_items]
    LINES.append(
        f"ROC of 1,000 resamples, {points}, {n_items:,} items: {ours * 1e3:.1f} ms against "
        f"{one_by_one * 1e3:,.0f} one by one, {one_by_one / ours:.0f} times (at least {limit:.0f}); "
        f"{peak / 1e6:.0f} MB at most"
    )
    benchmark.pedantic(at_once, rounds=3)
    assert one_by_one / ours >= limit
    assert peak <= RESAMPLED_ROC_BYTES
