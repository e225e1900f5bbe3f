"""Conventions: how the files of a format are ranked, tracked and scored, as an object that a corpus carries.

A format of one's own has its own, often those of a challenge with some parts replaced:

    MINE = dataclasses.replace(DSTC2, name="mine", rank=my_ranking_rule, metrics=("accuracy", "l2"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Literal, get_args

from extrinsic.arrays import Ids
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.likely_joint import confident_assignment, likeliest_assignments
from extrinsic.corpus.ranking import RankingRule, rank_dstc1, rank_dstc2
from extrinsic.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from extrinsic.corpus.model import Corpus
    from extrinsic.corpus.tracker_output import TrackerOutput

RocPoints = Literal["even_thresholds", "distinct_scores"]
"""Where the operating points of a ROC curve lie.

even_thresholds: at thresholds evenly spaced between the lowest and the highest score, where items of equal
score are accepted together.   distinct_scores: at the first item of each run of equal scores, in the order
of the corpus, and one point that accepts all.
"""

BuildItems = Callable[["Corpus", "TrackerOutput"], Sequence[Any]]
"""The ItemTables (extrinsic.metrics.items.item_tables) of a tracker's output, one for each label scheme."""

GoldStates = Callable[["Corpus", Ids, str | None], Ids]
"""(corpus, predicted, label scheme) -> (n_turns, n_slots) what the predicted states should have been."""

MakeJoint = Callable[[Hypotheses, int, str], JointHypotheses | None]
"""(hypotheses of slots, n_slots, the rule that the tracker follows) -> joint lists, None for none."""


@dataclass(frozen=True, kw_only=True)
class ScoreConventions:
    """What a tracker's scores are unless the user chooses: all that files of state sets need.

    name:          what signatures and messages call these conventions.
    metrics:       printed forms of the metrics computed by default.
    schedules:     the numbers of the schedules there are; all are computed by default.
    label_schemes: the names of those there are, the default one first; (None,) for a single unnamed one.
    components:    what a study correlates by default; empty for whatever components the items have.
    shown_components: what a printed table shows by default.
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
    """The conventions of calls with a corpus, on which trackers have beliefs.

    rank:          from the hypotheses as written to a ranked belief with None in it.
    build_items:   what the metrics of beliefs are computed on.
    gold_states:   the right states, for metrics of states on filled beliefs.
    roc_points:    where the points of a ROC curve lie.
    make_joint:    joint lists for a tracker that only has hypotheses of single slots.
    tracks_requests: whether trackers also track the caller's requests and the method.
    negative_score: what the ranking makes of a score below 0, as in "a negative score, which counts as 0".
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
    """A function of a later layer by its `module:name`, imported when it is called."""

    target: str

    def __call__(self, *arguments: Any) -> Any:
        return EntryPoint(self.target, self.target, "extrinsic").load()(*arguments)


def likeliest_joint(given: Hypotheses, n_slots: int, rule: str) -> JointHypotheses:
    """Whatever the tracker: DSTC1's scorer makes no joint lists by itself."""
    return likeliest_assignments(given, n_slots)


def baseline_joint(given: Hypotheses, n_slots: int, rule: str) -> JointHypotheses | None:
    """Of the second challenge's own trackers only the baseline writes joint lists."""
    return confident_assignment(given, n_slots) if rule == "baseline" else None


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
    build_items=FunctionByName("extrinsic.metrics.items.dstc1:build_tables"),
    gold_states=FunctionByName("extrinsic.metrics.items.dstc1:gold_states"),
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
    build_items=FunctionByName("extrinsic.metrics.items.dstc2:build_tables"),
    gold_states=FunctionByName("extrinsic.metrics.items.dstc2:gold_states"),
    roc_points="distinct_scores",
    make_joint=baseline_joint,
    tracks_requests=True,
    negative_score="is scored as it stands",
)

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
