"""Reading and writing tables: what was written comes back, and whatever is damaged is named."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.errors import InputError, Problems
from extrinsic.study.tables import READABLE, DiagnosticRow, ReturnRow
from extrinsic.tables import (
    MOST_PROBLEMS,
    CsvRow,
    read_csv,
    read_rows,
    report_number,
    table_bytes,
    write_rows,
)
from extrinsic.verdict.rows import TrackerRow

# A carriage return cannot be told from a line's end once a spreadsheet has been at the file; names from files
# never hold one. Surrogates are no text.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)
names = texts.filter(bool)
numbers = st.floats(allow_nan=False)
words = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


def cells(field: msgspec.structs.FieldInfo) -> st.SearchStrategy[Any]:
    """Values of a field, by its type as it is written."""
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        str: names if field.required else texts,
        str | None: st.none() | names,
        int: st.integers(),
        int | None: st.none() | st.integers(),
        float: numbers,
        float | None: st.none() | numbers,
        bool: st.booleans(),
        bool | None: st.none() | st.booleans(),
        tuple[str, ...]: st.lists(words, max_size=3).map(tuple),
    }
    return kinds[field.type]


def rows_of(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{field.name: cells(field) for field in msgspec.structs.fields(kind)})


@given(st.data(), st.sampled_from(sorted(READABLE)))
def test_what_is_written_is_read_again(data: st.DataObject, name: str) -> None:
    kind = READABLE[name]
    rows = data.draw(st.lists(rows_of(kind), max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        written = write_rows(path, rows, kind)
        assert path.read_bytes() == written == table_bytes(rows, kind)
        again = read_rows(path, kind)
    assert again == rows
    assert [list(map(type, msgspec.structs.astuple(row))) for row in again] == [
        list(map(type, msgspec.structs.astuple(row))) for row in rows
    ]
    assert table_bytes(again, kind) == written


def test_bytes_stay_as_they_are() -> None:
    """Others have scripts that read these files."""
    row = ReturnRow(
        dataset="a,b",
        tracker="28",
        policy="rl",
        estimator="live",
        value=0.1 + 0.2,
        low=-1e-07,
        high=float("inf"),
        n=3,
        flags=("q_range", "steps"),
    )
    assert table_bytes([row], ReturnRow) == (
        b"dataset,tracker,policy,estimator,value,low,high,n,feasible_low,feasible_high,flags,variant\n"
        b'"a,b",28,rl,live,0.30000000000000004,-1e-07,inf,3,,,q_range steps,\n'
    )
    assert b",0.300,-0.000,inf,3," in table_bytes([row], ReturnRow, decimals=3)
    tracker = TrackerRow(tracker="x", core=True, degenerate=False, recalibrated=False)
    assert table_bytes([tracker], TrackerRow).endswith(b"\nx,true,false,false,,,,\n")


HEAD = "tracker,core,degenerate,recalibrated,near_duplicate_of,nearest,agreement,flags\n"
GOOD = "x,true,false,false,,y,0.5,\n"


def problems_of(tmp_path: Path, data: str | bytes, kind: type[msgspec.Struct] = TrackerRow) -> list[str]:
    path = tmp_path / "table.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(InputError) as caught:
        read_rows(path, kind)
    assert {problem.path for problem in caught.value.problems} == {str(path)}
    return [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems]


def test_a_good_table_is_read(tmp_path: Path) -> None:
    """Its columns may stand in any order; texts are cleaned for readers that show them."""
    path = tmp_path / "table.csv"
    path.write_text(HEAD + GOOD + "\n" + GOOD.replace("x", "28").replace("0.5", "1"))
    first, second = read_rows(path, TrackerRow)
    assert (first.tracker, second.tracker) == ("x", "28")
    assert (first.near_duplicate_of, first.agreement, type(second.agreement)) == (None, 0.5, float)
    first, _ = read_rows(path, TrackerRow, str.upper)
    assert (first.tracker, first.nearest, first.core) == ("X", "Y", True)
    path.write_text(HEAD.replace("tracker,core", "core,tracker") + GOOD.replace("x,true", "true,x"))
    assert read_rows(path, TrackerRow)[0].tracker == "x"


def test_a_table_of_another_version(tmp_path: Path) -> None:
    wide = "dataset,tracker,policy,estimator,kernels,variant\na,x,rl,learner,10,\n"
    assert problems_of(tmp_path, wide, DiagnosticRow) == [
        *(
            f"the column {name!r} is missing; the table was written by another version; "
            "run the study again in this directory"
            for name in ("diagnostic", "value")
        ),
        "there is no column 'kernels' in this version; the table was written by another version; "
        "run the study again in this directory",
    ]


def test_a_column_that_was_mistyped_or_stands_twice(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, HEAD.replace("agreement", "agreemnt,core") + GOOD)
    assert "there is no column 'agreemnt' in this version; did you mean 'agreement'?" in problems
    assert problems.count("2 columns are called 'core'") == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x,", ",", "line 2, column 'tracker': not a name, but empty (found '')"),
        ("true", "", "line 2, column 'core': not true or false, but empty (found '')"),
        ("true", "True", "line 2, column 'core': not true or false (found 'True')"),
        ("0.5", "half", "line 2, column 'agreement': not a number (found 'half')"),
        ("0.5", "0.5_0", "line 2, column 'agreement': not a number (found '0.5_0')"),
        ("0.5", "１", "line 2, column 'agreement': not a number (found '１')"),
        ("0.5", " 0.5", "line 2, column 'agreement': not a number (found ' 0.5')"),
        ("0.5", "nan", "line 2, column 'agreement': not a number (found 'nan')"),
        (",y", "", "line 2: fewer cells than columns (expected 8, found 7)"),
        (",y", ",y,z", "line 2: more cells than columns (expected 8, found 9)"),
    ],
)
def test_damaged_cells(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert problems_of(tmp_path, HEAD + GOOD.replace(old, new, 1)) == [message]


@pytest.mark.parametrize("cell", ["1_0", "１０", "3.0", "", " 3", "three", "0x3"])
def test_what_is_no_whole_number(tmp_path: Path, cell: str) -> None:
    head = table_bytes([], ReturnRow).decode()
    (problem,) = problems_of(tmp_path, f"{head}a,x,rl,live,1.0,,,{cell},,,,\n", ReturnRow)
    assert "line 2, column 'n': not a whole number" in problem


def test_every_problem_is_reported_up_to_a_limit(tmp_path: Path) -> None:
    bad = GOOD.replace("true", "1").replace("0.5", "half")
    assert len(problems_of(tmp_path, HEAD + GOOD + bad)) == 2
    assert len(problems_of(tmp_path, HEAD + bad * 1000)) == MOST_PROBLEMS


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    several = GOOD.replace("y", '"y\nz"')
    (problem,) = problems_of(tmp_path, HEAD + "\n" + several + GOOD.replace("0.5", "half"))
    assert problem.startswith("line 5, ")


def test_what_is_no_table_at_all(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, HEAD.encode() + b"\xff,true,false,false,,,\n")
    assert problem == f"this is not text (expected a table in UTF-8, found byte 0xff at {len(HEAD)})"
    assert problems_of(tmp_path, "") == ["the file is empty"]
    assert len(problems_of(tmp_path, "\n")) == len(TrackerRow.__struct_fields__)
    (problem,) = problems_of(tmp_path, HEAD + "x" * 200_000 + ",true,false,false,,,\n")
    assert problem.startswith("line 2: this is no table: ")


def problems_of_users(path: Path, text: str, columns: tuple[str, ...] = ("a", "b")) -> str:
    path.write_text(text)
    problems = Problems(str(path))
    read_csv(path, columns, problems)
    return "\n".join(map(str, problems))


def test_rows_of_users_and_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('\ufeffa, b\n1,2\n\n , \n"3\n4",5\n6,7\n')
    rows = read_csv(path, ("a", "b"), problems := Problems())
    assert not len(problems)
    assert [(row.line, *row.cells.values()) for row in rows] == [
        (2, "1", "2"),
        (6, "3\n4", "5"),
        (7, "6", "7"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2,3\n", "line 2: more cells than columns (expected 2, found 3)"),
        ("a,b\n\n1\n", "line 3: fewer cells"),
        ("a,b,a\n1,2,3\n", "2 columns are called 'a'"),
        ("a,bb\n1,2\n", "no column 'b'; did you mean 'bb'?"),
        ("a,b\n1," + "9" * 200_000 + "\n", "line 2"),
        ('a,b\n"1,2\n', "this is no table"),
        ("a,b\n1," + "x" * 110_000 + "\n", "too long"),
    ],
)
def test_what_does_not_fit_its_head(tmp_path: Path, text: str, said: str) -> None:
    assert said in problems_of_users(tmp_path / "x.csv", text)


def test_a_users_table_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b\n\xff\n")
    with pytest.raises(InputError, match="not text"):
        read_csv(tmp_path / "x.csv", ("a",), Problems())


@pytest.mark.parametrize("text", ["1_0", "\uff11", "nan", "inf", "1e308", "-1e308", "", "0x1", "1 2", "1,5"])
def test_no_numbers(text: str) -> None:
    assert report_number(problems := Problems(), CsvRow(1, {"a": text}), "a") is None
    assert "line 1: a is no number" in str(*problems)


@pytest.mark.parametrize(("text", "number"), [("1", 1.0), ("-.5", -0.5), ("+1e-3", 0.001), ("2.", 2.0)])
def test_numbers(text: str, number: float) -> None:
    assert report_number(Problems(), CsvRow(1, {"a": text}), "a") == number
