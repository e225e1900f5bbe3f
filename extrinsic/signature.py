"""Signatures: one line that identifies how a result was made and whether two results are comparable."""

from __future__ import annotations

from extrinsic import __version__


def sign(**parts: object) -> str:
    """`extrinsic:0.1.0|format:dstc2|...`; parts that are None are left out."""
    fields = {"extrinsic": __version__, **parts}
    texts = {name: str(value).replace("|", "%7C") for name, value in fields.items() if value is not None}
    return "|".join(f"{name}:{text}" for name, text in texts.items())
