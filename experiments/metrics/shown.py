"""Numbers and tables that the text shows, and words that they choose."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.metrics.both_traits import THIRDS
from experiments.metrics.columns import COLUMNS
from experiments.metrics.files import COPY, FEWER, SOM, SYSTEMS, T5
from experiments.metrics.judging import Tally, span
from experiments.metrics.lookup import SAID, Row, Tables, files_of, matches
from experiments.metrics.published import FGA, GCA, JGA, KIM_DOMAINS, RSA, SA, TRAIT_R, TURN
from experiments.metrics.slots import ACTIVE, EVERY
from experiments.metrics.traits import GIVEN, LEFT_OUT, METRICS, TRAITS, ZERO
from experiments.tables import markdown, one

SHORT = SAID | {
    TURN: "turn",
    "improved_average_goal_accuracy": "IAGA",
    "fga(0.25)": "FGA .25",
    FGA: "FGA .5",
    "fga(0.75)": "FGA .75",
    "fga(1)": "FGA 1",
}
MOSTLY_COPIED = 0.9
"""Slots that are found always or never, as a share: no tracker comes near."""


def table(rows: Sequence[Row]) -> str:
    return markdown(rows, tuple(rows[0]))


def of_columns(tables: Tables) -> Row:
    systems = [row for row in tables["scores"] if row["file"] not in (SOM, T5)]
    copy = one(systems, file=COPY)
    others = [row for row in systems if row is not copy]
    is_copy = copy["always"] + copy["never"] >= MOSTLY_COPIED * copy["slots"]
    scores = [
        {"file": row["file"], **{SHORT[name]: row[name] for name in COLUMNS}} for row in tables["scores"]
    ]
    return {
        "scores": table(scores),
        "som_dialogs": one(tables["scores"], file=SOM)["dialogs"],
        "copied": "gold states with slots left out, no tracker's" if is_copy else "nothing odd",
        **{key: copy[key] for key in ("slots", "always", "never", "precision")},
        "also_never": ", ".join(f"{row['file']} {row['never']}" for row in others if row["never"]) or "none",
        "others_always": max(row["always"] for row in others),
        "others_precision": max(row["precision"] for row in others),
        "rank": 1 + sum(row[JGA] > copy[JGA] for row in others),
        "n_systems": len(systems),
        **_of_discrimination(tables),
    }


def _of_discrimination(tables: Tables) -> Row:
    rows = [row for row in tables["discrimination"] if row["systems"] == SYSTEMS]
    fewer = {row["metric"]: row for row in tables["discrimination"] if row["systems"] == FEWER}
    shown = [
        {
            "metric": SHORT[row["metric"]],
            **{key: row[key] for key in ("mean", "deviation", "error", "ratio", "separated")},
            "against JGA": row["opposite_to_jga"],
            "both resolved": row["opposite_both"],
            f"separated, {FEWER}": fewer[row["metric"]]["separated"],
        }
        for row in rows
    ]
    turn, gca = one(rows, metric=TURN), one(rows, metric=GCA)
    counts = [row["separated"] for row in rows]
    widest = max(rows, key=lambda row: row["deviation"])
    is_most = widest["separated"] == max(counts)
    return {
        "discrimination": table(shown),
        "pairs": rows[0]["pairs"],
        "fewer_pairs": fewer[JGA]["pairs"],
        "most": " and ".join(SHORT[row["metric"]] for row in rows if row["separated"] == max(counts)),
        "fewest_pairs": min(counts),
        "most_pairs": max(counts),
        "widest": SHORT[widest["metric"]],
        "spread_word": "goes with it" if is_most else "is not discrimination",
        "sharpest": SHORT[max(rows, key=lambda row: row["ratio"])["metric"]],
        "turn_opposite": turn["opposite_to_jga"],
        "turn_both": turn["opposite_both"],
        "gca_opposite": gca["opposite_to_jga"],
        "gca_both": gca["opposite_both"],
    }


def of_traits(tables: Tables) -> Row:
    rows = {
        (trait, form, faultless): [
            row for row in tables["traits"] if matches(row, trait=trait, form=form, faultless=faultless)
        ]
        for trait, form in TRAITS
        for faultless in (LEFT_OUT, ZERO)
    }
    to, nu = rows["TO", 2024, LEFT_OUT], rows["NU", 2024, LEFT_OUT]
    zero, old = rows["NU", 2024, ZERO], rows["NU", 2023, LEFT_OUT]
    together, som, none = one(nu, file=SYSTEMS), one(nu, file=SOM), one(zero, file=SYSTEMS)
    to_together = one(to, file=SYSTEMS)
    worst = max(METRICS, key=lambda metric: abs(to_together[metric]))
    wider = together["partial"] > together["absolute"]
    turned = (together[FGA] > 0) != (none[FGA] > 0)
    return {
        "by_form": table([_form_row(*key, of) for key, of in rows.items()]),
        "beside": table([_file_row(of, name) for of in (to, nu) for name in (SOM, T5, SYSTEMS)]),
        "worst_to": SHORT[worst],
        "worst_to_r": to_together[worst],
        "paper_fga": TRAIT_R["NU", 2024][0],
        "paper_gca": TRAIT_R["NU", 2024][1],
        "to_zou": tally(to, "zou"),
        "to_absolute": tally(to, "absolute"),
        "length_word": "mostly" if together["turns"] > 0.7 else "partly",
        "nu_turns": together["turns"],
        "partial_fga": together["partial_fga"],
        "partial_gca": together["partial_gca"],
        "partial_word": "farther" if wider else "no farther",
        "nu_mistakes": one(old, file=SYSTEMS)["mistakes"],
        "nu_absolute": tally(old, "absolute"),
        "nu_partial": tally(old, "partial"),
        "zero_word": "turns the sign" if turned else "leaves the sign",
        "zero_fga": none[FGA],
        "zero_gca": none[GCA],
        "zero_zou": tally(zero, "zou"),
        "zero_absolute": tally(zero, "absolute"),
        "som_fga": som[FGA],
        "som_gca": som[GCA],
        "crossing": _crossing(tables["bins"]),
    }


def tally(rows: list[Row], key: str) -> Tally:
    return Tally(files_of(rows), f"{key}_low", f"{key}_high")


def _form_row(trait: str, form: int, faultless: str, rows: list[Row]) -> Row:
    together = one(rows, file=SYSTEMS)
    return {
        "trait": trait,
        "form": form,
        "no mistake": faultless,
        "FGA": together[FGA],
        "GCA": together[GCA],
        "Zou": tally(rows, "zou"),
        "absolute": tally(rows, "absolute"),
        "held fixed": tally(rows, "partial"),
        "together": span(together, "absolute"),
    }


def _file_row(rows: list[Row], name: str) -> Row:
    row = one(rows, file=name)
    r = {SHORT.get(key, key): row[key] for key in (*METRICS, *GIVEN)}
    return {"trait": row["trait"], "file": name, "dialogs": row["dialogs"], **r}


def _crossing(bins: list[Row]) -> str:
    of = [row for row in bins if row["file"] == SYSTEMS]
    above = sum(row["difference"] > 0 for row in of)
    if above:
        return f"FGA lies above GCA in {above} of {len(of)} bins of the {SYSTEMS}."
    return (
        "The paper sees FGA reach GCA or pass it at the right of the figure. Here it comes nearer and stays\n"
        f"  below in all {len(of)} bins of the {SYSTEMS}."
    )


def of_thirds(rows: list[Row]) -> str:
    """A line for each third of TO, a column for each of NU."""
    of = [row for row in rows if row["file"] == SYSTEMS]
    cells = {(row["TO"], row["NU"]): f"{row[FGA]:.1f} / {row[GCA]:.1f} ({row['dialogs']:,})" for row in of}
    shown = [{"TO": to, **{f"NU {nu}": cells.get((to, nu), "") for nu in THIRDS}} for to in THIRDS]
    return table(shown)


def of_slots(tables: Tables) -> Row:
    every, active = (one(tables["turn_correlations"], file=SYSTEMS, turns=turns) for turns in (EVERY, ACTIVE))
    t5 = one(tables["turn_correlations"], file=T5, turns=EVERY)
    turned = (every["difference"] > 0) != (active["difference"] > 0)
    shown = []
    for domain, theirs in KIM_DOMAINS.items():
        of = [row for row in tables["domains"] if row["domain"] == domain]
        systems = [row for row in of if row["file"] not in (SOM, T5)]
        middle = [sorted(row[key] for row in systems)[len(systems) // 2] for key in (JGA, SA, RSA)]
        som = one(of, file=SOM)
        ours = _three([som[key] for key in (JGA, SA, RSA)])
        shown.append({"domain": domain, "Kim, SOM-DST": _three(theirs), SOM: ours, SYSTEMS: _three(middle)})
    return {
        "empty_word": "decide Fig. 3" if turned else "do not decide Fig. 3",
        "empty": 100 * every["empty"] / every["n"],
        "t5_empty": 100 * t5["empty"] / t5["n"],
        "every_rsa": every[f"{JGA} {RSA}"],
        "every_sa": every[f"{JGA} {SA}"],
        "active_rsa": active[f"{JGA} {RSA}"],
        "active_sa": active[f"{JGA} {SA}"],
        "domains": table(shown),
    }


def _three(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.2f}" for value in values)
