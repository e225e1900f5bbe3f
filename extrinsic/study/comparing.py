"""Two trackers of a run: what their comparison needs beside the panel.

The differences of metrics are exact: both are scored again on every resample of dialogs. The dialogs that
explain a difference are read again, turn by turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.transcript import TranscriptSlot, TranscriptTurn, transcript_of_dialog
from extrinsic.errors import UsageError
from extrinsic.panel import item_weights, rng_of
from extrinsic.study.dialog_inputs import corpus_of
from extrinsic.study.plan import Plan
from extrinsic.study.run import Run
from extrinsic.study.score_stage import Measurements, metric_of
from extrinsic.study.state_inputs import STATES_DATASET
from extrinsic.study.tracker_inputs import output_of, resolve_files
from extrinsic.verdict.compare import (
    MEAN,
    PERMUTATIONS,
    RESAMPLES,
    Compared,
    ComparisonRow,
    ComparisonVerdict,
    PairCost,
    Pairing,
    comparison_rows,
    comparison_verdict,
    pair_costs,
    return_rows,
)
from extrinsic.verdict.names import Name


def compare_trackers(run: Run, first: str, second: str, seed: int = 0) -> list[ComparisonRow]:
    """Rows of every return and metric: by dataset, and the mean over datasets."""
    for name in (first, second):
        run.panel.system(name)
    if first == second:
        raise UsageError("a tracker cannot be compared with itself", found=first)
    sides = [
        {
            dataset: Measurements.of(result, dataset)
            for result in run.scores(name)
            for dataset in result.values.datasets
        }
        for name in (first, second)
    ]
    every = {
        dataset: _metric_pairings(a, sides[1][dataset], dataset, seed) for dataset, a in sides[0].items()
    }
    rows = return_rows(run.panel, first, second, seed)
    for number, measured in enumerate(next(iter(sides[0].values())).rows):
        higher = metric_of(measured.metric).higher_is_better
        key = measured.metric, measured.schedule, measured.component
        compared = Compared("metric", *key, higher_is_better=higher)
        rows += comparison_rows(compared, {dataset: pairings[number] for dataset, pairings in every.items()})
    return rows


def _metric_pairings(a: Measurements, b: Measurements, dataset: str, seed: int) -> list[Pairing]:
    """One for every metric; both trackers are scored on the same resamples."""
    n = a.n_dialogs
    weights = item_weights(f"compare {dataset}", n, RESAMPLES, seed)
    resampled = a.resampled(weights) - b.resampled(weights)
    coins = rng_of("exchange", dataset, seed).integers(0, 2, (PERMUTATIONS, n))
    both = a.joined(b)
    exchanged_a = both.resampled(np.concatenate([coins, 1 - coins], axis=1))
    exchanged_b = both.resampled(np.concatenate([1 - coins, coins], axis=1))
    values = np.array([[row.value for row in side.rows] for side in (a, b)], dtype=np.float64)
    exchanged = exchanged_a - exchanged_b
    return [Pairing(values[:, m], resampled[m], exchanged[m]) for m in range(len(a.rows))]


def comparison_verdicts(
    run: Run, rows: Sequence[ComparisonRow], first: str, second: str
) -> list[ComparisonVerdict]:
    """For every variant, by the primary target; from the rows of `compare_trackers`."""
    study = run.verdict()
    if not study.verdicts:
        return []
    target = study.verdicts[0].target
    whole = [row for row in rows if row.kind == "return" and row.name == target]
    datasets = {row.dataset for row in whole}
    shown = [row for row in whole if row.dataset == MEAN or len(datasets) == 1]
    made = []
    for row in shown:
        of_row = study.of_target(target, row.variant)
        chosen = of_row.recommended if of_row else None
        costs = comparison_costs(run, first, second, target, row.variant)
        by_metric = next((cost for cost in costs if chosen and Name.of(cost) == chosen.name), None)
        made.append(comparison_verdict(run.panel, row, (first, second), by_metric, len(shown) > 1))
    return made


def comparison_costs(
    run: Run, first: str, second: str, target: str | None = None, variant: str | None = None
) -> list[PairCost]:
    """What choosing between the two by each declared metric would have cost; None: the primary target."""
    verdict = run.verdict().of_target(target, variant)
    if verdict is None:
        return []
    place = next(
        k
        for k, each in enumerate(run.panel.targets)
        if (each.name, each.variant) == (verdict.target, verdict.variant)
    )
    return pair_costs(run.panel, place, [choice.name for choice in verdict.choices], first, second)


@dataclass(frozen=True)
class Disagreement:
    """A dialog in which one tracker has more slots right than the other, summed over turns."""

    dataset: str
    session: str
    difference: int
    turns: tuple[TranscriptTurn, ...]


def most_different_dialogs(run: Run, first: str, second: str, most: int = 3) -> list[Disagreement]:
    """Of every dataset the dialogs in which two trackers differ most; the dialogs are read again."""
    compare = _of_states if run.plan.states else _of_beliefs
    dialogs = compare(run.plan, first, second, most)
    return sorted(dialogs, key=lambda dialog: -abs(dialog.difference))[:most]


def _of_beliefs(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    dialogs = []
    trackers = {tracker.name: tracker for tracker in plan.trackers}
    for unit in plan.units:
        corpus = corpus_of(unit.test)
        a, b = (output_of(resolve_files(trackers[name], unit), unit, "test") for name in (first, second))
        right = (_right_slots(corpus, a), _right_slots(corpus, b))
        dataset_of = {
            dialog: part.name for part in unit.parts for dialog in part.chosen(corpus.n_dialogs).tolist()
        }
        for dialog, apart in differing_dialogs(right, corpus.offsets, most):
            turns = tuple(transcript_of_dialog(corpus, (a, b), dialog))
            dataset = dataset_of.get(dialog, unit.name)
            dialogs.append(Disagreement(dataset, corpus.sessions[dialog], apart, turns))
    return dialogs


def _right_slots(corpus: Corpus, output: TrackerOutput) -> Ints:
    """(n_turns,) how many slots the best hypotheses have right."""
    beliefs = output.marginals(corpus)
    return np.asarray(beliefs.correct[beliefs.top].reshape(corpus.n_turns, -1).sum(axis=1), dtype=np.int64)


def _of_states(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    files = {file.name: file for file in plan.states}
    pair = files[first].read(plan.dialogs), files[second].read(plan.dialogs)
    right = _right_states(pair[0]), _right_states(pair[1])
    return [
        Disagreement(STATES_DATASET, pair[0].dialogs[dialog], apart, tuple(_transcript(pair, dialog)))
        for dialog, apart in differing_dialogs(right, pair[0].offsets, most)
    ]


def _right_states(states: StateSets) -> Ints:
    """(n_turns,) slots that are right, less those that are predicted and wrong."""
    same = (states.predicted == states.gold) & (states.gold != ABSENT)
    wrong = (states.predicted != states.gold) & (states.predicted != ABSENT)
    return np.asarray(same.sum(axis=1) - wrong.sum(axis=1), dtype=np.int64)


def _transcript(pair: tuple[StateSets, StateSets], dialog: int) -> list[TranscriptTurn]:
    turns = []
    slots = sorted({slot for states in pair for slot in states.slots})
    begin, end = pair[0].offsets[dialog], pair[0].offsets[dialog + 1]
    for number in range(int(end - begin)):
        rows = []
        for slot in slots:
            gold = _value(pair[0], dialog, number, slot, "gold")
            predicted = [_value(states, dialog, number, slot, "predicted") for states in pair]
            if gold or any(predicted):
                beliefs = tuple(((value or "none", 1.0),) for value in predicted)
                right = tuple(value == gold for value in predicted)
                rows.append(TranscriptSlot("-".join(slot), (gold,) if gold else (), beliefs, right))
        turns.append(TranscriptTurn(number, "", (), tuple(rows)))
    return turns


def _value(states: StateSets, dialog: int, number: int, slot: tuple[str, str], kind: str) -> str | None:
    if slot not in states.slots:
        return None
    table = states.gold if kind == "gold" else states.predicted
    identity = int(table[int(states.offsets[dialog]) + number, states.slots.index(slot)])
    return None if identity == ABSENT else states.vocabulary.text(identity)


def differing_dialogs(right: tuple[Ints, Ints], offsets: Ints, most: int) -> list[tuple[int, int]]:
    """Dialogs in which one tracker is right more often: (dialog, by how many), the farthest apart first.

    right (n_turns,): how many slots each of the two has right at every turn.
    """
    apart = np.add.reduceat(right[0] - right[1], offsets[:-1])
    order = np.argsort(-np.abs(apart), kind="stable")[:most]
    return [(int(dialog), int(apart[dialog])) for dialog in order if apart[dialog]]
