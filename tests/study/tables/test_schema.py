"""The schema of the tables: every column is documented, and the guide shows what the schema says."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.study.comparing import ComparisonRow
from extrinsic.study.finished_run import READABLE
from extrinsic.study.tables.metric_rows import CorrelationRow, PairRow
from extrinsic.study.tables.schema import column_help, summary
from extrinsic.study.tables.value_rows import Row

KINDS = {**READABLE, "comparison": ComparisonRow}
PAGE = Path(__file__).parents[3] / "docs" / "running.md"


@pytest.mark.parametrize("name", KINDS)
def test_every_column_is_documented(name: str) -> None:
    kind = KINDS[name]
    texts = column_help(kind)
    assert set(texts) == set(kind.__struct_fields__)
    assert all(text.endswith(".") for text in texts.values())
    assert summary(kind).endswith(".")


def test_help_that_stands_with_another_table_is_looked_up() -> None:
    assert column_help(PairRow)["scope"] == column_help(CorrelationRow)["scope"]
    assert not [text for kind in KINDS.values() for text in column_help(kind).values() if "as in `" in text]


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
