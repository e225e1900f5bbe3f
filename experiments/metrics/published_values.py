"""Figures that the papers print, with where they stand: oracles and never results. By fields of tables.py."""

from __future__ import annotations

DEY, AKSU, EARLIER, KIM = "Dey 2022", "Aksu & Chen", "its earlier version", "Kim 2022"

WHOLE_TEST = {
    EARLIER: {"jga": 53.09, "fga": 71.04, "sa": 97.36, "aga": 91.71, "gca": 88.63},
    KIM: {"jga": 52.42, "sa": 97.35, "f1": 91.79, "rsa": 86.95},
}
"""SOM-DST on the whole test set, in percent: Table 2 of Aksu & Chen's earlier version, by the predictions of
Dey et al.; Table 1 of Kim et al., by their own. Dey's Table 1 itself is an image that we do not have."""

TRAIT_R = {
    ("TO", 2024): {"fga": 0.08, "gca": -0.05},
    ("NU", 2024): {"fga": 0.59, "gca": 0.40},
    ("TO", 2023): {"fga": 0.08, "gca": -0.02},
    ("NU", 2023): {"fga": 0.12, "gca": -0.17},
}
"""r with the trait: Aksu & Chen 2024, section 5.2; its earlier version, section 6.3."""

HUMAN_R, HUMAN_DIALOGS = {"jga": 0.33, "fga": 0.37}, 100
"""Dey 2022, section 4: r with the ratings of 100 dialogs, those of our SOM-DST file."""

NOTHING_SA = 81.0
"""Dey 2022, section 2.2: slot accuracy in percent of a tracker that never predicts anything."""

KIM_MODELS = {
    "jga": (0.5446, 0.6131, 0.5242, 0.5605, 0.5357, 0.4939, 0.4879, 0.5483, 0.5178, 0.4699),
    "sa": (0.9748, 0.9707, 0.9735, 0.9761, 0.9749, 0.9700, 0.9652, 0.9754, 0.9690, 0.9666),
    "f1": (0.9229, 0.8573, 0.9179, 0.9276, 0.9246, 0.9033, 0.8800, 0.9253, 0.9189, 0.8934),
    "rsa": (0.8759, 0.8432, 0.8695, 0.8797, 0.8769, 0.8520, 0.8250, 0.8780, 0.8570, 0.8380),
}
"""Kim 2022, Table 1: ten models, in its order."""

KIM_DOMAINS = {
    "hotel": (0.4923, 0.9731, 0.8493),
    "train": (0.7162, 0.9874, 0.9176),
    "restaurant": (0.6589, 0.9858, 0.8977),
    "attraction": (0.6811, 0.9878, 0.8421),
    "taxi": (0.5701, 0.9798, 0.7828),
}
"""Kim 2022, Table 2, of SOM-DST: JGA, SA, RSA. SA is over all 30 slots: with taxi's four it could not be
above 1 - .4299 / 4."""

KIM_LAST_WRONG, KIM_RECOVERED, KIM_TEST = 642, 59, 999
"""Kim 2022, Fig. 1 and its footnote: dialogs wrong at the end, of these right again in between, all."""

KIM_FEW_SLOTS, KIM_FEW_SHARE = 12, 0.85
"""Kim 2022, section 2.2: about 85 % of the dialogs use fewer than 12 slots."""
