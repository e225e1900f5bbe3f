"""Who is in which part depends on who they are, never on their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.corpus import fold_of_sessions
from extrinsic.errors import UsageError

SESSIONS = tuple(f"call-{number}" for number in range(23))


def test_sizes_differ_by_at_most_one_and_the_seed_decides() -> None:
    folds = fold_of_sessions(SESSIONS, 5).tolist()
    assert [folds.count(fold) for fold in range(5)] == [5, 5, 5, 4, 4]
    one, again, other = (fold_of_sessions(SESSIONS, 2, seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


@given(st.permutations(range(len(SESSIONS))), st.integers(0, 3))
def test_the_order_of_sessions_does_not(order: list[int], seed: int) -> None:
    shuffled = [SESSIONS[place] for place in order]
    folds = fold_of_sessions(SESSIONS, 4, seed)
    assert fold_of_sessions(shuffled, 4, seed).tolist() == folds[order].tolist()


@pytest.mark.parametrize(
    ("n_sessions", "n_folds", "said"),
    [
        *[(3, n_folds, "between 2 and the number of dialogs .* 2 to 3") for n_folds in (4, 1, 0, -1)],
        *[(n_sessions, 5, rf"at least two, .* \(found {n_sessions}\)") for n_sessions in (0, 1)],
    ],
)
def test_an_impossible_number_of_folds_is_refused(n_sessions: int, n_folds: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        fold_of_sessions(SESSIONS[:n_sessions], n_folds)
