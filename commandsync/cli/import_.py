"""`commandsync import`: commands from a bot's code or platform into the manifest."""

from collections.abc import Sequence
from functools import partial

import click

from commandsync.cli.option import PATH, Command, Number, not_empty, option
from commandsync.cli.options import (
    Run,
    file_option,
    format_option,
    max_deletes_option,
    talk_options,
    yes_option,
)
from commandsync.errors import Exit

_discord_option = partial(option, section="Discord")
_record_option = partial(option, section="Recording")


class ImportCommand(Command):
    """The command `import`, where everything after `--` is a program with its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments before `--`, and keep those behind it as they are."""
        place = args.index("--") if "--" in args else len(args)
        extra = super().parse_args(ctx, args[:place])
        ctx.params["program"] = tuple(args[place + 1 :])
        if place + 1 == len(args):
            from commandsync.errors import UsageError

            raise UsageError("no program follows --", hint="such as  -- node deploy-commands.js")
        return extra


@click.command("import", cls=ImportCommand)
@click.argument(
    "sources",
    nargs=-1,
    type=PATH,
    metavar="[SOURCE]...",
    callback=not_empty,
    help="A file, a folder, or the word discord.",
)
@option("--check", "Write nothing; exit 3 if an import would change files.")
@option("--save", "Write the sources into import: of the manifest.")
@max_deletes_option
@option("--prefix TEXT", "The prefix of the bot's commands, for a new manifest.")
@_record_option(
    "--timeout SECONDS",
    "The time limit of the program.",
    dest="time_limit",
    type=Number(1, 3600),
    default=60,
)
@_record_option(
    "--allow HOST:PORT",
    "A service that the program may reach, such as its database; may be repeated.",
    multiple=True,
)
@_record_option("--say TEXT", "A message from the bot's owner to the bot, after its login.")
@_record_option("--guild ID", "The server that the bot is in.")
@_record_option(
    "--unfenced", "Run the program without the fence; what it writes and reaches is real."
)
@_discord_option("--locale LOCALE", "The language of Discord's texts, such as de.", default="")
@yes_option
@file_option
@format_option
@talk_options
def import_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    sources: Sequence[str],
    program: Sequence[str],
    *,
    check: bool,
    save: bool,
    prefix: str | None,
    time_limit: float,
    allow: Sequence[str],
    say: str | None,
    guild: str | None,
    unfenced: bool,
    locale: str,
    yes: bool,
) -> int:
    """Bring commands from the bot's code or platform into the manifest.

    A SOURCE is the bot's code in Python or JavaScript (read and never run), Discord's commands as
    JSON, a list as JSON, CSV or BotFather's lines, or the word discord for what the bot has
    registered. Without one, the sources are those in import: of the manifest. Shows the changes and
    asks first. What was edited in the manifest stays.

    A PROGRAM after -- is run once, against stand-ins for Discord and Telegram on this machine; what
    it registers is imported.

    \b
    Example:
      commandsync import bot/            # shows, asks, writes
      commandsync import bot/ --prefix "!" --save
      commandsync import discord --yes   # DISCORD_TOKEN is set
      commandsync import src -- node deploy-commands.js
      commandsync import --check         # in CI: exits 3 if it would change files
    """
    from commandsync.cli.importation import (
        ImportOrder,
        check_import,
        import_commands,
        record_program,
    )
    from commandsync.sync.importsource import read_registered

    recorded = None
    if program:
        recorded = record_program(
            run.output,
            program,
            timeout=time_limit,
            allow=allow,
            say=say,
            guild=guild,
            unfenced=unfenced,
        )
        if recorded is None:
            return int(Exit.CHANGES if check else Exit.FAILED)
    registered = partial(read_registered, run.settings)
    order = ImportOrder(sources=sources, recorded=recorded, locale=locale, prefix=prefix)
    if check:
        return check_import(run, order, registered)
    return import_commands(run, order, registered, saves=save, asks=not yes)
