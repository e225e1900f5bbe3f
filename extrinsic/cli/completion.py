"""`extrinsic completion`: a shell script that completes commands, options and names."""

from __future__ import annotations

import argparse

from extrinsic.cli.commands import KINDS
from extrinsic.cli.main import build_parser

NAMED = {"--metric": "metrics", "--tracker": "trackers", "--format": "formats", "--domain": "domains"}
"""Options whose values `extrinsic ls` lists."""

BASH = """\
_extrinsic() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  local found=""
  if [ "$COMP_CWORD" -eq 1 ]; then found="{commands}"
  else
    case "$before" in
{values}
    esac
    if [ -z "$found" ]; then
      case "$command" in
{options}
      esac
      [ "$command:$COMP_CWORD" = "ls:2" ] && found="{kinds} $found"
      case "$command:$COMP_CWORD" in
        run:2|policies:2) found="$(extrinsic ls configs | cut -d' ' -f1) $found" ;;
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}}
complete -o default -F _extrinsic extrinsic
"""


def run(arguments: argparse.Namespace) -> int:
    options = _options(build_parser())
    if arguments.shell == "fish":
        print(_fish(options), end="")
    else:
        # zsh can run bash's completions.
        head = "autoload -U +X bashcompinit && bashcompinit\n" if arguments.shell == "zsh" else ""
        print(head + _bash(options), end="")
    return 0


def _options(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """The options of every command."""
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {
        name: [option for action in command._actions for option in action.option_strings]
        for name, command in commands.choices.items()
    }


def _bash(options: dict[str, list[str]]) -> str:
    values = [
        f"      {option}) found=\"$(extrinsic ls {kind} | cut -d' ' -f1)\" ;;"
        for option, kind in NAMED.items()
    ]
    lines = [f'        {name}) found="{" ".join(names)}" ;;' for name, names in options.items()]
    return BASH.format(
        commands=" ".join(options), values="\n".join(values), options="\n".join(lines), kinds=" ".join(KINDS)
    )


def _fish(options: dict[str, list[str]]) -> str:
    lines = [f"complete -c extrinsic -n __fish_use_subcommand -f -a '{' '.join(options)}'"]
    for name, names in options.items():
        for option in names:
            if option.startswith("--"):
                values = (
                    f" -x -a \"(extrinsic ls {NAMED[option]} | cut -d' ' -f1)\"" if option in NAMED else ""
                )
                lines.append(
                    f"complete -c extrinsic -n '__fish_seen_subcommand_from {name}' -l {option[2:]}{values}"
                )
    return "\n".join(lines) + "\n"
