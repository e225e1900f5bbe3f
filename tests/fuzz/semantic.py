"""Changes that alter a number: with exit code 0 there must be a word about it."""

from __future__ import annotations

import gzip
import io
import json
import math
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.builders import write_dstc2
from tests.fuzz.kinds import KINDS
from tests.fuzz.outcomes import Outcome
from tests.running import Outcome as Result
from tests.running import run
from tests.samples import small_dstc2
from tests.study.test_states import write_states

LABELS, LOG = "corpus/data/Mar13_S0A0/one/label.json", "corpus/data/Mar13_S0A0/one/log.json"
THREE = "systems/three.json"


def _edited(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    """What changes the JSON of a file in a folder, in place."""

    def edit(folder: Path) -> None:
        value = json.loads((folder / name).read_text())
        change(value)
        (folder / name).write_text(json.dumps(value))

    return edit


def _labels(file: Any, change: Callable[[str], str]) -> None:
    for turn in file["turns"]:
        turn["goal-labels"] = {slot: change(value) for slot, value in turn["goal-labels"].items()}


def _label_file(change: Callable[[str], str]) -> Callable[[Path], None]:
    return _edited(LABELS, lambda file: _labels(file, change))


def _twice(folder: Path) -> None:
    """The archive of a corpus, one label file a second time with other values: the last would win."""
    path = folder / "corpus.tar.gz"
    data = gzip.decompress(path.read_bytes())
    name = "data/Mar13_S0A0/one/label.json"
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        stored = archive.extractfile(name)
        assert stored is not None
        labels = json.loads(stored.read())
    _labels(labels, lambda value: "greek")
    other = json.dumps(labels).encode()
    stream = io.BytesIO(data)
    with tarfile.open(fileobj=stream, mode="a") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(other)
        archive.addfile(member, io.BytesIO(other))
    path.write_bytes(gzip.compress(stream.getvalue()))


def _stages_exchanged(folder: Path) -> None:
    """The scores of two trackers under each other's names, and the tables to be made again."""
    first, second, *_ = sorted((folder / "run" / "stages").glob("score-*"))
    data = first.read_bytes(), second.read_bytes()
    first.write_bytes(data[1])
    second.write_bytes(data[0])
    (folder / "run" / "intrinsic.csv").unlink()


def _table_changed(folder: Path) -> None:
    path = folder / "run" / "intrinsic.csv"
    path.write_text(path.read_text().replace("0.", "0.9", 1))


def _lines(name: str, change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")

    return edit


def _with_a_cell_more(lines: list[str]) -> list[str]:
    return [lines[0], *(f"{line},0" for line in lines[1:])]


def _logarithms(log: Any) -> None:
    for turn in log["turns"]:
        for hypothesis in turn["input"]["live"]["slu-hyps"]:
            hypothesis["score"] = math.log(max(hypothesis["score"], 1e-9))


def _turns_reversed(labels: Any) -> None:
    for number, turn in enumerate(labels["turns"]):
        turn["turn-index"] = number
    labels["turns"].reverse()


def _gold_is_predicted(file: Any) -> None:
    for turns in file.values():
        for turn in turns.values():
            turn["gt"] = turn["pr"]


def _predicted(file: Any, change: Callable[[str], str]) -> None:
    for turns in file.values():
        for turn in turns.values():
            for slots in turn["pr"].values():
                slots.update({slot: change(value) for slot, value in slots.items()})


def _archive(folder: Path) -> None:
    write_dstc2(folder, small_dstc2(), archive=True)


Change = tuple[Callable[[Path], object], Callable[[Path], object], tuple[str, ...], str | None]
"""How the good files are made, the change, the command, and the file that has the numbers (None: stdout)."""

SCORE = ("score", "--format", "dstc2", "--corpus", "{}/corpus", "{}/tracker.json", "--json")
SCORE_ARCHIVE = ("score", "--format", "dstc2", "--corpus", "{}/corpus.tar.gz", "{}/tracker.json", "--json")
STUDY = ("run", "{}/study.toml", "--output", "{}/run", "--n-jobs", "1", "--quiet", "--no-report")
DSTC2, RUN = KINDS["tracker dstc2"].make, KINDS["run"].make

OF_SCORES: dict[str, Callable[[Path], None]] = {
    "upper case in labels": _label_file(str.upper),
    "labels that do not exist": _label_file(lambda value: "nosuchfood"),
    "labels of another session": _edited(LABELS, lambda file: file.update({"session-id": "two"})),
    "labels of turns in another order": _edited(LABELS, _turns_reversed),
}
"""In the files of DSTC2, whose scores are printed."""

OF_STATES: dict[str, Callable[[Path], None]] = {
    "a row of outcomes with a cell too many": _lines("outcomes.csv", _with_a_cell_more),
    "a head of outcomes twice": _lines(
        "outcomes.csv", lambda lines: ["system,success,success", *(f"{line},0" for line in lines[1:])]
    ),
    "upper case in a file of states": _edited(THREE, lambda file: _predicted(file, str.upper)),
    "gold that is another in one file": _edited(THREE, _gold_is_predicted),
}
"""In the files of a study of states."""

CHANGES: dict[str, Change] = {
    **{name: (DSTC2, change, SCORE, None) for name, change in OF_SCORES.items()},
    **{name: (write_states, change, STUDY, "run/correlations.csv") for name, change in OF_STATES.items()},
    "logarithms as scores": (
        DSTC2,
        _edited(LOG, _logarithms),
        ("track", *SCORE[1:5], "--tracker", "focus", "--quiet", "--output", "{}/out.json"),
        "out.json",
    ),
    "two members of one name": (_archive, _twice, SCORE_ARCHIVE, None),
    "stages under each other's names": (RUN, _stages_exchanged, STUDY, "run/intrinsic.csv"),
    "a table changed": (
        RUN,
        _table_changed,
        ("report", "{}/run", "--output", "{}/page.html"),
        "page.html",
    ),
    "capitals in a file of states": (
        KINDS["state sets"].make,
        _edited("states.json", lambda file: _predicted(file, str.title)),
        ("score", "--format", "state-sets", "{}/states.json", "--json"),
        None,
    ),
}


_GOOD: dict[tuple[Path, object], tuple[Path, dict[tuple[str, ...], tuple[Result, str]]]] = {}
"""By the function that makes them: where the good files are, and what commands made of them."""


def outcome_of_change(name: str, root: Path) -> Outcome:
    """Silent: exit code 0, another number, and nothing said that is not said of the good files."""
    make, change, command, file = CHANGES[name]
    if (root, make) not in _GOOD:
        made = root / f"made{len(_GOOD)}"
        made.mkdir(parents=True)
        make(made)
        _GOOD[root, make] = made, {}
    made, results = _GOOD[root, make]
    if command not in results:
        results[command] = _carried_out(made, root / "semantic", lambda folder: None, command, file)
    good, expected = results[command]
    bad, number = _carried_out(made, root / "semantic", change, command, file)
    assert good.code == 0, good.text
    if bad.code not in (0, 2) or "Traceback" in bad.text:
        return "crash"
    if bad.code == 0 and _numbers(number) != _numbers(expected) and bad.errors == good.errors:
        return "silent"
    return "done" if bad.code == 0 else "refused"


def _carried_out(
    made: Path, folder: Path, change: Callable[[Path], object], command: tuple[str, ...], file: str | None
) -> tuple[Result, str]:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)
    change(folder)
    result = run(*(part.replace("{}", str(folder)) for part in command))
    return result, result.output if file is None else _text(folder / file)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _numbers(text: str) -> object:
    """The rows of JSON output; the signature tells the inputs apart, which nobody reads as a word."""
    try:
        return json.loads(text)["rows"]
    except (ValueError, TypeError, KeyError):
        return text
