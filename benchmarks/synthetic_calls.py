"""Bus calls (DSTC1) and a tracker made straight as arrays: of any size, without a loop over turns."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Ids, Ints, offsets_from_lengths
from extrinsic.corpus.acts import Acts, NBest, Vocabulary
from extrinsic.corpus.conventions import DSTC1
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import Domain, load_domain
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.tracker_output import TrackerOutput, build_output

N_VALUES = 40
"""Values of a slot."""

SEEN_FIRST = 3
"""Labels fall on the first few values of a slot, and so do the top hypotheses: some are right."""


def make_calls(
    n_dialogs: int, n_turns: int = 8, n_hypotheses: int = 10, seed: int = 0
) -> tuple[Corpus, TrackerOutput]:
    """Calls of equal length; every slot and the joint have the same number of hypotheses at every turn."""
    rng = np.random.default_rng(seed)
    domain, vocabulary = load_domain("bus"), Vocabulary()
    values = _value_ids(domain, vocabulary)
    corpus = _make_corpus(domain, vocabulary, values, n_dialogs, n_turns, rng)
    given = _slot_hypotheses(values, corpus.n_turns, n_hypotheses, rng)
    joint = _joint_hypotheses(given, corpus.n_turns, n_hypotheses, rng)
    output, _ = build_output(corpus, "synthetic", given, joint, wall_time=0.0)
    return corpus, output


def _value_ids(domain: Domain, vocabulary: Vocabulary) -> Ids:
    """(n_slots, N_VALUES) ids of values; those of date and time are pairs of their parts."""
    parts = {slot.name: slot.parts for slot in domain.slots}
    rows = []
    for slot in domain.slot_names:
        texts = [f"{slot} {number}" for number in range(N_VALUES)]
        rows.append([vocabulary.id(((parts[slot][0], text),) if parts[slot] else text) for text in texts])
    return np.array(rows, dtype=np.int32)


def _make_corpus(
    domain: Domain,
    vocabulary: Vocabulary,
    values: Ids,
    n_dialogs: int,
    n_turns: int,
    rng: np.random.Generator,
) -> Corpus:
    total = n_dialogs * n_turns
    slot_names = [vocabulary.id(slot.parts[0] if slot.parts else slot.name) for slot in domain.slots]
    texts = np.array([vocabulary.id(f"heard {number}") for number in range(N_VALUES)], dtype=np.int32)
    sessions = tuple(f"call-{number}" for number in range(n_dialogs))
    restart = rng.random(total) < 0.02
    restart[::n_turns] = False
    hypotheses_heard = 2

    def acts(n_owners: int, name: str) -> Acts:
        """One act with one pair for each owner."""
        return Acts(
            np.arange(n_owners + 1),
            np.full(n_owners, vocabulary.id(name), dtype=np.int32),
            np.arange(n_owners + 1),
            np.array(slot_names, dtype=np.int32)[rng.integers(0, len(slot_names), n_owners)],
            texts[rng.integers(0, N_VALUES, n_owners)],
        )

    slot = rng.integers(0, len(slot_names), total)
    return Corpus(
        dataset="train4",
        format=DSTC1.name,
        conventions=DSTC1,
        domain=domain,
        slots=domain.slot_names,
        requestable=(),
        vocabulary=vocabulary,
        sessions=sessions,
        directories=tuple(f"calls/{session}" for session in sessions),
        offsets=np.arange(n_dialogs + 1) * n_turns,
        restart=restart,
        system=acts(total, "expl-conf"),
        nbest=NBest(
            np.arange(total + 1) * hypotheses_heard,
            np.tile([0.6, 0.3], total),
            np.tile([False, True], total),
            acts(total * hypotheses_heard, "inform"),
        ),
        labels=LabelEvents(
            np.arange(total), slot, values[slot, rng.integers(0, SEEN_FIRST, total)], rng.random(total) < 0.6
        ),
    )


def _slot_hypotheses(values: Ids, n_turns: int, size: int, rng: np.random.Generator) -> Hypotheses:
    """Different values within an item, best first as trackers write them; a tenth is left to None."""
    n_slots = len(values)
    n_items = n_turns * n_slots
    first = rng.integers(0, SEEN_FIRST, n_items)
    number = (first[:, None] + np.arange(size)) % N_VALUES
    slot = np.arange(n_items) % n_slots
    return Hypotheses(
        _equal_offsets(n_items, size), values[slot[:, None], number].ravel(), _scores(n_items, size, rng)
    )


def _joint_hypotheses(
    given: Hypotheses, n_turns: int, size: int, rng: np.random.Generator
) -> JointHypotheses:
    """The k-th joint hypothesis takes the k-th value of a third of the slots."""
    by_item = given.value.reshape(n_turns, -1, size).transpose(0, 2, 1)
    taken = rng.random(by_item.shape) < 1 / 3
    # Never empty, and no two alike: the first slot always has its own value.
    taken[:, :, 0] = True
    assignment = np.where(taken, by_item, 0).astype(np.int32).reshape(n_turns * size, -1)
    return JointHypotheses(
        np.ones(n_turns, dtype=bool), _equal_offsets(n_turns, size), assignment, _scores(n_turns, size, rng)
    )


def _equal_offsets(n_items: int, size: int) -> Ints:
    return offsets_from_lengths(np.full(n_items, size))


def _scores(n_items: int, size: int, rng: np.random.Generator) -> np.ndarray:
    raw = np.sort(rng.random((n_items, size)) ** 4, axis=1)[:, ::-1]
    return np.asarray((raw * (0.9 / raw.sum(axis=1, keepdims=True))).ravel())
