"""The study of real DSTC2 calls, as it stands in the repository, is the one that the code makes.

Where these fail after a change of a text, make it anew from the stored tables (`write_texts`); after a change
of what it tells of, run the experiment again: `python -m experiments.dstc2`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extrinsic
from experiments.dstc2 import choose, control, gains
from experiments.dstc2.__main__ import TABLES, write_texts
from experiments.dstc2.candidates import CANDIDATES, summarise
from experiments.dstc2.cells import CELLS, read_choices, settings_of
from experiments.dstc2.choose import (
    CONFIG,
    FOLDER,
    NEAR_BEST,
    believed,
    choices_text,
    joint_accuracy,
    training_calls,
)
from experiments.dstc2.prototype import OURS
from extrinsic.errors import InputError
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_plan
from extrinsic.study.stages.store import Result
from tests.experiments.test_texts import rows_of, stored
from tests.real_data import needs_data


def test_the_text_is_made_from_the_tables(tmp_path: Path) -> None:
    for name in TABLES:
        (tmp_path / f"{name}.csv").write_bytes(stored(FOLDER / f"{name}.csv").read_bytes())
    write_texts(tmp_path)
    assert stored(FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "dstc2.svg").read_text()


def test_the_choice_is_the_first_of_the_candidates() -> None:
    rows = rows_of(FOLDER / "candidates.csv")
    assert len(rows) == len(CANDIDATES)
    assert rows[0]["gain"] == max(row["gain"] for row in rows)
    judged = [{**row, "good": row["good"] == "True"} for row in rows_of(FOLDER / "trackers.csv")]
    assert stored(FOLDER / "choices.toml").read_text() == choices_text(rows[0], judged)


def test_the_study_keeps_to_what_was_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert set(read_choices()["good"]) < {row["tracker"] for row in rows_of(FOLDER / "trackers.csv")}
    other = tmp_path / "dstc2.toml"
    text = CONFIG.read_text()
    line = next(line for line in text.splitlines() if line.startswith("ridge ="))
    other.write_text(text.replace(line, "ridge = 77.0"))
    monkeypatch.setattr("experiments.dstc2.cells.CONFIG", other)
    with pytest.raises(InputError, match="chosen on the training calls") as error:
        read_choices()
    assert error.value.problems[0].found == "77.0"


@needs_data
def test_nothing_is_chosen_from_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the choice reads, of one tracker and fold and of the trackers that are judged."""
    read_corpus, read_tracker = extrinsic.read_corpus, extrinsic.read_tracker
    datasets, files = set(), set()

    def corpus_of(path: Any, dataset: str, **others: Any) -> Any:
        datasets.add(dataset)
        return read_corpus(path, dataset, **others)

    def output_of(path: Any, *others: Any) -> Any:
        files.add(Path(path).name)
        return read_tracker(path, *others)

    monkeypatch.setattr("extrinsic.read_corpus", corpus_of)
    monkeypatch.setattr("extrinsic.read_tracker", output_of)
    monkeypatch.setattr("experiments.dstc2.choose.gains_of", lambda calls, fold: [{"fold": fold}])
    assert choose.rows_of("hwu_original", 0) == [{"tracker": "hwu_original", "fold": 0}]
    few = ['trackers.built_in=["last_turn"]', 'trackers.files.names=["baseline", "yarbus_16"]']
    assert len(choose.judge_trackers(read_study(CONFIG, [*few, 'value.proxies=["baseline"]']))) == 3
    assert datasets == {"dstc2_train"}
    assert files == {f"{name}.train.json.gz" for name in ("baseline", "hwu", "hwu_original", "yarbus_16")}


@needs_data
def test_a_tracker_on_train_again() -> None:
    """What makes it good, or not."""
    settings = read_study(CONFIG)
    corpus = training_calls(settings)
    told = {row["tracker"]: row for row in rows_of(FOLDER / "trackers.csv")}
    for name in ("focus", "last_turn"):
        assert joint_accuracy(corpus, believed(name, corpus, settings)) == pytest.approx(
            told[name]["accuracy"], abs=6e-4
        )
    best = max(row["accuracy"] for row in told.values())
    for row in told.values():
        assert (row["good"] == "True") == (row["accuracy"] > best - NEAR_BEST)


def test_candidates_by_hand() -> None:
    """Gains are means over trackers of means over folds; behind: paired by tracker."""
    first, second = CANDIDATES[:2]
    told = {first: (4.0, 8.0), second: (3.0, 3.0)}
    rows = [
        {
            **vars(candidate),
            "tracker": tracker,
            "fold": fold,
            "gain": gain + fold - 0.5,
            "flags": ("a", "b") if fold else ("a",),
        }
        for candidate in CANDIDATES
        for tracker, gain in zip("ab", told.get(candidate, (0.0, 0.0)), strict=True)
        for fold in (0, 1)
    ]
    best, next_best = summarise(rows)[:2]
    assert (best["gain"], best["behind"], best["flags"], best["cells"]) == (6.0, 0.0, "a:4 b:2", 4)
    assert (next_best["gain"], next_best["behind"]) == (3.0, 3.0)
    assert next_best["standard_error"] == pytest.approx(np.std([1.0, 5.0], ddof=1) / np.sqrt(2))


def test_correlation_between_calls_by_hand() -> None:
    rng = np.random.default_rng(0)
    values, success = rng.normal(size=(3, 40)), rng.integers(0, 2, 40).astype(float)
    condition, weights = rng.integers(0, 3, 40), rng.integers(0, 3, (5, 40)).astype(float)
    found = control._within(values, success, condition, weights)
    for draw, counts in enumerate(weights):
        taken = np.repeat(np.arange(40), counts.astype(int))
        x, y = values[:, taken].copy(), success[taken].copy()
        for group in range(3):
            of = condition[taken] == group
            x[:, of] -= x[:, of].mean(axis=1, keepdims=True)
            y[of] -= y[of].mean()
        expected = np.mean([np.corrcoef(row, y)[0, 1] for row in x])
        assert found[draw] == pytest.approx(expected)


def test_a_difference_by_hand() -> None:
    """Two conditions together: every dialog counts as much; the interval is that of a mean of differences."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30)), rng.normal(size=(2, 30))

    def worth(values: Any) -> Any:
        parts = (values[:10], values[10:])
        return gains._together([(part.mean(), (part - part.mean()) / len(part)) for part in parts])

    found = gains._difference("d", worth(a[0]), worth(b[0]))
    assert found["d"] == pytest.approx((a[0] - b[0]).mean())
    each = (a[0] - b[0]) - np.repeat([(a[0] - b[0])[:10].mean(), (a[0] - b[0])[10:].mean()], [10, 20])
    assert found["d_high"] - found["d"] == pytest.approx(1.96 * np.sqrt((each**2).sum()) / 30)


@needs_data
def test_a_tracker_again() -> None:
    """Learned and valued again, without the rest of the study: one tracker in one of the brief runs."""
    cell = CELLS[-1]
    plan = make_plan(settings_of(cell))
    bundle = next(bundle for bundle in plan.bundles if bundle[0].tracker == "focus")
    task = next(task for task in bundle if task.variant == "fill=argmax")
    worth = gains._worth(Result.decode(task.function(*task.arguments).encode()))
    expected = next(
        row
        for row in rows_of(FOLDER / "gains.csv")
        if (row["manager"], row["absent"], row["fill"], row["tracker"])
        == (cell.label["manager"], cell.absent, "argmax", "focus")
    )
    assert worth["rl", "mean_augmented"][0] == pytest.approx(expected["rl"], abs=6e-4)
    assert worth["behaviour", "observed"][0] == pytest.approx(expected["behaviour"], abs=6e-4)


def test_our_own_way_is_the_chosen_one() -> None:
    chosen = read_choices()
    assert {key: chosen[key] for key in OURS} == OURS
