"""Mutations of files, drawn from a seeded generator: of bytes, of lines of text, of JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Json = Any

NOISE = (b"\\u003a", b'"', b"NaN", b"1e999", b"\\ud800", b"\0", b"\xff", b"\x1b[2J", b"{", b"]" * 9, b"-")
TEXTS = ("", "0", "-1", "²", "9" * 5000, "-", "a-b-c", "one", "route", ":", "\ud800", "x\n\x1b[31m", "=1+1")
NUMBERS = (0, 1, -1, 2, 0.5, -0.5, 1e308, float("nan"), float("inf"), 10**400, 2**63, True, None)
LINE_VALUES = ("-1", "0", "2", "0.5", "nan", "inf", '"x"', "[]", "[1, 1]", "{}", "true", "''", "1979-05-27")


def mutated_bytes(data: bytes, rng: Random) -> bytes:
    """Cut, overwritten, repeated, or one bit of it changed."""
    begin = rng.randrange(len(data))
    end = min(len(data), begin + rng.randint(0, 40))
    kind = rng.choice(("cut", "noise", "repeat", "flip", "drop", "end"))
    if kind == "cut":
        return data[:begin]
    if kind == "flip":
        return data[:begin] + bytes([data[begin] ^ (1 << rng.randrange(8))]) + data[begin + 1 :]
    if kind == "end":
        return data + rng.choice(NOISE)
    middle = {"noise": rng.choice(NOISE), "repeat": 2 * data[begin:end], "drop": b""}[kind]
    return data[:begin] + middle + data[end:]


def mutated_lines(data: bytes, rng: Random) -> bytes:
    """A line dropped, repeated, exchanged with another, or its value replaced."""
    lines = data.decode().splitlines()
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.choice(("drop", "repeat", "exchange", "value", "value", "value", "cell"))
    if kind == "drop":
        del lines[first]
    elif kind == "repeat":
        lines.insert(second, lines[first])
    elif kind == "exchange":
        lines[first], lines[second] = lines[second], lines[first]
    elif kind == "value" and "=" in lines[first]:
        lines[first] = f"{lines[first].partition('=')[0]}= {rng.choice(LINE_VALUES)}"
    else:
        cells = lines[first].split(",")
        cells[rng.randrange(len(cells))] = rng.choice((*TEXTS[:8], "1_0", "１", "1e308", "-1e308", "x,y"))
        lines[first] = ",".join(cells)
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


def mutated_json(data: bytes, rng: Random) -> bytes:
    """A node or two replaced, dropped, renamed, repeated, nested, or another node put there."""
    holder = [json.loads(data)]
    for _ in range(rng.randint(1, 2)):
        everywhere = list(_places(holder))[1:]
        *path, last = rng.choice(everywhere)
        node: Any = holder
        for key in path:
            node = node[key]
        _change(node, last, holder, everywhere, rng)
    return json.dumps(holder[0]).encode()


def _change(node: Any, last: Any, holder: list[Json], everywhere: list[Any], rng: Random) -> None:
    kind = rng.choice(("replace", "replace", "drop", "rename", "copy", "repeat", "nest"))
    if kind == "drop" and node is not holder:
        del node[last]
    elif kind == "rename" and isinstance(node, dict):
        node[rng.choice((*TEXTS, "slots", "joint", "turns"))] = node.pop(last)
    elif kind == "repeat" and isinstance(node, list) and node is not holder:
        node.append(copy.deepcopy(node[last]))
    elif kind == "nest":
        node[last] = [node[last]] if rng.random() < 0.9 else _deep(node[last])
    elif kind == "copy":
        other: Any = holder
        for key in rng.choice(everywhere):
            other = other[key]
        node[last] = copy.deepcopy(other)
    else:
        node[last] = rng.choice((rng.choice(TEXTS), rng.choice(NUMBERS), [], {}, [0.5], {"": "x"}))


def _deep(value: Json, depth: int = 200) -> Json:
    for _ in range(depth):
        value = [value]
    return value


def _places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


Mutation = Callable[[bytes, Random], bytes]


def mutation_of(name: str, rng: Random) -> Mutation:
    """The usual mutation of a file of this name; sometimes its bytes are what is mutated."""
    if rng.random() < 0.25:
        return mutated_bytes
    if name.endswith(".json"):
        return mutated_json
    lines = (".toml", ".csv", ".sessions", ".flist", ".jsonl", ".py")
    return mutated_lines if name.endswith(lines) else mutated_bytes
