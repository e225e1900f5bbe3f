"""Intrinsic metrics of a tracker, registered here and imported on first use."""

from extrinsic.registry import METRICS

_METRICS = {
    "belief_metrics": {
        "accuracy": ("Accuracy", "share of items whose top hypothesis is right"),
        "l2": ("L2", "distance of the scores from 1 on the right value and 0 elsewhere"),
        "l2.lee": ("L2Lee", "Euclidean distance of all scores from 1 on the right value (Lee 2014)"),
        "brier": ("Brier", "squared distance of all scores from 1 on the right value"),
        "l2.binary": ("L2Binary", "L2 with all wrong values taken together (DSTC2)"),
        "avgp": ("AverageProbability", "mean score of the right value"),
        "mrr": ("MeanReciprocalRank", "mean reciprocal rank of the right value"),
        "neglogp": ("NegativeLogProbability", "mean negative logarithm of the right value's score (DSTC2)"),
        "nonempty": ("NonEmpty", "share of items with a hypothesis besides None (DSTC1)"),
        "hypothesis_count": ("HypothesisCount", "mean number of hypotheses besides None (DSTC1)"),
        "update.acc": ("UpdateAccuracy", "share of needed updates that were made and right (DSTC2)"),
        "update.prec": ("UpdatePrecision", "share of made updates that were right (DSTC2)"),
    },
    "roc": {
        "roc.v1_eer": ("EqualErrorRate", "false accepts plus false rejects where they are equally many"),
        "roc.v1_eer_lee": ("EqualErrorRateLee", "false accepts where they equal false rejects (Lee 2014)"),
        "roc.v1_ca05": ("V1_CA05", "correct accepts where false accepts fall to 5 %"),
        "roc.v1_ca10": ("V1_CA10", "correct accepts where false accepts fall to 10 %"),
        "roc.v1_ca20": ("V1_CA20", "correct accepts where false accepts fall to 20 %"),
        "roc.v2_ca05": ("V2_CA05", "true-accept rate where the false-accept rate falls to 5 %"),
        "roc.v2_ca10": ("V2_CA10", "true-accept rate where the false-accept rate falls to 10 %"),
        "roc.v2_ca20": ("V2_CA20", "true-accept rate where the false-accept rate falls to 20 %"),
    },
    "state_metrics": {
        "jga": ("JointGoalAccuracy", "joint goal accuracy: share of turns whose whole state is right"),
        "slot_accuracy": ("SlotAccuracy", "share of all slots of the task that are right"),
        "relative_slot_accuracy": (
            "RelativeSlotAccuracy",
            "share of the slots in the gold or predicted state that are right",
        ),
        "average_goal_accuracy": ("AverageGoalAccuracy", "share of the gold state that was predicted"),
        "improved_average_goal_accuracy": (
            "ImprovedAverageGoalAccuracy",
            "share of the union of gold and predicted state that is in both; (published) as in the tables",
        ),
        "slot_f1": ("SlotF1", "F1 of the triples of all turns"),
        "turn_match": ("TurnMatch", "share of turns that match or only carry over an earlier mistake"),
        "own": ("OwnScore", "own(column): a score from a table of your own, in a study with [scores]"),
    },
    "fga": {
        "fga": (
            "make_fga",
            "flexible goal accuracy fga(lambda), fga(hotel=0.5, taxi=1): carried-over mistakes fade",
        )
    },
    "gca": {
        "gca": (
            "GranularChangeAccuracy",
            "granular change accuracy: every change of the state judged once; (similarity=edit) partial "
            "credit",
        ),
        "changes": ("ChangeCount", "changes(correct|wrong|missed|overshot): the counts behind gca"),
        "turn_errors": ("TurnErrorCount", "turn_errors(own|carried): the counts behind fga"),
    },
    "traits": {
        "tail_orientation": ("TailOrientation", "how late in a dialog its mistakes occur (TO)"),
        "non_uniformity": ("NonUniformity", "how unevenly a dialog's mistakes are spread (NU)"),
        "sentinel": ("Sentinel", "sentinel(length|slots|noise): knows nothing; the floor of a study"),
        "first_error": ("FirstError", "where in a dialog its state is first wrong"),
    },
}
"""By module: of each metric its class, and what it measures."""

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
    "own": "own score",
    "fga": "FGA",
    "gca": "GCA",
    "non_uniformity": "non-uniformity",
    "sentinel": "control",
}
"""What people call those whose name is not what they call it."""

for _module, _metrics in _METRICS.items():
    for _name, (_class, _summary) in _metrics.items():
        METRICS.register(_name, f"extrinsic.metrics.{_module}:{_class}", _summary, _TITLES.get(_name, ""))
