"""Delexicalised responses of a generator: `{dialog: [{"response": text, "active_domains": [...]}]}`.

What counts in a response are its placeholders: `[hotel_name]`, `[value_phone]`, `[train_ref]`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from extrinsic.corpus.formats import stem
from extrinsic.corpus.formats.field_checks import Checker, nowhere
from extrinsic.corpus.formats.gold_states import dialog_key
from extrinsic.errors import Problems
from extrinsic.storage import content_hash, decode_json, read_bytes
from extrinsic.typed_files import Keys

NAME, TRAIN, REFERENCE = "name", "trainid", "reference"
COUNTED = {
    "name": NAME,
    "phone": "phone",
    "address": "address",
    "postcode": "postcode",
    "reference": REFERENCE,
    "ref": REFERENCE,
    "trainid": TRAIN,
    "id": TRAIN,
}
"""What a placeholder without its domain says, as far as it counts."""

RESEMBLING = ("name", "address", "phone", "post", "ref")
"""A placeholder with such a part that does not count is probably misspelt."""

DOMAINS = ("attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train")
DomainRule = Literal["states", "responses"]
"""Which domains a response is about, where its file does not say: those that changed in the state (the
standard rule), or those that its placeholders name."""

_PLACEHOLDER = re.compile(r"\[([\w\s\d]+)\]")
_PREFIX = re.compile(rf"({'|'.join((*DOMAINS, 'value'))})_")


@dataclass(frozen=True)
class Response:
    """What counts in a response: what it mentions, and the domains that it names or that the file gives."""

    mentions: frozenset[str]
    named_domains: frozenset[str]
    active_domains: frozenset[str] | None = None


@dataclass(frozen=True)
class Responses:
    """The responses of one generator, by dialog."""

    name: str
    path: str
    dialogs: Mapping[str, Sequence[Response]]
    signature: str
    unknown: Mapping[str, int]
    """Placeholders that mean nothing to the evaluator although they resemble one that does, and how often."""

    @cached_property
    def gives_domains(self) -> bool:
        return all(turn.active_domains is not None for turns in self.dialogs.values() for turn in turns)


def placeholders(text: str) -> list[tuple[str | None, str]]:
    """(domain or None, what it stands for) of the placeholders of a response; `value_` is no domain."""
    pairs: list[tuple[str | None, str]] = []
    for content in _PLACEHOLDER.findall(text.lower()):
        prefix = _PREFIX.match(content)
        domain = prefix[1] if prefix else None
        rest = content[prefix.end() :] if prefix else content
        if content == "train":
            rest = "trainid"
        # Only a train's identity is one; a restaurant's id is no venue that was offered.
        counted = COUNTED.get(rest) if rest != "id" or domain in (None, "train", "value") else None
        pairs.append((None if domain == "value" else domain, counted or f"?{rest}"))
    return pairs


def read_response(text: str, active_domains: Sequence[str] | None = None) -> Response:
    pairs = placeholders(text)
    return Response(
        frozenset(what for _, what in pairs if not what.startswith("?")),
        frozenset(domain for domain, _ in pairs if domain),
        None if active_domains is None else frozenset(active_domains),
    )


class Turn(msgspec.Struct, frozen=True):
    """A response as it is written."""

    response: str
    active_domains: tuple[str, ...] | None = None


Turns = Annotated[list[Turn], msgspec.Meta(min_length=1)]


def _turn_of_response(keys: Keys) -> dict[str, Any]:
    return {"turn": keys[0]} if keys else {}


def read_dialogs(data: bytes, path: str, kind: Any, problems: Problems) -> dict[str, Any]:
    """What a JSON object has of each dialog; whatever is not of the kind is reported."""
    checker = Checker(Problems(path), is_clean=True)
    dialogs = {}
    for dialog, value in checker.object(decode_json(data, path), "the file").items():
        try:
            dialogs[dialog_key(dialog)] = msgspec.convert(value, kind)
        except msgspec.ValidationError:
            place = _turn_of_response if kind is Turns else nowhere
            checker.at(session=dialog).decoded(value, kind, "the dialog", place)
    problems.extend(checker.problems)
    return dialogs


def read_responses(path: str | Path, name: str | None = None) -> Responses:
    """Read a file of responses, or raise InputError with every problem in it."""
    data = read_bytes(path)
    problems = Problems(str(path))
    turns: dict[str, list[Turn]] = read_dialogs(data, str(path), Turns, problems)
    if not turns and not problems.has_errors:
        problems.add("the file has no dialogs")
    problems.raise_errors()
    dialogs = {
        dialog: [read_response(turn.response, turn.active_domains) for turn in written]
        for dialog, written in turns.items()
    }
    texts = (turn.response for written in turns.values() for turn in written)
    names = (what[1:] for text in texts for _, what in placeholders(text) if what.startswith("?"))
    unknown = Counter(name for name in names if any(word in name for word in RESEMBLING))
    title = name or stem(path).removeprefix("responses_")
    return Responses(title, str(path), dialogs, content_hash("responses", data), unknown)
