"""`extrinsic ls`: the first word of a line is the key."""

from __future__ import annotations

from extrinsic.cli.commands import KINDS
from extrinsic.trackers.populations import FAMILIES
from tests.running import assert_refused, run, succeed


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
