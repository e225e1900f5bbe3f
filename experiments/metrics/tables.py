"""The tables of the three papers' analyses: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

from itertools import combinations

import msgspec

METRICS = {
    "jga": "jga",
    "turn": "turn_match",
    "sa": "slot_accuracy",
    "aga": "average_goal_accuracy",
    "iaga": "improved_average_goal_accuracy",
    "fga_25": "fga(0.25)",
    "fga": "fga(0.5)",
    "fga_75": "fga(0.75)",
    "fga_100": "fga(1)",
    "f1": "slot_f1",
    "rsa": "relative_slot_accuracy",
    "gca": "gca",
}
"""What a field is called in the registry of metrics, and as a column."""

HEADS = ("JGA", "turn", "SA", "AGA", "IAGA", "FGA .25", "FGA .5", "FGA .75", "FGA 1", "F1", "RSA", "GCA")
LABELS = dict(zip(METRICS, HEADS, strict=True))
KIM_FIELDS = ("jga", "sa", "f1", "rsa")
PAIRS = {f"{a}_{b}": f"{METRICS[a]} {METRICS[b]}" for a, b in combinations(KIM_FIELDS, 2)}


class Scores(msgspec.Struct, frozen=True, rename=METRICS):
    """A file's metrics, in percent.

    nothing: the slot accuracy of a tracker that predicts nothing. Of the `slots` that 50 gold states or more
    have: `always` are found in nearly every one of these, `never` in hardly any. precision: of the predicted
    values.
    """

    file: str
    dialogs: int
    turns: int
    jga: float
    turn: float
    sa: float
    aga: float
    iaga: float
    fga_25: float
    fga: float
    fga_75: float
    fga_100: float
    f1: float
    rsa: float
    gca: float
    nothing: float
    slots: int
    always: int
    never: int
    precision: float


class Discrimination(msgspec.Struct, frozen=True):
    """How a metric, in percent, spreads and separates systems.

    error: mean standard error of a system; ratio: deviation over error. separated: pairs whose difference
    exceeds 1.96 standard errors; opposite_to_jga: ordered otherwise than by JGA; opposite_both: of these,
    separated by both.
    """

    systems: str
    metric: str
    mean: float
    deviation: float
    range: float
    error: float
    ratio: float
    pairs: int
    separated: int
    opposite_to_jga: int
    opposite_both: int


class Compared(msgspec.Struct, frozen=True):
    """The first metric less the second, by `what`, with its interval.

    what: separated pairs, standard deviation over systems, or r with human ratings, for which r_between is
    the correlation of the two metrics.
    """

    systems: str
    what: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    r_between: float | None = None


class WholeTest(msgspec.Struct, frozen=True):
    """What is published of SOM-DST on the whole test set, and ours on 100 dialogs of it; in percent."""

    source: str
    metric: str
    published: float
    ours: float
    low: float
    high: float


class TraitCorrelation(msgspec.Struct, frozen=True, rename=METRICS):
    """r over dialogs of a trait with metrics, and with the numbers of mistakes and of turns.

    faultless: whether dialogs without a mistake are left out or have 0. difference: r with FGA less r with
    GCA, resampled, and by Zou's interval (of single files alone); absolute: the same of |r|; partial: of |r|
    given the numbers of turns and of mistakes.
    """

    file: str
    trait: str
    form: int
    faultless: str
    dialogs: int
    fga: float
    gca: float
    jga: float
    turn: float
    rsa: float
    aga: float
    sa: float
    mistakes: float
    turns: float
    difference: float
    difference_low: float
    difference_high: float
    zou_low: float | None
    zou_high: float | None
    absolute: float
    absolute_low: float
    absolute_high: float
    partial_fga: float
    partial_gca: float
    partial: float
    partial_low: float
    partial_high: float


class TraitBin(msgspec.Struct, frozen=True, rename=METRICS):
    """Mean FGA and GCA, in percent, of dialogs whose trait lies in a bin; centre: in standard deviations."""

    file: str
    trait: str
    centre: float
    dialogs: int
    fga: float
    gca: float
    difference: float
    difference_low: float
    difference_high: float


class ErrorPositions(msgspec.Struct, frozen=True):
    """Where the first wrong turn is in dialogs that are wrong at the end.

    recovered: of the wrong dialogs, those that were right again in between; first_half: share of the wrong
    dialogs; bins: numbers of wrong dialogs by tenths of the dialog.
    """

    file: str
    dialogs: int
    wrong: int
    recovered: int
    wrong_share: float
    wrong_share_low: float
    wrong_share_high: float
    recovered_share: float
    recovered_share_low: float
    recovered_share_high: float
    first_half: float
    first_half_low: float
    first_half_high: float
    bin_0: int
    bin_1: int
    bin_2: int
    bin_3: int
    bin_4: int
    bin_5: int
    bin_6: int
    bin_7: int
    bin_8: int
    bin_9: int


class UsedSlots(msgspec.Struct, frozen=True):
    """How many dialogs have so many slots in their gold state; few_share: of dialogs with fewer than 12."""

    file: str
    slots: int
    dialogs: int
    few_share: float
    few_low: float
    few_high: float


class DomainScores(msgspec.Struct, frozen=True, rename=METRICS):
    """A domain by itself, over the turns whose gold state has it; SA over 30 slots."""

    file: str
    domain: str
    turns: int
    jga: float
    sa: float
    rsa: float


class TurnCorrelations(msgspec.Struct, frozen=True, rename=PAIRS):
    """r over turns of two metrics each; difference: jga_sa less jga_rsa; empty: turns without any slot."""

    file: str
    turns: str
    n: int
    empty: int
    jga_sa: float
    jga_f1: float
    jga_rsa: float
    sa_f1: float
    sa_rsa: float
    f1_rsa: float
    difference: float
    low: float
    high: float


class ExampleFigure(msgspec.Struct, frozen=True):
    """A figure of a worked example, in percent; agrees: yes where all printed decimals are the same."""

    source: str
    example: str
    metric: str
    published: float
    ours: float
    agrees: str


TABLES: dict[str, type[msgspec.Struct]] = {
    "scores": Scores,
    "discrimination": Discrimination,
    "compared": Compared,
    "whole_test": WholeTest,
    "traits": TraitCorrelation,
    "bins": TraitBin,
    "positions": ErrorPositions,
    "used_slots": UsedSlots,
    "domains": DomainScores,
    "turn_correlations": TurnCorrelations,
    "worked": ExampleFigure,
}
