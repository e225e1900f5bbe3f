"""A whole report: what is in the page, that equal runs give equal bytes, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from extrinsic.errors import UsageError
from extrinsic.report import page as report_page
from extrinsic.report.correlations import embedded
from extrinsic.report.figures import VARIABLES
from extrinsic.report.page import write_report
from extrinsic.study.run import Run
from extrinsic.verdict.names import correlation, in_unit
from extrinsic.verdict.rows import CorrelationRow
from tests.report.runs import CROSSED, SMALL, STATES, Made, write_run
from tests.running import assert_refused, run

VOID = {"meta", "wbr", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """What a page holds: its text, ids and links; and that every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.ids: list[str | None] = []
        self.links: list[Any] = []
        self.tags: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append(tag)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("href", "src", "xlink:href") if named.get(key)]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("script", "style"):
            self.text += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = write_run(tmp_path_factory.mktemp("made"))
    write_report(made)
    return made


@pytest.fixture(scope="module")
def page(made: Run) -> str:
    return (made.folder / "report.html").read_text()


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def numbers(page: str) -> Any:
    """The data of the table of all numbers."""
    data = re.search(r'id="numbers">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    return json.loads(data[1])


SECTIONS = "verdict when returns lee estimators composite sensitivity diagnostics trackers everything reading"


def test_every_section_is_there_in_its_order(outline: Outline) -> None:
    sections = SECTIONS.split()
    assert [name for name in outline.ids if name in sections] == sections
    assert {f"#{name}" for name in sections} <= set(outline.links)


def test_the_verdict_comes_first_and_a_picture_before_any_table(
    made: Run, page: str, outline: Outline
) -> None:
    """Nothing on the page decides anew: the sentences are those of the terminal."""
    for verdict in made.verdict().verdicts:
        assert verdict.sentence in outline.text
        assert len(verdict.sentence.split()) <= 60
    body = page[page.index('<section id="verdict">') :]
    assert body.index("Choose by") < body.index("<figure") < body.index("<table")
    figure = (made.folder / "figures" / "losses_fill_argmax.svg").read_text()
    chosen = made.recommended()
    assert chosen is not None
    assert f">{chosen.title}</text>" in figure and ">a coin</text>" in figure
    assert f">{in_unit(chosen.lost, 'points')}, at most {in_unit(chosen.bound, 'points')}</text>" in figure
    old = ("best set", "may do as well", "how sure", "stability")
    assert [words for words in old if words in outline.text.lower()] == []


def test_all_numbers_are_those_of_the_tables(made: Run, page: str) -> None:
    data = numbers(page)
    names, columns, rows = data["names"], data["columns"], embedded(made.choices)
    assert len(columns["metric"]) == len(rows)
    r = {
        (row.target, row.variant, row.trackers, row.metric, row.schedule, row.component, row.coefficient): row
        for row in made.table(CorrelationRow)
        if row.scope == "within"
    }
    for place, row in enumerate(rows):
        texts = ("target", "variant", "systems", "metric", "component", "family")
        assert all(names[key][columns[key][place]] == getattr(row, key) for key in texts)
        assert names["group"][columns["group"][place]] == (row.group or "")
        for key, digits in (("lost", 100), ("bound", 100), ("share", 1000)):
            value = getattr(row, key)
            assert columns[key][place] == (None if value is None else round(value * digits)), key
        case = row.target, row.variant, row.systems, row.metric, row.schedule, row.component
        for coefficient in ("pearson", "spearman", "kendall"):
            assert columns[coefficient][place] == round((r[(*case, coefficient)].r or 0.0) * 1000)
    assert set(data["help"]) == set(columns)


def test_the_heat_map_has_the_shares_of_the_table(made: Run, page: str) -> None:
    data = numbers(page)
    shares = {
        (row.metric, str(row.schedule), row.component): row.share
        for row in made.choices
        if (row.target, row.variant, row.systems) == ("rl.live", "fill=argmax", "core")
    }
    cells = re.findall(r'<td data-row="(\d+) (\d+) (\d+)"[^>]*>([^<]*)</td>', page)
    assert len(cells) == len(shares)
    for *places, text in cells:
        parts = zip(("metric", "schedule", "component"), places, strict=True)
        name = tuple(data["names"][key][int(place)] for key, place in parts)
        assert correlation(shares[name]) == text
    chosen = made.recommended("rl.live")
    elsewhere = {
        (row.schedule, row.component): in_unit(row.lost, "points")
        for row in made.choices
        if (row.target, row.systems, row.metric) == ("rl.live", "core", chosen.metric)
        and row.variant == "fill=argmax"
    }
    (said,) = re.findall(r"Where and when it is measured[^:]*: ([^<]*)", page)
    assert sorted(re.findall(r"[\d.]+(?= \()", said)) == sorted(elsewhere.values())


def test_nothing_points_to_a_network_and_every_file_is_there(made: Run, outline: Outline) -> None:
    outer = [link for link in outline.links if not link.startswith("#")]
    assert outer
    assert [link for link in outer if not (made.folder / link).is_file()] == []


def test_every_figure_is_in_the_page_and_a_file(made: Run, page: str) -> None:
    names = re.findall(r'<figure id="figure-([^"]+)"', page)
    assert len(names) == len(set(names))
    assert {f"{name}.svg" for name in names} == {path.name for path in (made.folder / "figures").iterdir()}
    for kind in ("losses", "losses_expert.live", "scatter", "heat_map", "returns", "estimators"):
        assert [name for name in names if name.startswith(kind)], kind
    drawn = re.findall(r"<svg[^>]* role=.img. aria-label=", page)
    # The heat map is a table in the page, which a script can fill with another measure.
    assert len(drawn) == len(names) - 1


def test_figures_hold_text_as_text_and_ids_do_not_clash(made: Run, page: str, outline: Outline) -> None:
    assert "one</text>" in page
    svg = (made.folder / "figures" / "returns_fill_argmax.svg").read_text()
    assert ">accuracy</text>" in svg
    assert "var(--" not in svg
    assert "var(--ink)" in page
    assert len(outline.ids) == len(set(outline.ids))


def test_every_colour_of_a_figure_has_a_dark_form() -> None:
    style = (Path(report_page.__file__).parent / "templates" / "style.css").read_text()
    light, dark = style.split("@media (prefers-color-scheme: dark)")[:2]
    for name in VARIABLES.values():
        assert f"--{name}: " in light and f"--{name}: " in dark


def test_equal_runs_give_equal_bytes(made: Run, tmp_path: Path) -> None:
    again = write_run(tmp_path)
    write_report(again)
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 20
    for file in files:
        assert (tmp_path / file).read_bytes() == (made.folder / file).read_bytes(), file


def test_only_the_page_goes_elsewhere_and_finds_the_tables(tmp_path: Path) -> None:
    made = write_run(tmp_path / "here", SMALL)
    path = write_report(made, tmp_path / "there" / "mine.html")
    assert [file.name for file in path.parent.iterdir()] == ["mine.html"]
    links = Outline(path.read_text()).links
    table = next(link for link in links if link.endswith("returns.csv"))
    assert (path.parent / table).resolve() == (made.folder / "returns.csv").resolve()


def test_a_study_of_outcomes_has_no_policies(tmp_path: Path) -> None:
    page = write_report(write_run(tmp_path, STATES)).read_text()
    outline = Outline(page)
    assert "No policies were learned in this study" in outline.text
    assert "the outcome success" in outline.text
    assert not {"estimators", "sensitivity", "diagnostics"} & set(outline.ids)


def test_errors_under_the_responses_of_generators(tmp_path: Path) -> None:
    path = write_report(write_run(tmp_path, CROSSED))
    outline = Outline(path.read_text())
    assert "under the responses of 2 generators" in outline.text
    for outcome in ("success", "inform"):
        figure = (tmp_path / "figures" / f"errors_outcome.{outcome}.svg").read_text()
        assert "hotel-area" in figure and ">20 %, 20 %, 20 %</text>" in figure


def test_a_study_of_two_trackers_or_none_says_what_is_missing(tmp_path: Path) -> None:
    nothing = Made(trackers=(), datasets=(), metrics=(), variants=(), targets=("rl.live",), degenerate=())
    page = write_report(write_run(tmp_path / "nothing", nothing)).read_text()
    assert "Nothing was judged in this run" in page
    made = write_run(tmp_path, replace(SMALL, trackers=("one", "two"), datasets=("d",)))
    outline = Outline(write_report(made).read_text())
    assert made.verdict().verdicts[0].sentence in outline.text
    assert "nan" not in re.findall(r"\w+", outline.text) and "None" not in made.verdict().sentences[0]
    assert "returns" in outline.ids


def test_the_page_of_two_hundred_systems_is_small(tmp_path: Path) -> None:
    names = [f"fga(0.{n}, fill=argmax)" for n in range(1, 21)]
    many = replace(
        SMALL,
        trackers=tuple(f"tracker_number_{number}(trust=0.{number})" for number in range(200)),
        datasets=("a", "b", "c", "d"),
        metrics=tuple((name, schedule, "state") for name in names for schedule in (1, 2, 3)),
        targets=("rl.live", "rl.lstd"),
        draws=20,
        coefficients=("pearson",),
    )
    page = write_report(write_run(tmp_path, many)).read_bytes()
    assert len(page) < 3_000_000


def test_changed_tables_are_named_and_dialogs_left_out_are_counted(tmp_path: Path) -> None:
    write_run(tmp_path, SMALL)
    table, record = tmp_path / "composite.csv", tmp_path / "manifest.json"
    table.write_text(table.read_text() + table.read_text().splitlines()[-1] + "\n")
    manifest = json.loads(record.read_text())
    manifest["plan"]["left_out"] = ["240 of 687 dialogs of train3 were left out: restart"]
    record.write_text(json.dumps(manifest))
    text = Outline(write_report(Run(tmp_path)).read_text()).text
    assert "composite.csv: not as the run wrote it." in text
    assert "240 of 687 dialogs of train3 were left out: restart." in text


def test_what_is_no_finished_run_is_refused(tmp_path: Path) -> None:
    assert_refused(run("report", tmp_path / "nowhere"), "nowhere", "no such directory")
    assert_refused(run("report", tmp_path), "no manifest.json in it")
    write_run(tmp_path / "half", status="running")
    assert_refused(run("report", tmp_path / "half"), "run it again to finish it")


Damage = Callable[[str], str | bytes | None]
"""From the text of a file to what it holds afterwards; None: it is deleted."""


def changed(old: str, new: str) -> Damage:
    return lambda text: text.replace(old, new, 1)


def without_plan(text: str) -> str:
    manifest = json.loads(text)
    del manifest["plan"]
    return json.dumps(manifest)


OTHER_COLUMNS = "dataset,tracker,policy,estimator,kernels,variant\n"
NO_TEXT = b"\xff\xfe\xff"

REFUSED: dict[str, tuple[dict[str, Damage], tuple[str, ...]]] = {
    "a column of another name": (
        {"correlations.csv": changed(",p_adjusted,", ",p_adjust,")},
        ("'p_adjusted' is missing; the table was written by another version", "did you mean 'p_adjusted'?"),
    ),
    "no number": ({"sensitivity.csv": changed(",1.25,", ",1.2_5,")}, ("'lost'", "line 2", "'1.2_5'")),
    "no name": ({"correlations.csv": changed("rl.live", "")}, ("correlations.csv", "'target'", "line 2")),
    "half a table": ({"correlations.csv": lambda text: text[: len(text) // 2]}, ("cells than columns",)),
    "empty": ({"correlations.csv": lambda text: ""}, ("correlations.csv", "the file is empty")),
    "missing": (
        {"choices.csv": lambda text: None, "returns.csv": lambda text: None},
        ("choices.csv", "returns.csv", "there is no such file"),
    ),
    "no text": (
        {"choices.csv": lambda text: NO_TEXT, "config.toml": lambda text: "this is = not = toml"},
        ("choices.csv", "config.toml"),
    ),
    # Whoever reads the first problem should not have to come back for the next.
    "several tables at once": (
        {
            "diagnostics.csv": lambda text: OTHER_COLUMNS,
            "choices.csv": lambda text: NO_TEXT,
            "trackers.csv": changed("true", "perhaps"),
        },
        ("'diagnostic' is missing", "no column 'kernels'", "choices.csv: this is not text", "'perhaps'"),
    ),
    "recorded by an older version": (
        {"manifest.json": without_plan},
        ("manifest.json", "`plan`", "run the study again with --overwrite"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_damaged_file_is_named_with_its_place(tmp_path: Path, name: str) -> None:
    write_run(tmp_path, SMALL)
    changes, messages = REFUSED[name]
    for file, damage in changes.items():
        path = tmp_path / file
        data = damage(path.read_text())
        path.unlink()
        if data is not None:
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
    assert_refused(run("report", tmp_path), *messages)
    assert not (tmp_path / "report.html").exists()


def test_diagnostics_of_any_learner_are_shown(tmp_path: Path) -> None:
    """One that has trees and no kernels: what it reports is there, and nothing is made up."""
    write_run(tmp_path, SMALL)
    path = tmp_path / "diagnostics.csv"
    lines = [line for line in path.read_text().splitlines() if ",zero_kernel," not in line]
    path.write_text("\n".join(lines).replace(",kernels,10.0", ",trees,50.0") + "\n")
    page = write_report(Run(tmp_path)).read_text()
    section = page[page.index('<section id="diagnostics">') : page.index('<section id="trackers">')]
    assert "<td>trees</td>" in section and ">50<" in section
    assert ">kernels<" not in section and ">zero_kernel<" not in section
    assert "q_range" in section.replace("<wbr>", "")


def test_without_the_libraries_it_says_what_to_install(made: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'extrinsic\[report\]'"):
        write_report(made)


def test_the_command_says_where_the_page_is_unless_quiet(tmp_path: Path) -> None:
    write_run(tmp_path, SMALL)
    outcome = run("report", tmp_path)
    assert (outcome.code, outcome.output) == (0, "")
    assert str(tmp_path / "report.html") in outcome.errors
    assert run("report", tmp_path, "--quiet", "--output", tmp_path / "x.html").text == ""
    assert_refused(run("report", tmp_path, "--output", tmp_path), "this is a directory")
