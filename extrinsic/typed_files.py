"""Files read into typed structures; every mistake is reported with its line and key."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec

from extrinsic.errors import ExtrinsicError, InputError, Problems, did_you_mean, shown
from extrinsic.storage import read_bytes

S = TypeVar("S", bound=msgspec.Struct)

Count = Annotated[int, msgspec.Meta(ge=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e9)]
NotNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Amount = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
Discount = Annotated[float, msgspec.Meta(gt=0.0, le=1.0)]


def read_toml(path: str | Path, kind: type[S]) -> S:
    """Read a TOML file into the structure `kind`, or raise InputError with every mistake in it."""
    return parse_toml(read_bytes(path), kind, str(path))


def parse_toml(data: bytes, kind: type[S], path: str) -> S:
    tree, text = _parse_tree(data, path)
    check_tree(tree, kind, text, path)
    return msgspec.convert(tree, kind)


def read_tree(path: str | Path) -> tuple[dict[str, Any], str]:
    """A TOML file as plain tables, and its text; shows which keys the file sets and which it omits."""
    return _parse_tree(read_bytes(path), str(path))


def _parse_tree(data: bytes, path: str) -> tuple[dict[str, Any], str]:
    if data.startswith(codecs.BOM_UTF8):
        raise InputError("the file begins with a byte-order mark", path=path, expected="TOML without one")
    try:
        text = data.decode("utf-8")
        return tomllib.loads(text), text
    except UnicodeDecodeError:
        raise InputError("this is not text", path=path, expected="TOML in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the TOML is malformed: {error}", path=path) from None
    except RecursionError:
        raise InputError("the TOML is nested too deeply", path=path) from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"the TOML cannot be read: {error}", path=path) from None


class TomlProblems(Problems):
    """Problems of a TOML file; one with a key names its line (without a text: the key alone)."""

    def __init__(self, path: str | None = None, text: str = "") -> None:
        super().__init__(path)
        self.text = text

    def add_key(self, keys: str | tuple[str | int, ...], message: str, **details: Any) -> None:
        """keys: the path of the key; as a text, its parts divided by points."""
        path = tuple(keys.split(".")) if isinstance(keys, str) else keys
        line = f"{line_of(self.text, path)}, " if self.text else ""
        self.add(f"{line}key {_dotted(path)}: {message}", **details)


def check_tree(tree: dict[str, Any], kind: type[msgspec.Struct], text: str, path: str) -> None:
    """Raise InputError with every mistake in the tables of a TOML text."""
    problems = TomlProblems(path, text)
    check_table(tree, kind, (), problems)
    problems.raise_errors()


_type_info = cache(msgspec.inspect.type_info)
"""Half of the time of a short command went into asking again for each of a hundred equal tables."""


Hint = Callable[[tuple[str | int, ...]], str | None]
"""What to say of an unknown key at a path; None: which key was probably meant."""


def check_table(
    tree: Any,
    kind: Any,
    keys: tuple[str | int, ...],
    problems: TomlProblems,
    hint: Hint = lambda keys: None,
) -> None:
    """Walk the parts that have a structure of their own; let msgspec judge the leaves.

    kind: a struct or a dataclass.   keys: the path of the table.
    """
    kind = _structure_in(kind) if isinstance(tree, dict) else kind
    info = _type_info(kind)
    if isinstance(info, msgspec.inspect.StructType | msgspec.inspect.DataclassType):
        if not isinstance(tree, dict):
            problems.add_key(keys, "wrong kind", expected="a table", found=shown(tree))
            return
        before = len(problems)
        fields = {field.encode_name: field for field in info.fields}
        for key in tree:
            if key not in fields:
                advice = hint((*keys, key)) or did_you_mean(key, fields)
                problems.add_key((*keys, key), f"unknown; {advice}")
        types = get_type_hints(info.cls, include_extras=True)
        for name, field in fields.items():
            if name in tree:
                check_table(tree[name], types[field.name], (*keys, name), problems, hint)
            elif field.required:
                problems.add_key((*keys, name), "missing")
        if len(problems) == before and hasattr(info.cls, "__post_init__"):
            _check_together(tree, kind, keys, problems)
        return
    if isinstance(info, msgspec.inspect.VarTupleType | msgspec.inspect.ListType) and isinstance(tree, list):
        item = getattr(kind, "__args__", (Any,))[0]
        for position, part in enumerate(tree):
            check_table(part, item, (*keys, position), problems, hint)
        return
    if isinstance(info, msgspec.inspect.DictType) and isinstance(tree, dict):
        item = getattr(kind, "__args__", (Any, Any))[1]
        for key, part in tree.items():
            check_table(part, item, (*keys, key), problems, hint)
        return
    if isinstance(info, msgspec.inspect.LiteralType) and isinstance(tree, str) and tree not in info.values:
        problems.add_key(keys, f"there is no {tree!r}; {did_you_mean(tree, map(str, info.values))}")
        return
    try:
        msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        message, wanted = _in_words(str(error).partition(" - at")[0])
        problems.add_key(keys, message, expected=wanted, found=shown(tree))


def _check_together(
    tree: dict[str, Any], kind: Any, keys: tuple[str | int, ...], problems: TomlProblems
) -> None:
    """Report values that are right one by one, but which the structure itself refuses together."""
    try:
        msgspec.convert(tree, kind)
    except (ExtrinsicError, msgspec.ValidationError) as error:
        problems.add_key(keys, str(error))


WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


def _in_words(message: str) -> tuple[str, str | None]:
    """`Expected `int` >= 100` is a value out of range, where a whole number >= 100 is expected."""
    match = re.fullmatch(r"Expected `([^`]+)`(?P<range>.*?)(?P<kind>, got `[^`]+`)?", message)
    if match is None:
        return message, None
    kinds = [WORDS.get(kind, kind) for kind in match[1].split(" | ") if kind != "null"]
    return "wrong kind" if match["kind"] else "out of range", " or ".join(kinds) + match["range"]


def _structure_in(kind: Any) -> Any:
    """The structure of an optional table, else the kind itself."""
    members = [part for part in getattr(kind, "__args__", ()) if isinstance(part, type)]
    structures = [part for part in members if issubclass(part, msgspec.Struct)]
    is_union = isinstance(_type_info(kind), msgspec.inspect.UnionType)
    return structures[0] if is_union and len(structures) == 1 else kind


def _dotted(keys: tuple[str | int, ...]) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text or "(the file)"


def line_of(text: str, keys: tuple[str | int, ...]) -> str:
    """'line N' of a key path: the last of its table headers and keys that occurs in the text.

    tomllib keeps no positions; a missing key is reported at the table it should be in.
    """
    lines = text.splitlines()
    best, begin = 1, 0
    path: list[str] = []
    for position, key in enumerate(keys):
        if isinstance(key, int):
            continue
        path.append(re.escape(key))
        quoted = r"\s*\.\s*".join(f'"?{part}"?' for part in path)
        header = re.compile(rf"\s*\[\[?\s*{quoted}\s*\]\]?")
        bare = re.compile(rf'\s*(?:.*[{{,]\s*)?"?{re.escape(key)}"?\s*=')
        index = next((k for k in keys[position + 1 : position + 2] if isinstance(k, int)), 0)
        headers = [number for number, line in enumerate(lines) if header.match(line)]
        if headers:
            begin = headers[min(index, len(headers) - 1)]
            best = begin + 1
            continue
        for number in range(begin, len(lines)):
            if number > begin and position > 0 and re.match(r"\s*\[", lines[number]):
                break
            if bare.match(lines[number]):
                begin, best = number, number + 1
                break
    return f"line {best}"


def option_names(kind: Any) -> tuple[str, ...]:
    """The fields of a config: a dataclass or a struct."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return tuple(getattr(kind, "__struct_fields__", ()))
