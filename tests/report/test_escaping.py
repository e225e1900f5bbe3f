"""Names are shown as they are, wherever they come to stand; none of them becomes markup or script."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from extrinsic.corpus.transcript import TranscriptSlot, TranscriptTurn
from extrinsic.report.comparison import write_comparison
from extrinsic.report.correlations import embedded, make_numbers
from extrinsic.report.figures import INK, MUTED, draw
from extrinsic.report.page import soft, write_report
from extrinsic.report.run_data import clean
from extrinsic.study.comparing import Disagreement
from extrinsic.study.run import Run
from extrinsic.verdict.compare import ComparisonRow, ComparisonVerdict, PairCost
from extrinsic.verdict.rows import ChoiceRow, CorrelationRow
from tests.report.runs import STATES, Made, write_manifest, write_run
from tests.report.test_page import Outline, numbers

SCRIPT = "<script>alert(1)</script>"
NASTY = (
    SCRIPT,
    "</style><b>",
    "]]></svg>",
    '" onload="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "&lt;&amp;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "$x^2$",
    "a\\b_c%d#e~f^g{h}",
    INK,
    MUTED,
    'style="fill: #22262e"',
    "\x00\x1b[31m\n\u202e",
    "<!--",
    "é漢字🚌",
    "true",
    "24",
    "a,b;c",
    "-->",
)
nasty = st.sampled_from(NASTY)
names = st.one_of(
    nasty, st.builds(str.__add__, nasty, nasty), st.text(min_size=1, max_size=20).filter(str.strip)
)


def shown(name: str) -> str:
    return clean(name)


@settings(max_examples=6)
@given(st.lists(names, min_size=4, max_size=4, unique_by=shown), names, names, names, names)
def test_nasty_names_are_only_text(
    trackers: list[str], dataset: str, metric: str, component: str, description: str
) -> None:
    # The csv keeps a lone carriage return or surrogate as badly as any: such names cannot come from a file.
    trackers, (dataset, metric, component) = [*map(clean, trackers)], map(clean, (dataset, metric, component))
    made = Made(
        trackers=tuple(trackers),
        degenerate=tuple(trackers[:1]),
        datasets=(dataset,),
        variants=("fill=argmax",),
        metrics=((metric, 1, component), ("l2", 1, component), (metric, 2, component)),
        targets=("rl.live", "rl.lstd"),
        description=clean(description),
    )
    with TemporaryDirectory() as folder:
        run = write_run(Path(folder), made)
        page = write_report(run).read_text()
        outline = Outline(page)
        assert outline.tags.count("script") == 2 and "img" not in outline.tags and "b" not in outline.tags
        for name in (*trackers, dataset, metric, component, clean(description)):
            assert name in outline.text
        for path in (Path(folder) / "figures").iterdir():
            text = "".join(ElementTree.parse(path).getroot().itertext())
            if path.name.startswith("returns"):
                assert all(name[:20].strip() in text for name in trackers)
        assert metric in numbers(page)["names"]["metric"]


def test_names_of_systems_and_outcomes_are_escaped(tmp_path: Path) -> None:
    odd = replace(STATES, targets=(f"outcome.{SCRIPT}",), trackers=(SCRIPT, *STATES.trackers))
    page = write_report(write_run(tmp_path, odd)).read_text()
    assert SCRIPT not in page and f"the outcome {SCRIPT}" in Outline(page).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.replace("<wbr>", "")


@settings(max_examples=40)
@given(st.one_of(names, st.text()))
def test_figures_take_any_title_and_change_no_text(text: str) -> None:
    text = clean(text)

    def paint(figure: object) -> None:
        figure.text(0.5, 0.5, text)  # type: ignore[attr-defined]

    picture = draw("x", text, "", paint)
    for svg in (picture.inline, picture.file):
        root = ElementTree.fromstring(svg)
        assert root.attrib["aria-label"] == text
        assert [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")][-1] == text


@given(st.text())
def test_places_to_break_a_line_are_all_that_is_added(text: str) -> None:
    outline = Outline(str(soft(text)))
    assert outline.text == text.replace("\r\n", "\n").replace("\r", "\n") or outline.text == text
    assert set(outline.tags) <= {"wbr"}


def row_about(text: str) -> ChoiceRow:
    """A row with the same text wherever there is text."""
    name: Any = {"target": text, "variant": text, "metric": text, "schedule": 1, "component": text}
    return ChoiceRow(**name, systems=text, family=text, group=text, lost=0.5, datasets=1, n=3)


@given(st.text())
def test_data_in_a_script_element_cannot_leave_it(text: str) -> None:
    row = row_about(text)
    same: Any = dict.fromkeys(("target", "variant", "metric", "component", "trackers", "carried_by"), text)
    correlation = CorrelationRow(**same, schedule=1, scope="within", coefficient="pearson", r=0.25, n=3)
    data = make_numbers([row], [correlation]).encode()
    assert not set("<>&") & set(data)
    assert json.loads(data)["names"]["metric"] == [text]
    assert json.loads(data)["columns"]["lost"] == [50]
    assert json.loads(data)["columns"]["pearson"] == [250]


def test_what_is_hidden_becomes_visible() -> None:
    assert clean("a\x00b\nc\u202ed\ud800") == "a\ufffdb\ufffdc\ufffdd\ufffd"
    assert clean("plain é 漢 🚌\u00a0x") == "plain é 漢 🚌\u00a0x"


def test_a_big_study_embeds_whole_targets_only() -> None:
    rows = [row_about(target) for target in ("a", "b", "c") for _ in range(10)]
    assert {row.target for row in embedded(rows, 25)} == {"a", "b"}
    assert len(embedded(rows, 5)) == 5
    assert embedded(rows, 100) == rows


def test_names_of_a_comparison_are_escaped(tmp_path: Path) -> None:
    write_manifest(tmp_path, SCRIPT, f"extrinsic:1|{SCRIPT}")
    values: Any = {"a": 1.0, "b": 2.0, "difference": -1.0, "low": -2.0, "high": None, "p": 0.5, "better": "b"}
    worth = ComparisonRow(dataset=SCRIPT, kind="return", name="rl.live", variant=SCRIPT, **values)
    score = structs.replace(worth, kind="metric", name=SCRIPT, variant=None, component=SCRIPT, schedule=1)
    slot = TranscriptSlot(SCRIPT, (SCRIPT,), (((SCRIPT, 0.5),), (("none", 1.0),)), (True, False))
    dialog = Disagreement(SCRIPT, SCRIPT, -3, (TranscriptTurn(0, SCRIPT, ((SCRIPT, 0.25),), (slot,)),))
    verdict = ComparisonVerdict(
        target="rl.live",
        variant=SCRIPT,
        first=SCRIPT,
        second="b&b",
        better=None,
        difference=-1.0,
        low=-2.0,
        high=0.5,
        sentence=f"b&b earns 1.0 more than {SCRIPT}: not decided.",
        flags=("q_range on both values: it is outside.",),
    )
    case: Any = {"target": "rl.live", "variant": SCRIPT, "schedule": 1, "component": SCRIPT, "a": 1, "b": 2}
    costs = [
        PairCost(metric=metric, picks=pick, cost=cost, **case)
        for metric, pick, cost in ((SCRIPT, SCRIPT, 0.0), ("l2", "b&b", 1.25), ("mrr", None, 0.6))
    ]
    path = write_comparison(Run(tmp_path), SCRIPT, "b&b", [worth, score], [dialog], [verdict], costs)
    page = path.read_text()
    assert path.parent == tmp_path
    assert SCRIPT not in page
    assert page.count("&lt;script&gt;alert") > 10
    assert "b&amp;b has 3 more right" in page
    assert page.index("b&amp;b earns 1.0 more") < page.index('<section id="return">')
    assert '<p class="flag">q_range on both values: it is outside.</p>' in page
    assert page.count("<script>") == 1  # our own
    said = page.replace("<wbr>", "")
    assert "b&amp;b is picked by L2, which costs 1.2 points; neither is picked by MRR" in said
    assert "&lt;script&gt;alert(1)&lt;/script&gt;: 0.0</text>" in said


def test_equal_comparisons_give_equal_bytes(tmp_path: Path) -> None:
    write_manifest(tmp_path, "s", "x")
    first, second = (
        write_comparison(Run(tmp_path), "a", "b", [], [], output=tmp_path / name).read_bytes()
        for name in ("1", "2")
    )
    assert first == second
