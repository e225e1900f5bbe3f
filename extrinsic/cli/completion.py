"""`extrinsic completion`: a shell script that completes commands, options and names."""

from __future__ import annotations

import argparse

NAME = "completion"
HELP = "print a completion script for bash, zsh or fish"
DESCRIPTION = (
    'Print a completion script. bash: eval "$(extrinsic completion bash)" in ~/.bashrc; zsh: the same with '
    "zsh in ~/.zshrc; fish: extrinsic completion fish > ~/.config/fish/completions/extrinsic.fish"
)

KINDS = {"--metric": "metrics", "--tracker": "trackers", "--format": "formats", "--domain": "domains"}
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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(arguments: argparse.Namespace) -> int:
    from extrinsic.cli.main import build_parser

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
    from extrinsic.cli.ls import KINDS as LISTS

    values = [
        f"      {option}) found=\"$(extrinsic ls {kind} | cut -d' ' -f1)\" ;;"
        for option, kind in KINDS.items()
    ]
    lines = [f'        {name}) found="{" ".join(names)}" ;;' for name, names in options.items()]
    return BASH.format(
        commands=" ".join(options), values="\n".join(values), options="\n".join(lines), kinds=" ".join(LISTS)
    )


def _fish(options: dict[str, list[str]]) -> str:
    lines = [f"complete -c extrinsic -n __fish_use_subcommand -f -a '{' '.join(options)}'"]
    for name, names in options.items():
        for option in names:
            if option.startswith("--"):
                values = (
                    f" -x -a \"(extrinsic ls {KINDS[option]} | cut -d' ' -f1)\"" if option in KINDS else ""
                )
                lines.append(
                    f"complete -c extrinsic -n '__fish_seen_subcommand_from {name}' -l {option[2:]}{values}"
                )
    return "\n".join(lines) + "\n"
