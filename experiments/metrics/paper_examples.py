"""Worked examples of the papers (paper_examples.toml): what they print against what the library computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from experiments.main import require
from experiments.metrics.tables import ExampleFigure
from extrinsic import read_states, score
from extrinsic.corpus.formats.state_files import State, build_state_sets, gather_states
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.definition import TurnMean, parse_metric
from extrinsic.metrics.state_items import ALL, table_of_states
from extrinsic.typed_files import read_toml


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See paper_examples.toml; by_turn is printed with other decimals than totals in Dey's Fig. 1."""

    source: str
    name: str
    file: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    totals: dict[str, float] = {}
    by_turn: dict[str, tuple[float, ...]] = {}
    by_turn_decimals: int = 2

    def states(self) -> StateSets:
        if self.file:
            return read_states(require("multiwoz") / self.file)
        turns = [(_state(gold), _state(predicted)) for gold, predicted in self.turns]
        return build_state_sets("example", gather_states({"example": turns}), "")


class Examples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    examples: tuple[Example, ...]


def read_examples() -> tuple[Example, ...]:
    return read_toml(Path(__file__).with_suffix(".toml"), Examples).examples


def _state(text: str) -> State:
    state: dict[str, dict[str, str]] = {}
    for triple in filter(None, text.split(", ")):
        domain, slot, value = triple.split("-")
        state.setdefault(domain, {})[slot] = value
    return state


def example_rows() -> list[ExampleFigure]:
    return [row for example in read_examples() for row in (*_turn_rows(example), *_total_rows(example))]


def _turn_rows(example: Example) -> Iterator[ExampleFigure]:
    for name, figures in example.by_turn.items():
        metric = parse_metric(name)
        assert isinstance(metric, TurnMean)
        values = metric.turn_scores(table_of_states(example.states()).select(ALL, 1)).tolist()
        for turn, (printed, ours) in enumerate(zip(figures, values, strict=True)):
            yield _row(example, f"turn {turn}", name, printed, 100 * ours, example.by_turn_decimals)


def _total_rows(example: Example) -> Iterator[ExampleFigure]:
    if example.totals:
        scores = score(example.states(), metrics=list(example.totals), schedules=1)
        for printed, row in zip(example.totals.values(), scores.rows, strict=True):
            yield _row(example, example.name, row.metric, printed, 100 * (row.value or 0.0), 2)


def _row(
    example: Example, name: str, metric: str, printed: float, ours: float, decimals: int
) -> ExampleFigure:
    agrees = abs(round(ours, decimals) - printed) < 1e-9
    return ExampleFigure(example.source, name, metric, printed, ours, "yes" if agrees else "no")
