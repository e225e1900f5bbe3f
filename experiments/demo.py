"""`make demo`, until the study exists: a two-call bus corpus is written, read and checked.

Nothing here answers the question of the README yet. It shows what there is: formats, and a validator
that names every problem of a tracker file.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from extrinsic.cli.main import main


def call(session: str, route: str, heard_first: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The log and the labels of a call in which the system asks for the route and then confirms it."""
    said = [
        [{"act": "hello", "slots": []}, {"act": "request", "slots": [["slot", "route"]]}],
        [{"act": "expl-conf", "slots": [["route", heard_first]]}],
    ]
    turns = [
        {
            "turn-index": number,
            "restart": False,
            "output": {"dialog-acts": acts},
            "input": {
                "live": {
                    "slu-hyps": [
                        {"slu-hyp": [{"act": "inform", "slots": [["route", value]]}], "score": score}
                        for value, score in ((heard_first, 0.5), (route, 0.3))
                    ]
                }
            },
        }
        for number, acts in enumerate(said)
    ]
    labels = [{"slots": {"route": value}, "label": value == route} for value in {heard_first, route}]
    return (
        {"session-id": session, "turns": turns},
        {"session-id": session, "turns": [{"slu-labels": labels}, {"slu-labels": labels}]},
    )


def write_corpus(root: Path) -> None:
    sessions = {"calls/one": call("one", "61c", "61d"), "calls/two": call("two", "28x", "28x")}
    for directory, (log, labels) in sessions.items():
        (root / directory).mkdir(parents=True)
        (root / directory / "dstc.log.json").write_text(json.dumps(log))
        (root / directory / "dstc.labels.json").write_text(json.dumps(labels))
    (root / "config").mkdir()
    (root / "config" / "demo.sessions").write_text("\n".join(sessions) + "\n")


def tracker(route_slot: str, score: Any) -> dict[str, Any]:
    turn = {route_slot: {"hyps": [{"slots": {"route": "61c"}, "score": score}]}}
    sessions = [{"session-id": session, "turns": [turn, turn]} for session in ("one", "two")]
    return {"dataset": "demo", "wall-time": 0.1, "sessions": sessions}


def show(*arguments: str) -> None:
    print(f"\n$ extrinsic {' '.join(arguments)}")
    code = main(arguments)
    print(f"(exit code {code})")


def run() -> None:
    print(
        "What there is so far (the study comes later): file formats, and a validator that names every problem."
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_corpus(root / "corpus")
        (root / "good.json").write_text(json.dumps(tracker("route", 0.7)))
        (root / "bad.json").write_text(json.dumps(tracker("rout", "high")))
        show("ls", "formats")
        for name in ("good", "bad"):
            show(
                "validate", "--format", "dstc1", "--corpus", str(root / "corpus"), str(root / f"{name}.json")
            )


if __name__ == "__main__":
    run()
