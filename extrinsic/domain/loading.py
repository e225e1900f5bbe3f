"""Finding a domain by name or path, and checking that its parts fit together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from extrinsic.domain.act_patterns import parse_pattern
from extrinsic.domain.task import DIRECTORY, REWARD_CHOICES, Domain
from extrinsic.errors import Problems, UsageError, did_you_mean
from extrinsic.storage import read_bytes
from extrinsic.toml_files import parse_toml, report_key

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
    problems = Problems(str(path))
    _check_references(domain, data.decode("utf-8"), problems)
    problems.raise_errors()
    return domain


def _check_references(domain: Domain, text: str, problems: Problems) -> None:
    """Every name that refers to another part of the domain must exist, and every name must be unique."""
    _check_unique([slot.name for slot in domain.slots], "slots", "slot", text, problems)
    parts = [part for slot in domain.slots for part in (slot.parts or (slot.name,))]
    _check_unique(parts, "slots", "slot or part", text, problems)
    grouped = [slot for group in domain.groups.values() for slot in group]
    _check_unique(grouped, "groups", "slot", text, problems)
    names = [DIRECTORY, *(condition.name for condition in domain.conditions)]
    _check_unique(names, "conditions", "condition", text, problems)
    for group, slots in domain.groups.items():
        _check_known(slots, domain.slot_names, ("groups", group), "slot", text, problems)
        if not slots:
            report_key(problems, text, ("groups", group), "a group needs at least one slot")
    _check_known(domain.required, domain.groups, ("required",), "group", text, problems)
    _check_known(tuple(domain.reward), REWARD_CHOICES, ("reward",), "option", text, problems)
    for option, value in domain.reward.items():
        choices = REWARD_CHOICES.get(option, (value,))
        _check_known((value,), choices, ("reward", option), "value", text, problems)
    for role in ("greeting", "offer", "yes_no", "end"):
        _check_known(getattr(domain, role), domain.predicate_names, (role,), "predicate", text, problems)
    _check_known(tuple(domain.required_unless), domain.groups, ("required_unless",), "group", text, problems)
    for group, question in domain.required_unless.items():
        _check_known(
            (question,), domain.yes_no, ("required_unless", group), "yes/no question", text, problems
        )
        if group in domain.required:
            report_key(problems, text, ("required_unless", group), "the group is required in any case")
    _check_patterns(domain.excluded, ("excluded",), text, problems)
    for position, rule in enumerate(domain.predicates):
        if not rule.acts:
            report_key(problems, text, ("predicates", position, "acts"), "a predicate needs at least one act")
        for key in ("acts", "together_with", "without"):
            _check_patterns(getattr(rule, key), ("predicates", position, key), text, problems)


def _check_patterns(
    patterns: Iterable[str], keys: tuple[str | int, ...], text: str, problems: Problems
) -> None:
    for pattern in patterns:
        try:
            parse_pattern(pattern)
        except UsageError as error:
            report_key(problems, text, keys, str(error))


def _check_unique(names: list[str], key: str, what: str, text: str, problems: Problems) -> None:
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            report_key(problems, text, (key,), f"the {what} {name!r} occurs {names.count(name)} times")


def _check_known(
    names: tuple[str, ...],
    defined: Iterable[str],
    keys: tuple[str, ...],
    what: str,
    text: str,
    problems: Problems,
) -> None:
    options = list(defined)
    for name in names:
        if name not in options:
            report_key(problems, text, keys, f"there is no {what} {name!r}; {did_you_mean(name, options)}")
