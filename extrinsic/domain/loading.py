"""Finding a domain by name or path, and checking that its parts fit together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from extrinsic.domain.act_patterns import parse_pattern
from extrinsic.domain.task import DIRECTORY, REWARD_CHOICES, Domain
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.storage import read_bytes
from extrinsic.toml_files import TomlProblems, parse_toml

HERE = Path(__file__).parent


def built_in_domains() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.toml"))


def load_domain(name_or_path: str) -> Domain:
    """A built-in domain by its name, or a user's own by the path of its TOML file."""
    if name_or_path in built_in_domains():
        path = HERE / f"{name_or_path}.toml"
    elif name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
    else:
        raise UsageError(
            f"there is no domain {name_or_path!r}; {did_you_mean(name_or_path, built_in_domains())} "
            "(a domain of your own is the path of its .toml file)"
        )
    data = read_bytes(path)
    domain = parse_toml(data, Domain, str(path))
    problems = TomlProblems(str(path), data.decode("utf-8"))
    _check_references(domain, problems)
    problems.raise_errors()
    return domain


def _check_references(domain: Domain, problems: TomlProblems) -> None:
    """Every name that refers to another part of the domain must exist, and every name must be unique."""
    _check_unique([slot.name for slot in domain.slots], "slots", "slot", problems)
    parts = [part for slot in domain.slots for part in (slot.parts or (slot.name,))]
    _check_unique(parts, "slots", "slot or part", problems)
    grouped = [slot for group in domain.groups.values() for slot in group]
    _check_unique(grouped, "groups", "slot", problems)
    names = [DIRECTORY, *(condition.name for condition in domain.conditions)]
    _check_unique(names, "conditions", "condition", problems)
    for group, slots in domain.groups.items():
        _check_known(slots, domain.slot_names, ("groups", group), "slot", problems)
        if not slots:
            problems.add_key(("groups", group), "a group needs at least one slot")
    _check_known(domain.required, domain.groups, ("required",), "group", problems)
    _check_known(tuple(domain.reward), REWARD_CHOICES, ("reward",), "option", problems)
    for option, value in domain.reward.items():
        choices = REWARD_CHOICES.get(option, (value,))
        _check_known((value,), choices, ("reward", option), "value", problems)
    for role in ("greeting", "offer", "yes_no", "end"):
        _check_known(getattr(domain, role), domain.predicate_names, (role,), "predicate", problems)
    _check_known(tuple(domain.required_unless), domain.groups, ("required_unless",), "group", problems)
    for group, question in domain.required_unless.items():
        _check_known((question,), domain.yes_no, ("required_unless", group), "yes/no question", problems)
        if group in domain.required:
            problems.add_key(("required_unless", group), "the group is required in any case")
    _check_patterns(domain.excluded, ("excluded",), problems)
    for position, rule in enumerate(domain.predicates):
        if not rule.acts:
            problems.add_key(("predicates", position, "acts"), "a predicate needs at least one act")
        for key in ("acts", "together_with", "without"):
            _check_patterns(getattr(rule, key), ("predicates", position, key), problems)


def _check_patterns(patterns: Iterable[str], keys: tuple[str | int, ...], problems: TomlProblems) -> None:
    for pattern in patterns:
        try:
            parse_pattern(pattern)
        except UsageError as error:
            problems.add_key(keys, str(error))


def _check_unique(names: list[str], key: str, what: str, problems: TomlProblems) -> None:
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add_key((key,), f"the {what} {name!r} occurs {names.count(name)} times")


def _check_known(
    names: tuple[str, ...], defined: Iterable[str], keys: tuple[str, ...], what: str, problems: TomlProblems
) -> None:
    options = list(defined)
    for name in names:
        if name not in options:
            problems.add_key(keys, f"there is no {what} {name!r}; {did_you_mean(name, options)}")
