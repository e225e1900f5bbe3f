"""How similar two values are, whatever the order of their words: the measure of SGD's own scorer."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

_NO_WORD = re.compile(r"\W")
_LATIN_1 = dict.fromkeys(range(128, 256))


@lru_cache(maxsize=200_000)
def token_sort_ratio(left: str, right: str) -> int:
    """0 to 100: the share of characters in matching blocks, in lower case and with the words in order.

    What is no letter, digit or underscore divides words; letters with accents (Latin-1) are left out, as the
    challenge's scorer does. A value without any word is similar to nothing.
    """
    first, second = _words_in_order(left), _words_in_order(right)
    if not first or not second:
        return 0
    return round(100 * SequenceMatcher(None, first, second).ratio())


def _words_in_order(text: str) -> str:
    return " ".join(sorted(_NO_WORD.sub(" ", text.translate(_LATIN_1)).lower().split()))
