"""What the papers claim, what they have, what our files say."""

from __future__ import annotations

from experiments.metrics import about_dey, about_gca, about_kim
from experiments.metrics.files import COPY, FEWER, SYSTEMS
from experiments.metrics.lookup import Row, Tables

HEADS = ("paper", "claim", "there", "here", "verdict")
WITHOUT = f"without {COPY}"


def judged(tables: Tables) -> list[Row]:
    """Every claim with its verdict, and the verdict without the file that is no tracker's."""
    fewer = {name: [row for row in rows if row.get("file") != COPY] for name, rows in tables.items()}
    without = [row["verdict"] for row in claims(fewer, FEWER)]
    return [row | {WITHOUT: other} for row, other in zip(claims(tables, SYSTEMS), without, strict=True)]


def claims(tables: Tables, systems: str) -> list[Row]:
    """`systems`: which of them are taken together."""
    parts = (about.claims(tables, systems) for about in (about_dey, about_gca, about_kim))
    return [dict(zip(HEADS, claim, strict=True)) for part in parts for claim in part]
