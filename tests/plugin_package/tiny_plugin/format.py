"""Orders by telephone in files of JSON lines, with conventions of their own.

A corpus is a folder with `<dataset>.jsonl`, a dialog a line; a tracker file has a line for each dialog, too:

    {"id": "d1", "turns": [{"system": [ACT, ...], "heard": [[0.3, [ACT, ...]]], "goal": {"size": "big"}}]}
    {"id": "d1", "turns": [{"size": {"big": 0.3, "small": 0.1}}]}

with ACT = {"act": "inform", "slots": [["size", "big"]]}.
"""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import add_in_order, offsets_from_lengths, row_of_each
from extrinsic.corpus.acts import NONE, NBest, Vocabulary
from extrinsic.corpus.conventions import Conventions
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import find_domain, stem
from extrinsic.corpus.formats.logs import WrittenAct, columns_of_acts
from extrinsic.corpus.formats.notes import report_repairs
from extrinsic.corpus.hypotheses import Hypotheses, Ranking
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.tracker_output import build_output
from extrinsic.errors import InputError, Problems
from extrinsic.metrics.belief_items import ItemTable, find_correct
from extrinsic.storage import content_hash, read_bytes, write_atomic


class Turn(msgspec.Struct):
    system: list[WrittenAct]
    heard: list[tuple[float, list[WrittenAct]]]
    goal: dict[str, str]


class Dialog(msgspec.Struct):
    id: str
    turns: list[Turn]


class Beliefs(msgspec.Struct):
    id: str
    turns: list[dict[str, dict[str, float]]]


def rank_values_first(offsets, score):
    """Values by descending score; None has what they leave, and always stands last."""
    row = row_of_each(offsets)
    order = np.lexsort((-score, row))
    with_none = offsets + np.arange(len(offsets))
    at = np.arange(len(score)) + row
    source, ranked = np.full(with_none[-1], -1), np.empty(with_none[-1])
    total = add_in_order(score, offsets)
    source[at], ranked[at] = order, score[order]
    ranked[with_none[1:] - 1] = np.maximum(0.0, 1.0 - total)
    return Ranking(with_none, source, ranked, score < 0, total > 1.0, total)


def gold_states(corpus, predicted, scheme):
    """Under `final` what the caller wants in the end, under `so_far` what has been said by the turn."""
    goal = corpus.labels.goal
    return goal[corpus.offsets[1:] - 1][corpus.dialog_of_turn] if scheme == "final" else goal


def build_items(corpus, output):
    """Slots, pooled and each alone, and the whole order; schedule 4 has the turns with anything wanted."""
    return [_items(corpus, output, scheme) for scheme in corpus.conventions.label_schemes]


def _items(corpus, output, scheme):
    n_slots, beliefs = len(corpus.slots), output.beliefs
    gold = gold_states(corpus, None, scheme)
    right = beliefs.value == gold.ravel()[row_of_each(beliefs.offsets)]
    slots = find_correct(beliefs.offsets, beliefs.score, right)
    tops = (slots.top_correct, slots.top_score, slots.first_score)
    correct, top_score, probability = (column.reshape(-1, n_slots) for column in tops)
    fields = {
        "correct": np.column_stack([correct, correct.all(axis=1)]).astype(float),
        "probability": np.column_stack([probability, probability.prod(axis=1)]),
    }
    wanted = (corpus.labels.goal != NONE).any(axis=1)
    return ItemTable(
        roc_points=corpus.conventions.roc_points,
        label_scheme=scheme,
        offsets=corpus.offsets,
        components={
            "order": (n_slots,),
            "slots": tuple(range(n_slots)),
            **{f"slot {name}": (column,) for column, name in enumerate(corpus.slots)},
        },
        schedules={
            1: np.ones((corpus.n_turns, n_slots + 1), dtype=bool),
            4: np.repeat(wanted[:, None], n_slots + 1, axis=1),
        },
        fields=fields,
        top_score=np.column_stack([top_score, top_score.prod(axis=1)]),
        correct=fields["correct"].astype(bool),
    )


def no_joint(given, n_slots, rule):
    """Whoever scores an order multiplies the slots."""


ORDERS = Conventions(
    name="orders",
    metrics=("accuracy", "avgp", "roc.v1_eer"),
    schedules=(1, 4),
    label_schemes=("final", "so_far"),
    components=("order", "slots"),
    shown_components=("order",),
    rank=rank_values_first,
    build_items=build_items,
    gold_states=gold_states,
    roc_points="distinct_scores",
    make_joint=no_joint,
    tracks_requests=False,
    negative_score="stays negative",
)


class OrderFiles:
    """The format: what it is called, what it reads and writes, and by which conventions it is scored."""

    name = "orders"
    conventions = ORDERS
    default_domain = str(Path(__file__).with_name("orders.toml"))

    def read_corpus(self, path, dataset=None, domain=None):
        file = Path(path) / f"{dataset}.jsonl"
        data, domain, vocabulary = read_bytes(file), find_domain(domain, self.default_domain), Vocabulary()
        dialogs = _lines(data, Dialog, file)
        turns = [turn for dialog in dialogs for turn in dialog.turns]
        heard = [hypothesis for turn in turns for hypothesis in turn.heard]
        goals = [[turn.goal.get(slot) for slot in domain.slot_names] for turn in turns]
        return Corpus(
            dataset=str(dataset),
            format=self.name,
            conventions=self.conventions,
            domain=domain,
            slots=domain.slot_names,
            requestable=(),
            vocabulary=vocabulary,
            sessions=tuple(dialog.id for dialog in dialogs),
            directories=tuple(dialog.id for dialog in dialogs),
            offsets=offsets_from_lengths([len(dialog.turns) for dialog in dialogs]),
            restart=np.zeros(len(turns), dtype=bool),
            system=columns_of_acts([turn.system for turn in turns], vocabulary),
            nbest=NBest(
                offsets_from_lengths([len(turn.heard) for turn in turns]),
                np.array([score for score, _ in heard]),
                np.zeros(len(heard), dtype=bool),
                columns_of_acts([acts for _, acts in heard], vocabulary),
            ),
            labels=GoalLabels(
                np.stack([vocabulary.ids(goal) for goal in goals]),
                np.zeros((len(turns), 0), dtype=bool),
                np.full(len(turns), NONE, dtype=np.int32),
                columns_of_acts([[] for _ in turns], vocabulary),
            ),
            signature=content_hash(self.name, data, repr(domain)),
        )

    def read_tracker(self, path, corpus, name=None):
        data = read_bytes(path)
        tracked = _lines(data, Beliefs, path)
        turns = [turn for dialog in tracked for turn in dialog.turns]
        lengths = [len(dialog.turns) for dialog in tracked]
        if (
            tuple(dialog.id for dialog in tracked) != corpus.sessions
            or lengths != np.diff(corpus.offsets).tolist()
        ):
            raise InputError(
                "not the dialogs of the corpus", path=str(path), expected=", ".join(corpus.sessions)
            )
        items = [turn.get(slot, {}) for turn in turns for slot in corpus.slots]
        given = Hypotheses(
            offsets_from_lengths([len(item) for item in items]),
            corpus.vocabulary.ids([value for item in items for value in item]),
            np.array([score for item in items for score in item.values()], dtype=np.float64),
        )
        signature = content_hash(self.name, data)
        output, rankings = build_output(corpus, name or stem(path), given, signature=signature)
        problems = Problems(str(path))
        report_repairs(problems, corpus, rankings.slots, given, corpus.slots)
        return replace(output, problems=tuple(problems))

    def write_tracker(self, output, corpus, path):
        given, text, n_slots = output.given, corpus.vocabulary.text, len(corpus.slots)

        def slot_beliefs(item):
            rows = range(*given.offsets[item : item + 2])
            return {text(int(given.value[row])): float(given.score[row]) for row in rows}

        lines = []
        for dialog, session in enumerate(corpus.sessions):
            turns = [
                {slot: slot_beliefs(turn * n_slots + column) for column, slot in enumerate(corpus.slots)}
                for turn in range(*corpus.offsets[dialog : dialog + 2])
            ]
            lines.append(json.dumps({"id": session, "turns": turns}) + "\n")
        write_atomic(path, "".join(lines).encode())


def _lines(data, kind, path):
    try:
        return [msgspec.json.decode(line, type=kind) for line in data.splitlines()]
    except msgspec.DecodeError as error:
        raise InputError(f"not a line of this format: {error}", path=str(path)) from None


FORMAT = OrderFiles()
