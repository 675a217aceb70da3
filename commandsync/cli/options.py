"""Options that several commands share, each defined once."""

from __future__ import annotations

from functools import partial, wraps
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from commandsync.cli.help import OWN, Option
from commandsync.sync import DEFAULT_MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.plan.rules import DeleteLimit

F = TypeVar("F", bound="Callable[..., Any]")


def _limit(ctx: click.Context, param: click.Parameter, value: str | None) -> DeleteLimit | None:
    from commandsync.plan.rules import parse_delete_limit

    try:
        return None if value is None else parse_delete_limit(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _time(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if isnan(value):  # click's range contains it
        raise click.BadParameter("'nan' is not a time", ctx, param)
    return value


_NAMED = {"URL": "base URL", "ID": "id", "LINK": "link", "TITLE": "title", "VERSION": "version"}


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's
    """Refuse an empty value on the command line, such as an unset variable of a script.

    An empty environment variable counts as one that is not set.
    """
    given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    if given and "" in (value if isinstance(value, tuple) else (value,)):
        what = _NAMED.get(str(param.metavar), "path")
        raise click.BadParameter(f"the {what} is empty", ctx, param)
    return value


PATH = click.Path(readable=False, allow_dash=True)
"""A path that shells complete; the command checks the file."""


def path_option(*names: str, section: str = OWN, **settings: Any) -> Callable[[F], F]:  # noqa: ANN401 - click's
    """Return an option that takes a path; the settings are those of click."""
    return click.option(
        *names,
        cls=Option,
        section=section,
        type=PATH,
        metavar="PATH",
        callback=not_empty,
        **settings,
    )


_manifest_option = partial(click.option, cls=Option, section="Manifest")
_service_option = partial(click.option, cls=Option, section="Service")
_output_option = partial(click.option, cls=Option, section="Output")


def _format_option(*formats: str) -> Callable[[F], F]:
    return _output_option(
        "--format",
        "form",
        type=click.Choice(formats),
        default="text",
        show_default=True,
        metavar="FORMAT",
        help=f"The format of the result: {', '.join(formats[:-1])} or {formats[-1]}.",
    )


file_option = path_option(
    "-f",
    "--file",
    "files",
    section="Manifest",
    multiple=True,
    help="A manifest, `-` for standard input, or a folder of manifests; may be repeated. "
    f"[default: {DEFAULT_MANIFEST}]",
)
strict_option = _manifest_option(
    "--strict", is_flag=True, help="Exit 4 for warnings about the manifest, too."
)
DEFAULT_DATABASE = "listing.db"
database_option = click.option(
    "--database",
    default=DEFAULT_DATABASE,
    show_default=True,
    envvar="COMMANDSYNC_DATABASE",
    show_envvar=True,
    metavar="PATH|URL",
    help="The service's database: a file, or postgresql+psycopg://user@host/database.",
)
yes_option = click.option(
    "-y", "--yes", is_flag=True, help="Do not ask; required where there is no terminal."
)
format_option = _format_option("text", "json", "markdown", "github")
unmarked_format_option = _format_option("text", "json", "markdown")
force_option = click.option("--force", is_flag=True, help="Replace an existing file.")

_TALK = (
    _output_option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        metavar="WHEN",
        help="Colour the output: auto (on a terminal, unless NO_COLOR is set), always or never.",
    ),
    _output_option("--full", is_flag=True, help="Show texts whole, however long they are."),
    _output_option(
        "-q", "--quiet", is_flag=True, help="Print only the line of the result, and errors."
    ),
    _output_option(
        "-v",
        "--verbose",
        count=True,
        help="Print what is read, from where, and how long it took; -vv shows every request.",
    ),
)
_SERVICE = (
    _service_option(
        "--base-url",
        envvar="COMMANDSYNC_BASE_URL",
        show_envvar=True,
        metavar="URL",
        callback=not_empty,
        help="The listing service, without /v1.",
    ),
    _service_option(
        "--bot",
        envvar="COMMANDSYNC_BOT",
        show_envvar=True,
        metavar="ID",
        callback=not_empty,
        help="The bot's id.",
    ),
    path_option(
        "--token-file",
        section="Service",
        help="A file that contains the bot's token; by default the token is in COMMANDSYNC_TOKEN, "
        "or in the variable that token_env: of the manifest names.",
    ),
    _service_option(
        "--timeout",
        type=click.FloatRange(0.1, 600),
        default=30,
        show_default=True,
        metavar="SECONDS",
        callback=_time,
        help="The time limit of one request.",
    ),
    _service_option(
        "--insecure-http", is_flag=True, help="Allow plain http to another machine. Not advised."
    ),
)
_RETRIES = _service_option(
    "--retries",
    type=click.IntRange(0, 20),
    default=4,
    show_default=True,
    metavar="N",
    help="How often a request is repeated at most.",
)
_CONCURRENCY = _service_option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    metavar="N",
    help="The most requests in flight.",
)
_LIMITS = (
    _manifest_option(
        "--no-prune", is_flag=True, help="Delete nothing that is missing in the manifest."
    ),
    _manifest_option(
        "--max-deletes",
        metavar="LIMIT",
        callback=_limit,
        help="Refuse to delete more: a number, a percentage, or all.",
    ),
    _manifest_option(
        "--only",
        metavar="PATTERN",
        callback=not_empty,
        help="Of the plan, only the changes of names and titles that match, such as 'mod-*'.",
    ),
)


def talk_options(command: F) -> F:
    """Give a command the options of its output; it gets them as `output`."""

    @wraps(command)
    def with_output(
        *args: object,
        color: Any,  # noqa: ANN401 - click has checked the choice
        full: bool,
        quiet: bool,
        verbose: int,
        form: Any = "text",  # noqa: ANN401 - as above
        **rest: object,
    ) -> object:
        from commandsync.cli.output import Output

        output = Output(form, color, -1 if quiet else verbose, full)
        return command(*args, output=output, **rest)

    return cast("F", _decorated(with_output, _TALK))


def service_options(command: F) -> F:
    """Give a command the options of a sync; it gets all settings as `settings`."""
    return _with_settings(command, (file_option, *_SERVICE, _RETRIES, _CONCURRENCY))


def call_options(command: F) -> F:
    """Give a command the options of a call of the service, whose result is a table or JSON."""
    return _with_settings(
        command, (file_option, *_SERVICE, _RETRIES, _format_option("text", "json"))
    )


def page_options(command: F) -> F:
    """Give a command the options of a manifest and its listing, whose result is a page."""
    return _with_settings(command, (file_option, *_SERVICE, _RETRIES))


def listing_options(command: F) -> F:
    """Give a command the options of a listing that no manifest names yet."""
    return _with_settings(command, (*_SERVICE, _RETRIES))


def probe_options(command: F) -> F:
    """Give a command the options of requests that are made once, to see what comes back."""
    return _with_settings(command, (file_option, *_SERVICE, _format_option("text", "json")))


def limit_options(command: F) -> F:
    """Give a command the options of what a plan may contain, as a part of `settings`."""
    return _decorated(command, (strict_option, *_LIMITS))


def paging_options(*, limit: int) -> Callable[[F], F]:
    """Return what gives a command the options of pages; it gets `--all` as `every`."""
    options = (
        click.option(
            "--page",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            metavar="N",
            help="The page.",
        ),
        click.option(
            "--limit",
            type=click.IntRange(1, 100),
            default=limit,
            show_default=True,
            metavar="N",
            help="The records of a page.",
        ),
        click.option("--all", "every", is_flag=True, help="All pages."),
    )
    return lambda command: _decorated(command, options)


def _with_settings(command: F, options: tuple[Callable[[Any], Any], ...]) -> F:
    @wraps(command)
    def with_settings(*args: object, no_prune: bool = False, **given: Any) -> object:  # noqa: ANN401 - click has checked them
        from commandsync.cli.progress import shown
        from commandsync.sync.settings import Settings

        names = Settings.__dataclass_fields__.keys() & given.keys()
        chosen = {name: value for name in names if (value := given.pop(name)) is not None}
        with shown(given["output"]) as on_progress:
            settings = Settings(prune=not no_prune, on_progress=on_progress, **chosen)
            return command(*args, settings=settings, **given)

    return cast("F", talk_options(_decorated(with_settings, options)))


def _decorated(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
