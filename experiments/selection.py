"""Rows of a table as the text asks for them: which, and their mean, lowest and highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

R = TypeVar("R", bound=msgspec.Struct)


@dataclass(frozen=True)
class Selection(Generic[R]):
    rows: Sequence[R]

    def in_percent(self, *names: str) -> Selection[R]:
        """The same with some fields, which are shares, as percentages."""
        shares = [{name: 100.0 * getattr(row, name) for name in names} for row in self.rows]
        pairs = zip(self.rows, shares, strict=True)
        return Selection([msgspec.structs.replace(row, **share) for row, share in pairs])

    def where(self, **values: object) -> Selection[R]:
        """The rows that have these values; a list: one of them."""
        allowed = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
        return Selection([row for row in self.rows if all(getattr(row, n) in a for n, a in allowed.items())])

    def distinct(self, *names: str) -> list[Any]:
        """The different values of a field, or of several as tuples, in order."""
        return list(dict.fromkeys(map(attrgetter(*names), self.rows)))

    def column(self, name: str) -> list[float]:
        return [getattr(row, name) for row in self.rows]

    def mean(self, name: str) -> float:
        return float(np.mean(self.column(name)))

    def means(self, name: str, *by: str) -> dict[tuple[Any, ...], float]:
        """The means of a field over the rows that agree in two or more others."""
        keys = self.distinct(*by)
        return {key: self.where(**dict(zip(by, key, strict=True))).mean(name) for key in keys}

    def lowest(self, name: str) -> float:
        return min(self.column(name))

    def highest(self, name: str) -> float:
        return max(self.column(name))
