"""Conventions: how the files of a format are ranked, tracked and scored, as an object of every corpus.

A custom format has its own, often those of a challenge with some fields replaced:

    MINE = dataclasses.replace(DSTC2, name="mine", rank=my_ranking_rule, metrics=("accuracy", "l2"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Literal, get_args

from extrinsic.arrays import Ids
from extrinsic.corpus.hypotheses import (
    Hypotheses,
    JointHypotheses,
    RankingRule,
    confident_assignment,
    likeliest_assignments,
    rank_dstc1,
    rank_dstc2,
)
from extrinsic.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from extrinsic.corpus.corpus import Corpus
    from extrinsic.corpus.tracker_output import TrackerOutput

RocPoints = Literal["even_thresholds", "distinct_scores"]
"""Where the operating points of a ROC curve lie.

even_thresholds: at thresholds evenly spaced between the lowest and the highest score, where items of equal
score are accepted together.   distinct_scores: at the first item of each run of equal scores, in the order
of the corpus, and one point that accepts all.
"""

BuildItems = Callable[["Corpus", "TrackerOutput"], Sequence[Any]]
"""(corpus, tracker output) -> ItemTables (extrinsic.metrics.belief_items), one for each label scheme."""

GoldStates = Callable[["Corpus", Ids, str | None], Ids]
"""(corpus, predicted, label scheme) -> (n_turns, n_slots) what the predicted states should have been."""

MakeJoint = Callable[[Hypotheses, int, str], JointHypotheses | None]
"""(hypotheses of slots, n_slots, the rule that the tracker follows) -> joint lists, None for none."""


@dataclass(frozen=True, kw_only=True)
class ScoreConventions:
    """Which scores are computed by default; sufficient for files of state sets.

    name:          the name in signatures and messages.
    metrics:       printed forms of the metrics computed by default.
    schedules:     the numbers of the available schedules; all are computed by default.
    label_schemes: the names of the available ones, the default first; (None,) for a single unnamed one.
    components:    those that a study correlates by default; empty for all components of the items.
    shown_components: those that a printed table shows by default.
    """

    name: str
    metrics: tuple[str, ...]
    schedules: tuple[int, ...]
    label_schemes: tuple[str | None, ...] = (None,)
    components: tuple[str, ...] = ()
    shown_components: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("metrics", "schedules", "label_schemes"):
            if not getattr(self, part):
                raise UsageError(f"the conventions {self.name!r} have no {part}", expected="at least one")


@dataclass(frozen=True, kw_only=True)
class Conventions(ScoreConventions):
    """The conventions of a corpus of calls that belief trackers run on.

    rank:          turns the hypotheses as written into a ranked belief that includes None.
    build_items:   builds the items that belief metrics are computed on.
    gold_states:   the right states, for state metrics on filled beliefs.
    roc_points:    where the points of a ROC curve lie.
    make_joint:    joint lists for a tracker that only has hypotheses of single slots.
    tracks_requests: whether trackers also track the caller's requests and the method.
    negative_score: how the ranking treats a score below 0, as in "a negative score, which counts as 0".
    """

    rank: RankingRule
    build_items: BuildItems
    gold_states: GoldStates
    roc_points: RocPoints
    make_joint: MakeJoint
    tracks_requests: bool
    negative_score: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.roc_points not in get_args(RocPoints):
            raise UsageError(
                f"the conventions {self.name!r} have unknown roc_points {self.roc_points!r}; "
                f"{did_you_mean(str(self.roc_points), get_args(RocPoints))}"
            )


@dataclass(frozen=True)
class FunctionByName:
    """A function of a higher layer by its `module:name`, imported when it is called."""

    target: str

    def __call__(self, *arguments: Any) -> Any:
        return EntryPoint(self.target, self.target, "extrinsic").load()(*arguments)


def likeliest_joint(hypotheses: Hypotheses, n_slots: int, rule: str) -> JointHypotheses:
    """Joint lists for any tracker: DSTC1's scorer makes none itself."""
    return likeliest_assignments(hypotheses, n_slots)


def baseline_joint(hypotheses: Hypotheses, n_slots: int, rule: str) -> JointHypotheses | None:
    """Joint lists for the baseline only: of the second challenge's own trackers no other writes them."""
    return confident_assignment(hypotheses, n_slots) if rule == "baseline" else None


_ROC = (
    "roc.v1_eer",
    "roc.v1_eer_lee",
    "roc.v1_ca05",
    "roc.v1_ca10",
    "roc.v1_ca20",
    "roc.v2_ca05",
    "roc.v2_ca10",
    "roc.v2_ca20",
)

DSTC1 = Conventions(
    name="dstc1",
    metrics=("accuracy", "l2", "l2.lee", "brier", "avgp", "mrr", "nonempty", "hypothesis_count", *_ROC),
    schedules=(1, 2, 3),
    components=("joint", "all"),
    shown_components=("joint", "all"),
    rank=rank_dstc1,
    build_items=FunctionByName("extrinsic.metrics.dstc1_items:build_tables"),
    gold_states=FunctionByName("extrinsic.metrics.dstc1_items:gold_states"),
    roc_points="even_thresholds",
    make_joint=likeliest_joint,
    tracks_requests=False,
    negative_score="counts as 0",
)

# Not `brier`: the challenge's own L2 has no root and is the Brier score.
DSTC2 = Conventions(
    name="dstc2",
    metrics=(
        "accuracy",
        "l2",
        "l2.lee",
        "l2.binary",
        "avgp",
        "neglogp",
        "mrr",
        "update.acc",
        "update.prec",
        *_ROC,
    ),
    schedules=(1, 2, 3),
    label_schemes=("a", "b"),
    components=("goal.joint", "goal.all"),
    shown_components=("goal.joint", "goal.all", "requested.all", "method", "all"),
    rank=rank_dstc2,
    build_items=FunctionByName("extrinsic.metrics.dstc2_items:build_tables"),
    gold_states=FunctionByName("extrinsic.metrics.dstc2_items:gold_states"),
    roc_points="distinct_scores",
    make_joint=baseline_joint,
    tracks_requests=True,
    negative_score="is scored as it stands",
)

# Own logs, a turn a line: labels are the goals at every turn, scored as the second challenge scores them.
JSONL = replace(DSTC2, name="jsonl", label_schemes=("a",), shown_components=("goal.joint", "goal.all"))

STATE_SETS = ScoreConventions(
    name="state-sets",
    metrics=(
        "jga",
        "slot_accuracy",
        "relative_slot_accuracy",
        "average_goal_accuracy",
        "improved_average_goal_accuracy",
        "improved_average_goal_accuracy(published)",
        "slot_f1",
        "turn_match",
        "fga(0.25)",
        "fga(0.5)",
        "fga(0.75)",
        "fga(1)",
        "gca",
        "tail_orientation",
        "tail_orientation(2023)",
        "non_uniformity",
        "non_uniformity(2023)",
        "first_error",
    ),
    schedules=(1, 3),
    shown_components=("all",),
)
