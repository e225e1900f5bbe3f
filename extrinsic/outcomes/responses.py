"""Delexicalised responses of a generator: `{dialog: [{"response": text, "active_domains": [...]}]}`.

What counts in a response are its placeholders: `[hotel_name]`, `[value_phone]`, `[train_ref]`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from extrinsic.corpus.formats import stem
from extrinsic.corpus.formats.field_checks import Checker, Missing
from extrinsic.corpus.formats.state_sets.gold_states import dialog_key
from extrinsic.errors import Problems
from extrinsic.storage import content_hash, decode_json, read_bytes

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


def read_responses(path: str | Path, name: str | None = None) -> Responses:
    """Read a file of responses, or raise InputError with every problem in it."""
    data = read_bytes(path)
    problems = Problems(str(path))
    checker = Checker(problems)
    dialogs: dict[str, list[Response]] = {}
    unknown: dict[str, int] = {}
    for dialog, value in checker.object(decode_json(data, str(path)), "the file").items():
        at_dialog = checker.at(session=dialog)
        turns = at_dialog.array(value, "the dialog")
        dialogs[dialog_key(dialog)] = [
            response
            for number, turn in enumerate(turns)
            if (response := _response(at_dialog.at(turn=number), turn, unknown)) is not None
        ]
        if isinstance(value, list) and not turns:
            at_dialog.report("the dialog has no turns")
    if not dialogs and not problems.has_errors:
        problems.add("the file has no dialogs")
    problems.raise_errors()
    title = name or stem(path).removeprefix("responses_")
    return Responses(title, str(path), dialogs, content_hash("responses", data), unknown)


def _response(checker: Checker, value: Any, unknown: dict[str, int]) -> Response | None:
    turn = checker.object(value, "the turn")
    written = checker.member(turn, "response", "the turn") if isinstance(value, dict) else Missing
    text = None if written is Missing else checker.text(written, "the response")
    if text is None:
        return None
    domains = turn.get("active_domains")
    if domains is not None and not (
        isinstance(domains, list) and all(isinstance(domain, str) for domain in domains)
    ):
        checker.report("'active_domains' has the wrong kind", expected="an array of domains")
        domains = None
    for _, what in placeholders(text):
        if what.startswith("?") and any(word in what for word in ("name", "phone", "address", "post", "ref")):
            unknown[what[1:]] = unknown.get(what[1:], 0) + 1
    return read_response(text, domains)
