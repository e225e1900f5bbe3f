"""The verdict: what it says follows from choices.csv, and that from the panel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.panel import Dataset, MetricKey, Note, Panel, System, Target
from extrinsic.verdict.choice_table import Declaration, choice_rows, declared_metrics, undeclared
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.findings import findings, judged, panel_findings
from extrinsic.verdict.names import in_unit
from extrinsic.verdict.rows import ChoiceRow
from extrinsic.verdict.verdict import StudyVerdict, compromise, study_verdict
from tests.verdict.panels import made_panel

GOOD, FAIR, POOR = 0.05, 0.6, 4.0
"""How far the scores of a metric are from the truth, in standard deviations of the systems."""

JOINT = [
    MetricKey("accuracy", 1, "joint"),
    MetricKey("l2", 1, "joint", None, False),
    MetricKey("avgp", 3, "joint"),
    MetricKey("avgp", 1, "joint"),
    MetricKey("accuracy", 1, "food"),
]


def truth(n: int, *more: int) -> Floats:
    return np.random.default_rng(5).normal(size=(*more, n))


def measured(values: Floats, noise: Sequence[float], keys: Sequence[MetricKey] = JOINT) -> Floats:
    """(M, D, S) scores as printed, each so far from the values (D, S)."""
    rng = np.random.default_rng(6)
    signs = [-1.0 if key.higher_is_better is False else 1.0 for key in keys]
    return np.stack(
        [s * (values + e * rng.normal(size=values.shape)) for s, e in zip(signs, noise, strict=True)]
    )


def study(
    n: int = 30,
    noise: Sequence[float] = (FAIR, GOOD, GOOD, POOR, GOOD),
    names: Sequence[str] = ("rl.live",),
    systems: Sequence[System | str] = (),
    values: Floats | None = None,
    notes: Sequence[Note] = (),
) -> Panel:
    values = 10.0 * truth(n, 1) if values is None else values
    targets = [
        Target(name, items="none", primary=not k, rank=k, unit="share" if "completed" in name else "points")
        for k, name in enumerate(names)
    ]
    every = np.stack([values / (100.0 if "completed" in name else 1.0) for name in names])
    systems = systems or [f"t{i}" for i in range(n)]
    return made_panel(
        systems, targets, metrics=JOINT, scores=measured(values, noise), values=every, notes=notes
    )


def judge(panel: Panel, **declared: object) -> tuple[StudyVerdict, list[ChoiceRow]]:
    trackers = core_rows(msgspec_free(panel), 0.98)
    core = [row.tracker for row in trackers if row.core]
    rows = list(choice_rows(panel, core, msgspec.convert(declared, Declaration)))
    return study_verdict(panel, trackers, rows), rows


def recommended(panel: Panel, **declared: object) -> tuple[str, int, str]:
    """The metric that the first verdict recommends."""
    choice = judge(panel, **declared)[0].verdicts[0].recommended
    assert choice is not None
    return choice.name


def msgspec_free(panel: Panel) -> Panel:
    """With agreement that makes no near-duplicates."""
    object.__setattr__(panel, "agreement", np.where(np.eye(len(panel.systems)) > 0, 1.0, 0.5))
    return panel


def test_the_sentence_has_the_numbers_of_the_table() -> None:
    made, rows = judge(study())
    (verdict,) = made.verdicts
    core = {(row.metric, row.schedule, row.component): row for row in rows if row.systems == "core"}
    row = core["l2", 1, "joint"]
    assert (row.group, row.family, verdict.recommended and verdict.recommended.name) == (
        "recommended",
        "declared",
        ("l2", 1, "joint"),
    )
    assert row.lost is not None and row.possible is not None and row.bound is not None
    assert row.lost < row.bound < row.possible
    assert verdict.sentence.startswith(
        f"Choose by L2, joint goal, every turn: in this study a choice between two trackers loses "
        f"{row.lost:.1f} of the {row.possible:.1f} points that a coin loses; for other trackers of this kind "
        f"at most {in_unit(row.bound, 'points')} (95 %, 3 metrics)."
    )
    # One target: no need to name it.
    assert str(made) == verdict.sentence
    # AvgP at the last turn does as well, and was not declared.
    assert core["avgp", 3, "joint"].family == "exploratory"
    assert [choice.family for choice in verdict.choices] == ["declared"] * 3
    bounds = [np.inf if choice.bound is None else choice.bound for choice in verdict.choices]
    assert bounds == sorted(bounds)


def test_what_is_declared_decides() -> None:
    declared = {"metrics": ("accuracy", "avgp joint 3")}
    assert judge(study(), **declared)[0].verdicts[0].n_declared == 2
    assert recommended(study(), **declared) == ("avgp", 3, "joint")
    alike = study(noise=(GOOD, GOOD, GOOD, GOOD, GOOD))
    assert recommended(alike, prefer=("accuracy",), margin=0.3)[0] == "accuracy"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (("accuracy",), [0]),
        (("accuracy food",), [4]),
        (("avgp",), [3]),
        (("avgp joint 3", "l2"), [2, 1]),
        (("avgp 3",), [2]),
        (("jga",), []),
        ((), [0, 1, 3]),
    ],
)
def test_how_metrics_are_declared(wanted: tuple[str, ...], found: list[int]) -> None:
    assert declared_metrics(JOINT, wanted) == found
    assert undeclared(JOINT, ("accuracy", "jga")) == ["jga"]


def test_fill_rules_and_options_of_declared_metrics() -> None:
    keys = [
        MetricKey("fga(literal, fill=argmax)", 1, "state"),
        MetricKey("fga(0.5, fill=argmax)", 1, "state"),
        MetricKey("fga(0.5, fill=threshold)", 1, "state"),
        MetricKey("jga(fill=threshold)", 1, "state"),
    ]
    assert declared_metrics(keys, ("fga(0.5)", "jga")) == [1, 3]
    assert declared_metrics(keys, ("fga(0.5, fill=threshold)",)) == [2]
    # A study with none of the usual metrics declares all it has.
    assert declared_metrics([MetricKey("own(bleu)", 1, "state")], ()) == [0]


def test_few_trackers_get_no_promise_and_a_metric_all_the_same() -> None:
    made, rows = judge(study(5))
    (verdict,) = made.verdicts
    assert verdict.recommended is not None and not verdict.promises
    assert verdict.sentence.startswith("Nothing can be promised for other trackers (")
    assert "points that a coin loses" in verdict.sentence
    assert all(row.bound is None and row.reason for row in rows)
    assert made.health[0].kind == "few_trackers"


BAD_INPUT = {
    "one tracker": ": 1 system is too few: at least 6 are needed.",
    "no trackers": "0 systems are too few",
    "equal returns": "all systems have the same value, or no declared metric tells them apart",
    "no scores": "0 systems are too few",
    "constant metric": "Choose by L2",
    "missing values": "Choose by",
    "other trackers on each dataset": "Choose by L2",
    "a dataset without scores": "Choose by L2",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("change", "said"), BAD_INPUT.items(), ids=list(BAD_INPUT))
def test_bad_input_gets_a_sentence_and_no_nan(change: str, said: str) -> None:
    """A sentence that says what is missing, or a verdict by what is there."""
    n = {"one tracker": 1, "no trackers": 0}.get(change, 24)
    panel = study(n)
    if "dataset" in change:
        values = 10.0 * truth(n, 2)
        scores = measured(values, (FAIR, GOOD, GOOD, POOR, GOOD))
        panel = made_panel(panel.names, panel.targets, ("a", "b"), JOINT, scores, values[None])
    if change == "constant metric":
        panel.scores[0] = 0.3
    if change == "equal returns":
        panel.values[:] = 2.0
    if change == "missing values":
        panel.values[0, 0, :3] = np.nan
        panel.scores[1, 0, 5:] = np.nan
    if change == "no scores":
        panel.scores[:] = np.nan
    if change == "a dataset without scores":
        panel.scores[:, 1] = np.nan
    if change == "other trackers on each dataset":
        for part in (panel.scores, panel.values):
            part[:, 0, :12] = part[:, 1, 12:] = np.nan
    made, rows = judge(panel)
    text = str(made)
    assert said in text and "nan" not in text and "None" not in text
    assert all(row.bound is not None or row.reason for row in rows)


def test_a_preferred_metric_will_do() -> None:
    """Among those that are as good; one that is not is not recommended."""
    panel = study(60, noise=(GOOD, GOOD / 2, GOOD, POOR, GOOD))
    assert recommended(panel)[0] == "l2"
    assert recommended(panel, prefer=("avgp", "accuracy"))[0] == "accuracy"
    preferring = judge(panel, prefer=("avgp", "accuracy"))[0].verdicts[0]
    assert preferring.sentence.startswith("Accuracy, joint goal, every turn will do: in this study a choice")
    assert preferring.sentence.endswith("As good: L2.")


def test_a_setting_tried_for_comparison_has_no_verdict() -> None:
    panel = study(names=("rl.live", "rl.gain"))
    first, second = panel.targets
    other = {"name": "rl.live", "variant": "ridge=10", "primary": True, "rank": 0, "is_correlated": False}
    panel = replace(panel, targets=(first, msgspec.structs.replace(second, **other)))
    assert {row.variant for row in choice_rows(panel, panel.names, Declaration(draws=50))} == {None}


def test_only_the_core_counts() -> None:
    systems = [*(f"t{i}" for i in range(29)), System("odd", flags=("degenerate",))]
    panel = study(30, systems=systems)
    # The one that is left out would turn every metric round.
    panel.values[0, 0, -1] = 1e4
    made, rows = judge(panel)
    assert made.verdicts[0].n_systems == 29
    assert {row.n for row in rows} == {29, 30}
    assert recommended(panel)[0] == "l2"
    assert [note.kind for note in made.health] == ["degenerate"]


def test_single_slots_of_a_joint_only_tracker_decide_nothing() -> None:
    systems = [*(f"t{i}" for i in range(29)), System("yarbus", flags=("joint_only",))]
    made, rows = judge(study(30, systems=systems), metrics=("accuracy food", "l2"))
    assert [choice.metric for choice in made.verdicts[0].choices] == ["l2"]
    single = [row for row in rows if row.component == "food"]
    assert all(row.bound is None and "joint hypotheses" in (row.reason or "") for row in single)


def test_one_metric_for_all() -> None:
    """The smallest of the largest bounds; of points and shares, as part of what a coin loses."""
    made, _ = judge(study(names=("rl.live", "expert.live")))
    assert made.compromise is not None
    one, other = ({choice.name: choice.bound or np.inf for choice in each.choices} for each in made.verdicts)
    assert made.compromise.most == min(max(bound, other[name]) for name, bound in one.items())
    assert made.sentences[-1] == made.compromise.sentence
    assert made.sentences[0].startswith("For the learned policy's return (rl.live): Choose by")
    mixed, _ = judge(study(names=("rl.live", "rl.completed")))
    assert mixed.compromise is not None and "% of what a coin loses" in mixed.compromise.sentence
    assert "percentage points" in mixed.sentences[1]
    nothing = study_verdict(made_panel([], []), [], [])
    assert (nothing.verdicts, nothing.sentences, nothing.compromise) == ((), [], None)
    silent = msgspec.structs.replace(made.verdicts[1], choices=())
    assert compromise([made.verdicts[0], silent]) is None
    assert compromise(made.verdicts[:1]) is None
    # What is recommended for all of them, a preferred metric say, is the one.
    last = made.verdicts[0].choices[-1].name
    agreed = [
        msgspec.structs.replace(each, recommended=next(row for row in each.choices if row.name == last))
        for each in made.verdicts
    ]
    shared = compromise(agreed)
    assert shared is not None and shared.title == last.title() != made.compromise.title


def test_flags_of_its_own_target_stand_beside_it() -> None:
    notes = [Note(0, 0, 3, ("q_range",)), Note(1, 0, 4, ("infeasible",))]
    made, _ = judge(study(names=("rl.live", "expert.live"), notes=notes))
    (flag,) = made.verdicts[0].flags
    assert (flag.flag, flag.n, flag.total) == ("q_range", 1, 30)
    assert made.health[0].text.startswith("q_range on 1 of 30 values of the learned policy's return: Q is")
    assert made.health[0].trackers == ("t3",)


def test_what_the_log_says_beside_it() -> None:
    panel = study(names=("rl.live", "behaviour.observed"))
    panel.values[1] = panel.values[0] ** 3
    assert judge(panel)[0].verdicts[0].log_share == pytest.approx(1.0)


def test_families_are_counted() -> None:
    systems = [System(f"t{i}", family=f"model {i // 3}") for i in range(30)]
    verdict = judge(study(30, systems=systems))[0].verdicts[0]
    assert (verdict.n_systems, verdict.n_families) == (30, 10)


def test_sampled_datasets_are_samples() -> None:
    """Generators: the same scores on each; the bound is not smaller than for datasets taken as given."""
    values = 10.0 * truth(30) + 3.0 * np.random.default_rng(8).normal(size=(4, 30))
    scores = measured(values.mean(axis=0, keepdims=True), (FAIR, GOOD, GOOD, POOR, GOOD)).repeat(4, axis=1)
    target = Target("outcome.success", items="none", primary=True, unit="share")
    bounds = []
    for sampled in (False, True):
        datasets = [Dataset(f"g{i}", sampled=sampled) for i in range(4)]
        panel = made_panel([f"t{i}" for i in range(30)], [target], datasets, JOINT, scores, values[None])
        chosen = judge(panel)[0].verdicts[0].recommended
        assert chosen is not None and chosen.bound is not None
        bounds.append(chosen.bound)
    assert bounds[1] >= bounds[0]


LEE = [
    MetricKey(metric, schedule, "joint", None, not metric.startswith("l2"))
    for metric in ("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v2_ca05")
    for schedule in (1, 2, 3)
]


def lee(noise: dict[str, float], second: float = 0.0, n: int = 40) -> list[tuple[str, str]]:
    values = truth(n, 2)
    far = [noise[key.metric] + (second if key.schedule == 2 else 0.0) for key in LEE]
    signs = np.array([-1.0 if key.higher_is_better is False else 1.0 for key in LEE])
    scores = measured(values, far, LEE) * signs[:, None, None]
    return [(each.claim, each.verdict) for each in findings(LEE, scores, values, "points", "made", 1)]


def test_lee_s_findings_where_they_are_true() -> None:
    noise = {"accuracy": 2.0, "l2": GOOD, "l2.lee": POOR, "avgp": GOOD, "mrr": 2.0, "roc.v2_ca05": 20.0}
    assert lee(noise, second=2.0) == [
        ("Metrics of score quality (AvgP, the challenge's L2) come first", "holds"),
        ("Metrics of score quality (AvgP, Lee's own L2) come first", "holds"),
        ("Schedule 2 predicts less than schedules 1 and 3", "holds"),
        ("ROC.V2 hardly predicts", "holds"),
    ]


def test_lee_s_findings_where_they_are_not() -> None:
    noise = {"accuracy": GOOD, "l2": 2.0, "l2.lee": 2.0, "avgp": 2.0, "mrr": GOOD, "roc.v2_ca05": GOOD}
    judgements = dict(lee(noise))
    del judgements["Schedule 2 predicts less than schedules 1 and 3"]
    assert list(judgements.values()) == ["does not hold"] * 3
    # Metrics that are alike are not told apart, whichever happens to come first.
    assert [verdict for _, verdict in lee(dict.fromkeys(noise, 1.0))][:3] == ["not resolved"] * 3


def test_equal_groups_are_seldom_told_apart() -> None:
    """The best of each group is chosen after the data; a basic bootstrap tells several of these apart."""
    keys = [key for key in LEE if key.metric != "roc.v2_ca05"]
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(2, 17))
        errors = {key.metric: 0.6 * rng.normal(size=17) for key in keys}
        scores = np.stack([values + errors[key.metric] + 0.1 * rng.normal(size=(2, 17)) for key in keys])
        found += [each.verdict for each in findings(keys, scores, values, "points", "made", seed)[:2]]
    assert len(found) == 60 and found.count("not resolved") >= 57


def test_findings_need_systems_and_lee_s_metrics() -> None:
    assert lee(dict.fromkeys(("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v2_ca05"), 1.0), n=5) == []
    panel = study()
    (only,) = panel_findings(panel, panel.names, 0, 1)[:1]
    assert re.search(r"loses \d", only.numbers)
    found = [judged(*ends) for ends in ((0.1, 1), (-1, -0.1), (-1, 1))]
    assert found == ["holds", "does not hold", "not resolved"]
