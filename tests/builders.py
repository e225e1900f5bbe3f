"""Small corpora and tracker files made by hand, and how they are laid out on disk."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

Json = Any
Pair = tuple[str, Any]

DSTC1_SLOTS = (
    "route",
    "from.desc",
    "from.neighborhood",
    "from.monument",
    "to.desc",
    "to.neighborhood",
    "to.monument",
    "date",
    "time",
)

ONTOLOGY = {
    "informable": {
        "food": ["thai", "greek", "british", "modern european"],
        "pricerange": ["cheap", "moderate", "expensive"],
        "name": ["the oak bistro", "nandos"],
        "area": ["north", "south", "centre"],
    },
    "requestable": ["addr", "area", "food", "phone", "pricerange", "postcode", "signature", "name"],
    "method": ["none", "byconstraints", "byname", "byalternatives", "finished"],
}


@dataclass(frozen=True)
class Dstc1Files:
    """The files of a DSTC1 dataset and one tracker: logs and labels by session directory, in list order."""

    dataset: str
    logs: dict[str, Json]
    labels: dict[str, Json]
    tracker: Json


@dataclass(frozen=True)
class Dstc2Files:
    """The files of a DSTC2 dataset and one tracker: logs and labels by session directory, in list order."""

    dataset: str
    logs: dict[str, Json]
    labels: dict[str, Json]
    tracker: Json
    ontology: Json


@dataclass(frozen=True)
class StateSetFiles:
    """A state-sets file: {dialog: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}."""

    states: Json


@dataclass(frozen=True)
class Written:
    """Where a corpus and its tracker file were put."""

    corpus: Path
    tracker: Path
    dataset: str


Files = TypeVar("Files", Dstc1Files, Dstc2Files)


def act(name: str, *pairs: Pair) -> Json:
    return {"act": name, "slots": [list(pair) for pair in pairs]}


def heard(score: float, *acts: Json) -> Json:
    """One hypothesis of the recogniser."""
    return {"slu-hyp": list(acts), "score": score}


def log_turn(
    number: int,
    system: Sequence[Json],
    live: Sequence[Json],
    batch: Sequence[Json] | None = None,
    restart: bool | None = None,
) -> Json:
    understood = {"live": {"slu-hyps": list(live)}}
    if batch is not None:
        understood["batch"] = {"slu-hyps": list(batch)}
    turn = {"turn-index": number, "output": {"dialog-acts": list(system)}, "input": understood}
    return turn if restart is None else {**turn, "restart": restart}


def log(session: str, turns: Sequence[Json], **system_specific: Any) -> Json:
    written = {"session-id": session, "turns": list(turns)}
    if system_specific:
        written["system-specific"] = {key.replace("_", "-"): value for key, value in system_specific.items()}
    return written


def slu_label(label: bool, pairs: Mapping[str, Any]) -> Json:
    return {"slots": dict(pairs), "label": label}


def dstc1_labels(session: str, turns: Sequence[Sequence[Json]]) -> Json:
    return {"session-id": session, "turns": [{"slu-labels": list(labels)} for labels in turns]}


def hypothesis(score: float, pairs: Mapping[str, Any]) -> Json:
    return {"slots": dict(pairs), "score": score}


def dstc1_turn(**hypotheses: Sequence[Json]) -> Json:
    """A turn of a DSTC1 tracker; a slot's dot is written as two underscores."""
    return {slot.replace("__", "."): {"hyps": list(hyps)} for slot, hyps in hypotheses.items()}


def dstc2_label_turn(
    goals: Mapping[str, str], method: str = "none", requested: Sequence[str] = (), said: Sequence[Json] = ()
) -> Json:
    return {
        "goal-labels": dict(goals),
        "method-label": method,
        "requested-slots": list(requested),
        "semantics": {"json": list(said)},
    }


def dstc2_labels(session: str, turns: Sequence[Json], success: bool | None = None) -> Json:
    return {
        "session-id": session,
        "turns": list(turns),
        "task-information": {"feedback": {"success": success}},
    }


def dstc2_turn(
    goals: Mapping[str, Mapping[str, float]],
    joint: Sequence[Json] | None = None,
    method: Mapping[str, float] | None = None,
    requested: Mapping[str, float] | None = None,
) -> Json:
    turn = {
        "goal-labels": {slot: dict(values) for slot, values in goals.items()},
        "method-label": dict(method or {}),
        "requested-slots": dict(requested or {}),
    }
    return turn if joint is None else {**turn, "goal-labels-joint": list(joint)}


def tracker(dataset: str, sessions: Mapping[str, Sequence[Json]], wall_time: float = 0.5) -> Json:
    """A tracker file: per session its turns."""
    return {
        "dataset": dataset,
        "wall-time": wall_time,
        "sessions": [{"session-id": session, "turns": list(turns)} for session, turns in sessions.items()],
    }


def only_sessions(files: Files, positions: Sequence[int]) -> Files:
    """The same files with only the sessions at these positions, in this order."""
    directories = list(files.logs)
    chosen = [directories[position] for position in positions]
    sessions = files.tracker["sessions"]
    return replace(
        files,
        logs={directory: files.logs[directory] for directory in chosen},
        labels={directory: files.labels[directory] for directory in chosen},
        tracker={**files.tracker, "sessions": [sessions[position] for position in positions]},
    )


def write_json(path: Path, value: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_dstc1(root: Path, files: Dstc1Files) -> Written:
    """`<session>/dstc.log.json` and `dstc.labels.json`, `config/<dataset>.sessions`, a tracker beside it."""
    corpus = root / "corpus"
    for directory in files.logs:
        write_json(corpus / directory / "dstc.log.json", files.logs[directory])
        write_json(corpus / directory / "dstc.labels.json", files.labels[directory])
    (corpus / "config").mkdir(parents=True, exist_ok=True)
    (corpus / "config" / f"{files.dataset}.sessions").write_text("".join(f"{name}\n" for name in files.logs))
    return Written(corpus, write_json(root / "tracker.json", files.tracker), files.dataset)


def write_dstc2(root: Path, files: Dstc2Files, archive: bool = False) -> Written:
    """`data/<session>/log.json` and `label.json`, `scripts/config/<dataset>.flist`, the ontology beside it.

    With `archive` all of that as members of `corpus.tar.gz`, as the challenge distributed it.
    """
    members = {
        "scripts/config/ontology_dstc2.json": json.dumps(files.ontology),
        f"scripts/config/{files.dataset}.flist": "".join(f"{directory}\n" for directory in files.logs),
    }
    for directory in files.logs:
        members[f"data/{directory}/log.json"] = json.dumps(files.logs[directory])
        members[f"data/{directory}/label.json"] = json.dumps(files.labels[directory])
    contents = {name: text.encode() for name, text in members.items()}
    written = write_json(root / "tracker.json", files.tracker)
    if archive:
        return Written(write_archive(root / "corpus.tar.gz", contents), written, files.dataset)
    for name, data in contents.items():
        path = root / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Written(root / "corpus", written, files.dataset)


def write_archive(path: Path, members: Mapping[str, bytes]) -> Path:
    """A .tar.gz with these members, whatever their names."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def write_state_sets(root: Path, files: StateSetFiles) -> Path:
    return write_json(root / "states.json", files.states)
