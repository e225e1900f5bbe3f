"""Files read into typed structures; every mistake is reported with its line and key."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_origin, get_type_hints

import msgspec
from msgspec.inspect import (
    AnyType,
    DataclassType,
    DictType,
    ListType,
    LiteralType,
    StructType,
    TupleType,
    VarTupleType,
)

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

    def add_key(self, keys: str | Keys, message: str, **details: Any) -> None:
        """keys: the path of the key; as a text, its parts divided by points."""
        path = tuple(keys.split(".")) if isinstance(keys, str) else keys
        line = f"{line_of(self.text, path)}, " if self.text else ""
        self.add(f"{line}key {dotted(path)}: {message}", **details)


def check_tree(tree: dict[str, Any], kind: type[msgspec.Struct], text: str, path: str) -> None:
    """Raise InputError with every mistake in the tables of a TOML text."""
    problems = TomlProblems(path, text)
    check_table(tree, kind, (), problems)
    problems.raise_errors()


Keys = tuple[str | int, ...]
"""The path of a part of a tree: keys of tables and positions in lists."""

Hint = Callable[[Keys], str | None]
"""What to say of an unknown key at a path; None: which key was probably meant."""

_type_info = cache(msgspec.inspect.type_info)
"""Half of the time of a short command went into asking again for each of a hundred equal tables."""

_fields = cache(partial(get_type_hints, include_extras=True))


def check_table(
    tree: Any, kind: Any, keys: Keys, problems: TomlProblems, hint: Hint = lambda keys: None
) -> None:
    """Add every mistake in a table to the problems.   kind: a struct or a dataclass.   keys: its path."""
    for fault in Walk(hint).faults(tree, kind, keys):
        if fault.of_key:  # the line is enough
            problems.add_key(fault.keys, fault.message)
            continue
        expected = WORDS_OF_TOML.get(fault.expected or "", fault.expected)
        problems.add_key(fault.keys, fault.message, expected=expected, found=fault.found)


@dataclass(frozen=True)
class Fault:
    """What is wrong at a path; of_key: with its last key, which is missing or unknown, not with a value."""

    keys: Keys
    message: str
    expected: str | None = None
    found: str | None = None
    of_key: bool = False


@dataclass(frozen=True)
class Walk:
    """Compares a tree with a type: the walk looks at what has parts, and msgspec judges the leaves.

    json: the tree is JSON, where numbers may be infinite, and keys that a struct does not forbid may stand.
    """

    hint: Hint = lambda keys: None
    json: bool = False

    def faults(self, tree: Any, kind: Any, keys: Keys = ()) -> list[Fault]:
        """Everything for which msgspec would not convert the tree to the type, not just the first."""
        repeated = getattr(tree, "keys_repeated", ())
        faults = [Fault(keys, f"the key {key!r} occurs more than once") for key in repeated]
        if isinstance(kind, TypeVar):
            return faults
        kind = _only_member(kind, tree)
        info = _type_info(kind)
        kinds = getattr(kind.__origin__ if get_origin(kind) is Annotated else kind, "__args__", (Any, Any))
        parts: list[tuple[str | int, Any, Any]] = []
        match info:
            case AnyType():
                pass
            case StructType() | DataclassType():
                return faults + self._faults_of_fields(tree, kind, info, keys)
            case DictType() if isinstance(tree, dict):
                parts = [(key, part, kinds[1]) for key, part in tree.items()]
            case VarTupleType() | ListType() if tree == [] and info.min_length:
                faults.append(Fault(keys, "empty", "at least one entry"))
            case VarTupleType() | ListType() if isinstance(tree, list):
                parts = [(position, part, kinds[0]) for position, part in enumerate(tree)]
            case TupleType() if isinstance(tree, list) and len(tree) == len(kinds):
                parts = list(zip(range(len(tree)), tree, kinds, strict=True))
            case LiteralType() if isinstance(tree, str) and tree not in info.values:
                hint = did_you_mean(tree, map(str, info.values))
                faults.append(Fault(keys, f"there is no {tree!r}; {hint}"))
            case _ if self.json and isinstance(tree, int | float) and not is_finite(tree):
                found = str(tree) if isinstance(tree, float) else "a whole number too large"
                faults.append(Fault(keys, "not finite", "a finite number", found))
            case _ if kind is not str or type(tree) is not str:  # most leaves: asking msgspec takes longer
                faults += self._refusal(tree, kind, keys)
        return faults + [
            fault for key, part, of_part in parts for fault in self.faults(part, of_part, (*keys, key))
        ]

    def _refusal(self, tree: Any, kind: Any, keys: Keys) -> list[Fault]:
        """What msgspec, or a structure itself, has against a value whose parts are right."""
        try:
            msgspec.convert(tree, kind)
        except msgspec.ValidationError as error:
            message, expected = _in_words(str(error).partition(" - at")[0])
            return [Fault(keys, message, expected, shown(tree))]
        except ExtrinsicError as error:
            return [Fault(keys, str(error))]
        return []

    def _faults_of_fields(
        self, tree: Any, kind: Any, info: StructType | DataclassType, keys: Keys
    ) -> list[Fault]:
        if not isinstance(tree, dict):
            return [Fault(keys, "wrong kind", "an object", shown(tree))]
        faults = []
        fields = {field.encode_name: field for field in info.fields}
        is_open = self.json and not getattr(info, "forbid_unknown_fields", True)
        for key in () if is_open else tree:
            if key not in fields:
                hint = self.hint((*keys, key)) or did_you_mean(key, fields)
                faults.append(Fault((*keys, key), f"unknown; {hint}", one_of(fields), repr(key), of_key=True))
        kinds = _fields(get_origin(info.cls) or info.cls)
        for name, field in fields.items():
            if name in tree:
                faults += self.faults(tree[name], kinds[field.name], (*keys, name))
            elif field.required:
                faults.append(Fault((*keys, name), "missing", repr(name), keys_of(tree), of_key=True))
        if not faults and hasattr(info.cls, "__post_init__"):
            # Values that are right one by one may be refused together.
            faults = self._refusal(tree, kind, keys)
        return faults


def one_of(options: Iterable[str], most: int = 10) -> str:
    """A list of names for a message."""
    names = list(options)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"one of {', '.join(names[:most])}{rest}"


def keys_of(tree: dict[str, Any], most: int = 5) -> str:
    """The keys of an object for a message."""
    rest = f" and {len(tree) - most} more" if len(tree) > most else ""
    return f"the keys {', '.join(map(repr, list(tree)[:most]))}{rest}" if tree else "no keys"


def is_finite(value: float) -> bool:
    """Whether a number is finite; False for an integer too large for a float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
}
WORDS_OF_TOML = {"an array": "a list", "an object": "a table"}


def _in_words(message: str) -> tuple[str, str | None]:
    """`Expected `int` >= 100` is a value out of range, where a whole number >= 100 is expected."""
    match = re.fullmatch(r"Expected `([^`]+)`(?P<range>.*?)(?P<kind>, got `?[^`]+`?)?", message)
    if match is None:
        return message, None
    kinds = [WORDS.get(kind, kind) for kind in match[1].split(" | ") if kind != "null"]
    return "wrong kind" if match["kind"] else "out of range", " or ".join(kinds) + match["range"]


def _only_member(kind: Any, tree: Any) -> Any:
    """What an optional part is when it is there: the one member of a union that can have parts of its own."""
    if tree is None or get_origin(kind) not in (UnionType, Union):
        return kind
    members = [part for part in kind.__args__ if part not in (type(None), msgspec.UnsetType)]
    structures = [part for part in members if isinstance(part, type) and issubclass(part, msgspec.Struct)]
    if isinstance(tree, dict) and len(structures) == 1:
        return structures[0]
    return members[0] if len(members) == 1 else kind


def dotted(keys: Keys) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text or "(the file)"


def line_of(text: str, keys: Keys) -> str:
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
