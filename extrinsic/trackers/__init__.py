"""Trackers that run on any corpus with N-best lists, one file each.

They are registered here and imported on first use: listing them must not import a machine-learning library.
"""

from __future__ import annotations

from extrinsic.registry import TRACKERS

_HERE = "extrinsic.trackers"

for _name, _target, _summary in (
    ("baseline", "baseline:BASELINE", "the most confident value so far (the challenges' baseline)"),
    ("focus", "focus:FOCUS", "what is heard replaces the old belief, as in the challenge's program"),
    ("focus_once", "focus:FOCUS_ONCE", "focus by its formula, one update per turn"),
    (
        "focus_overconfident",
        "recalibrated:FOCUS_OVERCONFIDENT",
        "focus with its scores squared: overconfident",
    ),
    (
        "focus_underconfident",
        "recalibrated:FOCUS_UNDERCONFIDENT",
        "focus with the roots of its scores: underconfident",
    ),
    ("top_hypothesis", "top_hypothesis:TOP_HYPOTHESIS", "focus on the best hypothesis alone"),
    ("rank_only", "rank_only:RANK_ONLY", "focus on ranks in the N-best list, without scores"),
    ("hwu", "hwu:HWU", "evidence for and against each value; another value counts against it"),
    (
        "hwu_original",
        "hwu:HWU_ORIGINAL",
        "evidence for and against each value; only an explicit no counts against it",
    ),
    ("yarbus", "yarbus:YARBUS", "rules for each hypothesis; a no moves the value's belief to None"),
    (
        "yarbus_implicit",
        "yarbus:YARBUS_IMPLICIT",
        "yarbus that counts silence after an implicit confirmation as consent",
    ),
    ("bayes_none", "bayes:BAYES_NONE", "Bayes' rule, trusting the recogniser's scores"),
    ("bayes_low", "bayes:BAYES_LOW", "Bayes' rule, assuming that a tenth of what is heard is confused"),
    ("bayes_high", "bayes:BAYES_HIGH", "Bayes' rule, assuming that two fifths of what is heard are confused"),
    (
        "dempster_shafer",
        "dempster_shafer:DEMPSTER_SHAFER",
        "Dempster's rule: agreeing evidence is reinforced",
    ),
    ("accumulate", "accumulate:ACCUMULATE", "scores summed over all turns, divided by their total"),
    ("discount", "accumulate:DISCOUNT", "scores summed, halved with every turn that mentions the slot"),
    ("window", "window:WINDOW", "scores summed over the last three turns that mention the slot"),
    ("noisy_or", "noisy_or:NOISY_OR", "noisy or: right unless it was misheard every time"),
    ("vote", "vote:VOTE", "one vote for every best hypothesis that contains the value"),
    (
        "confirm_aware",
        "confirm_aware:CONFIRM_AWARE",
        "the most confident value so far, with a high score only once confirmed",
    ),
    ("confident_only", "confident_only:CONFIDENT_ONLY", "the last value heard with a score above one half"),
    ("last_mention", "last_mention:LAST_MENTION", "the value heard last, until another is heard"),
    ("last_turn", "last_turn:LAST_TURN", "only the current turn (degenerate)"),
    ("logistic", "logistic:LOGISTIC", "learned: logistic regression on features of each value"),
    (
        "random_forest",
        "random_forest:RANDOM_FOREST",
        "learned: a random forest on features of each value",
    ),
    (
        "gradient_boosting",
        "gradient_boosting:GRADIENT_BOOSTING",
        "learned: gradient-boosted trees on features of each value",
    ),
):
    TRACKERS.register(_name, f"{_HERE}.{_target}", _summary)
