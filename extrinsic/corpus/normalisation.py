"""Named rules by which values of states are made alike before they are compared.

    normalise = "multiwoz_eval" | "trade" | "trippy" | "strict" | a file of your own

A rule is a TOML file (those with a name lie in `normalisations/`). Every rule makes the names of slots
alike, or files could not be compared at all: lower case, no spaces or underscores, `arriveby` is `arrive`,
`bookday` is `day`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from extrinsic.errors import InputError, UsageError, did_you_mean
from extrinsic.storage import content_hash, read_bytes
from extrinsic.typed_files import parse_toml

FOLDER = Path(__file__).parent / "normalisations"
DONTCARE = "dontcare"
TIME_SLOTS = ("arrive", "leave", "time")
_RENAMED = {"arriveby": "arrive", "leaveat": "leave"}
_BOOKED = ("day", "people", "stay", "time")

Clean = Literal["case", "ampersand", "spelling"]


class ValueRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to the values of some slots."""

    slots: tuple[str, ...] = ()
    """`type` or `hotel-type`; none: every slot."""
    clean: tuple[Clean, ...] = ()
    """`case`: lower case, no outer blanks. `ampersand`: & is and. `spelling`: no article, no apostrophes."""
    values: dict[str, str] = {}
    """The value on the left becomes the one on the right; `none` removes it."""
    same: tuple[tuple[str, ...], ...] = ()
    """Variants: every value of a list becomes its first."""


class NormalisationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The TOML file of a normalisation."""

    description: str = ""
    times: Literal["clock", "pattern"] | None = None
    """How arrive, leave and time are read: `clock` as MultiWOZ_Evaluation does, `pattern` as TripPy does."""
    dontcare: tuple[str, ...] = ()
    """Spellings of dontcare."""
    rules: tuple[ValueRule, ...] = ()
    """Applied in their order."""


@dataclass(frozen=True)
class Normalisation:
    """A rule with its name; `value` is what it does to a value."""

    name: str
    file: NormalisationFile
    signature: str

    def value(self, domain: str, slot: str, value: str) -> str:
        """The value of a slot (whose names are alike already), made alike."""
        if value in self._dontcare:
            return DONTCARE
        if self.file.times and slot in TIME_SLOTS:
            value = TIMES[self.file.times](value)
        for rule, values in self._tables:
            if rule.slots and slot not in rule.slots and f"{domain}-{slot}" not in rule.slots:
                continue
            for step in rule.clean:
                value = CLEANING[step](value)
            value = values.get(value, value)
        return DONTCARE if value in self._dontcare else value

    @cached_property
    def _dontcare(self) -> frozenset[str]:
        return frozenset(self.file.dontcare)

    @cached_property
    def _tables(self) -> tuple[tuple[ValueRule, dict[str, str]], ...]:
        return tuple(
            (rule, rule.values | {other: same[0] for same in rule.same for other in same[1:]})
            for rule in self.file.rules
        )


def slot_name(name: str) -> str:
    """The name of a slot as all normalisations write it."""
    name = name.lower().replace(" ", "").replace("_", "")
    booked = name.removeprefix("book")
    return booked if booked in _BOOKED else _RENAMED.get(name, name)


def load_normalisation(name: str) -> Normalisation:
    """A named normalisation, or that of a TOML file."""
    built_in = normalisation_names()
    is_file = name.endswith(".toml")
    if name not in built_in and not is_file:
        raise UsageError(
            f"there is no normalisation {name!r}; {did_you_mean(name, built_in)}",
            expected=f"{', '.join(built_in)}, or a .toml file",
        )
    path = Path(name) if is_file else FOLDER / f"{name}.toml"
    return _parsed(read_bytes(path), str(path))


@lru_cache
def _parsed(data: bytes, path: str) -> Normalisation:
    file = parse_toml(data, NormalisationFile, path)
    for number, rule in enumerate(file.rules):
        for same in rule.same:
            if len(same) < 2:
                raise InputError(f"rules[{number}].same: a list of variants needs two", path=path)
    return Normalisation(Path(path).stem, file, content_hash(data)[:12])


def normalisation_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


_NAMED_TIMES = {
    "morning": "08:00",
    "lunch": "12:00",
    "noon": "12:00",
    "mid-day": "12:00",
    "around lunch time": "12:00",
    "afternoon": "13:00",
    "one thirty p.m.": "13:30",
    "three forty five p.m": "15:45",
    "six fourty five": "06:45",
    "eight thirty": "08:30",
    "seven o'clock tomorrow evening": "07:00",
}


def clock_time(text: str) -> str:
    """A time as MultiWOZ_Evaluation reads it: hh:mm, or the text itself where it finds no time."""
    text = text.strip().lower()
    if text in _NAMED_TIMES:
        return _NAMED_TIMES[text]
    for words, time in (("one o'clock p.m", "13:00"), ("ten o'clock a.m", "10:00")):
        if text.startswith(words):
            return time
    if text.startswith("by"):
        text = text[3:]
    for word in ("after", "afer"):
        text = text.removeprefix(word).strip() if text.startswith(word) else text
    for ending in ("am", "a.m."):
        text = text.removesuffix(ending).strip() if text.endswith(ending) else text
    for ending in ("pm", "p.m."):
        if text.endswith(ending):
            text = text.removesuffix(ending).strip()
            hour, colon, minutes = text.partition(":")
            if hour.strip().isdigit() and ":" not in minutes:
                return f"{int(hour) + 12}:{minutes if colon else '00'}"
            break
    if not text:
        return "00:00"
    text = text[:-1] if text[-1] in ".,?" else text
    if text.isdigit():
        return f"{text[:2]}:{text[2:]}" if len(text) == 4 else f"{text.zfill(2)}:00"
    text = text.replace(" ", "") if ":" in text else text
    return f"0{text}" if len(text) == 4 and text[1] == ":" else text


_PATTERN = re.compile(r"(at |from |by |until |after )?(\d{1,2})(?:([:;., ]?)(\d{2}))? ?(a\.?m\.?|p\.?m\.?)?")


def pattern_time(text: str) -> str:
    """A time as TripPy writes it: hh:mm where a separator, am or pm, or a word shows that it is one."""
    text = text.strip().lower()
    match = _PATTERN.fullmatch(text)
    if match is None:
        return text
    word, hour, separator, minutes, half = match.groups()
    if not (word or half or (separator and minutes)):
        return text
    number = int(hour)
    if half and half.startswith("p") and number < 12:
        number += 12
    return f"{0 if number == 24 else number:02}:{minutes or '00'}"


def _spelling(text: str) -> str:
    text = (
        text.removeprefix("the ").replace("'", "").replace("theater", "theatre").replace("center", "centre")
    )
    return " ".join(text.split())


TIMES: dict[str, Callable[[str], str]] = {"clock": clock_time, "pattern": pattern_time}
CLEANING: dict[Clean, Callable[[str], str]] = {
    "case": lambda text: text.strip().lower(),
    "ampersand": lambda text: text.replace(" & ", " and ").replace("&", " and ").replace(" '", "'"),
    "spelling": _spelling,
}
