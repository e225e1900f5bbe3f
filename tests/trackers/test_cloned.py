"""Clones of trackers that exist only as files: how close they come, and that it shows when they do not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.hypotheses import no_hypotheses
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import Tracking, turns_in_step
from extrinsic.errors import UsageError
from extrinsic.trackers.cloned import Clone, clone_agreement, clone_tracker
from extrinsic.trackers.track import track
from tests.builders import act, heard
from tests.real_data import ARCHIVE, FOLDER, needs_data
from tests.trackers.calls import noisy_calls, perfect_calls, ready, restaurant_calls


def calls(n_dialogs: int = 150, seed: int = 20) -> Corpus:
    return noisy_calls(n_dialogs, n_turns=6, seed=seed)


def file_of(name: str, corpus: Corpus) -> TrackerOutput:
    return track(ready(name), corpus, name)


def clone_of(name: str, corpus: Corpus) -> Clone:
    return clone_tracker([(corpus, file_of(name, corpus))])


def columns_of(output: TrackerOutput) -> bytes:
    return b"".join(
        column.tobytes() for column in (output.given.offsets, output.given.value, output.given.score)
    )


@pytest.mark.parametrize(
    ("name", "same_best"),
    [
        ("hwu", 0.99),
        ("focus", 0.99),
        ("rank_only", 0.99),
        ("vote", 0.99),
        ("baseline", 0.97),
        ("logistic", 0.97),
        # No rule gives the scores of these.
        ("dempster_shafer", 0.95),
        ("bayes_low", 0.95),
        ("window", 0.95),
    ],
)
def test_a_clone_agrees_on_dialogs_that_nobody_showed_it(name: str, same_best: float) -> None:
    """As many dialogs as a training log of Lee 2014 has: from half of them, a rare switch is not learned."""
    corpus, unseen = calls(300, seed=22), replace_sessions(calls(80, seed=21))
    clone = clone_of(name, corpus)
    cross_fitted = clone_agreement(clone, corpus, file_of(name, corpus))
    agreement = clone_agreement(clone, unseen, file_of(name, unseen))
    assert agreement.n > 500
    assert min(agreement.same_best, cross_fitted.same_best) >= same_best
    assert min(agreement.correlation, cross_fitted.correlation) > 0.9
    assert agreement.fits
    assert cross_fitted.fits


def replace_sessions(corpus: Corpus) -> Corpus:
    """The same dialogs under names that taught no clone."""
    return replace(corpus, sessions=tuple(f"unseen-{session}" for session in corpus.sessions))


def test_no_model_is_checked_on_a_dialog_that_taught_it() -> None:
    """Other scores of a dialog change what is believed about the other part, never what is about its own."""
    corpus = calls(40)
    output = file_of("accumulate", corpus)
    own = np.repeat(np.isin(np.arange(40), [4]), np.diff(output.given.offsets[corpus.offsets * 9]))
    changed = build_output(
        corpus,
        "changed",
        replace(output.given, score=np.where(own, 0.9 - output.given.score, output.given.score)),
    )[0]
    clones = [clone_tracker([(corpus, file)]) for file in (output, changed)]
    part = clones[0].fold[corpus.sessions[4]]
    believed = [
        columns_of(track(replace(clone, model=model), corpus, "clone"))
        for clone in clones
        for model in (clone.held_out[part], clone.held_out[1 - part])
    ]
    assert believed[0] == believed[2]
    assert believed[1] != believed[3]


def test_scores_by_chance_do_not_fit() -> None:
    corpus = calls()
    given = file_of("focus", corpus).given
    chance = np.random.default_rng(0).dirichlet(np.ones(6), size=len(given.score))[:, 0]
    output = build_output(corpus, "chance", replace(given, score=chance))[0]
    agreement = clone_agreement(clone_tracker([(corpus, output)]), corpus, output)
    assert not agreement.fits
    assert agreement.same_best < 0.9


def test_a_file_of_joint_hypotheses_only() -> None:
    corpus = calls(100)
    joint = file_of("hwu", corpus).given_joint
    output = build_output(corpus, "joint", no_hypotheses(corpus.n_turns * len(corpus.slots)), joint)[0]
    assert output.turns_with_joint_only.any()
    agreement = clone_agreement(clone_tracker([(corpus, output)]), corpus, output)
    assert agreement.n > 500
    assert agreement.same_best > 0.9


@needs_data
def test_a_published_file_of_joint_hypotheses() -> None:
    corpus = DSTC2.read_corpus(ARCHIVE, "dstc2_dev")
    output = DSTC2.read_tracker(FOLDER / "dstc2" / "trackers" / "yarbus_24.dev.json.gz", corpus)
    agreement = clone_agreement(clone_tracker([(corpus, output)]), corpus, output)
    assert agreement.fits
    assert agreement.same_best > 0.97


def test_an_output_without_scores() -> None:
    """The clone believes nothing, either."""
    corpus = calls(20)
    output = build_output(corpus, "silent", no_hypotheses(corpus.n_turns * len(corpus.slots)))[0]
    clone = clone_tracker([(corpus, output)])
    assert not len(track(clone, corpus, "clone").given.score)
    agreement = clone_agreement(clone, corpus, output)
    assert (agreement.n, agreement.same_best, agreement.fits) == (0, 1.0, True)
    assert math.isnan(agreement.correlation)


def test_scores_that_change_while_nothing_is_said() -> None:
    corpus = calls(60)
    assert clone_of("hwu", corpus).keeps
    forgetful = clone_of("last_turn", corpus)
    assert not forgetful.keeps
    assert clone_agreement(forgetful, corpus, file_of("last_turn", corpus)).same_best > 0.99


@pytest.mark.parametrize("name", ["bayes_low", "logistic"])
def test_equal_bytes_whatever_the_order_and_company_of_dialogs(name: str) -> None:
    corpus, other = calls(50), perfect_calls(10)
    order = np.random.default_rng(0).permutation(50)
    once = clone_tracker([(corpus, file_of(name, corpus)), (other, file_of(name, other))])
    shuffled = corpus.take(order)
    again = clone_tracker([(shuffled, file_of(name, shuffled)), (other, file_of(name, other))])
    believed = track(once, corpus, "clone")
    assert columns_of(believed) == columns_of(track(again, corpus, "clone"))
    for dialog in (0, 27, 49):
        alone = track(once, corpus.take([dialog]), "clone")
        assert columns_of(alone) == columns_of(believed.take([dialog]))


def test_scores_are_sane_and_arguments_are_left_alone() -> None:
    corpus = calls(30)
    clone = clone_of("bayes_high", corpus)

    class Guard:
        planes = clone.planes

        def update(self, memory, heard):  # type: ignore[no-untyped-def]
            memory.flags.writeable = False
            return clone.update(memory, heard)

        def belief(self, memory, heard):  # type: ignore[no-untyped-def]
            belief = clone.belief(memory, heard)
            assert (belief[~heard.is_candidate] == 0.0).all()
            assert (belief >= 0.0).all()
            assert (belief.sum(axis=-1) <= 1.0 + 1e-9).all()
            return belief

    tracking = Tracking(Guard(), corpus.n_dialogs, len(corpus.slots))
    for active, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        tracking.step(active, corpus.evidence.take(turns))


def test_bad_input() -> None:
    corpus = calls(20)
    output = file_of("hwu", corpus)
    with pytest.raises(UsageError, match="needs examples"):
        clone_tracker([])
    with pytest.raises(UsageError, match="not about the dialogs"):
        clone_tracker([(corpus.take(list(range(10))), output)])
    with pytest.raises(UsageError, match="not about the dialogs"):
        clone_agreement(clone_tracker([(corpus, output)]), corpus.take([0]), output)
    single = corpus.take([0])
    with pytest.raises(UsageError, match="more dialogs"):
        clone_tracker([(single, file_of("hwu", single))])
    silence = [([act("welcomemsg")], [heard(1.0, act("null"))])]
    silent = restaurant_calls(silence, silence, silence)
    with pytest.raises(UsageError, match="too little to clone from"):
        clone_tracker([(silent, file_of("hwu", silent))])
