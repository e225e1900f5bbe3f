"""Wishes that were never heard, against a closed form."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Bools, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.hidden_wishes import (
    untold_wishes,
    wish_if_asked,
    wish_probabilities,
    wish_untold,
)


def calls() -> tuple[Ints, Ints, Bools, Bools, Bools]:
    """1,000 callers of whom 600 want the concept and answer every second question for it; two are asked.

    300 answer the first question, 150 of the other 700 the second; of the 550 silent ones 150 want it.
    """
    at_first, at_second = np.arange(1000) < 300, (np.arange(1000) >= 300) & (np.arange(1000) < 450)
    dialog = np.concatenate([np.arange(1000), np.flatnonzero(~at_first)])
    order = np.argsort(dialog, kind="stable")
    mentioned = np.concatenate([at_first, at_second[~at_first]])
    told = np.zeros((len(dialog), 1), dtype=bool)
    wanted = (at_first | at_second)[:, None]
    return dialog[order], np.zeros(len(dialog), dtype=np.int64), told, mentioned[order][:, None], wanted


def test_silent_callers_want_it_as_often_as_bayes_says() -> None:
    dialog, asked, told, mentioned, wanted = calls()
    probability = wish_probabilities(1000, dialog, asked, told, mentioned, wanted)
    assert probability[:450, 0] == pytest.approx(1.0)
    assert probability[450:, 0] == pytest.approx(150 / 550)


def test_with_too_few_second_questions_silence_says_nothing() -> None:
    dialog, asked, told, mentioned, wanted = calls()
    first = np.unique(dialog, return_index=True)[1]
    wanted = wanted & (np.arange(1000) < 300)[:, None]
    once = (column[first] for column in (dialog, asked, told, mentioned))
    probability = wish_probabilities(1000, *once, wanted)
    assert probability[300:, 0] == pytest.approx(0.3)


def test_who_was_never_asked_may_want_it_when_asked() -> None:
    dialog, asked = np.arange(10), np.zeros(10, dtype=np.int64)
    wanted = (np.arange(20) < 4)[:, None]
    told = np.zeros((10, 1), dtype=bool)
    if_asked = wish_if_asked(20, dialog, asked, told, wanted.astype(np.float64))
    assert if_asked[:10, 0] == pytest.approx(0.0)
    assert if_asked[10:, 0] == pytest.approx(0.4)


def test_wishes_that_calls_were_too_short_for_are_found_in_a_simulation() -> None:
    """40 % want it and tell it with probability .2 at a turn; calls end with probability .15 after each."""
    rng = np.random.default_rng(5)
    wants = rng.random(20_000) < 0.4
    tells_at = np.where(wants, rng.geometric(0.2, 20_000) - 1, 10_000)
    n_turns = rng.geometric(0.15, 20_000)
    tells = tells_at < n_turns
    probability = wish_untold(np.minimum(tells_at, n_turns), tells)
    assert tells.mean() < 0.27
    assert probability.mean() == pytest.approx(0.4, abs=0.02)
    for silent_for in (1, 3):
        alike = ~tells & (n_turns == silent_for)
        assert probability[alike].mean() == pytest.approx(wants[alike].mean(), abs=0.04)


def test_only_what_is_never_asked_for_is_drawn_and_never_for_who_told_it() -> None:
    rng = np.random.default_rng(6)
    offsets = np.arange(0, 3001, 3)
    mentioned = np.repeat(rng.random((1000, 2)) < 0.1, 3, axis=0) & (rng.random((3000, 2)) < 0.5)
    wishes = untold_wishes(offsets, mentioned, np.array([True, False]), Chance.of(1000, "test"))
    told = np.logical_or.reduceat(mentioned, offsets[:-1], axis=0)
    assert not wishes[:, 1].any() and not (wishes & told).any()
