"""Progress of long work on stderr: one bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from extrinsic.cli.output import say
from extrinsic.errors import printable

if TYPE_CHECKING:
    from extrinsic.study.engine import Done

T = TypeVar("T")

WEIGHTS = {"score": 1.0, "learn": 15.0, "correlate": 100.0, "swap": 100.0}
"""About how long a stage of each kind takes beside the others: what is left is estimated by it."""

USUAL_WEIGHT = 5.0


class Progress:
    """One bar over everything that a command does; the stage is named from the beginning."""

    def __init__(self, title: str, quiet: bool = False) -> None:
        self.title, self.quiet = title, quiet
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        if not self.quiet and sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self.bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left about"),
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=600.0,
            )
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away, for what is printed next."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def stage(self, text: str) -> None:
        """What is being done now."""
        if self.bar is not None:
            from rich.markup import escape

            self.bar.update(self.task, description=escape(printable(f"{self.title}: {text}")))
        elif not self.quiet:
            say(f"{self.title}: {text}")

    def watch(
        self,
        steps: Iterable[T],
        total: int,
        name: Callable[[T], str],
        weights: Callable[[T], float] = lambda step: 1.0,
        whole: float | None = None,
    ) -> Iterator[T]:
        """Yield the steps as they finish, and show the name of each; whole: the sum of all weights."""
        if self.bar is not None:
            self.bar.reset(self.task, total=total if whole is None else whole)
        for number, step in enumerate(steps, start=1):
            if self.bar is not None:
                self.bar.advance(self.task, weights(step))
                self.stage(f"{number} of {total}, {name(step)}")
            elif not self.quiet:
                say(f"{self.title} {number}/{total} {name(step)}")
            yield step

    def watch_stages(
        self, steps: Iterable[Done], planned: Counter[str], name: Callable[[Done], str]
    ) -> Iterator[Done]:
        """The stages of a study; planned: how many there are of each kind."""

        def weight(kind: str) -> float:
            return WEIGHTS.get(kind, USUAL_WEIGHT)

        whole = sum(weight(kind) * number for kind, number in planned.items())
        return self.watch(steps, planned.total(), name, lambda done: weight(done.key.kind), whole)


def show_progress(
    steps: Iterable[T], total: int, title: str, name: Callable[[T], str], quiet: bool = False
) -> Iterator[T]:
    """Yield the steps as they finish, and show the name of each."""
    with Progress(title, quiet) as progress:
        yield from progress.watch(steps, total, name)
