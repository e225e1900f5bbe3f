"""Bus calls (DSTC1) written turn by turn, and their scores by what they measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.metrics.scoring import score
from tests.builders import Dstc1Files, dstc1_turn, hypothesis, slu_label
from tests.corpus.bus_calls import bus_files, said
from tests.metrics.reading import read_dstc1

Pairs = Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the tracker believes at one turn of a call, and what was said and labelled there.

    beliefs: slot group (or joint) -> [(score, pairs)].   right, wrong: values labelled so at this turn.
    system: acts.   live, batch: user acts that the recognisers heard, one hypothesis each.
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
            slu_label(label, pairs)
            for label, found in ((True, self.right), (False, self.wrong))
            for pairs in found
        ]

    def written(self) -> Any:
        return dstc1_turn(
            **{slot: [hypothesis(score, pairs) for score, pairs in of] for slot, of in self.beliefs.items()}
        )


def files_of(*calls: Sequence[Turn], dataset: str = "train4") -> Dstc1Files:
    return bus_files(
        *(
            [
                {
                    **said(
                        turn.system,
                        *[(0.5, [act]) for act in turn.live],
                        batch=[(0.5, [act]) for act in turn.batch],
                        restart=turn.restart,
                    ),
                    "labels": turn.labels(),
                    "beliefs": turn.written(),
                }
                for turn in turns
            ]
            for turns in calls
        ),
        dataset=dataset,
    )


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
