"""The simulated recogniser: scored N-best lists of what callers may have said."""

from __future__ import annotations

from copy import copy
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
        self.turn: TurnNumber = 0
        alpha = settings.error * settings.concentration
        beta = (1.0 - settings.error) * settings.concentration
        drawn = betaincinv(alpha, beta, chance.uniform("error level", 0))
        self.level: Floats = np.minimum(settings.noise * drawn, 0.98)

    def hear(self, dialogs: Ints, turn: TurnNumber, utterance: Utterance) -> Lists:
        """The N-best lists of the chosen callers' utterances."""
        return self._at(dialogs, turn)._lists(utterance)

    def _at(self, callers: Ints, turn: TurnNumber) -> Recogniser:
        """Of some of the callers, at a turn; everything below is."""
        some = copy(self)
        some.chance, some.level, some.turn = self.chance.take(callers), self.level[callers], turn
        return some

    def _uniform(self, purpose: str, *shape: int) -> Floats:
        return self.chance.uniform(purpose, self.turn, shape)

    def _uniform_at(self, purpose: str, position: Ints) -> Floats:
        return self.chance.uniform_at(purpose, self.turn, position)

    def _lists(self, utterance: Utterance) -> Lists:
        rank = self._ranks_of_truth(utterance.value.shape[1])
        values = self._variants(utterance.value, rank)
        added = self._insertions()
        answer, answer_right = self._confused(utterance.answer, (YES, NO), "")
        command, command_right = self._confused(utterance.command, self.confusable, "command ")
        answer[answer != NOTHING] += len(self.values)
        command[command != NOTHING] += len(self.values) + NO
        content = np.concatenate([values, added[..., None], answer[..., None], command[..., None]], axis=2)

        informs = (utterance.value != NOTHING).any(axis=1)
        spoken = informs | (utterance.answer != SILENT) | (utterance.command != SILENT)
        values_right = ((rank == 0) | (utterance.value == NOTHING)).all(axis=1)
        right = answer_right & command_right & values_right & spoken
        # A few lists, hardly ever right ones, are long.
        likely = self.settings.long_lists * np.where(right, 0.1, 1.0)
        goes_on = informs & (self.level > 0.0) & (self._uniform("goes on") < likely)
        size = self._sizes(right, goes_on)
        # Silence yields nothing, unless noise is taken for speech; speech rarely yields nothing.
        size = np.where(spoken | (content != NOTHING).any(axis=(1, 2)), size, 0)
        if self.settings.rejects:
            rejected = self._uniform("rejected") < self.settings.rejects * self.level * 2.0
            size, goes_on = np.where(rejected, 0, size), goes_on & ~rejected
        lists = _distinct(content, self._scores(size, right))
        return self._continued(utterance, lists, goes_on) if goes_on.any() else lists

    def _sizes(self, right: Bools, goes_on: Bools) -> Ints:
        """(m,) the number of hypotheses of a list, before equal ones are merged."""
        settings = self.settings
        lengthens = -np.expm1(-settings.lengthens * self.level)
        draws = self._uniform("length", settings.longest - 1)
        size = 1 + (draws < lengthens[:, None]).sum(axis=1)
        if settings.single:
            stops = self._uniform("single") < settings.single * np.where(right, 1.0, 0.25)
            size = np.where(stops, 1, size)
        return np.where(goes_on, settings.longest, size)

    def _continued(self, utterance: Utterance, lists: Lists, goes_on: Bools) -> Lists:
        """The lists, some with a tail of further values of the slot mentioned, all with low scores."""
        longest, rows = self.settings.longest, np.flatnonzero(goes_on)
        value = utterance.value[rows, (utterance.value[rows] != NOTHING).argmax(axis=1)]
        begin, n_values = self.values.begin[self.values.slot[value]], np.diff(self.values.begin)
        n_values = n_values[self.values.slot[value]]
        draw = self._uniform("how far")[rows]
        length = (longest * np.maximum(draw, 1e-9) ** (-1.0 / TAIL)).astype(np.int64)
        length = np.minimum(np.minimum(length, self.settings.longest_list), n_values - 1) - longest
        n_more = max(int(length.max()), 0)
        first = (self._uniform("tail begins")[rows] * n_values).astype(np.int64)
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

    def _ranks_of_truth(self, n_groups: int) -> Ints:
        """(m, n_groups) the rank of the value said in the list; `longest` if it is not listed."""
        longest = self.settings.longest
        wrong = self._uniform("wrong", n_groups) < self.level[:, None]
        listed = self._uniform("listed", n_groups) < self.settings.in_list
        # Mostly second, rarely further down.
        depth = self._uniform("depth", n_groups) ** 2
        further = 1 + (depth * max(longest - 1, 1)).astype(np.int64)
        return np.where(wrong, np.where(listed, further, longest), 0)

    def _variants(self, said: Ints, rank: Ints) -> Ints:
        """(m, longest, n_groups) the value of each group in each hypothesis; computed where one was said."""
        settings, longest = self.settings, self.settings.longest
        row, group = np.nonzero(said != NOTHING)
        # (k, longest) from here on: the position of each draw is that among all (longest, n_groups).
        each = self._at(row, self.turn[row] if isinstance(self.turn, np.ndarray) else self.turn)
        level, rank, position = each.level[:, None], rank[row, group][:, None], np.arange(longest)[None]
        place = position * said.shape[1] + group[:, None]
        kept = (rank == 0) & (each._uniform_at("kept", place) < settings.keeps)
        true = np.broadcast_to(said[row, group][:, None], place.shape)
        other = self.values.neighbour[true, each._which_neighbour(true, place, group)]
        crossed = each._uniform_at("crossed", place) < settings.cross_slot * level * 2.0
        way = (each._uniform_at("crossed to", place) * 2).astype(np.int64)
        elsewhere = self.values.elsewhere[true, way]
        other = np.where(crossed & (elsewhere != true), elsewhere, other)
        lost = each._uniform_at("lost", place) < settings.deletion * level * 2.0
        heard = np.full((len(said), longest, said.shape[1]), NOTHING, dtype=np.int64)
        heard[row, :, group] = np.where(lost, NOTHING, np.where((position == rank) | kept, true, other))
        return heard

    def _which_neighbour(self, value: Ints, place: Ints, group: Ints) -> Ints:
        """(k, longest) which neighbour a value is confused with, mostly the caller's usual one."""
        own = self.chance.uniform_at("own neighbour", 0, value)
        fresh = self._uniform_at("fresh neighbour", place)
        habit = self._uniform_at("habit", group[:, None]) < self.settings.persistence
        # The most similar come first: half of all mistakes fall on the two nearest.
        first = (np.where(habit, own, fresh) ** 2 * N_NEIGHBOURS).astype(np.int64)
        return np.asarray((first + np.arange(value.shape[1])) % N_NEIGHBOURS)

    def _insertions(self) -> Ints:
        """(m, longest) inserted values that were not said, in some hypotheses."""
        longest = self.settings.longest
        added = self._uniform("added", longest) < (self.settings.insertion * self.level * 0.5)[:, None]
        slot = (self._uniform("added slot", longest) * (len(self.values.begin) - 1)).astype(np.int64)
        size = np.diff(self.values.begin)[slot]
        value = self.values.begin[slot] + (self._uniform("added value", longest) * size).astype(np.int64)
        return np.where(added, value, NOTHING)

    def _confused(self, said: Ints, among: tuple[int, int], purpose: str) -> tuple[Ints, Bools]:
        """(m, longest) what is heard of yes or no, or of a command, and whether the best has it right.

        among: the first and the last of those that are taken for one another, with equal chances.
        """
        longest, speaks, (first, last) = self.settings.longest, said != SILENT, among
        if not speaks.any():
            return np.full((len(said), longest), NOTHING), ~speaks
        likely = self.settings.yes_no * self.level * 2.0 * (said >= first)
        swapped = self._uniform(f"{purpose}swapped", longest) < likely[:, None]
        n_others = last - first
        step = 1 + (self._uniform(f"{purpose}for", longest) * n_others).astype(np.int64)
        other = first + (said[:, None] - first + step) % (n_others + 1)
        heard = np.where(speaks[:, None], np.where(swapped, other, said[:, None]), NOTHING)
        return heard, ~speaks | ~swapped[:, 0]

    def _scores(self, size: Ints, right: Bools) -> Floats:
        """(m, longest) scores, best first: steep where the best is right, flat where it is not, mostly."""
        settings = self.settings
        discrimination = settings.discrimination
        flat = self._uniform("flatness")
        ratio = np.where(right, flat ** (1.0 + discrimination), flat ** (1.0 / (1.0 + 2.0 * discrimination)))
        ratio = (0.10 + 0.85 * ratio) ** settings.boldness
        position = np.arange(settings.longest)
        weight = np.where(position < size[:, None], ratio[:, None] ** position, 0.0)
        total = np.maximum(weight.sum(axis=1), 1e-9)
        doubted = np.where(right, 1.0 - 0.5 * discrimination, 1.0 + discrimination)
        doubt = np.minimum(1.0, doubted * self.level)
        mass = 1.0 - doubt * self._uniform("mass")
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
