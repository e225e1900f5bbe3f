"""Figures that the papers print, with their place; oracles and never results. In percent where they are."""

from __future__ import annotations

JGA, SA, RSA, F1 = "jga", "slot_accuracy", "relative_slot_accuracy", "slot_f1"
AGA, IAGA = "average_goal_accuracy", "improved_average_goal_accuracy(published)"
TURN, FGA, GCA = "turn_match", "fga(0.5)", "gca"
DEY, AKSU, EARLIER, KIM = "Dey 2022", "Aksu & Chen 2024", "its earlier version", "Kim 2022"

NOTES = "Aksu & Chen, scoring notes"
"""Figures that our text of the paper lacks (they are in images or beside its files): the project's notes on
scoring have them, and we have not seen them in print."""

WORKED_FILES = {
    "hypothetical_p1": (f"{AKSU}, section 5.4", {JGA: 83.33, RSA: 91.67, FGA: 83.33, GCA: 52.38}),
    "hypothetical_p2": (f"{AKSU}, section 5.4", {JGA: 0.0, RSA: 8.33, FGA: 59.75, GCA: 52.38}),
    "sample_1": (f"{AKSU}, Fig. 6", {GCA: 31.43, FGA: 48.84}),
    "sample_2": (f"{AKSU}, Fig. 7", {GCA: 75.0, FGA: 34.84}),
    "paper1": (NOTES, {GCA: 73.33, FGA: 13.12, JGA: 0.0, AGA: 23.81}),
    "paper2": (NOTES, {GCA: 15.49, FGA: 33.33, JGA: 33.33, AGA: 54.76}),
    "NU1": (NOTES, {GCA: 52.38, FGA: 34.19}),
    "NU2": (NOTES, {GCA: 52.38, FGA: 0.0}),
    "RS1": (NOTES, {GCA: 52.38, JGA: 0.0}),
    "RS2": (NOTES, {GCA: 52.38, JGA: 50.0}),
}
T5_ROW = {
    JGA: 33.47,
    SA: 96.54,
    AGA: 24.57,
    IAGA: 23.74,
    RSA: 18.26,
    "fga(0.25)": 55.63,
    FGA: 64.99,
    "fga(0.75)": 69.85,
    "fga(1)": 72.73,
    GCA: 33.11,
}
"""Of their T5 file (attraction, zero-shot); by the notes."""

WHOLE_TEST = {
    EARLIER: {JGA: 53.09, FGA: 71.04, SA: 97.36, AGA: 91.71, GCA: 88.63},
    KIM: {JGA: 52.42, SA: 97.35, F1: 91.79, RSA: 86.95},
}
"""SOM-DST on the whole test set: Table 2 of Aksu & Chen's earlier version, by the predictions of Dey et al.;
Table 1 of Kim et al., by their own. Dey's Table 1 itself is an image that we do not have."""

TRAIT_R = {
    ("TO", 2024): (0.08, -0.05),
    ("NU", 2024): (0.59, 0.40),
    ("TO", 2023): (0.08, -0.02),
    ("NU", 2023): (0.12, -0.17),
}
"""r of the trait with FGA and with GCA: Aksu & Chen 2024, section 5.2; its earlier version, section 6.3."""

HUMAN_R, HUMAN_DIALOGS = {JGA: 0.33, FGA: 0.37}, 100
"""Dey 2022, section 4: r with the ratings of 100 dialogs, those of our SOM-DST file."""

NOTHING_SA = 0.81
"""Dey 2022, section 2.2: slot accuracy of a tracker that never predicts anything."""

KIM_MODELS = {
    JGA: (0.5446, 0.6131, 0.5242, 0.5605, 0.5357, 0.4939, 0.4879, 0.5483, 0.5178, 0.4699),
    SA: (0.9748, 0.9707, 0.9735, 0.9761, 0.9749, 0.9700, 0.9652, 0.9754, 0.9690, 0.9666),
    F1: (0.9229, 0.8573, 0.9179, 0.9276, 0.9246, 0.9033, 0.8800, 0.9253, 0.9189, 0.8934),
    RSA: (0.8759, 0.8432, 0.8695, 0.8797, 0.8769, 0.8520, 0.8250, 0.8780, 0.8570, 0.8380),
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
