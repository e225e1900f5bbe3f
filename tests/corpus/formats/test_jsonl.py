"""Own logs of JSON lines as corpora: the same arrays as DSTC2's files, and every problem with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import DIRECTORY
from extrinsic.corpus.formats import DSTC2, JSONL
from extrinsic.corpus.formats.log_lines import written_lines
from extrinsic.corpus.formats.logs import KEY, POSSIBLE, write_acts, write_decision
from extrinsic.corpus.labels import GoalLabels
from extrinsic.errors import InputError, UsageError
from extrinsic.metrics.scoring import score
from extrinsic.policy.rewards import LoggedReward
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.storage import write_atomic
from extrinsic.trackers.track import track
from tests.builders import act, write_dstc2
from tests.contents import corpus_content
from tests.samples import small_dstc2

Line = dict[str, Any]


def write_own_log(corpus: Corpus, path: Path) -> None:
    """Write `<dataset>.jsonl` into a folder; the corpus must have labels of goals, as DSTC2's have."""
    write_atomic(path / f"{corpus.dataset}.jsonl", written_lines(_lines(corpus)))


def _lines(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for turn in range(corpus.n_turns):
        dialog, number = int(corpus.dialog_of_turn[turn]), int(corpus.turn_in_dialog[turn])
        last = bool(turn == corpus.offsets[dialog + 1] - 1)
        outcome = {name: of_dialogs[dialog] for name, of_dialogs in corpus.outcomes.items()}
        conditions = {name: of_dialogs[dialog] for name, of_dialogs in corpus.conditions.items()}
        conditions = {
            name: text for name, text in conditions.items() if text is not None and name != DIRECTORY
        }
        decision = write_decision(corpus, turn)
        yield {
            "dialog": corpus.sessions[dialog],
            "turn": number,
            "system": write_acts(corpus.vocabulary, corpus.system, turn),
            "nbest": _nbest(corpus, turn),
            "propensities": decision.get(KEY),
            "possible": decision.get(POSSIBLE),
            "reward": None if corpus.rewards is None else float(corpus.rewards[turn]),
            "labels": _labels(corpus, turn),
            "outcome": ({name: score for name, score in outcome.items() if score == score} or None)
            if last
            else None,
            "conditions": conditions or None if number == 0 else None,
            "restart": True if corpus.restart[turn] else None,
            "end": last,
        }


def _nbest(corpus: Corpus, turn: int) -> list[dict[str, Any]]:
    """The list of the live recogniser; without one, that of the recogniser that ran later."""
    nbest = corpus.nbest
    rows = np.arange(nbest.offsets[turn], nbest.offsets[turn + 1])
    live = rows[~nbest.batch[rows]]
    return [
        {"acts": write_acts(corpus.vocabulary, nbest.acts, int(row)), "score": float(nbest.score[row])}
        for row in (live if len(live) else rows).tolist()
    ]


def _labels(corpus: Corpus, turn: int) -> dict[str, Any]:
    labels, value = corpus.labels, corpus.vocabulary.value
    assert isinstance(labels, GoalLabels)
    written = {
        "goal": {
            corpus.slots[column]: value(int(labels.goal[turn, column]))
            for column in np.flatnonzero(labels.goal[turn] != NONE)
        },
        "requested": [corpus.requestable[column] for column in np.flatnonzero(labels.requested[turn])],
        "method": value(int(labels.method[turn])),
        "said": write_acts(corpus.vocabulary, labels.heard, turn),
    }
    return {name: content for name, content in written.items() if content or name == "goal"}


AT_1, AT_2 = "calls.jsonl:2, session a, turn 1:", "calls.jsonl:3, session a, turn 2:"
UNUSABLE = (
    "of the action taken, %r, cannot be used (expected above 0, at most 1, at every decision or at none, "
    "found %s)"
)


def line(dialog: str, turn: int, *system: Any, **more: Any) -> Line:
    heard = {"acts": [act("inform", ("food", "thai"))], "score": 0.6}
    labels = {"goal": {"food": "thai"}}
    return {
        "dialog": dialog,
        "turn": turn,
        "system": list(system),
        "nbest": [heard],
        "labels": labels,
        **more,
    }


def small() -> list[Line]:
    request, offer = act("request", ("slot", "area")), act("offer", ("name", "nandos"))
    both = ["present", "request"]
    return [
        line("a", 0, act("welcomemsg"), reward=0.0),
        line("a", 1, request, reward=-1.0, propensities={"request": 0.75, "present": 0.25}),
        line("a", 2, offer, reward=9.0, propensity=0.5, possible=both, outcome={"success": 1}),
        line("b", 0, act("welcomemsg"), reward=0.0, conditions={"dialog-manager": "2"}),
        line("b", 1, offer, reward=-5.0, propensity=1.0, action="present"),
    ]


def write(folder: Path, lines: list[Line] | str, name: str = "calls") -> Path:
    text = lines if isinstance(lines, str) else "".join(json.dumps(entry) + "\n" for entry in lines)
    path = folder / f"{name}.jsonl"
    path.write_text(text)
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(InputError) as raised:
        JSONL.read_corpus(path)
    return [str(problem).replace(str(path), "calls.jsonl") for problem in raised.value.problems]


def test_what_a_log_holds(tmp_path: Path) -> None:
    corpus = JSONL.read_corpus(write(tmp_path, small()))
    assert corpus.sessions == ("a", "b")
    assert (corpus.dataset, corpus.format) == ("calls", "jsonl")
    names = corpus.domain.predicate_names
    decisions = " ".join(names[number] for number in corpus.predicate)
    assert decisions == "welcome request present welcome present"
    assert corpus.propensities is not None and corpus.possible is not None and corpus.rewards is not None
    present, request = names.index("present"), names.index("request")
    assert corpus.propensities[1, [request, present]].tolist() == [0.75, 0.25]
    assert corpus.propensities[2, present] == 0.5 and np.isnan(corpus.propensities[2, request])
    assert np.isnan(corpus.propensities[0]).all()
    assert corpus.possible[1].all()
    assert np.flatnonzero(corpus.possible[2]).tolist() == sorted([present, request])
    assert corpus.rewards.tolist() == [0.0, -1.0, 9.0, 0.0, -5.0]
    assert corpus.outcomes["success"][0] == 1.0 and np.isnan(corpus.outcomes["success"][1])
    assert corpus.conditions["dialog-manager"] == (None, "2")
    part = corpus.take([1])
    assert part.rewards is not None and part.rewards.tolist() == [0.0, -5.0]
    assert part.possible is not None and len(part.possible) == 2


def test_trackers_run_and_policies_are_learned_from_its_rewards(tmp_path: Path) -> None:
    corpus = JSONL.read_corpus(write(tmp_path, small()))
    output = track(TRACKERS.get("focus"), corpus, "focus")
    rows = score(corpus, output, metrics=["accuracy"], schedules=1).rows
    goals = ("food", "pricerange", "name", "area", "all", "joint", "joint_independent")
    assert {row.component for row in rows} == {"all", *[f"goal.{name}" for name in goals]}
    assert {row.value for row in rows if row.component == "goal.food"} == {1.0}
    log = transitions_of(corpus, output, "compact", LoggedReward())
    assert log.reward.tolist() == [-1.0, 9.0, -5.0]
    assert log.logged.tolist() == [0.75, 0.5, 1.0]
    assert log.possible is not None and log.possible.shape == (3, len(log.actions))
    assert (log.source.dataset, log.source.tracker) == ("calls", "focus")
    assert log.source.reward == {"kind": "logged", "scale": 1.0}
    with pytest.raises(UsageError, match="has no rewards of its own"):
        bare = [{key: value for key, value in entry.items() if key != "reward"} for entry in small()]
        plain = JSONL.read_corpus(write(tmp_path, bare, "bare"))
        LoggedReward()(plain, output)


def test_a_corpus_of_dstc2_written_and_read(tmp_path: Path) -> None:
    original = DSTC2.read_corpus(write_dstc2(tmp_path / "dstc2", small_dstc2()).corpus)
    write_own_log(original, tmp_path / "logs")
    corpus = JSONL.read_corpus(tmp_path / "logs", original.dataset)
    first, second = corpus_content(original), corpus_content(corpus)
    # What can be requested are here only the slots that somebody asked for: none.
    assert [any(map(any, content["labels"].pop(1))) for content in (first, second)] == [False, False]
    for name in ("sessions", "offsets", "restart", "system", "nbest", "labels"):
        assert first[name] == second[name]
    write_own_log(corpus, tmp_path / "again")
    name = f"{original.dataset}.jsonl"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "logs" / name).read_bytes()


def test_tracker_files_are_those_of_dstc2(tmp_path: Path) -> None:
    corpus = JSONL.read_corpus(write(tmp_path, small()))
    output = track(TRACKERS.get("hwu"), corpus, "hwu")
    JSONL.write_tracker(output, corpus, tmp_path / "hwu.json")
    again = JSONL.read_tracker(tmp_path / "hwu.json", corpus)
    assert np.array_equal(again.beliefs.score, output.beliefs.score)


@pytest.mark.parametrize(
    ("row", "change", "message"),
    [
        (1, {"propensities": None, "propensity": 0.0}, f"{AT_1} the propensity {UNUSABLE}" % ("request", 0)),
        (2, {"propensity": 1.5}, f"{AT_2} the propensity {UNUSABLE % ('present', '1.5')}"),
        (2, {"propensity": None}, f"{AT_2} the propensity {UNUSABLE % ('present', 'nothing')}"),
        (1, {"propensities": {"request": 0.5}}, f"{AT_1} the propensities do not add up to 1"),
        (1, {"propensities": {"reqest": 1.0}}, "unknown action in 'propensities'; did you mean 'request'?"),
        (1, {"propensity": 0.5}, "both 'propensity' and 'propensities'"),
        (2, {"possible": ["request"]}, f"{AT_2} the action taken was not possible (expected request, found"),
        (2, {"possible": []}, "nothing was possible at the turn"),
        (4, {"action": "request"}, "another action by the rules of 'restaurants' (expected 'request', found"),
        (4, {"reward": None}, "calls.jsonl:5, session b, turn 1: the reward is missing"),
        (4, {"labels": None}, "calls.jsonl:5, session b, turn 1: the line lacks 'labels'"),
        (4, {"labels": {"goal": {"fod": "x"}}}, "1, slot fod: unknown slot in 'goal'; did you mean 'food'?"),
        (4, {"labels": {"gaol": {}}}, "'labels' lacks 'goal'"),
        (4, {"turn": 2}, "calls.jsonl:5, session b, turn 2: the turn is out of order (expected 1, found 2)"),
        (4, {"turn": True}, "'turn' has the wrong kind"),
        (4, {"dialog": "a"}, "the dialog goes on after another one; its other lines end at line 3"),
        (0, {"outcome": {"success": 1}}, "an outcome before the last turn of the dialog"),
        (4, {"conditions": {"x": "y"}}, "conditions after the first turn of the dialog"),
        (4, {"end": True}, "calls.jsonl:3, session a, turn 2: the dialog does not end"),
        (4, {"rewrad": 3}, "unknown key in the line; did you mean 'reward'?"),
        (4, {"nbest": [{"acts": [], "score": "high"}]}, "'nbest[0].score' has the wrong kind"),
        (4, {"system": [{"act": "offer"}]}, "'system[0]' lacks 'slots'"),
        (4, {"discrete": {"x": 0.5}}, "'discrete.x' has the wrong kind (expected a whole number or text"),
        (4, {"state": {"x": None}}, "'state.x' has the wrong kind"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong(row: int, change: Line, message: str, tmp_path: Path) -> None:
    lines = small()
    lines[row] |= change
    assert message in "\n".join(problems_of(write(tmp_path, lines)))


def test_every_problem_at_once(tmp_path: Path) -> None:
    lines = small()
    lines[1]["propensities"] = {"present": 1.0}
    lines[4] |= {"propensity": -1.0, "reward": None, "labels": {"goal": {"fod": "x"}}}
    assert len(problems_of(write(tmp_path, lines))) == 4


def test_lines_that_are_not_json(tmp_path: Path) -> None:
    good = json.dumps(small()[0])
    open_ = good[:-1]
    text = f'{good}\n{{"dialog": "a", "turn"\n\n[1]\n{open_}, "turn": 0}}\n{open_}, "propensity": NaN}}\n'
    messages = problems_of(write(tmp_path, text))
    assert messages[0].startswith("calls.jsonl:2: the JSON")
    kind = "the line has the wrong kind (expected an object, found array with 1 entry)"
    assert messages[1] == f"calls.jsonl:4: {kind}"
    assert "calls.jsonl:5, session a, turn 0: the key 'turn' occurs more than once" in messages[2]
    assert "calls.jsonl:6, session a, turn 0: 'propensity' is not finite" in messages[3]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (("labels", "reward"), "no line has 'labels'; without labels nothing says what the caller wanted"),
        (
            ("nbest",),
            "no line has 'nbest'; a corpus needs N-best lists and labels; a log of states and rewards",
        ),
    ],
)
def test_a_log_that_is_no_corpus(keep: tuple[str, ...], message: str, tmp_path: Path) -> None:
    lines = [{key: value for key, value in entry.items() if key not in keep} for entry in small()]
    assert message in "\n".join(problems_of(write(tmp_path, lines)))


def test_where_logs_are(tmp_path: Path) -> None:
    write(tmp_path, small(), "one")
    assert JSONL.read_corpus(tmp_path).dataset == "one"
    write(tmp_path, small(), "two")
    for dataset, message in ((None, "several logs; choose one"), ("tow", "did you mean 'two'")):
        with pytest.raises(InputError, match=message):
            JSONL.read_corpus(tmp_path, dataset)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no log in this folder"):
        JSONL.read_corpus(tmp_path / "empty")
    blank = write(tmp_path, "\n\n", "blank")
    with pytest.raises(InputError, match="the log has no lines"):
        JSONL.read_corpus(blank)
