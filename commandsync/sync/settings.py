"""The settings of a run: flag over environment over manifest."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from commandsync.api.address import parse_address
from commandsync.api.credentials import Token
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.sync.files import read_token
from commandsync.sync.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandsync.manifest import Manifest
    from commandsync.plan.rules import DeleteLimit, SyncRules
    from commandsync.sync.progress import Progress

E = TypeVar("E", bound=CommandsyncError)

TOKEN_VARIABLE = "COMMANDSYNC_TOKEN"  # noqa: S105 - the variable's name


def _ignore(_progress: Progress) -> None:
    """Do nothing: nobody wants to know."""


def read_clock() -> datetime:
    """Return the time, in UTC to the second: the only place where it is read."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags and the environment, under the names of the flags, and the time of the run.

    What is empty or None comes from the manifest, the token or the default. `timeout` is in seconds
    per request; `concurrency` is the most requests in flight. `now` is read once, so that the plan,
    the plan that is made again after a question, and the verification agree on what is due.
    `on_progress` is called with what the run does meanwhile, from any thread.
    """

    files: tuple[str, ...] = ()
    base_url: str = ""
    bot: str = ""
    token_file: str = ""
    insecure_http: bool = False
    timeout: float = 30.0
    retries: int = 4
    concurrency: int = 4
    prune: bool = True
    max_deletes: DeleteLimit | None = None
    only: str = ""
    strict: bool = False
    now: datetime = field(default_factory=lambda: read_clock(), compare=False)  # noqa: PLW0108 - looked up at each run: tests replace it
    on_progress: Callable[[Progress], object] = field(default=_ignore, repr=False, compare=False)


def with_time_now(settings: Settings) -> Settings:
    """Return settings with the time of now, for what plans again and again, as a preview does."""
    return replace(settings, now=read_clock())


def site_of(settings: Settings, manifest: Manifest | None, *, of_bot: bool = True) -> Site:
    """Return the listing of a manifest, or of a run without one.

    With `of_bot` the run needs the id of one bot.

    Raises:
        UsageError: The base URL or the bot is missing or not valid.
        PlainHttpError: The base URL is plain http to another machine.
        FileError: The token file cannot be read.
    """
    base_url, bot, variable = (
        (manifest.base_url, manifest.bot, manifest.token_env) if manifest else ("", "", "")
    )
    if not (base_url := settings.base_url or base_url):
        raise UsageError(
            "the base URL is missing",
            hint="give --base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest",
        )
    address = parse_address(base_url, insecure_http=settings.insecure_http)
    token, source = _token(settings, variable)
    bot = settings.bot or bot or _owner(token)
    if of_bot and not bot.strip():
        no_id = "the token does not contain one" if token else f"there is no token in {source}"
        raise UsageError(
            f"the bot's id is missing, and {no_id}",
            hint="give --bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token "
            "from the bot's page, which contains the id",
        )
    if bot in {".", ".."}:
        raise UsageError(f"{bot!r} is not a bot id", hint="copy the id from the bot's page")
    return Site(address, bot, token, source)


def known_bot(settings: Settings) -> str:
    """Return the bot's id if it is known without a manifest, else an empty string."""
    return settings.bot or _owner(_token(settings)[0])


def rules_of(settings: Settings, manifest: Manifest) -> SyncRules:
    """Return a manifest's rules, overridden by the flags."""
    rules = manifest.rules
    if not settings.prune:
        rules = replace(rules, prune=False)
    if settings.max_deletes is not None:
        rules = replace(rules, max_deletes=settings.max_deletes)
    return rules


def sites_of(settings: Settings, manifests: Sequence[Manifest]) -> list[Site]:
    """Return the listing of every manifest.

    Raises:
        ManifestError: Two manifests are for the same bot on the same host.
        CommandsyncError: As `site_of`.
    """
    from commandsync.manifest import ManifestTarget, same_target_problems  # noqa: PLC0415 - loads yaml

    sites = []
    for manifest in manifests:
        try:
            sites.append(site_of(settings, manifest))
        except CommandsyncError as error:
            raise about(error, manifest.path, of=len(manifests)) from error
    targets = [
        ManifestTarget(manifest.path, site.address.base_url, site.bot)
        for manifest, site in zip(manifests, sites, strict=True)
    ]
    if problems := same_target_problems(targets):
        raise ManifestError(problems)
    return sites


def about(error: E, path: str, *, of: int) -> E:
    """Return an error with the path of its manifest in the message, if there are several."""
    if of == 1:
        return error
    named = copy(error)
    named.message, named.args = (message := f"{path}: {error.message}"), (message,)
    return named


def _owner(token: Token | None) -> str:
    return token.bot if token else ""


def _token(settings: Settings, variable: str = "") -> tuple[Token | None, str]:
    """Return the token, and the file or variable that it is from."""
    if settings.token_file:
        return Token(read_token(settings.token_file)), settings.token_file
    variable = variable or TOKEN_VARIABLE
    secret = os.environ.get(variable, "")
    return Token(secret) if secret.strip() else None, variable
