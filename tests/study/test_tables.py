"""A run's directory: tables and their columns, its record, its settings; and what Python has of all that."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from extrinsic import __version__
from extrinsic.errors import InputError, UsageError
from extrinsic.storage import content_hash
from extrinsic.study.run import Run
from extrinsic.study.score_stage import TrackerScores
from extrinsic.study.settings_file import read_study
from extrinsic.study.store import Result
from extrinsic.study.tables import READABLE, column_help, summary
from extrinsic.tables import write_rows
from extrinsic.verdict.compare import ComparisonRow
from extrinsic.verdict.rows import Row, TrackerRow
from tests.report.runs import write_manifest
from tests.study.studies import (
    DATASETS,
    SEED,
    SMALL,
    TRACKERS,
    Study,
    contents,
    copied,
    done,
    require_same,
    tables,
    write_study,
)

# As DESIGN.md has them; a table may have further columns after these.
HEADS = {
    "intrinsic": "dataset tracker component metric schedule label_scheme n value",
    "returns": "dataset tracker policy estimator value low high n feasible_low feasible_high flags",
    "correlations": "target metric schedule component scope coefficient r low high p p_adjusted n trackers",
    "choices": "target variant systems metric schedule component label_scheme datasets n family earned "
    "possible possible_corrected lost share bound group reason lost_of_3 lost_of_5 lost_of_10 lost_hard",
    "composite": "target scope method r low high",
    "diagnostics": "dataset tracker policy estimator diagnostic value",
    "timings": "stage name key status seconds",
    "sensitivity": "parameter setting trackers target metric schedule component lost possible",
    "trackers": "tracker core degenerate recalibrated near_duplicate_of nearest agreement",
}


@pytest.mark.parametrize("name", HEADS)
def test_columns_are_those_of_the_design(tiny: Study, name: str) -> None:
    wanted = HEADS[name].split()
    assert list(tiny.rows(name)[0])[: len(wanted)] == wanted


def test_every_combination_has_its_row(tiny: Study) -> None:
    cells = len(DATASETS) * len(TRACKERS)
    metrics = 4 * 2 * 2  # metrics, schedules, components
    assert len(tiny.rows("intrinsic")) == cells * metrics
    # Of the logged policy observed, live, completed; of the learned one live, lstd, completed, gain.
    assert len(tiny.rows("returns")) == cells * 7
    assert len(tiny.rows("trackers")) == len(TRACKERS)
    kinds = Counter(
        (row["target"], row["scope"], row["coefficient"], row["trackers"])
        for row in tiny.rows("correlations")
    )
    assert set(kinds.values()) == {metrics}
    # Four coefficients within and pooled. Targets: the logged return; live, lstd, completed and gain of the
    # learned policy.
    assert len(kinds) == 5 * 4 * 2 * 2


def test_the_manifest_tells_what_made_the_run(tiny: Study) -> None:
    manifest = json.loads((tiny.folder / "manifest.json").read_text())
    assert manifest["study"] == "tiny"
    assert manifest["status"] == "complete"
    assert manifest["signature"].startswith(f"extrinsic:{__version__}|study:tiny|seed:{SEED}|")
    assert {"extrinsic", "python", "numpy", "scipy", "scikit-learn"} <= set(manifest["versions"])
    assert manifest["seeds"]["study"] == SEED
    # Two people can only tell whether their runs are comparable if what went in can be compared.
    assert [len(digest) for name, digest in manifest["inputs"].items() if "worlds.toml" in name] == [64]
    cells = len(DATASETS) * len(TRACKERS)
    assert Counter(stage["stage"] for stage in manifest["stages"]) == {"score": cells, "learn": cells}
    for stage in manifest["stages"]:
        assert (tiny.folder / "stages" / f"{stage['stage']}-{stage['key'][:32]}").is_file()
    for name, digest in manifest["tables"].items():
        assert content_hash((tiny.folder / name).read_bytes()) == digest
    assert set(manifest["tables"]) == {*tables(tiny.folder), "config.toml", "panel.npz"}


def test_nothing_else_is_left_in_the_directory(tiny: Study) -> None:
    names = {name.split("/")[0] for name in contents(tiny.folder)}
    allowed = {"manifest.json", "config.toml", "stages", "panel.npz", "report.html", "figures"}
    assert {name for name in names if not name.endswith(".csv")} <= allowed
    assert not list(tiny.folder.rglob("*.part"))


def test_the_resolved_settings_make_the_same_run(small: Study, tmp_path: Path) -> None:
    resolved = small.folder / "config.toml"
    tree = tomllib.loads(resolved.read_text())
    # What the study's file leaves open is filled in.
    assert tree["policy"]["one_step"]["gamma"] == 1.0
    assert tree["correlation"]["level"] == 0.95
    assert read_study(resolved) == read_study(small.config)
    again = done(resolved, copied(small, tmp_path / "run").folder)
    require_same(small.folder, again.folder)


def test_results_do_not_depend_on_where_things_lie(small: Study, tmp_path: Path) -> None:
    """Of a study that was moved every stage is still known; only config.toml tells the new place."""
    again = done(write_study(tmp_path / "elsewhere", SMALL), tmp_path / "run")
    assert tables(again.folder) == tables(small.folder)
    ours, theirs = ({path.name for path in (s.folder / "stages").iterdir()} for s in (again, small))
    assert ours == theirs


def test_every_table_of_a_run_can_be_read(tiny: Study) -> None:
    made = Run(tiny.folder)
    assert made.is_complete
    for name in HEADS:
        assert len(made.table(name)) == len(tiny.rows(name))
    assert isinstance(made.table("intrinsic")[0].value, float)
    assert {row.status for row in made.table("timings")} <= {"computed", "reused"}
    with pytest.raises(UsageError, match="did you mean 'returns'"):
        made.table("return")
    with pytest.raises(UsageError, match="what it had is in choices"):
        made.table("best_set")


def test_a_tracker_called_28_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a dataframe, too. Pandas is not needed for tests: what it is given is looked at."""
    frames = SimpleNamespace(DataFrame=lambda lines, columns: (lines, columns))
    monkeypatch.setitem(sys.modules, "pandas", frames)
    row = TrackerRow(tracker="28", core=True, degenerate=False, recalibrated=False, nearest="1e3")
    write_rows(tmp_path / "trackers.csv", [row], TrackerRow)
    write_manifest(tmp_path, "made", "extrinsic:0")
    assert Run(tmp_path).table("trackers") == [row]
    lines, columns = Run(tmp_path).to_dataframe("trackers")
    assert columns == list(TrackerRow.__struct_fields__)
    assert lines == [["28", True, False, False, None, "1e3", None, ()]]


def test_what_learners_and_estimators_report_is_a_number_a_row(tiny: Study) -> None:
    rows = Run(tiny.folder).table("diagnostics")
    found = {f"{row.policy}.{row.estimator}" for row in rows}
    assert found == {"behaviour.live", "rl.learner", "rl.live", "rl.lstd"}
    names = {row.diagnostic for row in rows if row.estimator == "learner"}
    assert {"kernels", "condition", "zero_kernel", "converged", "lowest_q", "highest_q"} <= names
    assert {row.value for row in rows if row.diagnostic == "converged"} <= {0.0, 1.0}


def test_stored_stages_are_strict(tiny: Study) -> None:
    """A result is only taken whole, and only under its own name: kind and key are part of the check sum."""
    made = Run(tiny.folder)
    first, second = made.plan.scored[TRACKERS[0]]
    data = made.store.read(first)
    assert Result.decode(data, first, TrackerScores).encode(first) == data
    for wrong, key in ((data[:-1], first), (data, second), (made.store.read(second), first)):
        with pytest.raises(InputError, match="damaged"):
            Result.decode(wrong, key, TrackerScores)


KINDS = {**READABLE, "comparison": ComparisonRow}
PAGE = Path(__file__).parents[2] / "docs" / "running.md"


@pytest.mark.parametrize("name", KINDS)
def test_every_column_is_documented(name: str) -> None:
    kind = KINDS[name]
    texts = column_help(kind)
    assert set(texts) == set(kind.__struct_fields__)
    assert all(text.endswith(".") for text in texts.values())
    assert summary(kind).endswith(".")


def test_help_of_several_lines_is_one_text() -> None:
    class Example(Row, frozen=True, kw_only=True):
        """A table.

        first, second: what they are,
        on two lines.
        """

        first: int
        second: int

    class Longer(Example, frozen=True, kw_only=True):
        """Another, which extends it.

        third: short.
        """

        third: int

    assert column_help(Longer) == column_help(Example) | {"third": "short."}
    assert column_help(Example) == dict.fromkeys(("first", "second"), "what they are, on two lines.")
    assert summary(Example) == "A table."


def test_the_guide_lists_the_tables_as_the_schema_has_them() -> None:
    lines = PAGE.read_text().splitlines()
    begin = lines.index("| table | contents |") + 2
    shown = lines[begin : lines.index("", begin)]
    assert shown == [f"| `{name}.csv` | {summary(kind)} |" for name, kind in READABLE.items()]


@pytest.fixture(scope="module")
def run(tiny: Study) -> Run:
    return Run(str(tiny.folder))


def test_correlations_are_of_one_kind_and_in_order(run: Run) -> None:
    rows = run.correlations(coefficient="pearson", scope="within", trackers="core")
    first = run.table("correlations")[0]
    kinds = {(row.coefficient, row.scope, row.trackers, row.target, row.variant) for row in rows}
    assert kinds == {("pearson", "within", "core", first.target, first.variant)}
    numbers = [row.r for row in rows if row.r is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert len({(row.metric, row.schedule, row.component) for row in rows}) == len(rows)


def test_one_decision(run: Run) -> None:
    """The verdict, `best`, `recommended` and a notebook show the same metric."""
    chosen = run.verdict().verdicts[0].recommended
    assert chosen is not None and run.recommended() == chosen
    assert chosen.title in run._repr_html_()
    assert repr(run).startswith("<Run '")
    assert {row.systems for row in run.best(trackers="all")} == {"all"}
    with pytest.raises(UsageError, match="the run has no target"):
        run.recommended("rl.life")


WRONG = [
    ({"coefficient": "pearsons"}, "did you mean 'pearson'?"),
    ({"scope": "inside"}, "the run has no scope 'inside'"),
    ({"trackers": "cores"}, "did you mean 'core'?"),
    ({"target": "rl.life"}, "the run has no target 'rl.life'"),
    ({"variant": "fill=argmxa"}, "did you mean 'fill=argmax'?"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[said for _, said in WRONG])
def test_kinds_that_a_run_does_not_have(run: Run, change: dict[str, Any], said: str) -> None:
    kinds: dict[str, Any] = {"coefficient": "pearson", "scope": "within", "trackers": "all"}
    with pytest.raises(UsageError, match=re.escape(said)):
        run.correlations(**(kinds | change))


def test_a_single_figure(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = run.figure("heat_map")
    figure.savefig(tmp_path / "heat_map.png")
    # Everything is inside: no axes begin below or end above the frame.
    places = [axes.get_position() for axes in figure.axes]
    assert places and all(0 <= place.x0 < place.x1 <= 1 and 0 <= place.y0 < place.y1 <= 1 for place in places)
    with pytest.raises(UsageError, match="the report has no figure 'heat'"):
        run.figure("heat")
