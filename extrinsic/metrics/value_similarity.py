"""How alike two values are as text, from 0 to 1 without a threshold: partial credit for a wrong value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=100_000)
def edit_similarity(first: str, second: str) -> float:
    """1 - edits / length of the longer: insertions, deletions and substitutions of letters (Levenshtein)."""
    if first == second:
        return 1.0
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            substituted = diagonal + (letter != other)
            diagonal = row[j]
            row[j] = min(substituted, row[j] + 1, row[j - 1] + 1)
    return 1.0 - row[-1] / max(len(first), len(second))


def word_similarity(first: str, second: str) -> float:
    """Twice the words that both have over the words of both, repeated ones counted (Dice)."""
    one, other = Counter(first.split()), Counter(second.split())
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else float(first == second)


SIMILARITIES: dict[str, Callable[[str, str], float]] = {"edit": edit_similarity, "words": word_similarity}
