"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
from click import IntRange
from click.core import ParameterSource

from commandsync.cli.option import PATH, F, Number, not_empty, option, read_by
from commandsync.sync import DEFAULT_MANIFESTS
from commandsync.sync.process import Signals

if TYPE_CHECKING:
    from commandsync.cli.output import Color, Output
    from commandsync.plan.rules import DeleteLimit
    from commandsync.report import Format
    from commandsync.sync.settings import Settings


class Run(NamedTuple):
    """One run of a command: its output and settings, and the signals that may end it."""

    output: Output
    settings: Settings
    signals: Signals


def _limit(value: str) -> object:
    from commandsync.plan.rules import parse_delete_limit

    return parse_delete_limit(value)


def _database(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    from commandsync.sync.files import refuse_token

    refuse_token(value, [])  # it would be the name of a file
    return value


_manifest_option = partial(option, section="Manifest")
_service_option = partial(option, section="Service")
_output_option = partial(option, section="Output")


def _format_option(*formats: str) -> Callable[[F], F]:
    return _output_option(
        "--format FORMAT",
        f"The format of the result: {', '.join(formats[:-1])} or {formats[-1]}.",
        dest="form",
        type=click.Choice(formats),
        default="text",
    )


file_option = _manifest_option(
    "-f, --file PATH",
    "A manifest, `-` for standard input, or a folder of manifests; may be repeated. "
    f"[default: {' or '.join(DEFAULT_MANIFESTS)}]",
    dest="files",
    multiple=True,
)
manifest_arguments = click.argument(  # without `--file` before each
    "manifests", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty
)
strict_option = _manifest_option("--strict", "Exit 4 for warnings about the manifest, too.")
yes_option = option("-y, --yes", "Do not ask; required without a terminal.")
force_option = option("--force", "Replace an existing file.")
unseen_option = option("--unseen", "Allow replacing a list even if its content is not known.")
format_option = _format_option("text", "json", "markdown", "github")
unmarked_format_option = _format_option("text", "json", "markdown")

DEFAULT_DATABASE = "listing.db"
database_option = option(
    "--database PATH|URL",
    "The service's database: a file, or postgresql+psycopg://user@host/database.",
    callback=_database,
    default=DEFAULT_DATABASE,
    envvar="COMMANDSYNC_DATABASE",
)

_TALK = (
    _output_option(
        "--color WHEN",
        "Colour the output: auto (on a terminal, unless NO_COLOR is set, or TERM is dumb), always "
        "or never.",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=False,
    ),
    _output_option("--full", "Show texts whole, however long they are."),
    _output_option("-q, --quiet", "Print only the line of the result, and errors."),
    _output_option(
        "-v, --verbose",
        "Print what is read, from where, and how long it took; -vv shows every request.",
        count=True,
    ),
)
_SERVICE = (
    _service_option(
        "--base-url URL",
        "The listing service, without /v1.",
        envvar="COMMANDSYNC_BASE_URL",
        callback=not_empty,
    ),
    _service_option("--bot ID", "The bot's id.", envvar="COMMANDSYNC_BOT", callback=not_empty),
    _service_option(
        "--token-file PATH",
        "A file that contains the bot's token; by default the token is in COMMANDSYNC_TOKEN, "
        "or in the variable that token_env: of the manifest names.",
    ),
    _service_option(
        "--timeout SECONDS", "The time limit of one request.", type=Number(0.1, 600), default=30
    ),
    _service_option("--insecure-http", "Allow plain http to another machine. Not advised."),
)
_RETRIES = _service_option(
    "--retries N", "The maximum number of retries of a request.", type=IntRange(0, 20), default=4
)
_CONCURRENCY = _service_option(
    "--concurrency N", "The maximum number of requests in flight.", type=IntRange(1, 64), default=4
)
max_deletes_option = _manifest_option(
    "--max-deletes LIMIT",
    "Refuse to delete more: a number, a percentage, or all.  [default: max_deletes of the "
    "manifest, or 30%, with 3 always allowed]",
    callback=read_by(_limit),
)
_LIMITS = (
    _manifest_option("--no-prune", "Delete nothing that is missing in the manifest."),
    max_deletes_option,
    _manifest_option(
        "--only PATTERN",
        "Plan only the changes of names and titles that match, such as 'mod-*'.",
        callback=not_empty,
    ),
)
listing_option = _service_option(
    "--listing NAME",
    "Only this listing of the manifest: a service of listings:, or the host of the page; may "
    "be repeated.",
    multiple=True,
)
_LISTINGS = (
    listing_option,
    _service_option(
        "--since REF|FILE",
        "The version that was sent last to a service that does not return its list: a revision of "
        "git, or a manifest.",
        callback=not_empty,
    ),
)


def options_of(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, in this order on its help page."""

    def decorate(command: F) -> F:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def _with_run(command: F) -> F:
    """Give a command its shared options as a `Run`; its own options stay arguments.

    The parameters are the shared options; of those that a command does not have, the defaults.
    """

    @wraps(command)
    def with_run(  # noqa: PLR0913 - the shared options
        *,
        color: Color,
        full: bool,
        quiet: bool,
        verbose: int,
        form: Format = "text",
        files: tuple[str, ...] = (),
        manifests: tuple[str, ...] = (),
        strict: bool = False,
        base_url: str | None = None,
        bot: str | None = None,
        token_file: str | None = None,
        timeout: float = 30,
        insecure_http: bool = False,
        retries: int = 4,
        concurrency: int = 4,
        no_prune: bool = False,
        max_deletes: DeleteLimit | None = None,
        only: str | None = None,
        listing: tuple[str, ...] = (),
        since: str | None = None,
        **own: Any,  # noqa: ANN401 - click has checked them
    ) -> object:
        from commandsync.cli.output import Output
        from commandsync.cli.progress import shown
        from commandsync.sync.settings import Settings, read_clock

        ctx = click.get_current_context()
        output = Output(form, color, -1 if quiet else verbose, full)
        with shown(output) as on_progress:
            settings = Settings(
                now=read_clock(),
                files=files + manifests,
                strict=strict,
                base_url=base_url or "",
                base_url_from=_source_of("base_url", ctx),
                bot=bot or "",
                bot_from=_source_of("bot", ctx),
                token_file=token_file or "",
                timeout=timeout,
                insecure_http=insecure_http,
                retries=retries,
                concurrency=concurrency,
                prune=not no_prune,
                max_deletes=max_deletes,
                only=only or "",
                listing=listing,
                since=since or "",
                on_progress=on_progress,
            )
            return command(Run(output, settings, ctx.obj), **own)

    return cast("F", with_run)


def _source_of(name: str, ctx: click.Context) -> str:
    """Return the flag or variable that gives an option its value; empty without the option."""
    option = next((each for each in ctx.command.params if each.name == name), None)
    if option is None:
        return ""
    given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return option.opts[0] if given else str(option.envvar)


def _group(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that adds options and those of the output, and passes them as a `Run`."""
    return options_of(*_TALK, *options, _with_run)


json_option = _format_option("text", "json")
_MANIFEST = (file_option, *_SERVICE)
talk_options = _group()  # of the output alone
table_options = _group(json_option)  # of a table that needs neither a manifest nor a service
service_options = _group(*_MANIFEST, _RETRIES, _CONCURRENCY)  # of a sync
call_options = _group(*_MANIFEST, _RETRIES, json_option)  # of a call of the service
page_options = _group(*_MANIFEST, _RETRIES)  # of a manifest and its listing, shown as a page
listing_options = _group(*_SERVICE, _RETRIES)  # of a listing that no manifest names yet
probe_options = _group(*_MANIFEST, listing_option, format_option)  # of requests that are made once
limit_options = options_of(strict_option, *_LIMITS)  # that limit a plan
plan_options = options_of(force_option, format_option, service_options, limit_options, *_LISTINGS)
