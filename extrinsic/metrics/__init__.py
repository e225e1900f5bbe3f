"""Intrinsic metrics of a tracker, one small file each."""

from __future__ import annotations

from extrinsic.registry import METRICS

_BELIEF = {
    "accuracy": ("accuracy:Accuracy", "share of items whose top hypothesis is right"),
    "l2": ("l2:L2", "distance of the scores from 1 on the right value and 0 elsewhere"),
    "l2.lee": ("l2_lee:L2Lee", "Euclidean distance of all scores from 1 on the right value (Lee 2014)"),
    "brier": ("brier:Brier", "squared distance of all scores from 1 on the right value"),
    "l2.binary": ("l2_binary:L2Binary", "L2 with all wrong values taken together (DSTC2)"),
    "avgp": ("avgp:AverageProbability", "mean score of the right value"),
    "mrr": ("mrr:MeanReciprocalRank", "mean reciprocal rank of the right value"),
    "neglogp": (
        "neglogp:NegativeLogProbability",
        "mean negative logarithm of the right value's score (DSTC2)",
    ),
    "nonempty": ("nonempty:NonEmpty", "share of items with a hypothesis besides None (DSTC1)"),
    "hypothesis_count": (
        "hypothesis_count:HypothesisCount",
        "mean number of hypotheses besides None (DSTC1)",
    ),
    "update.acc": ("update:UpdateAccuracy", "share of needed updates that were made and right (DSTC2)"),
    "update.prec": ("update:UpdatePrecision", "share of made updates that were right (DSTC2)"),
    "roc.v1_eer": ("roc:EqualErrorRate", "false accepts plus false rejects where they are equally many"),
    "roc.v1_eer_lee": ("roc:EqualErrorRateLee", "false accepts where they equal false rejects (Lee 2014)"),
    "roc.v1_ca05": ("roc:V1_CA05", "correct accepts where false accepts fall to 5 %"),
    "roc.v1_ca10": ("roc:V1_CA10", "correct accepts where false accepts fall to 10 %"),
    "roc.v1_ca20": ("roc:V1_CA20", "correct accepts where false accepts fall to 20 %"),
    "roc.v2_ca05": ("roc:V2_CA05", "true-accept rate where the false-accept rate falls to 5 %"),
    "roc.v2_ca10": ("roc:V2_CA10", "true-accept rate where the false-accept rate falls to 10 %"),
    "roc.v2_ca20": ("roc:V2_CA20", "true-accept rate where the false-accept rate falls to 20 %"),
}

_STATE = {
    "jga": ("jga:JointGoalAccuracy", "joint goal accuracy: share of turns whose whole state is right"),
    "slot_accuracy": ("slot_accuracy:SlotAccuracy", "share of all slots of the task that are right"),
    "relative_slot_accuracy": (
        "relative_slot_accuracy:RelativeSlotAccuracy",
        "share of the slots in the gold or predicted state that are right",
    ),
    "average_goal_accuracy": (
        "average_goal_accuracy:AverageGoalAccuracy",
        "share of the gold state that was predicted",
    ),
    "improved_average_goal_accuracy": (
        "improved_average_goal_accuracy:ImprovedAverageGoalAccuracy",
        "share of the union of gold and predicted state that is in both; (published) as in the tables",
    ),
    "slot_f1": ("slot_f1:SlotF1", "F1 of the triples of all turns"),
    "turn_match": ("turn_match:TurnMatch", "share of turns that match or only carry over an earlier mistake"),
    "fga": (
        "fga:make_fga",
        "flexible goal accuracy fga(lambda), fga(hotel=0.5, taxi=1): carried-over mistakes fade",
    ),
    "gca": (
        "gca:GranularChangeAccuracy",
        "granular change accuracy: every change of the state judged once; (similarity=edit) partial credit",
    ),
    "priced": (
        "priced:Priced",
        "priced(wrong=, missed=, overshot=, stale=): errors of each kind at their price",
    ),
    "tail_orientation": ("traits:TailOrientation", "how late in a dialog its mistakes occur (TO)"),
    "non_uniformity": ("traits:NonUniformity", "how unevenly a dialog's mistakes are spread (NU)"),
    "changes": ("counts:ChangeCount", "changes(correct|wrong|missed|overshot): the counts behind gca"),
    "turn_errors": ("counts:TurnErrorCount", "turn_errors(own|carried): the counts behind fga"),
    "own": ("own:OwnScore", "own(column): a score from a table of your own, in a study with [scores]"),
    "sentinel": ("sentinel:Sentinel", "sentinel(length|slots|noise): knows nothing; the floor of a study"),
    "first_error": ("traits:FirstError", "where in a dialog its state is first wrong"),
}

_TITLES = {
    "l2": "L2",
    "l2.lee": "L2 of Lee",
    "brier": "Brier score",
    "l2.binary": "binary L2",
    "avgp": "AvgP",
    "mrr": "MRR",
    "neglogp": "NegLogP",
    "nonempty": "non-empty share",
    "hypothesis_count": "number of hypotheses",
    "update.acc": "update accuracy",
    "update.prec": "update precision",
    "roc.v1_eer": "ROC v1 EER",
    "roc.v1_eer_lee": "ROC v1 EER of Lee",
    "roc.v1_ca05": "ROC v1 CA5",
    "roc.v1_ca10": "ROC v1 CA10",
    "roc.v1_ca20": "ROC v1 CA20",
    "roc.v2_ca05": "ROC v2 CA5",
    "roc.v2_ca10": "ROC v2 CA10",
    "roc.v2_ca20": "ROC v2 CA20",
    "jga": "JGA",
    "improved_average_goal_accuracy": "improved goal accuracy",
    "slot_f1": "slot F1",
    "fga": "FGA",
    "gca": "GCA",
    "priced": "priced errors",
    "non_uniformity": "non-uniformity",
    "own": "own score",
    "sentinel": "control",
}
"""What people call those whose name is not what they call it."""

for _name, (_target, _summary) in (_BELIEF | _STATE).items():
    METRICS.register(_name, f"extrinsic.metrics.{_target}", _summary, _TITLES.get(_name, ""))
