"""Progress of long work on stderr: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def show_progress(
    steps: Iterable[T], total: int, title: str, name: Callable[[T], str], quiet: bool = False
) -> Iterator[T]:
    """Yield the steps as they finish, and show the name of each."""
    if quiet:
        yield from steps
    elif not sys.stderr.isatty():
        for number, step in enumerate(steps, start=1):
            print(f"{title} {number}/{total} {name(step)}", file=sys.stderr, flush=True)
            yield step
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=total)
            for step in steps:
                progress.update(task, advance=1, description=f"{title} {name(step)}")
                yield step
