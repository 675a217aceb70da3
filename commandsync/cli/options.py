"""Options that several commands share, each written once."""

from __future__ import annotations

from functools import wraps
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from commandsync.sync import DEFAULT_MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.cli.output import Output
    from commandsync.plan.rules import DeleteLimit

F = TypeVar("F", bound="Callable[..., Any]")


class _Limit(click.ParamType["DeleteLimit"]):
    """A number, a percentage, or `all`."""

    name = "limit"

    def convert(
        self, value: str | DeleteLimit, param: click.Parameter | None, ctx: click.Context | None
    ) -> DeleteLimit:
        if not isinstance(value, str):
            return value
        from commandsync.plan.rules import parse_delete_limit

        try:
            return parse_delete_limit(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Seconds(click.FloatRange):
    """A time within limits, which the "nan" of floats is not."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        seconds: float = super().convert(value, param, ctx)
        if isnan(seconds):
            self.fail(f"{value!r} is not a time", param, ctx)
        return seconds


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's
    """Refuse an empty text on the command line, as an unset variable of a script leaves it.

    An empty environment variable counts as one that is not set.
    """
    given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    if given and "" in (value if isinstance(value, tuple) else (value,)):
        what = {"URL": "base URL", "ID": "id"}.get(str(param.metavar), "path")
        raise click.BadParameter(f"the {what} is empty", ctx, param)
    return value


PATH = click.Path(readable=False, allow_dash=True)
"""A path, such as a shell completes it; whether anything is there is for the command to say."""

file_option = click.option(
    "-f",
    "--file",
    "files",
    type=PATH,
    multiple=True,
    metavar="PATH",
    callback=not_empty,
    help="A manifest, `-` for standard input, or a folder of manifests; may be given again. "
    f"[default: {DEFAULT_MANIFEST}]",
)
yes_option = click.option(
    "-y", "--yes", is_flag=True, help="Do not ask; required where there is no terminal."
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "github"]),
    default="text",
    help="The form of the result on standard output.",
)
force_option = click.option("--force", is_flag=True, help="Replace a file that exists already.")

_TALK = (
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colour the output; auto does so on a terminal, unless NO_COLOR is set.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing but results and errors."),
    click.option("-v", "--verbose", count=True, help="Say more; -vv also shows every request."),
)
_SERVICE = (
    click.option(
        "--base-url",
        envvar="COMMANDSYNC_BASE_URL",
        show_envvar=True,
        metavar="URL",
        callback=not_empty,
        help="The listing service, without /v1.",
    ),
    click.option(
        "--bot",
        envvar="COMMANDSYNC_BOT",
        show_envvar=True,
        metavar="ID",
        callback=not_empty,
        help="The bot's id.",
    ),
    click.option(
        "--token-file",
        type=PATH,
        metavar="PATH",
        callback=not_empty,
        help="A file that holds the bot's token; otherwise it is taken from COMMANDSYNC_TOKEN, or "
        "the variable that the manifest's token_env: names.",
    ),
    click.option(
        "--timeout",
        type=_Seconds(0.1, 600),
        default=30.0,
        metavar="SECONDS",
        help="The time one request may take. [default: 30]",
    ),
    click.option(
        "--retries",
        type=click.IntRange(0, 20),
        default=4,
        metavar="N",
        help="How often a request may be sent again. [default: 4]",
    ),
    click.option(
        "--insecure-http", is_flag=True, help="Allow plain http to another machine. Not advised."
    ),
)
_SEVERAL = (
    click.option(
        "--concurrency",
        type=click.IntRange(1, 64),
        default=4,
        metavar="N",
        help="The most requests in flight. [default: 4]",
    ),
)
_TABLE_OR_JSON = (
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        help="The form of the result on standard output.",
    ),
)
_LIMITS = (
    click.option("--no-prune", is_flag=True, help="Delete nothing that the manifest leaves out."),
    click.option(
        "--max-deletes",
        type=_Limit(),
        metavar="LIMIT",
        help="Refuse to delete more: a number, a percentage, or all.",
    ),
    click.option(
        "--only",
        metavar="PATTERN",
        callback=not_empty,
        help="Of the plan, only the changes of names and titles that match, such as 'mod-*'.",
    ),
)


def talk_options(command: F) -> F:
    """Give a command the options on how to speak; it gets them as `output`."""

    @wraps(command)
    def with_output(
        *args: object,
        color: Any,  # noqa: ANN401 - click has checked the choice
        quiet: bool,
        verbose: int,
        form: Any = "text",  # noqa: ANN401 - as above
        **rest: object,
    ) -> object:
        from commandsync.cli.output import Output

        output = Output(form, color, -1 if quiet else verbose)
        return command(*args, output=output, **rest)

    return cast("F", _decorated(with_output, _TALK))


def service_options(command: F) -> F:
    """Give a command the options on a sync; it gets all settings as `settings`."""
    return _with_settings(command, (file_option, *_SERVICE, *_SEVERAL))


def call_options(command: F) -> F:
    """Give a command the options on a call of the service, whose result is a table or JSON."""
    return _with_settings(command, (file_option, *_SERVICE, *_TABLE_OR_JSON))


def listing_options(command: F) -> F:
    """Give a command the options on a listing that no manifest names yet."""
    return _with_settings(command, _SERVICE)


def paging_options(*, limit: int) -> Callable[[F], F]:
    """Return what gives a command the options on pages; it gets `--all` as `every`."""
    options = (
        click.option(
            "--page",
            type=click.IntRange(1),
            default=1,
            metavar="N",
            help="Which page. [default: 1]",
        ),
        click.option(
            "--limit",
            type=click.IntRange(1, 100),
            default=limit,
            metavar="N",
            help=f"How many on a page, at most 100. [default: {limit}]",
        ),
        click.option("--all", "every", is_flag=True, help="All pages."),
    )
    return lambda command: _decorated(command, options)


def _with_settings(command: F, options: tuple[Callable[[Any], Any], ...]) -> F:
    @wraps(command)
    def with_settings(  # noqa: PLR0913 - one for each option
        *args: object,
        output: Output,
        base_url: str | None,
        bot: str | None,
        token_file: str | None,
        timeout: float,
        retries: int,
        insecure_http: bool,
        files: tuple[str, ...] = (),
        concurrency: int = 1,
        no_prune: bool = False,
        max_deletes: DeleteLimit | None = None,
        only: str | None = None,
        **rest: object,
    ) -> object:
        from commandsync.sync.settings import Settings

        settings = Settings(
            files=files,
            base_url=base_url or "",
            bot=bot or "",
            token_file=token_file or "",
            insecure_http=insecure_http,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            prune=not no_prune,
            max_deletes=max_deletes,
            only=only or "",
        )
        return command(*args, settings=settings, output=output, **rest)

    return cast("F", talk_options(_decorated(with_settings, options)))


def limit_options(command: F) -> F:
    """Give a command the options on deletes; `service_options` takes them in."""
    return _decorated(command, _LIMITS)


def _decorated(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
