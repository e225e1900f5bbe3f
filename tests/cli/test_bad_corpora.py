"""Bad corpora: exit code 2, no traceback, and the file named. One test for each kind of it."""

from __future__ import annotations

import pytest

from tests.builders import write_archive, write_dstc1, write_dstc2
from tests.cli.bench import Bench
from tests.running import assert_refused, run
from tests.samples import small_dstc1, small_dstc2


class TestCorpus:
    def test_a_wrong_dataset_name(self, bench: Bench) -> None:
        outcome = run(
            "validate",
            "--format",
            "dstc2",
            "--corpus",
            bench.written["dstc2"].corpus,
            "--dataset",
            "dstc2_dve",
        )
        assert_refused(outcome, "'dstc2_dve'", "did you mean 'dstc2_dev'?")

    @pytest.mark.parametrize("path", ["nowhere", "tracker.json"])
    def test_what_is_no_corpus(self, bench: Bench, path: str) -> None:
        outcome = run("validate", "--format", "dstc2", "--corpus", bench.root / "dstc2" / path)
        assert_refused(outcome, path)

    @pytest.mark.parametrize(
        ("form", "name"), [("dstc1", "dstc.labels.json"), ("dstc1", "dstc.log.json"), ("dstc2", "label.json")]
    )
    def test_a_missing_file(self, bench: Bench, form: str, name: str) -> None:
        for path in bench.written[form].corpus.rglob(f"*/{name}"):
            if path.parent.name != "two":
                path.unlink()
        outcome = bench.check(form, bench.good(form))
        assert_refused(outcome, f"one/{name}", "there is no such file")
        assert f"two/{name}" not in outcome.text
        assert form == "dstc1" or f"three/{name}" in outcome.text

    @pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "data/../../evil.json"])
    def test_an_archive_that_points_outside(self, bench: Bench, name: str) -> None:
        path = write_archive(bench.root / "evil.tar.gz", {"data/x/log.json": b"{}", name: b"{}"})
        assert_refused(run("validate", "--format", "dstc2", "--corpus", path), "evil.tar.gz", repr(name))
        assert not list(bench.root.parent.rglob("evil.json"))

    def test_an_archive_that_is_cut_off(self, bench: Bench) -> None:
        written = write_dstc2(bench.root, small_dstc2(), archive=True)
        written.corpus.write_bytes(written.corpus.read_bytes()[:-50])
        outcome = run("validate", "--format", "dstc2", "--corpus", written.corpus)
        assert_refused(outcome, "corpus.tar.gz", "cut off")

    def test_two_sessions_with_one_id(self, bench: Bench) -> None:
        files = small_dstc1()
        files.logs["calls/two"]["session-id"] = files.labels["calls/two"]["session-id"] = "one"
        written = write_dstc1(bench.root / "same", files)
        outcome = run("validate", "--format", "dstc1", "--corpus", written.corpus)
        assert_refused(outcome, "calls/two/", "session one")

    def test_a_line_of_the_list_that_is_no_path(self, bench: Bench) -> None:
        (bench.written["dstc1"].corpus / "config" / "train4.sessions").write_text("x" * 300 + "\n")
        assert_refused(bench.check("dstc1", bench.good("dstc1")), "xxx")

    @pytest.mark.parametrize(
        ("old", "new", "place"),
        [
            ('"turn-index": 1', '"turn-index": 2', "turn 1: the turn index is out of order"),
            ('"turn-index": 1', '"turn-index": true', "turn 1: 'turn-index' has the wrong kind"),
            ('"turn-index": 1, ', "", "turn 1: the turn lacks 'turn-index'"),
            ('"restart": false', '"restart": 0', "turn 1: 'restart' has the wrong kind"),
            ('"score": 0.6', '"score": NaN', "turn 0: 'input.live.slu-hyps[0].score'"),
            ('"score": 0.6', '"score": 1' + "0" * 400, "turn 0: 'input.live.slu-hyps[0].score'"),
            ('"act": "hello"', '"act": 7', "turn 0"),
            ('["route", "61d"]', '["route"]', "turn 0"),
            ('["route", "61d"]', '["route", true]', "turn 0"),
            ('["route", "61d"]', '["route", {"a": 1}]', "turn 0"),
            ('"session-id": "one"', '"session-id": 1', "'session-id' has the wrong kind"),
            ('"turns": [', '"turns": [], "x": [', "no turns"),
            ('"session-id"', '"x": {"a": 1, "a": 2}, "session-id"', "'a'"),
            ('"session-id"', '"x": [NaN], "session-id"', "x"),
        ],
    )
    def test_a_log_with_a_mistake(self, bench: Bench, old: str, new: str, place: str) -> None:
        path = bench.written["dstc1"].corpus / "calls" / "one" / "dstc.log.json"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        assert_refused(bench.check("dstc1", bench.good("dstc1")), "calls/one/dstc.log.json", place)

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (b"", "the file is empty"),
            (b'{"turns": [', "ends too early"),
            (b"\x1f\x8b\x08 no gzip", "gzip"),
            (b'{"turns": []}', "expected 2 turns, found 0"),
            (b'{"turn": []}', "lacks 'turns'"),
            (b'{"turns": [{"slu-labels": []}, {"slu-labels": 7}]}', "turn 1"),
            (b'{"turns": [{"slu-labels": []}, {"slu-labels": [{"slots": {}, "label": 1}]}]}', "turn 1"),
            ('{"turns": [], "name": "é"}'.encode("latin-1"), "byte 0xe9"),
        ],
    )
    def test_a_label_file_with_a_mistake(self, bench: Bench, content: bytes, place: str) -> None:
        path = bench.written["dstc1"].corpus / "calls" / "one" / "dstc.labels.json"
        path.write_bytes(content)
        outcome = bench.check("dstc1", bench.good("dstc1"))
        assert_refused(outcome, "calls/one/dstc.labels.json", place)

    def test_a_domain_file_with_a_mistake(self, bench: Bench) -> None:
        (bench.root / "own.toml").write_text('name = "x"\nslot = []\n')
        outcome = run(
            "validate",
            "--format",
            "dstc1",
            "--corpus",
            bench.written["dstc1"].corpus,
            "--domain",
            bench.root / "own.toml",
        )
        assert_refused(
            outcome, "own.toml: line 2, key slot: unknown; did you mean 'slots'?", "key predicates"
        )

    def test_an_unknown_domain(self, bench: Bench) -> None:
        outcome = run(
            "validate", "--format", "dstc1", "--corpus", bench.written["dstc1"].corpus, "--domain", "buss"
        )
        assert_refused(outcome, "did you mean 'bus'?")
