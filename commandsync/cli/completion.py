"""`commandsync completion`: the script that completes commands in a shell."""

import click

from commandsync.cli.options import OrderedCommand
from commandsync.cli.program import program

# A ~/.zshrc without a framework has not loaded the completions of zsh yet.
_COMPDEF = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


@click.command("completion", cls=OrderedCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(*, shell: str) -> None:
    """Print a script that completes commands in a shell.

    \b
    Example:
      eval "$(commandsync completion bash)"      # in ~/.bashrc
      eval "$(commandsync completion zsh)"       # in ~/.zshrc
      commandsync completion fish | source       # in config.fish
    """
    from click.shell_completion import get_completion_class

    from commandsync.cli.output import print_out

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - click has all three
    source = script(program, {}, "commandsync", "_COMMANDSYNC_COMPLETE").source()
    print_out(f"{_COMPDEF}{source}" if shell == "zsh" else source)
