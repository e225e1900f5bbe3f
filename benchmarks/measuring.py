"""Comparing the cost of two ways of doing a thing, in the same process and the same minute."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time

LINES: list[str] = []
"""What the benchmarks of this run found, one line each."""


def seconds(action: Callable[[], object]) -> float:
    begin = perf_counter()
    action()
    return perf_counter() - begin


def computing(action: Callable[[], object]) -> float:
    """Seconds of the processor: what else the machine does matters less."""
    begin = process_time()
    action()
    return process_time() - begin


def compare(
    what: str, ours: Callable[[], object], peer: Callable[[], object], limit: float, rounds: int = 15
) -> float:
    """Our best time over the peer's best, turn and turn about so that both meet the same machine."""
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    best = min(ours_took for ours_took, _ in times), min(peer_took for _, peer_took in times)
    note(what, best[0] * 1000, best[1] * 1000, "ms", limit)
    return best[0] / best[1]


def note(what: str, ours: float, peer: float, unit: str, limit: float | None = None) -> None:
    asked = "" if limit is None else f" (at most {limit:.2f})"
    LINES.append(f"{what}: {ours:,.1f} {unit} against {peer:,.1f} {unit}, ratio {ours / peer:.3f}{asked}")
