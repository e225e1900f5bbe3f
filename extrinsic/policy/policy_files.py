"""Policies as files: a zip of arrays (.npy) and one JSON text, which no reading can turn into code.

A policy is a dataclass of arrays, numbers, texts, and such dataclasses. `policy.json` has the class of each
and its fields, with the names of arrays for arrays; `numpy.load` opens the file, too. Only classes of this
package, and those beside a registered learner or behaviour model, are made from a file.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from extrinsic.errors import ExtrinsicError, InputError, UsageError
from extrinsic.policy.forest import Forest
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import BEHAVIOURS, LEARNERS, Registry
from extrinsic.storage import content_hash, decode_json, encode_json, read_bytes

TEXT, ARRAY = "policy.json", ".npy"
KIND = "extrinsic policy 1"
OURS = "extrinsic.policy."
HOMES: dict[str, Registry[Any]] = {"learner": LEARNERS, "behaviour": BEHAVIOURS}
FORESTS = ("ExtraTreesRegressor", "RandomForestRegressor")
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: equal policies are equal bytes."""

Arrays = dict[str, np.ndarray]


def policy_bytes(policy: object, origin: Mapping[str, Any]) -> bytes:
    """The file of a policy and of what made it."""
    arrays: Arrays = {}
    tree = _plain(policy, "", arrays)
    head = {"kind": KIND, "origin": dict(origin), "policy": tree}
    text = encode_json({**head, "checksum": _checksum(head, arrays)}, indent=2)
    members = {TEXT: text}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, allow_pickle=False)
        members[name + ARRAY] = stream.getvalue()
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), data, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def read_policy(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """A policy and what made it; InputError for anything that was not written so."""
    place = str(path)
    head, arrays = _members(read_bytes(path), place)
    stated = head.pop("checksum", None)
    if head.get("kind") != KIND or not isinstance(head.get("origin"), dict):
        raise InputError("this is no policy", path=place, expected=KIND, found=str(head.get("kind"))[:40])
    actual = _checksum(head, arrays)
    if stated != actual:
        raise InputError(
            "the policy was changed after it was saved, or damaged: its check sum does not hold",
            path=place,
            expected=str(stated)[:16],
            found=actual[:16],
        )
    policy = _made(head["policy"], arrays, place)
    if not hasattr(policy, "probabilities"):
        raise InputError("this is no policy", path=place, found=type(policy).__name__)
    return policy, head["origin"]


def _members(data: bytes, place: str) -> tuple[dict[str, Any], Arrays]:
    """The text and the arrays of a file."""
    arrays: Arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        text = contents.pop(TEXT)
        for name, content in contents.items():
            array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
            arrays[name.removesuffix(ARRAY)] = array
    except KeyError:
        raise InputError("this is no policy", path=place, expected=f"a zip with {TEXT}") from None
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds for damaged data
        raise InputError(
            f"the policy is cut off, damaged, or no policy at all: {error}", path=place
        ) from None
    head = decode_json(text, f"{place}:{TEXT}")
    if not isinstance(head, dict):
        raise InputError("this is no policy", path=place, expected="an object", found=type(head).__name__)
    return head, arrays


def _checksum(head: Mapping[str, Any], arrays: Arrays) -> str:
    """A hash of the text and of every array with its name, type and shape."""
    parts: list[bytes | str] = [encode_json(head)]
    for name in sorted(arrays):
        array = arrays[name]
        parts += [name, array.dtype.str, str(array.shape), np.ascontiguousarray(array).tobytes()]
    return content_hash(*parts)


def _plain(value: Any, name: str, arrays: Arrays) -> Any:
    """A value as JSON; its arrays are put aside under their names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        arrays[name or "array"] = value
        return {"array": name or "array"}
    if isinstance(value, sparse.csr_array):
        matrix = (value.data, value.indices, value.indptr, value.shape)
        return {"sparse": _plain(matrix, name, arrays)["tuple"]}
    if isinstance(value, tuple | list):
        items = [_plain(item, f"{name}.{number}", arrays) for number, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        return {"dict": {str(key): _plain(item, f"{name}.{key}", arrays) for key, item in value.items()}}
    if type(value).__name__ in FORESTS and hasattr(value, "estimators_"):
        value = Forest.of(value)
    if isinstance(value, Transitions):
        raise UsageError(
            "the policy knows the logged decisions only, so there is nothing to keep; learn with behaviour "
            "'logistic' or 'svm'"
        )
    if not is_dataclass(value) or isinstance(value, type):
        raise UsageError(
            f"the policy cannot be kept: {name or 'it'} is neither array, number, text nor dataclass",
            found=type(value).__name__,
        )
    # What concerns the training data alone is left out.
    kept = value.for_keeping() if hasattr(value, "for_keeping") else value
    prefix = f"{name}." if name else ""
    parts = {
        field.name: _plain(getattr(kept, field.name), f"{prefix}{field.name}", arrays)
        for field in fields(kept)
    }
    return {"class": _class_name(type(value)), "fields": parts}


def _class_name(kind: type) -> str:
    """`module:class`; of a class beside a learner from outside, `learner <name>:class`."""
    if kind.__module__.startswith(OURS):
        return f"{kind.__module__}:{kind.__qualname__}"
    for home, registry in HOMES.items():
        for name, target in registry.imported():
            if target.__module__ == kind.__module__:
                return f"{home} {name}:{kind.__qualname__}"
    raise UsageError(
        f"the policy cannot be kept: the class {kind.__qualname__!r} is not in the module of a registered "
        "learner or behaviour model, so no other process would find it",
        found=kind.__module__,
    )


def _made(value: Any, arrays: Arrays, place: str) -> Any:
    """The inverse of `_plain`."""
    if isinstance(value, list):
        return [_made(item, arrays, place) for item in value]
    if not isinstance(value, dict):
        return value
    (kind, content), *rest = value.items()
    if kind == "array" and content in arrays:
        return arrays[content]
    if kind == "float":
        return float(content)
    if kind == "sparse":
        data, columns, offsets, shape = (_made(item, arrays, place) for item in content)
        try:
            return sparse.csr_array((data, columns, offsets), shape=shape)
        except (TypeError, ValueError) as error:
            raise InputError(f"a matrix of the policy cannot be made: {error}", path=place) from None
    if kind == "tuple":
        return tuple(_made(item, arrays, place) for item in content)
    if kind == "dict":
        return {key: _made(item, arrays, place) for key, item in content.items()}
    if kind != "class" or [key for key, _ in rest] != ["fields"]:
        raise InputError(f"the policy has a part of an unknown kind: {kind!r}", path=place)
    found = _class_of(str(content), place)
    parts = {name: _made(part, arrays, place) for name, part in value["fields"].items()}
    if [field.name for field in fields(found)] != list(parts):
        raise InputError(
            f"the policy was saved by another version of {content}",
            path=place,
            expected=", ".join(field.name for field in fields(found)),
            found=", ".join(parts),
        )
    try:
        return found(**parts)
    except (ExtrinsicError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a part of the policy, {content}, cannot be made: {error}", path=place) from None


def _class_of(name: str, place: str) -> Any:
    """The dataclass of a name, which must be ours or stand beside a registered learner."""
    where, _, kind = name.partition(":")
    try:
        module = _module(where)
        found = vars(module).get(kind)
    except (ImportError, UsageError) as error:
        raise InputError(
            f"the policy needs {name}, which is not here: {error}; load its plugin first", path=place
        ) from None
    if not (isinstance(found, type) and is_dataclass(found) and found.__module__ == module.__name__):
        raise InputError(f"the policy needs {name}, which is not here", path=place, expected="a dataclass")
    return found


def _module(where: str) -> ModuleType:
    home, _, name = where.partition(" ")
    if home in HOMES:
        return import_module(HOMES[home].get(name).__module__)
    if not where.startswith(OURS):
        raise UsageError("classes of other packages are not made from files")
    return import_module(where)
