"""The simulated recogniser: scored N-best lists of what callers may have said."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from scipy.special import betaincinv

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.values import N_NEIGHBOURS, NO, NOTHING, SILENT, YES, Lists, Utterance, Values
from extrinsic.simulation.world_files import Amount, Positive, Property, Settings
from extrinsic.typed_files import Share


class RecogniserSettings(Settings, frozen=True):
    """How speech is misunderstood. A caller's error level is a draw from a Beta distribution."""

    noise: Amount = 1.0
    """Multiplies every caller's error level; 0 hears what was said, with score 1."""
    error: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] = 0.40
    """Mean error level: how often the best hypothesis has a said value wrong."""
    concentration: Positive = 5.0
    """Of the Beta distribution: the larger, the more alike callers are."""
    in_list: Share = 0.60
    """How often a value missing from the best hypothesis is further down, in a list long enough."""
    longest: Annotated[int, msgspec.Meta(ge=1, le=10)] = 7
    lengthens: Amount = 2.0
    """How much longer lists get with the error level."""
    single: Share = 0.0
    """A list whose best hypothesis is right ends with it; a quarter as often where it is wrong."""
    long_lists: Share = 0.0
    """An informing list with a wrong value continues beyond `longest`; a tenth as often where the value is
    right. Its length has a heavy tail: P(more than x times `longest`) = x^-1.5."""
    longest_list: Annotated[int, msgspec.Meta(ge=1, le=64)] = 64
    """The maximum length of those."""
    rejects: Share = 0.0
    """Probability that nothing is understood of an utterance: twice this, times the error level."""
    persistence: Share = 0.6
    """Probability that a misheard value is confused with the same value as before."""
    keeps: Share = 0.5
    """A value right in the best hypothesis is right in a further one, too."""
    deletion: Share = 0.10
    insertion: Share = 0.10
    cross_slot: Share = 0.12
    yes_no: Share = 0.25
    """These four, times the error level: a value is lost, added, put in another slot; yes taken for no."""
    discrimination: Share = 0.5
    """How well the scores separate right from wrong: 0 not at all, 1 as well as possible."""
    boldness: Positive = 1.0
    """Above 1 the best hypothesis gets a larger share of the score, right or wrong."""


RECOGNISER_PROPERTIES = (
    Property(
        "noise",
        "how often the best hypothesis has a said value wrong",
        0.01,
        0.9,
        (0.15, 0.5),
        "recogniser.error",
    ),
    Property(
        "calibration",
        "how well the scores separate right from wrong: 0 not at all, 1 as well as possible",
        0.0,
        1.0,
        (0.0, 1.0),
        "recogniser.discrimination",
    ),
    Property(
        "boldness",
        "above 1 the best hypothesis gets a larger share of the score",
        0.1,
        20.0,
        (0.7, 4.0),
        "recogniser.boldness",
    ),
)
"""Properties that worlds with a recogniser can be drawn by."""


TAIL = 1.5
"""The exponent of the length of long lists."""

DECIMALS = 4
"""Decimals of scores, so that they do not depend on the last bits of a machine's arithmetic."""

MOST_OF_TAIL = 500
"""The highest score that a tail begins with, in units of the last decimal."""

FADING = 0.7 ** np.arange(1, 65)


class Recogniser:
    """Recognises n callers, each with an individual error level; repetitions may be misheard alike.

    confusable: the first and the last of the commands that are taken for each other.
    """

    def __init__(
        self, settings: RecogniserSettings, values: Values, chance: Chance, confusable: tuple[int, int]
    ) -> None:
        self.settings, self.values, self.chance = settings, values, chance
        self.confusable = confusable
        alpha = settings.error * settings.concentration
        beta = (1.0 - settings.error) * settings.concentration
        drawn = betaincinv(alpha, beta, chance.uniform("error level", 0))
        self.level: Floats = np.minimum(settings.noise * drawn, 0.98)

    def hear(self, dialogs: Ints, turn: TurnNumber, utterance: Utterance) -> Lists:
        """The N-best lists of the chosen callers' utterances."""
        chance, level = self.chance.take(dialogs), self.level[dialogs]
        rank = self._ranks_of_truth(chance, turn, level, utterance.value.shape[1])
        values = self._variants(dialogs, chance, turn, level, utterance.value, rank)
        added = self._insertions(chance, turn, level)
        answer, answer_right = self._answers(chance, turn, level, utterance.answer)
        command, command_right = self._commands(chance, turn, level, utterance.command)
        content = np.concatenate([values, added[..., None], answer[..., None], command[..., None]], axis=2)

        informs = (utterance.value != NOTHING).any(axis=1)
        spoken = informs | (utterance.answer != SILENT) | (utterance.command != SILENT)
        values_right = ((rank == 0) | (utterance.value == NOTHING)).all(axis=1)
        right = answer_right & command_right & values_right & spoken
        # A few lists, hardly ever right ones, are long.
        likely = self.settings.long_lists * np.where(right, 0.1, 1.0)
        goes_on = informs & (level > 0.0) & (chance.uniform("goes on", turn) < likely)
        size = self._sizes(chance, turn, level, right, goes_on)
        # Silence yields nothing, unless noise is taken for speech; speech rarely yields nothing.
        size = np.where(spoken | (content != NOTHING).any(axis=(1, 2)), size, 0)
        if self.settings.rejects:
            rejected = chance.uniform("rejected", turn) < self.settings.rejects * level * 2.0
            size, goes_on = np.where(rejected, 0, size), goes_on & ~rejected
        lists = _distinct(content, self._scores(chance, turn, level, size, right))
        return self._continued(chance, turn, utterance, lists, goes_on) if goes_on.any() else lists

    def _sizes(self, chance: Chance, turn: TurnNumber, level: Floats, right: Bools, goes_on: Bools) -> Ints:
        """(m,) the number of hypotheses of a list, before equal ones are merged."""
        settings = self.settings
        lengthens = -np.expm1(-settings.lengthens * level)
        draws = chance.uniform("length", turn, (settings.longest - 1,))
        size = 1 + (draws < lengthens[:, None]).sum(axis=1)
        if settings.single:
            stops = chance.uniform("single", turn) < settings.single * np.where(right, 1.0, 0.25)
            size = np.where(stops, 1, size)
        return np.where(goes_on, settings.longest, size)

    def _continued(
        self, chance: Chance, turn: TurnNumber, utterance: Utterance, lists: Lists, goes_on: Bools
    ) -> Lists:
        """The lists, some with a tail of further values of the slot mentioned, all with low scores."""
        longest, rows = self.settings.longest, np.flatnonzero(goes_on)
        value = utterance.value[rows, (utterance.value[rows] != NOTHING).argmax(axis=1)]
        begin, n_values = self.values.begin[self.values.slot[value]], np.diff(self.values.begin)
        n_values = n_values[self.values.slot[value]]
        draw = chance.uniform("how far", turn)[rows]
        length = (longest * np.maximum(draw, 1e-9) ** (-1.0 / TAIL)).astype(np.int64)
        length = np.minimum(np.minimum(length, self.settings.longest_list), n_values - 1) - longest
        n_more = max(int(length.max()), 0)
        first = (chance.uniform("tail begins", turn)[rows] * n_values).astype(np.int64)
        more = begin[:, None] + (first[:, None] + np.arange(n_more)) % n_values[:, None]
        listed = (more[:, :, None, None] == lists.content[rows][:, None]).any(axis=(2, 3))
        kept = (np.arange(n_more) < length[:, None]) & ~listed
        content = np.full((len(goes_on), longest + n_more, lists.content.shape[2]), NOTHING, dtype=np.int64)
        score = np.zeros((len(goes_on), longest + n_more))
        content[:, :longest], score[:, :longest] = lists.content, lists.score
        # In units of the last decimal: sums of integers do not depend on the batch, and never exceed 1.
        units = np.rint(lists.score[rows] * 10**DECIMALS).astype(np.int64)
        least = np.where(units > 0, units, MOST_OF_TAIL).min(axis=1)
        fading = np.maximum((least[:, None] * FADING[:n_more]).astype(np.int64), 1) * kept
        kept &= np.cumsum(fading, axis=1) <= (10**DECIMALS - units.sum(axis=1))[:, None]
        content[rows, longest:, 0] = np.where(kept, more, NOTHING)
        score[rows, longest:] = np.where(kept, fading, 0) / 10**DECIMALS
        return Lists(content, score)

    def _ranks_of_truth(self, chance: Chance, turn: TurnNumber, level: Floats, n_groups: int) -> Ints:
        """(m, n_groups) the rank of the value said in the list; `longest` if it is not listed."""
        longest = self.settings.longest
        wrong = chance.uniform("wrong", turn, (n_groups,)) < level[:, None]
        listed = chance.uniform("listed", turn, (n_groups,)) < self.settings.in_list
        # Mostly second, rarely further down.
        depth = chance.uniform("depth", turn, (n_groups,)) ** 2
        further = 1 + (depth * max(longest - 1, 1)).astype(np.int64)
        return np.where(wrong, np.where(listed, further, longest), 0)

    def _variants(
        self, dialogs: Ints, chance: Chance, turn: TurnNumber, level: Floats, said: Ints, rank: Ints
    ) -> Ints:
        """(m, longest, n_groups) the value of each group in each hypothesis; computed where one was said."""
        settings, longest = self.settings, self.settings.longest
        row, group = np.nonzero(said != NOTHING)
        chance, level, rank = chance.take(row), level[row][:, None], rank[row, group][:, None]
        turn = turn[row] if isinstance(turn, np.ndarray) else turn
        # (k, longest) from here on: the position of each draw is that among all (longest, n_groups).
        position = np.arange(longest)[None]
        place = position * said.shape[1] + group[:, None]
        kept = (rank == 0) & (chance.uniform_at("kept", turn, place) < settings.keeps)
        true = np.broadcast_to(said[row, group][:, None], place.shape)
        other = self.values.neighbour[true, self._which_neighbour(chance, turn, true, place, group)]
        crossed = chance.uniform_at("crossed", turn, place) < settings.cross_slot * level * 2.0
        way = (chance.uniform_at("crossed to", turn, place) * 2).astype(np.int64)
        elsewhere = self.values.elsewhere[true, way]
        other = np.where(crossed & (elsewhere != true), elsewhere, other)
        lost = chance.uniform_at("lost", turn, place) < settings.deletion * level * 2.0
        heard = np.full((len(said), longest, said.shape[1]), NOTHING, dtype=np.int64)
        heard[row, :, group] = np.where(lost, NOTHING, np.where((position == rank) | kept, true, other))
        return heard

    def _which_neighbour(
        self, chance: Chance, turn: TurnNumber, value: Ints, place: Ints, group: Ints
    ) -> Ints:
        """(k, longest) which neighbour a value is confused with, mostly the caller's usual one."""
        own = chance.uniform_at("own neighbour", 0, value)
        fresh = chance.uniform_at("fresh neighbour", turn, place)
        habit = chance.uniform_at("habit", turn, group[:, None]) < self.settings.persistence
        # The most similar come first: half of all mistakes fall on the two nearest.
        first = (np.where(habit, own, fresh) ** 2 * N_NEIGHBOURS).astype(np.int64)
        return np.asarray((first + np.arange(value.shape[1])) % N_NEIGHBOURS)

    def _insertions(self, chance: Chance, turn: TurnNumber, level: Floats) -> Ints:
        """(m, longest) inserted values that were not said, in some hypotheses."""
        shape = (self.settings.longest,)
        added = chance.uniform("added", turn, shape) < (self.settings.insertion * level * 0.5)[:, None]
        slot = (chance.uniform("added slot", turn, shape) * (len(self.values.begin) - 1)).astype(np.int64)
        size = np.diff(self.values.begin)[slot]
        value = self.values.begin[slot] + (chance.uniform("added value", turn, shape) * size).astype(np.int64)
        return np.where(added, value, NOTHING)

    def _answers(self, chance: Chance, turn: TurnNumber, level: Floats, said: Ints) -> tuple[Ints, Bools]:
        """(m, longest) yes or no in each hypothesis, and whether the best has it right."""
        shape = (self.settings.longest,)
        swapped = chance.uniform("swapped", turn, shape) < (self.settings.yes_no * level * 2.0)[:, None]
        other = np.where(said == YES, NO, YES)
        heard = np.where(swapped, other[:, None], said[:, None])
        heard = np.where(said[:, None] == SILENT, NOTHING, len(self.values) + heard)
        return heard, ~swapped[:, 0] | (said == SILENT)

    def _commands(self, chance: Chance, turn: TurnNumber, level: Floats, said: Ints) -> tuple[Ints, Bools]:
        """(m, longest) the command in each hypothesis, and whether the best has it right.

        One that is `confusable` is confused with another as a yes is with a no.
        """
        shape = (len(said), self.settings.longest)
        speaks = said != SILENT
        if not speaks.any():
            return np.full(shape, NOTHING), ~speaks
        first, last = self.confusable
        likely = self.settings.yes_no * level * 2.0 * (said >= first)
        swapped = chance.uniform("command swapped", turn, shape[1:]) < likely[:, None]
        n_others = last - first
        step = 1 + (chance.uniform("command for", turn, shape[1:]) * n_others).astype(np.int64)
        other = first + (said[:, None] - first + step) % (n_others + 1)
        heard = np.where(swapped, other, said[:, None])
        code = np.where(speaks[:, None], len(self.values) + NO + heard, NOTHING)
        return code, ~speaks | ~swapped[:, 0]

    def _scores(self, chance: Chance, turn: TurnNumber, level: Floats, size: Ints, right: Bools) -> Floats:
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
    present = score > 0
    # (m, longest) the first that is the same, itself at the latest.
    first = np.broadcast_to(np.arange(score.shape[1]), score.shape).copy()
    for later in range(1, score.shape[1]):
        rows = np.flatnonzero(present[:, later])
        same = (ordered[rows, :later] == ordered[rows, later, None]).all(axis=2) & present[rows, :later]
        first[rows, later] = np.where(same.any(axis=1), same.argmax(axis=1), later)
    merged = np.zeros_like(score)
    rows = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    np.add.at(merged, (rows[present], first[present]), score[present])
    merged = np.round(merged, DECIMALS)
    order = np.argsort(-merged, axis=1, kind="stable")
    return Lists(
        np.take_along_axis(ordered, order[..., None], axis=1), np.take_along_axis(merged, order, axis=1)
    )
