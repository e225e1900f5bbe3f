"""The page that compares two trackers: whatever they are called, it is text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from extrinsic.corpus.transcript import TranscriptSlot, TranscriptTurn
from extrinsic.report.comparison import write_comparison
from extrinsic.study.comparing import Disagreement
from extrinsic.study.run import Run
from extrinsic.verdict.compare import ComparisonRow, ComparisonVerdict, PairCost
from tests.report.runs import write_manifest

NASTY = "<script>alert(1)</script>"


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    write_manifest(tmp_path, NASTY, f"extrinsic:1|{NASTY}")
    values: Any = {"a": 1.0, "b": 2.0, "difference": -1.0, "low": -2.0, "high": None, "p": 0.5, "better": "b"}
    worth = ComparisonRow(dataset=NASTY, kind="return", name="rl.live", variant=NASTY, **values)
    score = replace(worth, kind="metric", name=NASTY, variant=None, component=NASTY, schedule=1)
    slot = TranscriptSlot(NASTY, (NASTY,), (((NASTY, 0.5),), (("none", 1.0),)), (True, False))
    dialog = Disagreement(NASTY, NASTY, -3, (TranscriptTurn(0, NASTY, ((NASTY, 0.25),), (slot,)),))
    verdict = ComparisonVerdict(
        target="rl.live",
        variant=NASTY,
        first=NASTY,
        second="b&b",
        better=None,
        difference=-1.0,
        low=-2.0,
        high=0.5,
        sentence=f"b&b earns 1.0 more than {NASTY}: not decided.",
        flags=("q_range on both values: it is outside.",),
    )
    case: Any = {"target": "rl.live", "variant": NASTY, "schedule": 1, "component": NASTY, "a": 1, "b": 2}
    costs = [
        PairCost(metric=metric, picks=pick, cost=cost, **case)
        for metric, pick, cost in ((NASTY, NASTY, 0.0), ("l2", "b&b", 1.25), ("mrr", None, 0.6))
    ]
    path = write_comparison(Run(tmp_path), NASTY, "b&b", [worth, score], [dialog], [verdict], costs)
    page = path.read_text()
    assert path.parent == tmp_path
    assert NASTY not in page
    assert page.count("&lt;script&gt;alert") > 10
    assert "b&amp;b has 3 more right" in page
    assert page.index("b&amp;b earns 1.0 more") < page.index('<section id="return">')
    assert '<p class="flag">q_range on both values: it is outside.</p>' in page
    assert page.count("<script>") == 1  # our own
    said = page.replace("<wbr>", "")
    assert "b&amp;b is picked by L2, which costs 1.2 points; neither is picked by MRR" in said
    assert "&lt;script&gt;alert(1)&lt;/script&gt;: 0.0</text>" in said


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    write_manifest(tmp_path, "s", "x")
    first, second = (
        write_comparison(Run(tmp_path), "a", "b", [], [], output=tmp_path / name).read_bytes()
        for name in ("1", "2")
    )
    assert first == second
