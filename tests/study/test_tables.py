"""A run's directory: the tables and their columns, the record of the run, the settings that made it."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

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
    done,
    require_same,
    run_in,
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
    head, *lines = (tiny.folder / f"{name}.csv").read_text().splitlines()
    wanted = HEADS[name].split()
    assert head.split(",")[: len(wanted)] == wanted
    assert lines


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
    stages = manifest["stages"]
    cells = len(DATASETS) * len(TRACKERS)
    kinds = [stage["stage"] for stage in stages]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "score": cells,
        "learn": cells,
    }
    for stage in stages:
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
    again = done(resolved, tmp_path / "run")
    require_same(small.folder, again.folder)


def test_results_do_not_depend_on_where_things_lie(small: Study, tmp_path: Path) -> None:
    """Of a study that was moved every stage is still known; only config.toml tells the new place."""
    config = write_study(tmp_path / "elsewhere", SMALL)
    again = done(config, tmp_path / "run")
    assert tables(again.folder) == tables(small.folder)
    assert {n for n in contents(again.folder) if n.startswith("stages/")} == {
        n for n in contents(small.folder) if n.startswith("stages/")
    }


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


def test_a_tracker_called_28_stays_text(tmp_path: Path) -> None:
    row = TrackerRow(tracker="28", core=True, degenerate=False, recalibrated=False, nearest="1e3")
    write_rows(tmp_path / "trackers.csv", [row], TrackerRow)
    write_manifest(tmp_path, "made", "extrinsic:0")
    assert Run(tmp_path).table("trackers") == [row]


def test_a_dataframe_has_the_columns_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pandas is not needed for tests: what it is given is looked at."""
    frames = SimpleNamespace(DataFrame=lambda lines, columns: (lines, columns))
    monkeypatch.setitem(sys.modules, "pandas", frames)
    row = TrackerRow(tracker="28", core=True, degenerate=False, recalibrated=False)
    write_rows(tmp_path / "trackers.csv", [row], TrackerRow)
    write_manifest(tmp_path, "made", "extrinsic:0")
    lines, columns = Run(tmp_path).to_dataframe("trackers")
    assert columns == list(TrackerRow.__struct_fields__)
    assert lines == [["28", True, False, False, None, None, None, ()]]


def test_what_learners_and_estimators_report_is_a_number_a_row(tiny: Study) -> None:
    rows = Run(tiny.folder).table("diagnostics")
    assert {(row.policy, row.estimator) for row in rows} == {
        ("behaviour", "live"),
        ("rl", "learner"),
        ("rl", "live"),
        ("rl", "lstd"),
    }
    names = {row.diagnostic for row in rows if row.estimator == "learner"}
    assert {"kernels", "condition", "zero_kernel", "converged"} <= names
    assert {row.value for row in rows if row.diagnostic == "converged"} <= {0.0, 1.0}
    assert {"lowest_q", "highest_q"} <= names


def test_stored_stages_are_strict(tiny: Study) -> None:
    """A result is only taken whole, and only under its own name: kind and key are part of the check sum."""
    made = Run(tiny.folder)
    first, second = made.plan.scored[TRACKERS[0]]
    data = made.store.read(first)
    assert Result.decode(data, first, TrackerScores).encode(first) == data
    for wrong, key in ((data[:-1], first), (data, second), (made.store.read(second), first)):
        with pytest.raises(InputError, match="damaged"):
            Result.decode(wrong, key, TrackerScores)


def test_json_is_the_choices(tiny: Study, tmp_path: Path) -> None:
    answer = run_in(tiny.config, tiny.folder, "--json").json()
    assert answer["signature"] == Run(tiny.folder).signature
    assert isinstance(answer["rows"][0]["lost"], float)


def test_the_screen_shows_the_verdict(tiny: Study) -> None:
    """Four core trackers are too few for a promise, and the screen has none."""
    output = run_in(tiny.config, tiny.folder).output
    assert "4 core trackers of 6" in output
    reason = Run(tiny.folder).verdict().verdicts[0].reason
    assert reason is not None and reason in " ".join(output.split())


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
        third: short.
        """

        first: int
        second: int
        third: int

    class Longer(Example, frozen=True, kw_only=True):
        """Another, which extends it.

        third: longer.
        """

    assert column_help(Longer) == column_help(Example) | {"third": "longer."}
    assert column_help(Example) == {
        "first": "what they are, on two lines.",
        "second": "what they are, on two lines.",
        "third": "short.",
    }
    assert summary(Example) == "A table."


def test_the_guide_lists_the_tables_as_the_schema_has_them() -> None:
    lines = PAGE.read_text().splitlines()
    begin = lines.index("| table | contents |") + 2
    shown = lines[begin : lines.index("", begin)]
    assert shown == [f"| `{name}.csv` | {summary(kind)} |" for name, kind in READABLE.items()]
