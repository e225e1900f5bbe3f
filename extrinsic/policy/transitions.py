"""Transitions: decisions with their rewards and next decisions, the data that policies learn from.

The type and its two ways in: the decisions of a corpus as a tracker sees them, and somebody's own tables; in
one module, above 300 lines, so that the fields are filled beside where they are explained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.corpus import Corpus, ranked_sessions
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.formats.log_lines import read_lines, written_lines
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, UsageError, require_type
from extrinsic.policy.decision_tables import DecisionTable, Place, columns_of_lines
from extrinsic.policy.features import Features, States, find_features
from extrinsic.policy.observations import BEFORE, Observations, observations_of_corpus
from extrinsic.policy.rewards import Reward, RewardFunction, is_decision
from extrinsic.registry import REWARDS, Registry
from extrinsic.storage import content_hash, write_atomic
from extrinsic.tables import html_table

END = -1
"""The next decision after the last one of a dialog."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where decisions come from, for the policies that are learned from them; None where that is not known.

    features, conditions: the map from beliefs to states; None for states that are not made of beliefs.
    domain, domain_hash: the task.   tracker: whose beliefs.   dataset, corpus: the dialogs, and their hash.
    reward: its kind and its options, as in [reward]; None for one that is not registered.
    """

    features: tuple[str, ...] | None = None
    conditions: bool = True
    domain: str | None = None
    domain_hash: str | None = None
    tracker: str | None = None
    dataset: str | None = None
    corpus: str | None = None
    reward: dict[str, Any] | None = None


NOWHERE = Source()
"""The source of decisions that somebody made up."""


def hash_of_domain(domain: Domain) -> str:
    return content_hash(msgspec.json.encode(domain))


def plain_config(registry: Registry[Any], config: object) -> dict[str, Any] | None:
    """A config of a registered kind as its kind and options; None for any other."""
    if not is_dataclass(config) or isinstance(config, type):
        return None
    for name, kind in registry.imported():
        if kind is type(config):
            return {"kind": name, **asdict(config)}
    return None


@dataclass(frozen=True, eq=False)
class Transitions:
    """n decisions, dialog by dialog, in an order that depends only on the session ids.

    states: before each decision.   action (n,): the predicate, an index into `actions`.
    reward (n,): earned between it and the next one.   next (n,): the next decision, END for none.
    dialog (n,): 0, 1, ... in order of the session ids.   turn (n,): of the corpus, within its dialog.
    propensities (n, n_actions): the system's probability of each action, NaN where not logged.
    feasible: the lowest and highest return a dialog can have (None for a custom reward).
    possible (n, n_actions): what could be done, by the log; None if it does not say, and all could.
    source: what they were made of.
    """

    states: States
    action: Ints
    reward: Floats
    next: Ints
    dialog: Ints
    turn: Ints
    propensities: Floats
    actions: tuple[str, ...]
    sessions: tuple[str, ...]
    feasible: tuple[float, float] | None = None
    possible: Bools | None = None
    source: Source = NOWHERE

    @staticmethod
    def from_arrays(
        states: States | npt.ArrayLike,
        action: npt.ArrayLike,
        reward: npt.ArrayLike,
        dialog: npt.ArrayLike,
        *,
        actions: Sequence[str],
        turn: npt.ArrayLike | None = None,
        propensities: npt.ArrayLike | None = None,
        possible: npt.ArrayLike | None = None,
        ends: npt.ArrayLike | None = None,
        feasible: tuple[float, float] | None = None,
        source: Source | None = None,
        place: Place | None = None,
    ) -> Transitions:
        """Decisions from arrays, checked; InputError with every problem.

        states: States, or (n, d) numbers.   action (n,): names or indices of `actions`.   reward (n,).
        dialog (n,): ids; the decisions of a dialog follow one another, in order.   turn (n,): 0, 1, ...
        propensities: (n,) of the actions taken, or (n, n_actions) of all.   possible (n, n_actions).
        ends (n,): whether a dialog ends there; without it every dialog ends at its last decision.
        place: where a decision is, for messages.
        """
        table = DecisionTable.checked(
            states,
            action,
            actions,
            place,
            reward=reward,
            dialog=dialog,
            turn=turn,
            propensities=propensities,
            possible=possible,
            ends=ends,
        )
        rows = np.argsort(table.dialog, kind="stable")
        sessions, number = np.unique(table.dialog, return_inverse=True)
        n_rows, number = len(rows), number[rows]
        if not isinstance(states, States):
            states = States(table.continuous, np.zeros((n_rows, 0), dtype=np.int64), table.names, ())
        chances = table.propensities
        if chances is None:
            chances = np.full((n_rows, len(table.actions)), np.nan)
        return Transitions(
            states=states.take(rows),
            action=table.action[rows],
            reward=table.reward[rows],
            next=_next_of(number),
            dialog=number,
            turn=table.turn[rows],
            propensities=chances[rows],
            actions=table.actions,
            sessions=tuple(map(str, sessions.tolist())),
            feasible=feasible,
            possible=None if table.possible is None else table.possible[rows],
            source=source or NOWHERE,
        )

    def __repr__(self) -> str:
        return (
            f"<Transitions: {len(self):,} decisions of {self.n_dialogs:,} dialogs, "
            f"{self.states.continuous.shape[1]} + {self.states.discrete.shape[1]} features, "
            f"{len(self.actions)} actions>"
        )

    def _repr_html_(self) -> str:
        taken = [self.action == number for number in range(len(self.actions))]
        rows = [
            {"action": name, "decisions": int(its.sum()), "share": float(its.mean())}
            for name, its in zip(self.actions, taken, strict=True)
        ]
        mean = f"{self.returns().mean():.2f} a dialog on average"
        return html_table(f"{repr(self).strip('<>')}; {mean}", rows)

    def __len__(self) -> int:
        return len(self.action)

    @property
    def n_dialogs(self) -> int:
        return len(self.sessions)

    @property
    def first(self) -> Bools:
        """(n,) whether it is the first decision of its dialog."""
        return np.asarray(np.diff(self.dialog, prepend=-1) > 0)

    @property
    def ends(self) -> Bools:
        """(n,) whether the dialog ends after it."""
        return np.asarray(self.next == END)

    @property
    def logged(self) -> Floats:
        """(n,) the propensity of the action taken."""
        return np.asarray(self.propensities[np.arange(len(self)), self.action])

    def returns(self) -> Floats:
        """(n_dialogs,) the undiscounted return of each dialog."""
        return np.bincount(self.dialog, self.reward, self.n_dialogs).astype(np.float64)

    def returns_to_go(self) -> Floats:
        """(n,) what each dialog earned from this decision on."""
        position = np.arange(len(self)) - np.flatnonzero(self.first)[self.dialog]
        by_turn = np.zeros((self.n_dialogs, int(position.max()) + 1))
        by_turn[self.dialog, position] = self.reward
        to_go = np.cumsum(by_turn[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(to_go[self.dialog, position])

    def take_share(self, share: float) -> Transitions:
        """Of a share of the dialogs, at least one; a smaller share is part of a larger one."""
        if share == 1.0:
            return self
        n_dialogs = max(1, round(share * self.n_dialogs))
        return self.take_dialogs(np.sort(ranked_sessions(self.sessions, 0)[:n_dialogs]))

    def take_dialogs(self, dialogs: Ints) -> Transitions:
        """The transitions of the chosen dialogs (ascending), renumbered."""
        number = np.full(self.n_dialogs, -1, dtype=np.int64)
        number[dialogs] = np.arange(len(dialogs))
        rows = np.flatnonzero(number[self.dialog] >= 0)
        new_row = np.full(len(self) + 1, END, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        return replace(
            self,
            states=self.states.take(rows),
            action=self.action[rows],
            reward=self.reward[rows],
            next=new_row[self.next[rows]],
            dialog=number[self.dialog[rows]],
            turn=self.turn[rows],
            propensities=self.propensities[rows],
            possible=None if self.possible is None else self.possible[rows],
            sessions=tuple(self.sessions[i] for i in dialogs),
        )


def _next_of(dialog: Ints) -> Ints:
    """(n,) the next decision of each, where those of a dialog (n,) follow one another."""
    follows = np.append(dialog[1:] == dialog[:-1], False)
    return np.where(follows, np.arange(len(dialog)) + 1, END)


def transitions_of(
    corpus: Corpus,
    output: TrackerOutput,
    features: Features | str | Sequence[str] = "compact",
    reward: RewardFunction | None = None,
) -> Transitions:
    """The decisions of a corpus as seen through a tracker."""
    chosen = find_features(features)
    reward = Reward.of(corpus.domain) if reward is None else reward
    decides = is_decision(corpus)
    _require_predicates(corpus, decides)
    _require_possible(corpus, decides)
    turns = decision_turns(corpus)
    states = chosen(decision_observations(corpus, output))
    own = corpus.dialog_of_turn[turns]
    begins = np.append(True, own[1:] != own[:-1])
    dialog = np.cumsum(begins) - 1
    earned = _earned(corpus, output, reward)
    propensities = corpus.propensities
    if propensities is None:
        propensities = np.full((corpus.n_turns, len(corpus.domain.predicate_names)), np.nan)
    # A custom reward may know no bounds.
    bounds = getattr(reward, "feasible", None)
    return Transitions(
        states=states,
        action=corpus.predicate[turns].astype(np.int64),
        reward=_until_next(corpus, earned, decides)[turns],
        next=_next_of(dialog),
        dialog=dialog,
        turn=corpus.turn_in_dialog[turns],
        propensities=propensities[turns],
        actions=corpus.domain.predicate_names,
        sessions=tuple(corpus.sessions[i] for i in own[begins]),
        feasible=bounds and bounds(corpus.domain, 1, int(np.bincount(dialog).max())),
        possible=None if corpus.possible is None else corpus.possible[turns],
        source=Source(
            features=chosen.blocks,
            conditions=chosen.conditions,
            domain=corpus.domain.name,
            domain_hash=hash_of_domain(corpus.domain),
            tracker=output.name,
            dataset=corpus.dataset,
            corpus=corpus.signature,
            reward=plain_config(REWARDS, reward),
        ),
    )


def decision_turns(corpus: Corpus) -> Ints:
    """The turns that are decisions, in the order of the transitions made of them.

    Sorted by session id: sparsification depends on order, and a file's order must not matter.
    """
    turns = np.flatnonzero(is_decision(corpus))
    rank = np.empty(corpus.n_dialogs, dtype=np.int64)
    rank[np.argsort(corpus.sessions, kind="stable")] = np.arange(corpus.n_dialogs)
    return turns[np.lexsort((turns, rank[corpus.dialog_of_turn[turns]]))]


def decision_observations(corpus: Corpus, output: TrackerOutput) -> Observations:
    """The observations before every decision of a corpus, in the order of its transitions."""
    turns = decision_turns(corpus)
    seen = np.where(corpus.turn_in_dialog[turns] == 0, BEFORE, turns - 1)
    return observations_of_corpus(corpus, output, seen, corpus.dialog_of_turn[turns])


def _earned(corpus: Corpus, output: TrackerOutput, reward: RewardFunction) -> Floats:
    """(n_turns,) the reward of each turn; validated, because it may be a custom one."""
    earned = np.asarray(reward(corpus, output), dtype=np.float64)
    if earned.shape != (corpus.n_turns,):
        raise UsageError(
            "a reward must give one number a turn", expected=f"({corpus.n_turns},)", found=str(earned.shape)
        )
    if not np.isfinite(earned).all():
        turn = int(np.flatnonzero(~np.isfinite(earned))[0])
        place = _place(corpus, turn)
        raise UsageError("a reward must be a finite number", found=str(earned[turn]), **place)
    return earned


def _until_next(corpus: Corpus, earned: Floats, decides: Bools) -> Floats:
    """(n_turns,) at each decision, the sum of the rewards from there up to the next one (or the end)."""
    decision = np.cumsum(decides) - 1
    first = np.append(np.flatnonzero(decides), corpus.n_turns)[decision]
    belongs = (decision >= 0) & (first >= corpus.offsets[corpus.dialog_of_turn])
    total = np.zeros(corpus.n_turns)
    total[decides] = np.bincount(decision[belongs], earned[belongs], int(decides.sum()))
    return total


def _place(corpus: Corpus, turn: int) -> dict[str, Any]:
    """Session and turn, for messages."""
    dialog = int(corpus.dialog_of_turn[turn])
    return {"session": corpus.sessions[dialog], "turn": int(corpus.turn_in_dialog[turn])}


def _require_predicates(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError unless there are decisions and each has a predicate."""
    acts, names = corpus.system, corpus.domain.predicate_names
    unmapped: dict[str, list[int]] = {}
    for turn in np.flatnonzero(decides & (corpus.predicate < 0)).tolist():
        kinds = acts.name[acts.offsets[turn] : acts.offsets[turn + 1]]
        said = " + ".join(corpus.vocabulary.text(int(kind)) for kind in kinds)
        unmapped.setdefault(said, []).append(turn)
    if unmapped:
        raise InputError(
            Problem(
                f"{len(turns):,} system turns with acts that {corpus.domain.name!r} maps to no predicate",
                expected=f"acts of {', '.join(names)}",
                found=said or "no acts at all",
                **_place(corpus, turns[0]),
            )
            for said, turns in sorted(unmapped.items(), key=lambda entry: -len(entry[1]))
        )
    if not decides.any():
        raise UsageError(f"the corpus {corpus.dataset!r} has no decisions: every system turn is a greeting")


def _require_possible(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError where the log says that what was done was not possible."""
    if corpus.possible is None:
        return
    turns, names = np.flatnonzero(decides), corpus.domain.predicate_names
    impossible = turns[~corpus.possible[turns, corpus.predicate[turns]]]
    problems = [
        Problem(
            "what the system did is not among what the log calls possible",
            expected=", ".join(names[column] for column in np.flatnonzero(corpus.possible[turn])),
            found=names[corpus.predicate[turn]],
            **_place(corpus, turn),
        )
        for turn in impossible
    ]
    if problems:
        raise InputError(problems)


def read_transitions(path: str | Path, actions: Sequence[str] | None = None) -> Transitions:
    """The decisions of a log with states and rewards, or InputError with every problem in it.

    actions: all there are, in order; None: those that the log mentions, sorted. Logs to learn from and to
    value on need the same.
    """
    require_type("path", path, "the path of a log", str, Path)
    log = read_lines(path, gaps=True)
    source = Source(dataset=Path(path).name.partition(".")[0], corpus=content_hash("jsonl", log.data))
    return Transitions.from_arrays(**columns_of_lines(log, actions), source=source)


def write_transitions(transitions: Transitions, path: str | Path) -> None:
    """Write a log that `read_transitions` reads as the same decisions, given the same actions."""
    write_atomic(path, written_lines(_lines(transitions)))


def _lines(transitions: Transitions) -> Iterator[dict[str, Any]]:
    states, names, possible = transitions.states, transitions.actions, transitions.possible
    for row, own in enumerate(transitions.logged):
        chances = transitions.propensities[row]
        whole = not np.isnan(chances).any()
        yield {
            "dialog": transitions.sessions[transitions.dialog[row]],
            "turn": int(transitions.turn[row]),
            "state": dict(zip(states.continuous_names, states.continuous[row].tolist(), strict=True)),
            "discrete": dict(zip(states.discrete_names, states.discrete[row].tolist(), strict=True)) or None,
            "action": names[transitions.action[row]],
            "reward": float(transitions.reward[row]),
            "propensities": {names[i]: float(chances[i]) for i in np.flatnonzero(chances)} if whole else None,
            "propensity": None if whole or np.isnan(own) else float(own),
            "possible": None if possible is None else [names[i] for i in np.flatnonzero(possible[row])],
            "end": bool(transitions.ends[row]),
        }
