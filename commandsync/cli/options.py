"""Commands with help pages in sections, their options, and the run that a command gets.

`OrderedCommand` and `Group` write the help pages, and refuse an argument in a wrong place with a
hint. `option` declares one option as its help page shows it: of a setting (`sync/setting.py`), or
of one command alone. A `RunCommand` also has the options of the output, and gets a `Run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict, TypeVar

import click
from click import IntRange
from click.core import ParameterSource

from commandsync.sync import setting
from commandsync.sync.process import Signals
from commandsync.sync.setting import Setting

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.plan.rules import DeleteLimit
    from commandsync.sync.job import Job
    from commandsync.sync.settings import Settings

OWN, SHARED = "Options", "Shared options"
SECTIONS = (
    OWN,
    "Recording",
    "Conditions",
    "Simulation",
    "Manifest",
    "Discord",
    "Service",
    SHARED,
)
"""The sections of a help page in their order, from a command's own options to the shared ones."""


class Option(click.Option):
    """An option of a section of the help page; `section` is the heading."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        self.section = section


class OrderedCommand(click.Command):
    """A command whose help page shows its own options first, and the shared ones last."""

    allow_extra_args = True  # refused below, with a hint

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; more than the command takes are refused with a hint."""
        extra = super().parse_args(ctx, args)
        if extra and not ctx.resilient_parsing:
            from shlex import quote

            from commandsync.errors import UsageError

            hint = f"see {ctx.command_path} --help"
            if any("--file" in param.opts for param in self.params):  # a manifest was meant
                hint = f"to name a manifest: {ctx.command_path} -f {quote(extra[0])}"
            raise UsageError(f"unexpected argument: {' '.join(extra)}", hint=hint)
        return extra

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their sections."""
        sections: dict[str, list[tuple[str, str]]] = {section: [] for section in SECTIONS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:  # click's own --help has no section
                sections[getattr(param, "section", SHARED)].append(record)
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)


class Group(click.Group):
    """A group of such commands, which suggests a command for one that it does not have.

    `help` is a command of each group: `help plan` is `plan --help`.
    """

    command_class: type[click.Command] | None = OrderedCommand
    sections: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The headings of the help page with their commands; without any, all are below one."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below their headings."""
        for title, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            with formatter.section(title):
                commands = filter(None, (self.get_command(ctx, name) for name in names))
                formatter.write_dl(
                    [(str(each.name), each.get_short_help_str(80)) for each in commands]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, and the arguments that are left for it."""
        name, *others = args
        known = self.list_commands(ctx)
        if name == "help" and not ctx.resilient_parsing:
            if not others:
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()
            return self.resolve_command(ctx, [*others, "--help"])
        if name in known or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches
        from shlex import join

        from commandsync.errors import UsageError

        path = ctx.command_path
        hint = " ".join(["see", path, *[word for word in others if word in known], "--help"])
        if close := get_close_matches(name, known, n=1, cutoff=0.7):
            hint = f"did you mean: {path} {join([close[0], *others])}"
        raise UsageError(f"{name!r} is not a command of {path}", hint=hint)


F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(readable=False, allow_dash=True)  # shells complete it; the command checks it
_NAMED = {"URL": "base URL", "ID": "id", "TITLE": "title", "TEXT": "text"}


class Number(click.FloatRange):
    """A number in a range; click's range contains NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """Return the number, or fail."""
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's
    """Refuse an empty value on the command line, such as an unset variable of a script.

    An empty environment variable counts as unset.
    """
    given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    if given and "" in (value if isinstance(value, tuple) else (value,)):
        noun = _NAMED.get(str(param.metavar), "path")
        raise click.BadParameter(f"the {noun} is empty", ctx, param)
    return value


def read_by(parse: Callable[[str], object], default: object = None) -> Callable[..., object]:
    """Return the callback that reads a value with a function that raises `ValueError`."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> object:
        try:
            return default if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return read


def option(
    names: Setting[Any] | str,
    text: str = "",
    *,
    dest: str = "",
    section: str = OWN,
    **settings: Any,  # noqa: ANN401 - click's
) -> Callable[[F], F]:
    """Return an option whose help shows its default and its environment variable.

    Args:
        names: A setting, which has all that follows; or the names, and the name of the value, such
            as `-f, --file PATH`; a flag has no value. A path must not be empty.
        text: The help.
        dest: The name of the command's parameter; by default the option's own.
        section: The heading on the help page.
        settings: Further settings of click.
    """
    if isinstance(names, Setting):
        return _setting_option(names)
    *short, last = names.split(", ")
    long, _, metavar = last.partition(" ")
    usual: dict[str, Any] = {"show_default": bool(settings.get("default")), "show_envvar": True}
    if metavar:
        usual["metavar"] = metavar
    if metavar == "PATH":
        usual |= {"type": PATH, "callback": not_empty}
    if not metavar and "count" not in settings:
        usual["is_flag"] = True
    declared = [*short, long, *filter(None, [dest])]
    return click.option(*declared, cls=Option, section=section, help=text, **usual | settings)


def _known_listings(_ctx: click.Context, _param: click.Parameter, start: str) -> list[str]:
    """Return the known services whose names begin so."""
    from commandsync.services.catalogue import SERVICES

    return [name for name in SERVICES if name.startswith(start)]


_COMPLETED = {"listing": _known_listings}


def _setting_option(definition: Setting[Any]) -> Callable[[F], F]:
    """Return the option of a setting; its command has an argument with the same name."""
    own: dict[str, Any] = {"envvar": definition.variable or None}
    if definition.default is True:  # the option switches it off, such as --no-prune
        own |= {"default": False, "callback": lambda _ctx, _param, value: not value}
    elif definition.read:
        own["callback"] = read_by(definition.read, definition.default)
    elif definition.range:
        least, most = definition.range
        whole = isinstance(least, int)
        own |= {"type": IntRange(int(least), int(most)) if whole else Number(least, most)}
        own["default"] = definition.default
    elif definition.default == ():
        own |= {"multiple": True, "shell_complete": _COMPLETED.get(definition.name)}
    elif definition.default == "":
        own |= {"default": "", "callback": not_empty}
    section = definition.section or OWN
    return option(definition.options, definition.help, dest=definition.name, section=section, **own)


def options(*definitions: Setting[Any]) -> Callable[[F], F]:
    """Return a decorator that adds the options of settings, in this order on the help page."""

    def decorate(command: F) -> F:
        for definition in reversed(definitions):
            command = option(definition)(command)
        return command

    return decorate


SERVICE = (
    setting.BASE_URL,
    setting.BOT,
    setting.TOKEN_FILE,
    setting.ENV_FILE,
    setting.TIMEOUT,
    setting.INSECURE_HTTP,
)
"""The settings of each command that calls a listing service."""

PLANNING = (
    *(setting.STRICT, setting.PRUNE, setting.MAX_DELETES, setting.ONLY, *SERVICE, setting.RETRIES),
    *(setting.CONCURRENCY, setting.LISTING, setting.GUILD, setting.SINCE, setting.STATE),
)
"""The settings of each command that plans, with its manifests and `UNSEEN`."""


class ServiceArguments(TypedDict):
    """The arguments of a command that has the options of `SERVICE`."""

    base_url: str
    bot: str
    token_file: str
    env_file: Mapping[str, str] | None
    timeout: float
    insecure_http: bool


class PlanningArguments(ServiceArguments):
    """The arguments of a command that has the options of `PLANNING`."""

    strict: bool
    prune: bool
    max_deletes: DeleteLimit | None
    only: str
    retries: int
    concurrency: int
    listing: tuple[str, ...]
    guild: str
    since: str
    state: str


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

    The settings are the defaults, with the sources of the base URL and the bot's id. A command puts
    its own in.
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
            settings = Settings(
                now=read_clock(),
                base_url_from=_source_of(setting.BASE_URL, ctx),
                bot_from=_source_of(setting.BOT, ctx),
                on_progress=on_progress,
            )
            assert self.callback is not None  # noqa: S101 - each command is a function
            return ctx.invoke(self.callback, Run(output, settings, ctx.obj), **ctx.params)


def _source_of(definition: Setting[Any], ctx: click.Context) -> str:
    """Return the flag or variable that gives a setting of a command its value."""
    is_given = ctx.get_parameter_source(definition.name) is ParameterSource.COMMANDLINE
    return definition.options.split()[0].rstrip(",") if is_given else definition.variable


def check_unread(settings: Settings, opened: Sequence[Job]) -> None:
    """Refuse the options about lists that cannot be read, in a run without one.

    Raises `UsageError`.
    """
    from commandsync.errors import UsageError

    given = {setting.SINCE.name: settings.since, setting.UNSEEN.name: settings.unseen}
    names = " and ".join(f"--{name}" for name, value in given.items() if value)
    if names and all(job.is_read for job in opened):
        about = "is about lists" if names.count("--") == 1 else "are about lists"
        message = f"{names} {about} that cannot be read, and this run has none"
        raise UsageError(message, hint="leave it out")
