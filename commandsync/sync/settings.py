"""The settings of a run: flag over environment over manifest."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.redaction import keep_secret
from commandsync.diagnostics import Do
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.sync.files import read_token
from commandsync.sync.progress import Progress
from commandsync.sync.site import Site

if TYPE_CHECKING:
    from commandsync.manifest import Manifest

E = TypeVar("E", bound=CommandsyncError)

TOKEN_VARIABLE = "COMMANDSYNC_TOKEN"  # noqa: S105 - the variable's name
BOT_VARIABLE = "COMMANDSYNC_BOT"
BASE_URL_VARIABLE = "COMMANDSYNC_BASE_URL"
HOSTS_VARIABLE = "COMMANDSYNC_HOSTS"
"""The hosts, separated by commas or spaces, that may get a token though a manifest names them."""


def read_clock() -> datetime:
    """Return the time, in UTC to the second: the only place where it is read."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags and the environment, under the names of the flags, and the time of the run.

    What is empty or None comes from the manifest, the token or the default. `timeout` is in seconds
    per request; `concurrency` is the most requests in flight. `now` is given once, so that the
    plan, the plan that is made again after a question, and the verification agree on what is due.
    `owned` is for a run that deletes and replaces only what a version of the manifest had.
    `since` is an earlier manifest, what was sent last to a list that cannot be read; `unseen`
    allows to replace one of which nothing is known, `resend` sends one without changes, and
    `listing` has the names of the listings of the run, none for all.
    `base_url_from` and `bot_from` are the flag, variable or input that each is from.
    `on_progress` is called with what the run does meanwhile, from any thread.
    """

    now: datetime = field(kw_only=True, compare=False)
    files: tuple[str, ...] = ()
    base_url: str = ""
    base_url_from: str = ""
    bot: str = ""
    bot_from: str = ""
    token_file: str = ""
    insecure_http: bool = False
    timeout: float = 30.0
    retries: int = 4
    concurrency: int = 4
    prune: bool = True
    max_deletes: DeleteLimit | None = None
    only: str = ""
    strict: bool = False
    owned: bool = False
    since: str = ""
    unseen: bool = False
    resend: bool = False
    listing: tuple[str, ...] = ()
    on_progress: Callable[[Progress], object] = field(
        default=lambda _progress: None, repr=False, compare=False
    )


def site_of(settings: Settings, manifest: Manifest | None, *, of_bot: bool = True) -> Site:
    """Return the listing of a manifest, or of a run without one.

    With `of_bot` the run needs the id of one bot.

    Raises:
        UsageError: The base URL or the bot is missing or not valid, or as `bot_of`.
        PlainHttpError: The base URL is plain http to another machine.
        FileError: The token file cannot be read.
    """
    own, variable = (manifest.base_url, manifest.token_env) if manifest else ("", "")
    if not (base_url := settings.base_url or own):
        raise UsageError("the base URL is missing", hint=Do.GIVE_BASE_URL())
    address = parse_address(base_url, insecure_http=settings.insecure_http)
    token, source = _token(settings, variable)
    bot, bot_from = bot_of(settings, manifest)
    if not bot and token and token.bot:
        bot, bot_from = token.bot, f"the token in {source}"
    if of_bot or bot.strip():
        no_id = "the token does not contain one" if token else f"{source} has no token"
        _check_bot(bot, no_id)
    base_url_from = "" if address.base_url == own else settings.base_url_from
    return Site(address, bot, token, source, bot_from=bot_from, base_url_from=base_url_from)


def _check_bot(bot: str, no_id: str) -> None:
    if not bot.strip():
        raise UsageError(f"the bot's id is missing, and {no_id}", hint=Do.GIVE_BOT())
    if bot in {".", ".."}:
        raise UsageError(f"{bot!r} is not a bot id", hint="copy the id from the bot's page")


def bot_of(settings: Settings, manifest: Manifest | None) -> tuple[str, str]:
    """Return the bot's id without that of a token, and what it is from; empty for the manifest.

    Raises `UsageError` if the variable contradicts the manifest: it may be another bot's.
    """
    own = manifest.bot if manifest else ""
    if manifest is None or settings.bot in {"", own}:
        return settings.bot or own, settings.bot_from if manifest is None else ""
    if own and settings.bot_from == BOT_VARIABLE:
        message = f"{BOT_VARIABLE} is {settings.bot}, and bot: of {manifest.path} is {own}"
        raise UsageError(message, hint=Do.UNSET_BOT(variable=BOT_VARIABLE))
    return settings.bot, settings.bot_from


def known_bot(settings: Settings) -> str:
    """Return the bot's id if it is known without a manifest, else an empty string."""
    token, _ = _token(settings)
    return settings.bot or (token.bot if token else "")


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
        UsageError: A flag makes one bot of those of several manifests.
        CommandsyncError: As `site_of`.
    """
    from commandsync.manifest import same_target_problems  # noqa: PLC0415 - loads yaml

    sites, targets = [], []
    for manifest in manifests:
        try:
            sites.append(site := site_of(settings, manifest))
        except CommandsyncError as error:
            raise about(error, manifest.path, of=len(manifests)) from error
        targets.append((manifest.path, site.address.base_url, site.bot))
    if problems := same_target_problems(targets):
        if settings.bot and len({manifest.bot for manifest in manifests} - {""}) > 1:
            message = f"{settings.bot_from} names one bot, and the manifests are for several"
            raise UsageError(message, hint="leave it out, or name one manifest")
        raise ManifestError(problems)
    return with_others(sites)


def with_others(sites: list[Site]) -> list[Site]:
    """Return the sites of a run, each with the tokens of all: no text may contain any of them."""
    tokens = tuple(site.token for site in sites if site.token)
    return [replace(site, others=tokens) for site in sites] if len(sites) > 1 else sites


def about(error: E, path: str, *, of: int) -> E:
    """Return an error with the path of its manifest in the message, if there are several."""
    return error if of == 1 else error.having(message=f"{path}: {error.message}")


def secret_token(secret: str, source: str) -> Token:
    """Return a token, which is hidden from now on; an error names what it is from."""
    try:
        return keep_secret(Token(secret))
    except UsageError as error:
        raise about(error, source, of=2) from None


def _token(settings: Settings, variable: str = "") -> tuple[Token | None, str]:
    """Return the token, and the file or variable that it is from."""
    if settings.token_file:
        secret = read_token(settings.token_file)
        return secret_token(secret, settings.token_file), settings.token_file
    variable = variable or TOKEN_VARIABLE
    secret = os.environ.get(variable, "")
    return secret_token(secret, variable) if secret.strip() else None, variable
