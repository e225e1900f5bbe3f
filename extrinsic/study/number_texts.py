"""Numbers as people read them, and the grammar around them."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS = "−"
NOTHING = "–"


def correlation(value: float | None, digits: int = 2) -> str:
    """`.92`: no zero before the point, since no correlation is larger than one."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.{digits}f}"
    if float(text) == 1.0 and abs(value) < 1.0:
        # Only exactly 1 is shown as 1: .997 is not.
        text = f"{min(abs(value), 0.9999):.{max(digits, 3)}f}"
        text = text if float(text) < 1.0 else "0.999"
    text = text[1:] if text.startswith("0") else text
    negative = value < 0 and any(digit in text for digit in "123456789")
    return (MINUS if negative else "") + text


def interval(low: float | None, high: float | None) -> str:
    """`[.81, .97]`; empty where an end is undefined."""
    return "" if low is None or high is None else f"[{correlation(low)}, {correlation(high)}]"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    return f"{correlation(value)} {interval(low, high)}".strip()


def amount(value: float | None, digits: int | None = None) -> str:
    """A return, a condition number, a share: as many digits as are useful, thousands separated."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return f"{MINUS if value < 0 else ''}∞"
    if digits is None:
        digits = 0 if abs(value) >= 100 or float(value).is_integer() else 1 if abs(value) >= 10 else 3
    text = f"{abs(value):.2g}" if abs(value) >= 1e6 else f"{abs(value):,.{digits}f}"
    return (MINUS if value < 0 and text.strip("0.,") else "") + text


def share(value: float | None) -> str:
    """`37 %`; 0 % and 100 % only where they are exact."""
    if value is None:
        return NOTHING
    if 0 < value < 0.01:
        return "under 1 %"
    if 0.99 < value < 1:
        return "over 99 %"
    return f"{100 * value:.0f} %"


def probability(value: float | None) -> str:
    """`.012`, `< .001`."""
    if value is None:
        return NOTHING
    return "< .001" if value < 0.001 else correlation(value, 3)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 tracker`, `12 trackers`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listing(items: Sequence[str], most: int | None = None) -> str:
    """`a, b and c`; after `most` of them, how many more there are."""
    shown = list(items if most is None or len(items) <= most else items[:most])
    rest = len(items) - len(shown)
    if rest:
        shown.append(f"{rest} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def in_brackets(text: str) -> str:
    """` (text)`; nothing for nothing."""
    return f" ({text})" if text else ""
