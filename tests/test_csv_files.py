"""Tables that users write: every row that does not fit is refused, with its line in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.csv_files import number_in, read_csv
from extrinsic.errors import InputError, Problems


def problems_of(path: Path, text: str, columns: tuple[str, ...] = ("a", "b")) -> str:
    path.write_text(text)
    problems = Problems(str(path))
    read_csv(path, columns, problems)
    return "\n".join(map(str, problems))


def test_rows_and_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('\ufeffa, b\n1,2\n\n , \n"3\n4",5\n6,7\n')
    rows = read_csv(path, ("a", "b"), problems := Problems())
    assert not len(problems)
    assert [(row.line, row["a"], row["b"]) for row in rows] == [
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
def test_what_does_not_fit(tmp_path: Path, text: str, said: str) -> None:
    assert said in problems_of(tmp_path / "x.csv", text)


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b\n\xff\n")
    with pytest.raises(InputError, match="not text"):
        read_csv(tmp_path / "x.csv", ("a",), Problems())


@pytest.mark.parametrize("text", ["1_0", "\uff11", "nan", "inf", "1e308", "-1e308", "", "0x1", "1 2", "1,5"])
def test_no_numbers(text: str) -> None:
    assert number_in(text) is None


@pytest.mark.parametrize(("text", "number"), [("1", 1.0), ("-.5", -0.5), ("+1e-3", 0.001), ("2.", 2.0)])
def test_numbers(text: str, number: float) -> None:
    assert number_in(text) == number
