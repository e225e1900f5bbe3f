"""The order of a dialog's turns in files that key them by number."""

from __future__ import annotations

from collections.abc import Iterable

from extrinsic.corpus.formats.field_checks import Checker


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a size that turns can have."""
    return text.isascii() and text.isdigit() and len(text) < 10


def turn_numbers(keys: Iterable[str], checker: Checker | None) -> list[str] | None:
    """The keys in the order of the turns they name, or None (and a problem) if they are not 0, 1, 2, ..."""
    keys = list(keys)
    wrong = [key for key in keys if not is_number(key) or str(int(key)) != key]
    for key in wrong if checker else ():
        assert checker is not None
        checker.report("a turn is not named by its number", expected="'0', '1', ...", found=repr(key))
    if wrong:
        return None
    order = sorted(keys, key=int)
    expected = [str(number) for number in range(len(keys))]
    if order != expected:
        missing = sorted(set(expected) - set(order), key=int)
        if checker:
            checker.report(
                "turns are missing", expected=f"turns 0 to {len(keys) - 1}", found=f"no {missing[0]!r}"
            )
        return None
    return order
