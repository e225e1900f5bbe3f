"""Dialogs of state sets as short texts, and what metrics say of each of their turns."""

from __future__ import annotations

from typing import Any

from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.scoring import score
from extrinsic.metrics.state_items import table_of_states
from tests.builders import StateSetFiles
from tests.metrics.reading import read_states

Turn = tuple[str, str]
"""Gold and prediction, each `domain-slot-value, domain-slot-value, ...`."""


def states_of(*dialogs: list[Turn]) -> StateSets:
    files = {
        f"dialog {number}": {
            str(turn): {"gt": _nested(gold), "pr": _nested(predicted)}
            for turn, (gold, predicted) in enumerate(turns)
        }
        for number, turns in enumerate(dialogs)
    }
    return read_states(StateSetFiles(files))


def _nested(text: str) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for triple in filter(None, text.split(", ")):
        domain, slot, value = triple.split("-")
        state.setdefault(domain, {})[slot] = value
    return state


def by_turn(states: StateSets, metric: str) -> list[float]:
    """The score of every turn, rounded as papers print it."""
    scores = parse_metric(metric).turn_scores(table_of_states(states).select("all", 1))  # type: ignore[union-attr]
    return [round(float(value), 4) for value in scores]


def values_of(states: StateSets, *metrics: str) -> dict[str, float | None]:
    return {row.metric: row.value for row in score(states, metrics=metrics, schedules=[1]).rows}


def in_percent(states: StateSets, *metrics: str) -> dict[str, float]:
    """Values as tables print them: in percent, with two decimals."""
    found = values_of(states, *metrics)
    assert list(found) == list(metrics)
    return {metric: round(100 * value, 2) for metric, value in found.items() if value is not None}
