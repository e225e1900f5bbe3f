"""`make demo`, until the study exists: a two-call bus corpus is written, checked and scored.

Nothing here answers the question of the README yet; it shows what there is.
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


def tracker(slot: str, *beliefs: dict[str, Any]) -> dict[str, Any]:
    """A tracker file: for each call a belief about the route, held through both turns."""
    sessions = []
    for session, belief in zip(("one", "two"), beliefs, strict=True):
        hypotheses = [{"slots": {"route": route}, "score": score} for route, score in belief.items()]
        sessions.append({"session-id": session, "turns": [{slot: {"hyps": hypotheses}}] * 2})
    return {"dataset": "demo", "wall-time": 0.1, "sessions": sessions}


TRACKERS = {
    "cautious": tracker("route", {"61c": 0.4, "61d": 0.4}, {"28x": 0.7}),
    "certain": tracker("route", {"61d": 1.0}, {"28x": 1.0}),
    "broken": tracker("rout", {"61c": "high"}, {"28x": 0.7}),
}


def show(*arguments: str) -> None:
    print(f"\n$ extrinsic {' '.join(arguments)}", flush=True)
    code = main(arguments)
    print(f"(exit code {code})", flush=True)


def run() -> None:
    print(
        "The study of configs/quick.toml is not built yet. This shows what there is: two made-up calls and\n"
        "three made-up trackers, checked and scored. The figures mean nothing beyond that."
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        corpus = str(root / "corpus")
        write_corpus(root / "corpus")
        for name, content in TRACKERS.items():
            (root / f"{name}.json").write_text(json.dumps(content))
        files = {name: str(root / f"{name}.json") for name in TRACKERS}
        show("validate", "--format", "dstc1", "--corpus", corpus, files["cautious"], files["broken"])
        good = (files["cautious"], files["certain"])
        metrics = [part for name in ("accuracy", "l2", "avgp", "mrr") for part in ("--metric", name)]
        components = ("--component", "route", "--component", "all")
        show("score", "--format", "dstc1", "--corpus", corpus, *good, *metrics, *components)
        show("score", "--format", "dstc1", "--corpus", corpus, *good, "--metric", "jga", "--fill", "argmax",
             "--fill", "threshold")  # fmt: skip
        show("ls", "metrics")


if __name__ == "__main__":
    run()
