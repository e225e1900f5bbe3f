"""Trackers that run on any corpus with N-best lists.

They are registered here and imported on first use: listing them must not import a machine-learning library.
"""

from extrinsic.registry import TRACKERS

_SUMMARIES = {
    "rules": {
        "baseline": "the most confident value so far (the challenges' baseline)",
        "focus": "what is heard replaces the old belief, as in the challenge's program",
        "focus_once": "focus by its formula, one update per turn",
        "focus_overconfident": "focus with its scores squared: overconfident",
        "focus_underconfident": "focus with the roots of its scores: underconfident",
        "top_hypothesis": "focus on the best hypothesis alone",
        "rank_only": "focus on ranks in the N-best list, without scores",
        "accumulate": "scores summed over all turns, divided by their total",
        "discount": "scores summed, halved with every turn that mentions the slot",
        "window": "scores summed over the last three turns that mention the slot",
        "vote": "one vote for every best hypothesis that contains the value",
        "confirm_aware": "the most confident value so far, with a high score only once confirmed",
        "confident_only": "the last value heard with a score above one half",
        "last_mention": "the value heard last, until another is heard",
        "last_turn": "only the current turn (degenerate)",
        "hwu": "evidence for and against each value; another value counts against it",
        "hwu_original": "evidence for and against each value; only an explicit no counts against it",
        "yarbus": "rules for each hypothesis; a no moves the value's belief to None",
        "yarbus_implicit": "yarbus that counts silence after an implicit confirmation as consent",
        "bayes_none": "Bayes' rule, trusting the recogniser's scores",
        "bayes_low": "Bayes' rule, assuming that a tenth of what is heard is confused",
        "bayes_high": "Bayes' rule, assuming that two fifths of what is heard are confused",
        "dempster_shafer": "Dempster's rule: agreeing evidence is reinforced",
        "noisy_or": "noisy or: right unless it was misheard every time",
    },
    "learned": {
        "logistic": "learned: logistic regression on features of each value",
        "random_forest": "learned: a random forest on features of each value",
        "gradient_boosting": "learned: gradient-boosted trees on features of each value",
    },
}
"""By module, in which `NAME` is the tracker `name`."""

for _module, _trackers in _SUMMARIES.items():
    for _name, _summary in _trackers.items():
        TRACKERS.register(_name, f"extrinsic.trackers.{_module}:{_name.upper()}", _summary)
