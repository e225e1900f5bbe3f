"""Progress of long work on stderr: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from extrinsic.cli.output import say
from extrinsic.errors import printable

T = TypeVar("T")


def show_progress(
    steps: Iterable[T], total: int, title: str, name: Callable[[T], str], quiet: bool = False
) -> Iterator[T]:
    """Yield the steps as they finish, and show the name of each."""
    if quiet:
        yield from steps
    elif not sys.stderr.isatty():
        for number, step in enumerate(steps, start=1):
            say(f"{title} {number}/{total} {name(step)}")
            yield step
    else:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=total)
            for step in steps:
                progress.update(task, advance=1, description=escape(printable(f"{title} {name(step)}")))
                yield step
