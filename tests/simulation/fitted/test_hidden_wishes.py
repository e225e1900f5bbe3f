"""Wishes that were never heard, against a closed form."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Bools, Ints
from extrinsic.simulation.fitted.hidden_wishes import wish_if_asked, wish_probabilities


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
