"""Ratios measured by the benchmarks are printed at the end of the run."""

from __future__ import annotations

import pytest

from benchmarks.measuring import LINES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LINES:
        terminalreporter.section("ratios")
        for line in LINES:
            terminalreporter.write_line(line)
