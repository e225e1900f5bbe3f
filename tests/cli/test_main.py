"""The command line as a whole: exit codes, and what `--help` costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from extrinsic import __version__
from extrinsic.cli import ls
from extrinsic.cli.commands import COMMANDS
from tests.builders import write_state_sets
from tests.running import assert_refused, run
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
