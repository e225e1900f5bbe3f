"""The command line as a whole: exit codes, what `--help` costs, and `ls`, whose first word is the key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from extrinsic import __version__
from extrinsic.cli import ls
from extrinsic.cli.commands import COMMANDS, KINDS
from extrinsic.trackers.populations import FAMILIES
from tests.builders import write_state_sets
from tests.running import assert_refused, run, succeed
from tests.samples import small_state_sets

HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "msgspec", "joblib", "rich")


def test_help_and_validate_import_nothing_heavy() -> None:
    """In a process of its own: here everything is imported already."""
    script = f"""
import sys
from extrinsic.cli.main import main
for command in ([], *([name] for name in {list(COMMANDS)!r})):
    try:
        main([*command, "--help"])
    except SystemExit as stop:
        assert stop.code == 0
print("imported:", *[name for name in {HEAVY!r} if name in sys.modules])
main(["validate", "--format", "state-sets", "x"])
print("imported:", *[name for name in ("scipy", "sklearn", "matplotlib") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("usage: extrinsic")
    assert [line for line in lines if line.startswith("imported:")] == ["imported:"] * 2


def test_the_module_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "extrinsic", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"extrinsic {__version__}"


@pytest.mark.parametrize(
    "arguments",
    [[], ["no-such-command"], ["validate"], ["ls", "no-such-kind"], ["validate", "--no-such-flag"]],
)
def test_a_wrong_command_line_exits_with_2(arguments: list[str]) -> None:
    assert_refused(run(*arguments), "usage: extrinsic")


def test_a_command_that_is_nearly_one() -> None:
    assert_refused(run("rn", "quick"), "there is no command 'rn'; did you mean 'run'?")


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_is_as_it_is_read(command: str) -> None:
    assert "%%" not in run(command, "--help").output


def test_an_error_of_ours_exits_with_1_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ls, "lines_of", Mock(side_effect=RuntimeError("a bug")))
    outcome = run("ls", "formats")
    assert outcome.code == 1
    assert "RuntimeError: a bug" in outcome.errors
    assert "error in extrinsic, not in your input" in outcome.errors


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ls, "lines_of", Mock(side_effect=KeyboardInterrupt))
    assert run("ls", "formats").code == 130


def shell(command: str) -> subprocess.CompletedProcess[str]:
    program = f'extrinsic() {{ {sys.executable} -m extrinsic "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["ls formats", "score --format state-sets {}"])
def test_a_closed_pipe_is_no_error(command: str, tmp_path: Path) -> None:
    """As in `extrinsic ls formats | head -1`: whoever read the output has heard enough."""
    file = write_state_sets(tmp_path, small_state_sets())
    result = shell(f"extrinsic {command.format(file)} | true; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", ["ls metrics", "--help"])
def test_a_full_disk_is_said(command: str) -> None:
    result = shell(f"extrinsic {command} > /dev/full")
    assert result.returncode == 2
    assert result.stderr == "the output cannot be written: No space left on device\n"


def test_streams_that_are_closed_or_full() -> None:
    result = shell("extrinsic ls >&-")
    assert result.returncode == 2
    assert result.stderr.startswith("the output cannot be written: it is closed")
    assert shell("extrinsic score --format state-sets /nosuch 2> /dev/full").returncode == 2
    assert shell("extrinsic score --format state-sets /nosuch 2>&-").returncode == 2


@pytest.mark.parametrize(
    "command",
    ["run {}", "report {}", "compare {} a b", "simulate --output {}", "validate --format dstc1 --corpus {}"],
)
def test_names_too_long_for_the_system(command: str) -> None:
    assert_refused(run(*(part.replace("{}", "n" * 300) for part in command.split())), "n" * 300)


def test_trackers_are_listed_with_what_they_are() -> None:
    lines = {line.split()[0]: line for line in run("ls", "trackers").output.splitlines()}
    assert len(lines) >= 16
    assert {"baseline", "focus", "logistic", "last_turn"} <= set(lines)
    assert "degenerate" in lines["last_turn"]


def test_every_kind_can_be_listed() -> None:
    assert [line.split()[0] for line in succeed("ls").output.splitlines()] == list(KINDS)
    for kind in KINDS:
        outcome = succeed("ls", kind)
        assert outcome.output or "no" in outcome.errors


def test_json_has_a_signature_and_rows() -> None:
    found = run("ls", "formats", "--json").json()
    assert found["signature"].startswith("extrinsic:")
    assert "kind:formats" in found["signature"]
    assert {"key", "summary"} == set(found["rows"][0])


def test_an_estimator_is_shown_with_its_options() -> None:
    """Those of [value.lstd] in a study; live play has none."""
    shown = run("ls", "estimators", "lstd").output
    assert "height = 4.0, width = 2.0, nu = 1.0, ridge = 100.0, gamma = 1.0" in shown
    assert "options" not in run("ls", "estimators", "live").output


def test_families_are_listed() -> None:
    lines = run("ls", "populations").output.splitlines()
    assert [line.split()[0] for line in lines] == list(FAMILIES)
    rows = {row["key"]: row["summary"] for row in run("ls", "populations", "--json").json()["rows"]}
    assert "54 distinct" in rows["delayed"]
    details = run("ls", "populations", "delayed", "--json").json()["rows"][0]
    assert details["distinct"] == 54
    assert "1, 2, 3" in details["turns"]
    assert "averaged" in succeed("ls", "trackers", "mixture(hwu, focus, weight=0.3)").output
    assert_refused(run("ls", "trackers", "mixture(hwu, weight=0.3)"), "two trackers")
