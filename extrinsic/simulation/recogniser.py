"""The simulated recogniser: scored N-best lists of what callers may have said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.bus_ontology import N_NEIGHBOURS, Values
from extrinsic.simulation.bus_settings import RecogniserSettings
from extrinsic.simulation.caller import NO, SILENT, YES, Utterance
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.goals import NOTHING

DECIMALS = 4
"""Decimals of scores, so that they do not depend on the last bits of a machine's arithmetic."""


@dataclass(frozen=True, eq=False)
class Lists:
    """N-best lists of m turns: content (m, longest, n_codes), score (m, longest), 0 where there is none.

    A code is the number of a value; or n_values + YES, n_values + NO; or the `startover` of the recogniser.
    """

    content: Ints
    score: Floats


class Recogniser:
    """Recognises n callers, each with an individual error level; repetitions may be misheard alike."""

    def __init__(self, settings: RecogniserSettings, values: Values, chance: Chance) -> None:
        self.settings, self.values, self.chance = settings, values, chance
        alpha = settings.error * settings.concentration
        beta = (1.0 - settings.error) * settings.concentration
        drawn = betaincinv(alpha, beta, chance.uniform("error level", 0))
        self.level: Floats = np.minimum(settings.noise * drawn, 0.98)

    @property
    def startover(self) -> int:
        return len(self.values) + 3

    def hear(self, dialogs: Ints, turn: int, utterance: Utterance) -> Lists:
        """The N-best lists of the chosen callers' utterances."""
        chance, level = self.chance.take(dialogs), self.level[dialogs]
        longest = self.settings.longest
        lengthens = -np.expm1(-self.settings.lengthens * level)
        size = 1 + (chance.uniform("length", turn, (longest - 1,)) < lengthens[:, None]).sum(axis=1)
        rank = self._ranks_of_truth(chance, turn, level, utterance.value.shape[1])
        values = self._variants(dialogs, chance, turn, level, utterance.value, rank)
        added = self._insertions(chance, turn, level)
        answer, answer_right = self._answers(chance, turn, level, utterance.answer)
        asks = np.where(utterance.startover, self.startover, NOTHING)
        asks = np.broadcast_to(asks[:, None, None], (len(dialogs), longest, 1))
        content = np.concatenate([values, added[..., None], answer[..., None], asks], axis=2)

        spoken = (utterance.value != NOTHING).any(axis=1) | (utterance.answer != SILENT) | utterance.startover
        # Silence yields nothing, unless noise is taken for speech.
        size = np.where(spoken | (content != NOTHING).any(axis=(1, 2)), size, 0)
        right = answer_right & ((rank == 0) | (utterance.value == NOTHING)).all(axis=1) & spoken
        score = self._scores(chance, turn, level, size, right)
        return _distinct(content, score)

    def _ranks_of_truth(self, chance: Chance, turn: int, level: Floats, n_groups: int) -> Ints:
        """(m, n_groups) the rank of the value said in the list; `longest` if it is not listed."""
        longest = self.settings.longest
        wrong = chance.uniform("wrong", turn, (n_groups,)) < level[:, None]
        listed = chance.uniform("listed", turn, (n_groups,)) < self.settings.in_list
        # Mostly second, rarely further down.
        depth = chance.uniform("depth", turn, (n_groups,)) ** 2
        further = 1 + (depth * max(longest - 1, 1)).astype(np.int64)
        return np.where(wrong, np.where(listed, further, longest), 0)

    def _variants(
        self, dialogs: Ints, chance: Chance, turn: int, level: Floats, said: Ints, rank: Ints
    ) -> Ints:
        """(m, longest, n_groups) the value of each group in each hypothesis."""
        settings, longest = self.settings, self.settings.longest
        shape = (longest, said.shape[1])
        position = np.arange(longest)[:, None]
        at_truth = position == rank[:, None, :]
        kept = (rank == 0)[:, None, :] & (chance.uniform("kept", turn, shape) < settings.keeps)
        true = np.broadcast_to(said[:, None, :], at_truth.shape)
        true_value = np.maximum(true, 0)
        other = self.values.neighbour[true_value, self._which_neighbour(chance, turn, true_value)]
        crossed = chance.uniform("crossed", turn, shape) < settings.cross_slot * level[:, None, None] * 2.0
        way = (chance.uniform("crossed to", turn, shape) * 2).astype(np.int64)
        elsewhere = self.values.elsewhere[true_value, way]
        other = np.where(crossed & (elsewhere != true_value), elsewhere, other)
        heard = np.where(at_truth | kept, true, other)
        lost = chance.uniform("lost", turn, shape) < settings.deletion * level[:, None, None] * 2.0
        return np.where((true == NOTHING) | lost, NOTHING, heard)

    def _which_neighbour(self, chance: Chance, turn: int, value: Ints) -> Ints:
        """(m, longest, n_groups) which neighbour a value is confused with, mostly the caller's usual one."""
        own = chance.uniform_at("own neighbour", 0, value)
        fresh = chance.uniform("fresh neighbour", turn, value.shape[1:])
        habit = chance.uniform("habit", turn, (value.shape[2],))[:, None, :] < self.settings.persistence
        # The most similar come first: half of all mistakes fall on the two nearest.
        first = (np.where(habit, own, fresh) ** 2 * N_NEIGHBOURS).astype(np.int64)
        return np.asarray((first + np.arange(value.shape[1])[:, None]) % N_NEIGHBOURS)

    def _insertions(self, chance: Chance, turn: int, level: Floats) -> Ints:
        """(m, longest) inserted values that were not said, in some hypotheses."""
        shape = (self.settings.longest,)
        added = chance.uniform("added", turn, shape) < (self.settings.insertion * level * 0.5)[:, None]
        slot = (chance.uniform("added slot", turn, shape) * (len(self.values.begin) - 1)).astype(np.int64)
        size = np.diff(self.values.begin)[slot]
        value = self.values.begin[slot] + (chance.uniform("added value", turn, shape) * size).astype(np.int64)
        return np.where(added, value, NOTHING)

    def _answers(self, chance: Chance, turn: int, level: Floats, said: Ints) -> tuple[Ints, Bools]:
        """(m, longest) yes or no in each hypothesis, and whether the best has it right."""
        shape = (self.settings.longest,)
        swapped = chance.uniform("swapped", turn, shape) < (self.settings.yes_no * level * 2.0)[:, None]
        other = np.where(said == YES, NO, YES)
        heard = np.where(swapped, other[:, None], said[:, None])
        heard = np.where(said[:, None] == SILENT, NOTHING, len(self.values) + heard)
        return heard, ~swapped[:, 0] | (said == SILENT)

    def _scores(self, chance: Chance, turn: int, level: Floats, size: Ints, right: Bools) -> Floats:
        """(m, longest) scores, best first: steep where the best is right, flat where it is not, mostly."""
        settings = self.settings
        discrimination = settings.discrimination
        flat = chance.uniform("flatness", turn)
        ratio = np.where(right, flat ** (1.0 + discrimination), flat ** (1.0 / (1.0 + 2.0 * discrimination)))
        ratio = (0.10 + 0.85 * ratio) ** settings.boldness
        position = np.arange(settings.longest)
        weight = np.where(position < size[:, None], ratio[:, None] ** position, 0.0)
        total = np.maximum(weight.sum(axis=1), 1e-9)
        doubt = np.minimum(1.0, np.where(right, 1.0 - 0.5 * discrimination, 1.0 + discrimination) * level)
        mass = 1.0 - doubt * chance.uniform("mass", turn)
        # Rounded down, so that a list never sums above 1; its best hypothesis never vanishes.
        scores = np.floor(weight * (mass / total)[:, None] * 10**DECIMALS) / 10**DECIMALS
        scores[:, 0] = np.where(size > 0, np.maximum(scores[:, 0], 10.0**-DECIMALS), 0.0)
        return np.asarray(scores)


def _distinct(content: Ints, score: Floats) -> Lists:
    """Merge equal hypotheses, summing their scores; the best come first."""
    ordered = np.sort(content, axis=2)[:, :, ::-1]
    same = (ordered[:, :, None, :] == ordered[:, None, :, :]).all(axis=3)
    present = score > 0
    first = (same & present[:, None, :]).argmax(axis=2)
    merged = np.zeros_like(score)
    rows = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    np.add.at(merged, (rows[present], first[present]), score[present])
    merged = np.round(merged, DECIMALS)
    order = np.argsort(-merged, axis=1, kind="stable")
    return Lists(
        np.take_along_axis(ordered, order[..., None], axis=1), np.take_along_axis(merged, order, axis=1)
    )
