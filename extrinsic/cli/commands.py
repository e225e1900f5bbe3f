"""The commands and their arguments. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from extrinsic.errors import did_you_mean

KINDS = {
    "formats": "file formats of corpora and tracker outputs",
    "domains": "tasks: slots, groups, what the system's acts mean",
    "metrics": "intrinsic metrics of a tracker",
    "trackers": "trackers that run on any corpus with an SLU N-best",
    "populations": "families of trackers with parameters, to draw populations from",
    "features": "maps from beliefs to the state of a policy",
    "blocks": "parts of feature maps; `policy.features` may be a list of them",
    "behaviours": "models of how the logged system acts",
    "learners": "learners of policies",
    "rewards": "rewards that policies are learned for",
    "estimators": "estimators of the value of a policy",
    "evaluators": "evaluators of outcomes, for [outcomes] evaluator",
    "worlds": "simulated worlds that policies can be played in",
    "configs": "studies: `extrinsic run NAME`; of policies: `extrinsic policies NAME`",
}
"""What `ls` lists."""


class Parser(argparse.ArgumentParser):
    """With short forms for arguments; help that cannot be written is an error, not silence."""

    def option(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, **more)

    def flag(self, name: str, help: str) -> None:
        self.add_argument(name, action="store_true", help=help)

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def add_corpus_arguments(parser: Parser) -> None:
    """--format, --corpus, --dataset, --domain, --plugin."""
    parser.option("--format", "F", "what the files are: see `extrinsic ls formats`", required=True)
    parser.option("--corpus", "P", "directory or .tar.gz of the corpus (state sets need none)")
    parser.option("--dataset", "D", "which list of sessions of the corpus, e.g. dstc2_dev")
    parser.option("--domain", "NAME|PATH", "the task: a built-in domain or your own .toml")
    add_plugin_argument(parser)


def add_state_arguments(parser: Parser) -> None:
    """--gold, --fuzzy, --normalise, ...: what `state_reading` makes of them."""
    parser.option(
        "--gold",
        "P",
        "file or directory of the gold states, for files that hold predictions alone or another gold",
    )
    parser.option(
        "--fuzzy",
        "N",
        "values of open slots count as equal from this similarity on, 1 to 100 (default: equal text)",
        type=int,
    )

    parser.option("--gold-name", "NAME", "which gold, where the file of --gold has several, e.g. gold24")
    parser.option(
        "--normalise",
        "RULE|FILE",
        "make values alike first: multiwoz_eval, trade, trippy, strict, or your own .toml",
    )
    parser.option("--dontcare", "CHOICE", "keep (default), drop, or drop_gold: from gold alone")


def add_plugin_argument(parser: Parser) -> None:
    """--plugin; the command must import them first."""
    parser.option(
        "--plugin",
        "FILE",
        "a Python file that registers your own formats, metrics, trackers, ...; repeatable",
        action="append",
        default=[],
    )


def add_trust_argument(parser: Parser) -> None:
    """--trust-plugins, for `open_run`."""
    parser.flag(
        "--trust-plugins",
        "import the Python files that the run's configuration names; without it nothing is imported",
    )


def add_run_arguments(parser: Parser, json_help: str) -> None:
    """What every command has that computes stages."""
    parser.option("config", "CONFIG", "a study (.toml), or a name of `extrinsic ls configs`")
    parser.option("--output", "DIR", "the run's directory (default: runs/<name of the study>)")
    parser.option(
        "--set",
        "A.B=C",
        "set a key of the configuration, e.g. correlation.resamples=2000; repeatable",
        action="append",
        default=[],
        dest="changes",
    )
    parser.option("--n-jobs", "N", "processes (-1: one per processor)", type=int, default=-1)
    parser.option("--engine", "E", "joblib (default) or dask", default="joblib")
    parser.option("--scheduler", "ADDR", "of a Dask cluster, e.g. tcp://host:8786")
    parser.flag("--overwrite", "use the directory even if it holds another study")
    parser.flag("--no-report", "write only the tables, no page")
    parser.flag("--quiet", "no progress")
    parser.flag("--verbose", "how long every stage took, what was reused")
    parser.flag("--json", json_help)


def _run(parser: Parser) -> None:
    """Run the study of a configuration (a .toml file, or a name of `extrinsic ls configs`): measure and
    learn on every tracker, value every policy, and say which metric to choose by, what that loses and, at
    most, for other trackers. Results that the directory already holds are reused: an interrupted run
    continues where it stopped, a changed setting computes only what depends on it.
    """
    add_run_arguments(parser, "the verdict, and what choosing by every metric loses, as JSON on stdout")


def _policies(parser: Parser) -> None:
    """Learn every policy of a grid (the table [grid] of a configuration, a .toml file or a name of
    `extrinsic ls configs`) from the training dialogs, value it on the test dialogs by every estimator,
    and live where there is a world; show paired differences to a baseline. It is resumable and parallel,
    as `run` is.
    """
    add_run_arguments(parser, "policies.csv as JSON on stdout")


def _report(parser: Parser) -> None:
    """Render the report of a finished run from its tables, without computing anything again: report.html,
    figures/*.svg in the run's directory.
    """
    parser.option("folder", "RUN", "the directory of a run")
    parser.option("--output", "FILE", "write only the page, to this file")
    parser.flag("--quiet", "do not say where the page is")
    parser.flag("--json", "instead: verdict and health of the data, as JSON on stdout")
    add_trust_argument(parser)


def _compare(parser: Parser) -> None:
    """Compare two trackers of a run: whose policy earns more and how sure that is; what choosing between
    them by each declared metric costs; the telling returns and metrics, their difference with an interval
    over dialogs and a p-value by exchanging the two dialog by dialog; the dialogs in which they differ
    most. --all shows everything.
    """
    parser.option("run_folder", "RUN", "the directory of a run")
    parser.option("first", "A", "a tracker of the run")
    parser.option("second", "B", "another one")
    parser.option("--dataset", "D", "show this dataset (default: the mean over all)")
    parser.option("--dialogs", "N", "show N dialogs turn by turn (0)", type=int, default=0)
    parser.flag("--all", "every return and metric, and two dialogs")
    parser.option("--output", "FILE", "the page (default: RUN/compare-A-B.html)")
    parser.option("--seed", "K", "of the resamples (0)", type=int, default=0)
    parser.flag("--json", "the verdict and every row, as JSON on stdout")
    add_trust_argument(parser)


def _play(parser: Parser) -> None:
    """Play a policy that a study kept ([policy] keep = true), or that was saved from Python, on a tracker
    in a simulated world: its return, the share of callers who reached their goal, and the turns they
    needed, with 95 % intervals over callers. The same seed gives the same callers to every policy.
    """
    parser.option("policy", "POLICY", "the file of a policy")
    parser.option("--tracker", "T", "whose beliefs it acts on", required=True)
    parser.option("--world", "W", "a dataset of the bus world (ds1), KIND:DATASET, or KIND", required=True)
    parser.option("--config", "C", "the world's configuration; default: the embedded one")
    parser.option("--dialogs", "N", "how many callers (1000)", type=int, default=1000)
    parser.option("--seed", "S", "which callers (0)", type=int, default=0)
    parser.flag("--json", "the table as JSON on stdout")
    add_plugin_argument(parser)


def _simulate(parser: Parser) -> None:
    """Simulate callers, a recogniser and the expert who answers, and write their calls with labels and
    logged propensities as DSTC1 files: DIR/<dataset>/<session>/dstc.log.json and dstc.labels.json, the
    lists in DIR/config/<dataset>.sessions; calls in which something can be requested as DSTC2 files.
    Without --world and --config, bus-information calls as embedded, training and test: ds1 to ds4 in the
    manner of Lee 2014, letsgo and cambridge in that of real calls.
    """
    parser.option("--world", "W", "the kind of world (bus)", default="bus")
    parser.option("--config", "C", "its configuration (.toml); default: the embedded one")
    parser.option("--output", "DIR", "the directory to write", required=True)
    parser.option("--dataset", "D", "only this one, e.g. ds1 or ds1_test; may be repeated", action="append")
    add_plugin_argument(parser)
    parser.option("--n-jobs", "N", "processes (1)", type=int, default=1)
    parser.flag("--quiet", "no progress")
    parser.flag("--json", "the table as JSON on stdout")


def _track(parser: Parser) -> None:
    """Run trackers over the dialogs of a corpus and write a tracker file each. Learned trackers are
    trained on --train-corpus and --train-dataset; without these on the corpus itself, cross-fitted, so
    that no model sees the dialogs it tracks. `extrinsic ls trackers` lists them.
    """
    add_corpus_arguments(parser)
    parser.option(
        "--tracker",
        "T",
        "a tracker, with parameters if it has any (ls populations), or all; repeatable",
        action="append",
        default=[],
    )
    parser.option("--population", "N", "the first N members of a population (ls populations)", type=int)
    parser.option("--population-seed", "S", "another population (default 0)", type=int, default=0)
    parser.option("--distinct", "X", "leave out those that agree with an earlier one by X", type=float)
    parser.option("--output", "P", "a file for one tracker, or a directory for T.json of each", required=True)
    parser.flag("--gzip", "write .json.gz")
    parser.option("--train-corpus", "P", "what learned trackers learn from (--corpus)")
    parser.option("--train-dataset", "D", "which list of sessions of it, e.g. dstc2_train")
    parser.option("--folds", "K", "parts of a cross-fitting (default 5)", type=int)
    parser.option("--n-jobs", "N", "processes; -1: one per processor", type=int, default=1)
    parser.flag("--quiet", "no progress")


def _score(parser: Parser) -> None:
    """Compute intrinsic metrics. Of beliefs all metrics, schedules, components and label schemes are
    computed; the table shows the telling ones, --all more, --json and --csv every row. Of state sets
    every turn and all slots together; --component hotel gives a domain, --schedule 3 the last turn.
    """
    add_corpus_arguments(parser)
    add_state_arguments(parser)
    parser.option("files", "FILE", "tracker files", nargs="+")
    parser.option(
        "--metric", "M", "only this metric, e.g. accuracy or 'fga(0.5)'; repeatable", action="append"
    )
    parser.option("--schedule", "S", "only this schedule; repeatable", action="append", type=int)
    parser.option("--component", "C", "only this component; repeatable", action="append")
    parser.flag("--all", "every metric in the table, not the telling few")
    parser.option(
        "--fill",
        "RULE",
        "also score beliefs with the state-set metrics, filled by argmax or threshold[:.5]; repeatable",
        action="append",
        default=[],
    )
    parser.option("--bootstrap", "N", "95%% intervals over N resamples of dialogs", type=int, default=0)
    parser.option("--seed", "K", "of the resamples (default 0)", type=int, default=0)
    parser.flag(
        "--paired",
        "instead: two files, the difference of every metric with its interval over dialogs "
        "(--bootstrap, default 1000), and p by exchanging them dialog by dialog",
    )
    parser.flag(
        "--turn-correlation", "instead: how state-set metrics correlate over turns (Kim et al. 2022, Fig. 3)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_const", const="json", dest="form", help="JSON on stdout")
    form.add_argument("--csv", action="store_const", const="csv", dest="form", help="CSV on stdout")


def _evaluate(parser: Parser) -> None:
    """Evaluate systems as MultiWOZ_Evaluation does: what their responses offer, by their states and the
    database, against the goals. A file in that evaluator's format holds states and responses; with
    --responses the responses come from another file, so that a tracker's states are put under a
    generator's responses. JGA is beside it where --gold (default: the goals' file) has gold states.
    """
    parser.option("files", "FILE", "predicted states, with responses or without", nargs="+")
    parser.option("--format", "F", "of the files (default: multiwoz-eval)", default="multiwoz-eval")
    parser.option("--goals", "FILE", "dialogs with their goals", required=True)
    parser.option("--booked", "FILE", "which domains were booked by which turn", required=True)
    parser.option("--database", "DIR", "the folder of <domain>_db.json", required=True)
    parser.option("--responses", "FILE", "a generator's responses instead; repeatable", action="append")
    parser.add_argument(
        "--domains",
        choices=("states", "responses"),
        default="states",
        help="which domains a response is about, if its file does not say: whose slots changed in the state "
        "(the standard rule), or that its placeholders name",
    )
    add_state_arguments(parser)
    parser.add_argument(
        "--dialogs", choices=("same", "shared"), default="same", help="shared: those that all have"
    )
    parser.flag("--json", "JSON on stdout")
    parser.flag("--quiet", "no progress")
    add_plugin_argument(parser)


def _validate(parser: Parser) -> None:
    """Report every problem of the files, with session, turn, slot, what was expected and what was found.
    Exit code 0: clean; 2: problems. Repairs that the scoring rules define (a negative score, scores that
    sum above 1) and warnings (values that the ontology lacks) are listed and do not fail, unless
    --strict.
    """
    add_corpus_arguments(parser)
    add_state_arguments(parser)
    parser.option("files", "FILE", "tracker files; none: check the corpus itself", nargs="*")
    parser.flag("--strict", "treat repairs and warnings as errors")
    parser.flag("--json", "all problems, as JSON on stdout")


def _kind(text: str) -> str:
    if text not in KINDS:
        raise argparse.ArgumentTypeError(f"there is no {text!r} to list; {did_you_mean(text, list(KINDS))}")
    return text


def _ls(parser: Parser) -> None:
    """List what is available, one line each; the first word of a line is the key. Without a kind: the
    kinds. With a key: everything about it.
    """
    kinds = " | ".join(KINDS)
    parser.option("kind", "KIND", kinds, nargs="?", type=_kind, choices=list(KINDS))
    parser.option("key", "KEY", "one of them in detail, e.g. metrics fga", nargs="?")
    parser.flag("--json", "as JSON on stdout")
    add_plugin_argument(parser)


COMMANDS: dict[str, tuple[str, Callable[[Parser], None]]] = {
    "run": ("run a study: which metric predicts the values of policies", _run),
    "policies": (
        "compare policies: learners, features, rewards, filters and trackers on one corpus",
        _policies,
    ),
    "report": ("render the report of a run again", _report),
    "compare": (
        "compare two trackers of a run: every metric and return, and the dialogs that differ",
        _compare,
    ),
    "play": ("play a kept policy live in a simulated world", _play),
    "simulate": ("write simulated calls as DSTC1 or DSTC2 files", _simulate),
    "track": ("run trackers over a corpus and write their tracker files", _track),
    "score": ("compute the intrinsic metrics of tracker files", _score),
    "evaluate": ("inform and success of MultiWOZ systems: states x responses x goals x database", _evaluate),
    "validate": ("report every problem of tracker files or a corpus", _validate),
    "ls": (
        "list what is available: formats, metrics, trackers, learners, rewards, estimators, worlds, ...",
        _ls,
    ),
}
"""By name, in the order of the help: a line about it, and what adds its arguments to a parser.

The docstring of the latter is what a command says of itself.
"""
