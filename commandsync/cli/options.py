"""Commands that run with an output, and the options that several of them share.

The settings of `sync/setting.py` are options by `@option(MAX_DELETES)`. Here are the options that
only the command line has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from commandsync.cli.option import PATH, SHARED, OrderedCommand, not_empty, option
from commandsync.sync.process import Signals
from commandsync.sync.setting import (
    BASE_URL,
    BOT,
    ENV_FILE,
    INSECURE_HTTP,
    SINCE,
    TIMEOUT,
    TOKEN_FILE,
    UNSEEN,
    Setting,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.job import Job
    from commandsync.sync.settings import Settings

SERVICE = (BASE_URL, BOT, TOKEN_FILE, ENV_FILE, TIMEOUT, INSECURE_HTTP)
"""The settings of each command that calls a listing service."""

manifest_arguments = click.argument(  # without `--file` before each
    "manifests", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty
)
yes_option = option("-y, --yes", "Do not ask; required without a terminal.")
force_option = option("--force", "Replace an existing file.")

DEFAULT_DATABASE = "listing.db"


def _database(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    from commandsync.sync.files import refuse_token

    refuse_token(value, [])  # it would be the name of a file
    return value


database_option = option(
    "--database PATH|URL",
    "The service's database: a file, or postgresql+psycopg://user@host/database.",
    callback=_database,
    default=DEFAULT_DATABASE,
    envvar="COMMANDSYNC_DATABASE",
)

_shared_option = partial(option, section=SHARED)
_OUTPUT = (
    _shared_option(
        "--color WHEN",
        "Colour the output: auto (on a terminal, unless NO_COLOR is set, or TERM is dumb), always "
        "or never.",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=False,
    ),
    _shared_option("--full", "Show texts whole, however long they are."),
    _shared_option("-q, --quiet", "Print only the line of the result, and errors."),
    _shared_option(
        "-v, --verbose",
        "Print each read with its place and its time; -vv shows every request.",
        count=True,
    ),
)
EVERY_FORMAT = ("text", "json", "markdown", "github")


class Run(NamedTuple):
    """One run of a command: its output and settings, and the signals that may end it.

    A command gets it with the default settings, and puts its own in.
    """

    output: Output
    settings: Settings
    signals: Signals


class RunCommand(OrderedCommand):
    """A command whose first argument is its `Run`; it has the options of the output itself."""

    def __init__(self, *args: Any, formats: Sequence[str] = (), **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        if formats:
            option(
                "--format FORMAT",
                f"The format of the result: {', '.join(formats[:-1])} or {formats[-1]}.",
                dest="form",
                type=click.Choice(formats),
                default="text",
            )(self)
        for add in _OUTPUT:
            add(self)

    def invoke(self, ctx: click.Context) -> object:
        """Call the command with its `Run`, and with its own options as arguments."""
        from commandsync.cli.output import Output
        from commandsync.cli.progress import shown
        from commandsync.sync.settings import Settings, read_clock

        take = ctx.params.pop  # the options above are this class's own
        form, color, full = take("form", "text"), take("color"), take("full")
        quiet, verbose = take("quiet"), take("verbose")
        output = Output(form, color, -1 if quiet else verbose, full)
        with shown(output) as on_progress:
            run = Run(output, Settings(now=read_clock(), on_progress=on_progress), ctx.obj)
            assert self.callback is not None  # noqa: S101 - each command is a function
            return ctx.invoke(self.callback, run, **ctx.params)


def source_of(setting: Setting[Any]) -> str:
    """Return the flag or variable that gives a setting of this command its value."""
    ctx = click.get_current_context()
    is_given = ctx.get_parameter_source(setting.name) is ParameterSource.COMMANDLINE
    return setting.options.split()[0].rstrip(",") if is_given else setting.variable


def check_unread(settings: Settings, opened: Sequence[Job]) -> None:
    """Refuse the options about lists that cannot be read, in a run without one.

    Raises `UsageError`.
    """
    from commandsync.errors import UsageError

    given = {SINCE.name: settings.since, UNSEEN.name: settings.unseen}
    names = " and ".join(f"--{name}" for name, value in given.items() if value)
    if names and all(job.is_read for job in opened):
        about = "is about lists" if names.count("--") == 1 else "are about lists"
        message = f"{names} {about} that cannot be read, and this run has none"
        raise UsageError(message, hint="leave it out")
