"""Tables of outcomes and scores: means by hand, and everything in them that does not fit."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from extrinsic.errors import InputError
from extrinsic.outcomes.system_tables import Outcome, Roles, noise_of_trials, read_outcomes, read_scores

SYSTEMS, DIALOGS = ("one", "two"), ("d0", "d1")
TURNS = {system: dict.fromkeys(DIALOGS, 2) for system in SYSTEMS}

WHOLE = Roles(("success",))
BY_DIALOG = Roles(("success",), dialog="dialog")
RATED = Roles(("success",), dialog="dialog", turn="turn", rater="rater", scale=(0.0, 1.0))
TRIALS = Roles(("success",), dialog="dialog", trial="trial")
JUDGED = Roles(("judge", "ece"), dialog="dialog")
BY_TURN = Roles(("judge",), dialog="dialog", turn="turn")

HEADS = {
    WHOLE: "system,success",
    BY_DIALOG: "system,dialog,success",
    RATED: "system,dialog,turn,rater,success",
    TRIALS: "system,dialog,trial,success",
    JUDGED: "system,dialog,judge,ece",
    BY_TURN: "system,dialog,turn,judge",
}
COMPLETE = {
    WHOLE: ["one,1", "two,0"],
    BY_DIALOG: [f"{s},{d},1" for s in SYSTEMS for d in DIALOGS],
    RATED: [f"{s},{d},{turn},anna,1" for s in SYSTEMS for d in DIALOGS for turn in range(2)],
    TRIALS: [f"{s},{d},{trial},1" for s in SYSTEMS for d in DIALOGS for trial in range(3)],
    JUDGED: [f"{s},{d},.5,.1" for s in SYSTEMS for d in DIALOGS],
    BY_TURN: [f"{s},{d},{turn},{turn}" for s in SYSTEMS for d in DIALOGS for turn in range(2)],
}


def write(folder: Path, columns: Roles, rows: list[str], head: str | None = None) -> str:
    path = folder / "table.csv"
    path.write_text("\n".join([HEADS[columns] if head is None else head, *rows]) + "\n")
    return str(path)


def outcomes(path: str, columns: Roles, **options: object) -> dict[tuple[str, str], Outcome]:
    read = read_outcomes(path, replace(columns, **options), SYSTEMS, {"states": DIALOGS})
    return {(outcome.system, outcome.name): outcome for outcome in read}


def test_an_outcome_of_a_system_has_no_influence(tmp_path: Path) -> None:
    outcome = outcomes(write(tmp_path, WHOLE, COMPLETE[WHOLE]), WHOLE)["one", "success"]
    assert (outcome.mean, outcome.influence.tolist()) == (1.0, [0.0, 0.0])


def test_ratings_are_means_of_raters_then_turns_then_dialogs(tmp_path: Path) -> None:
    rows = [*COMPLETE[RATED], "one,d0,0,ben,0"]
    outcome = outcomes(write(tmp_path, RATED, rows), RATED)["one", "success"]
    # d0: turn 0 has (1 + 0) / 2, turn 1 has 1; d1 has 1.
    assert outcome.mean == pytest.approx((0.75 + 1) / 2)
    assert outcome.influence == pytest.approx([-0.125 / 2, 0.125 / 2])


def test_trials(tmp_path: Path) -> None:
    rows = [row.replace("one,d0,1,1", "one,d0,1,0") for row in COMPLETE[TRIALS]]
    read = outcomes(write(tmp_path, TRIALS, rows), TRIALS, pass_k=(2,))
    assert read["one", "success"].mean == pytest.approx((2 / 3 + 1) / 2)
    assert read["one", "success.pass2"].mean == pytest.approx((comb(2, 2) / comb(3, 2) + 1) / 2)
    # The variance within d0 is 1/3, within d1 0; six trials in all.
    assert read["one", "success"].diagnostics["trial_noise"] == pytest.approx(np.sqrt(1 / 3 / 2 / 6))
    assert read["one", "success.pass2"].diagnostics == {}


def test_noise_of_trials() -> None:
    same = np.array([[1.0, 0.0, 1.0]] * 2)
    assert noise_of_trials(same) == {"trials": 2.0, "trial_noise": 0.0, "trial_disagreement": 0.0}
    chance = (np.random.default_rng(0).random((10, 2000)) < 0.5).astype(float)
    assert noise_of_trials(chance)["trial_disagreement"] == pytest.approx(1.0, abs=0.02)
    assert noise_of_trials(chance)["trial_noise"] == pytest.approx(0.5 / np.sqrt(20_000), rel=0.02)


def test_rows_of_others_may_be_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, BY_DIALOG, [*COMPLETE[BY_DIALOG], "three,d0,1", "one,d7,0"])
    assert outcomes(path, BY_DIALOG, unknown="ignore")["one", "success"].mean == 1.0


def test_scores_are_sums_and_counts(tmp_path: Path) -> None:
    (sums, counts) = read_scores(write(tmp_path, JUDGED, COMPLETE[JUDGED]), JUDGED, TURNS, DIALOGS)["one"]
    assert (sums.tolist(), counts.tolist()) == ([[0.5, 0.5], [0.1, 0.1]], [1.0, 1.0])
    path = write(tmp_path, BY_TURN, COMPLETE[BY_TURN][::-1])
    (sums, counts) = read_scores(path, BY_TURN, TURNS, DIALOGS)["two"]
    assert (sums.tolist(), counts.tolist()) == ([[1.0, 1.0]], [2.0, 2.0])


REFUSED: list[tuple[Roles, str | None, list[str], tuple[str, ...]]] = [
    (WHOLE, "system,succes", ["one,1"], ("no column 'success'", "did you mean 'succes'?")),
    (WHOLE, "a,b", ["one,1"], ("no column 'system'", "no column 'success'")),
    (WHOLE, "system,success,success", ["one,1,0"], ("2 columns are called 'success'",)),
    (WHOLE, None, [], ("no row of system 'one'", "no row of system 'two'")),
    (WHOLE, None, ["one,1", "twoo,1"], ("no row of system 'two' on states", "did you mean 'twoo'?")),
    (WHOLE, None, ["one,1", "two,1", "fiver,1"], ("line 4", "'fiver'", "not in the study")),
    (WHOLE, None, ["one,much", "two,nan"], ("line 2", "'much'", "line 3", "a finite number")),
    (WHOLE, None, ["one,", "two,inf"], ("line 2", "line 3", "a finite number")),
    (WHOLE, None, ["", "", "one,1_0", "two,1"], ("line 4", "no number")),
    (WHOLE, None, ["one,1e308", "two,-1e308"], ("line 2", "line 3", "no number")),
    (WHOLE, None, ["one," + "9" * 140_000], ("line 2",)),
    (WHOLE, None, ["one", "two,1"], ("line 2", "fewer cells")),
    (WHOLE, None, ["one,1,0", "two,1"], ("line 2", "more cells")),
    (WHOLE, None, [",1", "one,1", "two,1"], ("line 2", "no system")),
    (WHOLE, None, ["one,1", "two,1", "two,0"], ("line 4", "two has a second row", "outcomes.dialog")),
    (BY_DIALOG, None, COMPLETE[BY_DIALOG][:-1], ("session d1", "system 'two' has no outcome")),
    (BY_DIALOG, None, [*COMPLETE[BY_DIALOG], "one,d1,1"], ("line 6", "session d1", "second row")),
    (BY_DIALOG, None, [*COMPLETE[BY_DIALOG], "one,d4,1"], ("1 dialog is not in the study: 'd4'",)),
    (RATED, None, [*COMPLETE[RATED], "one,d0,0,anna,1"], ("line 10", "second row by 'anna'", "d0")),
    (RATED, None, [*COMPLETE[RATED], "one,d0,,anna,1"], ("some rows have a turn", "d0")),
    (RATED, None, [*COMPLETE[RATED], "one,d0,0,ben,5"], ("line 10", "off the scale", "0 to 1", "5")),
    (TRIALS, None, COMPLETE[TRIALS][:-1], ("another number of trials", "d1", "3 trials, found 2")),
]


REFUSED_SCORES: list[tuple[Roles, list[str], tuple[str, ...]]] = [
    (JUDGED, COMPLETE[JUDGED][:-1], ("'two' has no scores", "d1")),
    (JUDGED, [*COMPLETE[JUDGED], "five,d0,1,1"], ("line 6", "not in the study: 'five'")),
    (JUDGED, [*COMPLETE[JUDGED], "two,d9,1,1"], ("line 6", "not in the study: 'd9'")),
    (JUDGED, [*COMPLETE[JUDGED], "two,d0,1,1"], ("line 6", "second row")),
    (JUDGED, ["one,d0,,1", *COMPLETE[JUDGED][1:]], ("line 2", "judge is no number")),
    (JUDGED, ["one,d0,\uff11,1", *COMPLETE[JUDGED][1:]], ("line 2", "judge is no number")),
    (BY_TURN, COMPLETE[BY_TURN][:-1], ("'two' has no scores", "session d1, turn 1")),
    (BY_TURN, [*COMPLETE[BY_TURN], "two,d1,2,1"], ("no such turn", "expected 0 to 1, found '2'")),
]


@pytest.mark.parametrize(
    ("columns", "head", "rows", "said"),
    [*REFUSED, *((columns, None, rows, said) for columns, rows, said in REFUSED_SCORES)],
)
def test_tables_that_do_not_fit(
    tmp_path: Path, columns: Roles, head: str | None, rows: list[str], said: tuple[str, ...]
) -> None:
    path = write(tmp_path, columns, rows, head)
    with pytest.raises(InputError) as caught:
        if columns in (JUDGED, BY_TURN):
            read_scores(path, columns, TURNS, DIALOGS)
        else:
            outcomes(path, columns)
    for part in ("table.csv", *said):
        assert part in str(caught.value)


def test_what_columns_and_trials_cannot_be(tmp_path: Path) -> None:
    path = write(tmp_path, RATED, COMPLETE[RATED])
    with pytest.raises(InputError, match=r'outcomes\.dialog = "\.\.\."'):
        outcomes(path, Roles(("success",), rater="rater"))
    for rows, k, said in ((COMPLETE[TRIALS], 4, "at least 4"), ([*COMPLETE[BY_DIALOG]], 1, "0 or 1")):
        columns = TRIALS if rows is COMPLETE[TRIALS] else BY_DIALOG
        halves = [row.removesuffix("1") + ".5" if k == 1 else row for row in rows]
        with pytest.raises(InputError, match=f"pass_k.*{said}"):
            outcomes(write(tmp_path, columns, halves), columns, pass_k=(k,))
