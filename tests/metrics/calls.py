"""Bus calls (DSTC1) written turn by turn, and their scores by what they measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.metrics.scoring import score
from tests.builders import Dstc1Files, dstc1_labels, dstc1_turn, hypothesis, log, log_turn, tracker
from tests.metrics.reading import read_dstc1

Pairs = Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the tracker believes at one turn of a call, and what was said and labelled there.

    beliefs: slot group (or joint) -> [(score, pairs)].   right, wrong: values labelled so at this turn.
    system: acts.   live, batch: hypotheses of the recognisers.
    """

    beliefs: Mapping[str, Sequence[tuple[float, Pairs]]] = field(default_factory=dict)
    right: Sequence[Pairs] = ()
    wrong: Sequence[Pairs] = ()
    system: Sequence[Any] = ()
    live: Sequence[Any] = ()
    batch: Sequence[Any] = ()
    restart: bool = False

    def labels(self) -> list[Any]:
        return [
            {"slots": dict(pairs), "label": label}
            for label, found in ((True, self.right), (False, self.wrong))
            for pairs in found
        ]

    def written(self) -> Any:
        return dstc1_turn(
            **{slot: [hypothesis(score, pairs) for score, pairs in of] for slot, of in self.beliefs.items()}
        )


def files_of(*calls: Sequence[Turn], dataset: str = "train4", **named: Sequence[Turn]) -> Dstc1Files:
    """Calls called call-0, call-1, ..., and such with names."""
    logs, labels, beliefs = {}, {}, {}
    for session, turns in {**{f"call-{i}": call for i, call in enumerate(calls)}, **named}.items():
        written = [
            log_turn(number, turn.system, turn.live, turn.batch, turn.restart)
            for number, turn in enumerate(turns)
        ]
        logs[f"calls/{session}"] = log(session, written)
        labels[f"calls/{session}"] = dstc1_labels(session, [turn.labels() for turn in turns])
        beliefs[session] = [turn.written() for turn in turns]
    return Dstc1Files(dataset, logs, labels, tracker(dataset, beliefs))


class CallScores:
    """All scores of some calls: `scores["route", "accuracy"]`, or with a schedule."""

    def __init__(self, *calls: Sequence[Turn], dataset: str = "train4") -> None:
        rows = score(*read_dstc1(files_of(*calls, dataset=dataset))).rows
        self._rows = {(row.component, row.metric, row.schedule): row for row in rows}

    def __getitem__(self, key: tuple[str, str] | tuple[str, str, int]) -> float | None:
        component, metric, *schedule = key
        return self._rows[component, metric, schedule[0] if schedule else 1].value

    def n(self, component: str, schedule: int = 1) -> int:
        return self._rows[component, "accuracy", schedule].n

    def on_schedule(self, schedule: int) -> set[str]:
        """The components with an item on the schedule."""
        return {component for component, _, at in self._rows if at == schedule and self.n(component, at)}
