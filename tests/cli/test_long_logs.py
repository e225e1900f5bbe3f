"""A long log is worked through in parts of dialogs: the same files and the same scores as at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extrinsic import storage
from extrinsic.cli.main import main
from extrinsic.corpus.formats import long_corpora
from extrinsic.errors import InputError
from extrinsic.metrics.items import curves
from extrinsic.registry import FORMATS, WORLDS
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.play import play
from extrinsic.storage import read_bytes
from tests.own_logs import write_own_log

N_DIALOGS = 24
RULES = ["focus", "baseline", "hwu", "bayes(confusion=0.2)", "mixture(hwu, focus, weight=0.3)"]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    world = WORLDS.get("restaurants").read().world("noisy", "train")
    policy, tracker = logged_policy(world)
    assert policy is not None and tracker is not None
    write_own_log(play(policy, tracker, N_DIALOGS, 1, world, dataset="calls").corpus, folder)
    return folder / "calls.jsonl"


@pytest.fixture(scope="module")
def files(log: Path) -> dict[str, Path]:
    """Tracker files written at once."""
    folder = log.parent / "files"
    assert main(["track", *corpus(log), *trackers(), "--output", f"{folder}/", "--quiet"]) == 0
    return {name: folder / f"{name}.json" for name in RULES}


def corpus(log: Path) -> list[str]:
    return ["--format", "jsonl", "--corpus", str(log)]


def trackers() -> list[str]:
    return [part for name in RULES for part in ("--tracker", name)]


def in_parts(monkeypatch: pytest.MonkeyPatch, n_dialogs: int) -> None:
    """Every log counts as long."""
    monkeypatch.setattr(long_corpora, "LONG", 0)
    monkeypatch.setattr(long_corpora, "DIALOGS", n_dialogs)


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("n_dialogs", [1, 7, N_DIALOGS])
def test_tracker_files_are_the_same(
    log: Path, files: dict[str, Path], n_dialogs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_parts(monkeypatch, n_dialogs)
    assert main(["track", *corpus(log), *trackers(), "--output", f"{tmp_path}/", "--gzip", "--quiet"]) == 0
    for name, path in files.items():
        assert read_bytes(tmp_path / f"{name}.json.gz") == path.read_bytes(), name


@pytest.mark.parametrize("n_dialogs", [1, 7, N_DIALOGS])
def test_scores_are_the_same_to_the_last_digit(
    log: Path,
    files: dict[str, Path],
    n_dialogs: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All metrics of beliefs, of filled states and of curves; with the signatures of files and log."""
    arguments = ["score", *corpus(log), *map(str, files.values()), "--fill", "argmax", "--json"]
    whole = printed(arguments, capsys)
    in_parts(monkeypatch, n_dialogs)
    monkeypatch.setattr(curves, "MERGED", 5)
    assert printed(arguments, capsys) == whole


def test_learned_trackers_with_training_dialogs(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As many dialogs at once as a whole corpus has in a step: the same numbers."""
    train = tmp_path / "train.jsonl"
    train.write_bytes(log.read_bytes().replace(b'"dialog":"', b'"dialog":"other-'))
    learned = ["track", *corpus(log), "--tracker", "logistic", "--train-corpus", str(train), "--quiet"]
    assert main([*learned, "--output", str(tmp_path / "whole.json")]) == 0
    in_parts(monkeypatch, N_DIALOGS)
    assert main([*learned, "--output", str(tmp_path / "parts.json")]) == 0
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [*lines[:9], "{", *lines[9:]], "calls.jsonl:10"),
        (lambda lines: [*lines, lines[0]], "goes on after another one"),
        (lambda lines: [line.replace('"goal":', '"moon":1,"goal":') for line in lines], "moon"),
    ],
)
def test_bad_lines_are_refused_and_nothing_is_written(
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: object,
    message: str,
) -> None:
    in_parts(monkeypatch, 3)
    assert callable(change)
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(change(log.read_text().splitlines())))
    assert main(["track", *corpus(path), "--tracker", "focus", "--output", str(tmp_path / "out.json")]) == 2
    assert message in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["calls.jsonl"]


def test_the_problems_of_all_parts_are_reported_at_once(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In dialogs of different parts: an unknown slot, a turn out of order, malformed lines at the end."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    begins = [number for number, line in enumerate(lines) if line["turn"] == 0]
    lines[begins[1]]["labels"]["goal"]["moon"] = "full"
    lines[begins[9]]["turn"] = 7
    lines[begins[13]]["labels"]["goal"]["sun"] = "high"
    texts = [json.dumps(line) for line in lines]
    in_parts(monkeypatch, 3)

    def problems(texts: list[str]) -> list[str]:
        path = tmp_path / "calls.jsonl"
        path.write_text("\n".join(texts))
        long = FORMATS.get("jsonl").long_corpus(path, None, "restaurants")
        with pytest.raises(InputError) as refused:
            list(long.parts())
        return [str(problem) for problem in refused.value.problems]

    first, second, third = problems(texts)
    assert "moon" in first and f":{begins[1] + 1}" in first
    assert "out of order" in second and f":{begins[9] + 1}" in second
    assert "sun" in third and f":{begins[13] + 1}" in third
    # What no line has is reported once, not for every part.
    unlabelled = [{key: value for key, value in line.items() if key != "labels"} for line in lines]
    (only,) = [text for text in problems(list(map(json.dumps, unlabelled))) if "order" not in text]
    assert "no line has 'labels'" in only
    monkeypatch.setattr(storage, "BLOCK", len("\n".join(texts[: begins[20]])))
    *earlier, open_brace, no_object = problems([*texts, "{", "7"])
    assert earlier == [first, second, third]
    assert f":{len(texts) + 1}" in open_brace and f":{len(texts) + 2}" in no_object


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["sessions"].pop(), "missing"),
        (lambda file: file["sessions"].append(file["sessions"][0]), "more sessions than the corpus"),
        (lambda file: file["sessions"].insert(0, file["sessions"].pop(1)), "out of order"),
        (lambda file: file["sessions"][5]["turns"].pop(), "number of turns differs"),
        (lambda file: file.update(dataset="other"), "another dataset"),
        (lambda file: file.update(sessions=[]), "no session begins"),
    ],
)
def test_bad_tracker_files_are_refused(
    log: Path,
    files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: object,
    message: str,
) -> None:
    in_parts(monkeypatch, 4)
    assert callable(change)
    file = json.loads(files["focus"].read_bytes())
    change(file)
    path = tmp_path / "focus.json"
    path.write_text(json.dumps(file))
    assert main(["score", *corpus(log), str(path)]) == 2
    assert message in capsys.readouterr().err
