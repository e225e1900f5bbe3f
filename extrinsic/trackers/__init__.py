"""Trackers that run on any corpus with N-best lists of what was understood, one file each.

They are named here and imported when first asked for: listing them must not cost a machine-learning library.
"""

from __future__ import annotations

from extrinsic.registry import TRACKERS

_HERE = "extrinsic.trackers"

for _name, _target, _summary in (
    ("baseline", "baseline:BASELINE", "the most confident value so far (the challenges' baseline)"),
    ("focus", "focus:FOCUS", "what is heard displaces the old belief, as the challenge's program does it"),
    ("focus_once", "focus:FOCUS_ONCE", "focus as its formula has it, one update a turn"),
    ("focus_overconfident", "recalibrated:FOCUS_OVERCONFIDENT", "focus with its scores squared: too sure"),
    (
        "focus_underconfident",
        "recalibrated:FOCUS_UNDERCONFIDENT",
        "focus with the roots of its scores: too modest",
    ),
    ("top_hypothesis", "top_hypothesis:TOP_HYPOTHESIS", "focus on the best hypothesis alone"),
    ("rank_only", "rank_only:RANK_ONLY", "focus on positions in the N-best list, scores left aside"),
    ("hwu", "hwu:HWU", "evidence for and against each value, another value speaking against it"),
    ("hwu_original", "hwu:HWU_ORIGINAL", "evidence for and against each value, only a plain no against it"),
    ("yarbus", "yarbus:YARBUS", "rules for each hypothesis, a no emptying the value into None"),
    (
        "yarbus_implicit",
        "yarbus:YARBUS_IMPLICIT",
        "yarbus that takes silence after an implicit confirmation for consent",
    ),
    ("bayes_none", "bayes:BAYES_NONE", "Bayes' rule, trusting the recogniser's scores"),
    ("bayes_low", "bayes:BAYES_LOW", "Bayes' rule, a tenth of what is heard taken for confusion"),
    ("bayes_high", "bayes:BAYES_HIGH", "Bayes' rule, two fifths of what is heard taken for confusion"),
    (
        "dempster_shafer",
        "dempster_shafer:DEMPSTER_SHAFER",
        "Dempster's rule, agreeing evidence reinforcing itself",
    ),
    ("accumulate", "accumulate:ACCUMULATE", "scores added up over all turns, divided by their sum"),
    ("discount", "accumulate:DISCOUNT", "scores added up, halved with every turn that speaks of the slot"),
    ("window", "window:WINDOW", "scores added up over the last three turns that speak of the slot"),
    ("noisy_or", "noisy_or:NOISY_OR", "right unless every time it was heard was a mistake"),
    ("vote", "vote:VOTE", "one vote for every best hypothesis that holds the value"),
    ("confirm_aware", "confirm_aware:CONFIRM_AWARE", "the most confident so far, firm only once confirmed"),
    ("confident_only", "confident_only:CONFIDENT_ONLY", "the last value heard with a score above one half"),
    ("last_mention", "last_mention:LAST_MENTION", "the value heard last, until another is heard"),
    ("last_turn", "last_turn:LAST_TURN", "only what this turn says (degenerate)"),
    ("logistic", "logistic:LOGISTIC", "learned: logistic regression on what was heard of each value"),
    (
        "random_forest",
        "random_forest:RANDOM_FOREST",
        "learned: a random forest on what was heard of each value",
    ),
    (
        "gradient_boosting",
        "gradient_boosting:GRADIENT_BOOSTING",
        "learned: gradient-boosted trees on what was heard of each value",
    ),
):
    TRACKERS.register(_name, f"{_HERE}.{_target}", _summary)
