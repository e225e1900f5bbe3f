"""Studies that cannot be: what is wrong, where, and what to do; everything at once; exit code 2."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.builders import write_dstc2
from tests.running import Outcome, assert_refused
from tests.samples import small_dstc2
from tests.study.studies import DISK, SMALL, Study, copied, done, run_in, statuses, write_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_study(tmp_path)
    return tmp_path


def attempt(folder: Path, old: str = "", new: str = "", *options: object, text: str = SMALL) -> Outcome:
    """Run the tiny study with a part of its file replaced."""
    assert old in text
    (folder / "study.toml").write_text(text.replace(old, new, 1) if old else text)
    return run_in(folder / "study.toml", folder / "run", *options)


def refused(outcome: Outcome, folder: Path, *said: str) -> None:
    """Refused before anything was written."""
    assert_refused(outcome, *said)
    assert outcome.output == ""
    assert not (folder / "run").exists()


DIALOGS = '[simulation]\nconfig = "worlds.toml"\ndatasets = ["a"]\n'
MISTAKES = [
    ("[correlation]", "[corelation]", "key corelation: unknown; did you mean 'correlation'?"),
    ("= 99", '= "many"', "permutations: wrong kind (expected a whole number, found text 'many')"),
    ("= 99", "= 3", "permutations: out of range (expected a whole number >= 99, found number 3)"),
    ('fill = ["argmax"]', "fill = []", "at least one fill rule"),
    ('name = "tiny"', 'name = "../tiny"', "key name"),
    ('name = "tiny"', "", "key name: missing"),
    ('name = "tiny"', 'name = "tiny\\n"', "study.toml: line 1, key name"),
    ("[policy]", "[policy]\ngamma = 1.5", "key policy.gamma"),
    ("[policy]", "[policy]\nwidth = inf", "policy.width"),
    ("[reward]", "[reward]\nempty_ended = nan", "reward"),
    ('policies = ["rl"]', 'policies = ["lr"]', "policy.policies"),
    ('"hwu"', '"baseline"', "named twice (found 'baseline')"),
    ('["live", "lstd"]', '["lstd", "lstd"]', "twice"),
    ('fill = ["argmax"]', 'fill = ["argmax", "argmax"]', "twice"),
    ("[reward]", '[reward]\nwhen = "first"', "there is no reward.when 'first'"),
    ("[policy]", "[policy]\nlearner = []", "key policy.learner: at least one learner is needed"),
    ("[policy]", '[policy]\nfeatures = "compacted"', "there is no feature map 'compacted'; did you mean"),
    ("[correlation]", '[correlation]\nprimary = "rl.lsdt"', "there is no target 'rl.lsdt'; did you mean"),
    ("[correlation]", '[correlation]\ntargets = ["sl.lstd"]', "there is no target 'sl.lstd'"),
    ("permutations = 99", 'permutations = 99\n[sensitivity]\ntarget = "live"', "there is no target 'live'"),
    ("permutations = 99", 'permutations = 99\n[sensitivity]\nfeatures = ["x"]', "key sensitivity.features"),
    ("[trackers]", '[trackers]\ndegenerate = ["hw"]', "'hw' is none of the trackers; did you mean 'hwu'?"),
    ("[value]", '[value]\nproxies = ["hw"]', "key value.proxies: there is no tracker 'hw'"),
    ('config = "worlds.toml"', 'config = "wolds.toml"', "wolds.toml: there is no such file"),
    ('datasets = ["a"]', 'datasets = ["a", "c"]', "'c'"),
    ('datasets = ["a"]', 'datasets = ["a", "a"]', "twice"),
    ('config = "worlds.toml"', 'config = "worlds.toml"\ntrain = "tran"', "did you mean 'train'?"),
    ('config = "worlds.toml"', 'config = "worlds.toml"\ntrain = "test"', "learn"),
    ('config = "worlds.toml"', 'config = "${NO_SUCH_VARIABLE}/w.toml"', "NO_SUCH_VARIABLE is not set"),
    (
        SMALL.partition("\n\n")[2].partition("\n\n")[0],
        "",
        "one of the tables [simulation], [corpus], [states]",
    ),
    ("[policy]", '[states]\nfiles = ["x.json"]\n[policy]', "found simulation and states"),
    ('"l2"', '"jga"', "metrics.fill"),
    ('"l2"', '"neglogp"', "neglogp is not defined for dstc1"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES, ids=[new or old for old, new, _ in MISTAKES])
def test_mistakes_in_the_file(folder: Path, old: str, new: str, said: str) -> None:
    assert_refused(attempt(folder, old, new), said)


def test_a_study_without_trackers(folder: Path) -> None:
    line = next(line for line in SMALL.splitlines() if line.startswith("built_in"))
    refused(attempt(folder, line, ""), folder, "study.toml", "key trackers", "have no trackers", "built_in")


def test_all_mistakes_at_once_with_their_lines(folder: Path) -> None:
    text = SMALL.replace("permutations", "permutatoins").replace("seed = 5", "seed = -5")
    line = 1 + next(i for i, text in enumerate(text.splitlines()) if text.startswith("permutatoins"))
    refused(
        attempt(folder, 'fill = ["argmax"]', "fill = 3", text=text),
        folder,
        "study.toml: line 2, key seed",
        f"line {line}, key correlation.permutatoins: unknown; did you mean 'permutations'?",
        "key reward.fill: wrong kind (expected a list, found",
    )
    text = SMALL.replace('"hwu"', '"hvu"').replace('"l2"', '"l3"').replace('["argmax"]', '["argmex"]')
    said = ["no tracker 'hvu'; did you mean 'hwu'?", "no metric 'l3'", "'argmax'?", "'lstd'?", "line"]
    refused(attempt(folder, '"lstd"', '"lsdt"', text=text), folder, *said)


@pytest.fixture
def stored(disk: Path, tmp_path: Path) -> Path:
    """Calls on disk with tracker files to spoil."""
    shutil.copytree(disk / "files", tmp_path / "files")
    (tmp_path / "calls").symlink_to(disk / "calls")
    return tmp_path


LEAN = DISK.replace('"last_turn", "baseline", "rank_only"', '"baseline"')


ON_DISK = [
    ('estimators = ["lstd"]', 'estimators = ["lstd", "live"]', "`live` needs a simulator"),
    ('train = "a_train"', 'train = "a_test"', "session a_test-00000: 32 sessions of a_test are also in"),
    ('train = "a_train"', 'train = "a_tran"', "calls: there is no dataset 'a_tran'; did you mean 'a_train'?"),
    ('path = "calls"', 'path = "cals"', "cals: there is no such file"),
    ('format = "dstc1"', 'format = "dstc3"', "key corpus.format: there is no format 'dstc3'"),
    ('format = "dstc1"', 'format = "state-sets"', "corpus.format"),
    ('path = "calls"', 'path = "calls"\ndomain = "buss"', "there is no domain 'buss'; did you mean 'bus'?"),
    ('path = "calls"', 'path = "${UNSET_ONE}/calls"', "UNSET_ONE is not set"),
    ('path = "calls"', 'path = "calls"\ndatasets_by = "directry"', "did you mean 'directory'?"),
    ('test = "a_test"\n', "", "name `train` and `test`"),
    ('train = "files/{tracker}.train.json"\n', "", "key trackers.files.train: missing"),
    ('["baseline"]', '["baseline", "first"]', "both built in and a file (found 'first')"),
    ('"second", "other"', '"second", "first"', "key trackers.files.names: named twice (found 'first')"),
    (
        '"baseline"]\n[trackers.files]\nnames = [',
        '"all"]\n[trackers.files]\nnames = ["hwu", ',
        "(found 'hwu')",
    ),
    ('{tracker}.test.json"', 'first.test.json"', "{tracker}"),
]


@pytest.mark.parametrize(("old", "new", "said"), ON_DISK, ids=[new or old for old, new, _ in ON_DISK])
def test_mistakes_about_calls_on_disk(stored: Path, old: str, new: str, said: str) -> None:
    assert_refused(attempt(stored, old, new, text=LEAN), said)


def test_a_label_scheme_that_is_none(tmp_path: Path) -> None:
    written = write_dstc2(tmp_path, small_dstc2())
    lists = written.corpus / "scripts" / "config"
    one, two, three = (lists / "dstc2_dev.flist").read_text().split()
    (lists / "one.flist").write_text(f"{one}\n{two}\n")
    (lists / "two.flist").write_text(f"{three}\n")
    text = LEAN.replace("dstc1", "dstc2").replace("calls", "corpus").replace("a_train", "one")
    text = text.replace("a_test", "two").replace("schedules = [1]", 'label_scheme = "z"')
    text = text[: text.index("[trackers.files]")] + text[text.index("[metrics]") :]
    assert_refused(attempt(tmp_path, text=text), "label_scheme", "'z'")


SEVERAL = [
    (
        LEAN.replace('train = "a_train"\ntest = "a_test"\n', "").replace(
            "[trackers]",
            '[corpus.datasets.x]\ntrain = "a_train"\ntest = "nowhere"\n'
            '[corpus.datasets.y]\ntrain = "b_tran"\ntest = "b_test"\n[trackers]',
        ),
        ("'nowhere'", "'b_tran'; did you mean 'b_train'?"),
    ),
    (LEAN.replace("a_train", "a_tran").replace("a_test", "a_tset"), ("'a_tran'", "'a_tset'")),
    (
        LEAN.replace('"second", "other"', '"third", "fourth"'),
        tuple(
            f"{name}.{part}.json: there is no file of tracker {name!r}"
            for name in ("third", "fourth")
            for part in ("train", "test")
        ),
    ),
]


@pytest.mark.parametrize(("text", "said"), SEVERAL, ids=["datasets", "lists", "tracker files"])
def test_all_that_is_not_there_is_named(stored: Path, text: str, said: tuple[str, ...]) -> None:
    refused(attempt(stored, text=text), stored, *said)


def test_tracker_files_about_other_dialogs(stored: Path) -> None:
    """All of them, not just the first, and which dialogs they lack or are about."""
    shutil.copy(stored / "files" / "first.test.json", stored / "files" / "first.train.json")
    tracker = json.loads((stored / "files" / "other.test.json").read_text())
    (gone,) = (tracker["sessions"].pop(number)["session-id"] for number in (4,))
    (stored / "files" / "other.test.json").write_text(json.dumps(tracker))
    outcome = attempt(stored, text=LEAN)
    assert_refused(outcome, "first.train.json", "another corpus than 'a_train'", "other.test.json", gone)
    assert "second" not in outcome.text


def test_broken_tracker_files_are_all_named(stored: Path) -> None:
    (stored / "files" / "first.test.json").write_text("{")
    (stored / "files" / "second.train.json").write_text("")
    (stored / "files" / "other.train.json").write_text("")
    assert_refused(attempt(stored, text=LEAN), "second.train.json", "other.train.json", "empty")


def test_what_is_suspicious_in_a_tracker_file_is_said(stored: Path) -> None:
    path = stored / "files" / "first.test.json"
    path.write_text(re.sub(r'"score": ?[0-9.]+', '"score": 3', path.read_text()))
    outcome = attempt(stored, text=LEAN)
    assert outcome.code == 0, outcome.text
    assert "first.test.json: repairs by the scoring rules: " in outcome.errors
    assert outcome.errors.count("repairs") == 1


def test_a_mended_study_goes_on(stored: Path) -> None:
    """What was wrong with one tracker does not cost the work on the others."""
    good = (stored / "files" / "other.test.json").read_bytes()
    tracker = json.loads(good)
    del tracker["sessions"][0]
    (stored / "files" / "other.test.json").write_text(json.dumps(tracker))
    assert_refused(attempt(stored, text=LEAN), "other.test.json")
    (stored / "files" / "other.test.json").write_bytes(good)
    study = done(stored / "study.toml", stored / "run")
    assert list(statuses(study.folder, "score", "learn").values()).count("computed") <= 2


def test_outcomes_of_simulated_calls(small: Study, tmp_path: Path) -> None:
    """A study of trackers can have outcomes, too, one number a tracker."""
    study = copied(small, tmp_path / "run")
    shutil.copy(small.config, tmp_path / "study.toml")
    shutil.copy(small.config.parent / "worlds.toml", tmp_path / "worlds.toml")
    (tmp_path / "ratings.csv").write_text("system,stars\nbaseline,3\nhwu,5\n")
    options = ["--set", "outcomes.file=ratings.csv", "--set", 'outcomes.names=["stars"]']
    outcome = run_in(tmp_path / "study.toml", study.folder, *options)
    assert_refused(outcome, "ratings.csv", "no row of system 'vote' on a")
    (tmp_path / "ratings.csv").write_text("system,stars\nbaseline,3\nhwu,5\nvote,4\n")
    done(tmp_path / "study.toml", study.folder, *options)
    assert "outcome.stars" in {row["target"] for row in study.rows("correlations")}
    assert set(statuses(study.folder, "score", "learn").values()) == {"reused"}
