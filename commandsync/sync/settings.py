"""The settings of a run: flag over environment over manifest."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from commandsync.api.address import Address, parse_address
from commandsync.api.credentials import Token
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, ManifestError, UsageError, WrongBotError
from commandsync.sync.files import read_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.manifest import Manifest
    from commandsync.plan.rules import DeleteLimit, SyncRules

E = TypeVar("E", bound=CommandsyncError)

TOKEN_VARIABLE = "COMMANDSYNC_TOKEN"  # noqa: S105 - the variable's name


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags and the environment.

    Attributes:
        files: The manifests, as given by `--file`; empty for the default.
        base_url: The service; empty to take it from the manifest.
        bot: The bot's id; empty to take it from the manifest or the token.
        token_file: The file of the token; empty to take it from the environment.
        insecure_http: Allow plain http to another machine.
        timeout: Seconds per request.
        retries: How often a request is repeated at most.
        concurrency: The most requests in flight.
        prune: False with `--no-prune`.
        max_deletes: The guard's limit; None to take it from the manifest.
        only: The pattern of `--only`; empty for all changes.
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


@dataclass(frozen=True, slots=True)
class Site:
    """A listing and its token.

    Attributes:
        address: The service.
        bot: The bot's id.
        token: The token; None without one.
        token_from: The variable or file of the token.
    """

    address: Address
    bot: str
    token: Token | None
    token_from: str

    def warnings(self) -> tuple[Notice, ...]:
        """Return the warning about a token that apply would refuse."""
        problem = self._wrong_bot()
        return (Notice(problem, "apply will refuse it: use this bot's token"),) if problem else ()

    def check_token(self) -> None:
        """Refuse to write without this bot's token.

        Raises:
            UsageError: There is no token.
            WrongBotError: It belongs to another bot.
        """
        if self.token is None:
            raise UsageError(
                f"no token was given for bot {self.bot}",
                hint=f"set {self.token_from}, or give --token-file",
            )
        if problem := self._wrong_bot():
            raise WrongBotError(problem, hint="use the token from this bot's own page")

    def _wrong_bot(self) -> str:
        owner = self.token.bot if self.token else ""
        if not owner or owner == self.bot:
            return ""
        return f"the token belongs to bot {owner}, not to bot {self.bot}"


def site_of(settings: Settings, manifest: Manifest | None, *, of_bot: bool = True) -> Site:
    """Return the listing of a manifest.

    Args:
        settings: Flags and environment; they override the manifest.
        manifest: The manifest; None for a run without one.
        of_bot: Whether the run needs the id of one bot.

    Raises:
        UsageError: The base URL or the bot is missing or not valid.
        PlainHttpError: The base URL is plain http to another machine.
        FileError: The token file cannot be read.
    """
    base_url = settings.base_url or (manifest.base_url if manifest else "")
    if not base_url:
        raise UsageError(
            "the base URL is missing",
            hint="give --base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest",
        )
    address = parse_address(base_url, insecure_http=settings.insecure_http)
    variable = (manifest.token_env if manifest else "") or TOKEN_VARIABLE
    token = _token(settings, variable)
    bot = settings.bot or (manifest.bot if manifest else "") or (token.bot if token else "")
    if of_bot and not bot.strip():
        raise UsageError(
            f"the bot's id is missing, and {_no_id(token, variable)}",
            hint="give --bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token "
            "from the bot's page, which contains the id",
        )
    if bot in {".", ".."}:
        raise UsageError(f"{bot!r} is not a bot id", hint="copy the id from the bot's page")
    return Site(address, bot, token, settings.token_file or variable)


def known_bot(settings: Settings) -> str:
    """Return the bot's id if it is known without a manifest, else an empty string."""
    if settings.bot:
        return settings.bot
    token = _token(settings, TOKEN_VARIABLE)
    return token.bot if token else ""


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
    from commandsync.manifest import Target, same_target_problems  # noqa: PLC0415 - loads yaml

    sites = []
    for manifest in manifests:
        try:
            sites.append(site_of(settings, manifest))
        except CommandsyncError as error:
            raise about(error, manifest.path, of=len(manifests)) from error
    targets = [
        Target(manifest.path, site.address.base_url, site.bot)
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
    named.message = f"{path}: {error.message}"
    named.args = (named.message,)
    return named


def _no_id(token: Token | None, variable: str) -> str:
    return "the token does not contain one" if token else f"there is no token in {variable}"


def _token(settings: Settings, variable: str) -> Token | None:
    if settings.token_file:
        return Token(read_token(settings.token_file))
    secret = os.environ.get(variable, "")
    return Token(secret) if secret.strip() else None
