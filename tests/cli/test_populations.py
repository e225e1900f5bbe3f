"""`ls populations`, and `track` for members of a population and trackers with parameters."""

from __future__ import annotations

import pytest

from extrinsic.trackers.populations import FAMILIES, population
from tests.cli.bench import Bench, belief_formats
from tests.running import Outcome, assert_refused, run


def track(bench: Bench, form: str, *arguments: object) -> Outcome:
    return run("track", "--format", form, "--corpus", bench.written[form].corpus, "--quiet", *arguments)


def test_families_are_listed() -> None:
    lines = run("ls", "populations").output.splitlines()
    assert [line.split()[0] for line in lines] == list(FAMILIES)
    rows = {row["key"]: row["summary"] for row in run("ls", "populations", "--json").json()["rows"]}
    assert "54 distinct" in rows["delayed"]
    details = run("ls", "populations", "delayed", "--json").json()["rows"][0]
    assert details["distinct"] == 54
    assert "1, 2, 3" in details["turns"]
    about = run("ls", "trackers", "mixture(hwu, focus, weight=0.3)")
    assert about.code == 0
    assert "averaged" in about.output
    assert_refused(run("ls", "trackers", "mixture(hwu, weight=0.3)"), "two trackers")


@belief_formats
def test_any_member_can_be_written(bench: Bench, form: str) -> None:
    folder = bench.root / "out"
    names = population(14)
    outcome = track(bench, form, "--population", 14, "--output", folder)
    assert outcome.code == 0, outcome.text
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.json" for name in names)
    alone = bench.root / "one.json"
    assert track(bench, form, "--tracker", names[0], "--output", alone).code == 0
    assert alone.read_bytes() == (folder / f"{names[0]}.json").read_bytes()
    corpus = ("--corpus", bench.written[form].corpus)
    check = run("validate", "--format", form, *corpus, "--strict", *folder.iterdir())
    assert check.code == 0, check.text


def test_near_duplicates_are_left_out(bench: Bench) -> None:
    folder = bench.root / "out"
    same = ("--tracker", "focus", "--tracker", "focus(trust=0.9999)")
    outcome = track(bench, "dstc1", *same, "--tracker", "bayes_high", "--output", folder, "--distinct", 0.99)
    assert outcome.code == 0, outcome.text
    assert "focus(trust=0.9999): left out, it agrees with focus" in outcome.errors
    assert sorted(path.name for path in folder.iterdir()) == ["bayes_high.json", "focus.json"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--population", 0), "at least one member"),
        ((), "which trackers"),
        (("--tracker", "focus(discount=7)"), "out of range"),
        (("--tracker", "focus", "--distinct", 2), "--distinct is out of range"),
    ],
)
def test_bad_requests(bench: Bench, options: tuple[object, ...], said: str) -> None:
    assert_refused(track(bench, "dstc1", *options, "--output", bench.root / "x.json"), said)
