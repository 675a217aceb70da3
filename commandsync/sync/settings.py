"""What a run works with: flag over environment over manifest, decided in one place."""

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
    """What the flags and the environment say.

    Attributes:
        files: The manifests, as given by `--file`; empty for the usual one.
        base_url: The service; empty to take it from the manifest.
        bot: The bot's id; empty to take it from the manifest or the token.
        token_file: The file that holds the token; empty to take it from the environment.
        insecure_http: Allow plain http to another machine.
        timeout: Seconds per request.
        retries: How often a request may be sent again.
        concurrency: Most requests in flight.
        prune: False where `--no-prune` was given.
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
    """Which listing to work on, and with which token.

    Attributes:
        address: The service.
        bot: The bot's id.
        token: The token; None when there is none.
        token_from: Where the token was looked for, as told to the user.
    """

    address: Address
    bot: str
    token: Token | None
    token_from: str

    def warnings(self) -> tuple[Notice, ...]:
        """Return what plan says of a token that apply would refuse."""
        stranger = self._stranger()
        return (Notice(stranger, "apply will refuse it: use this bot's token"),) if stranger else ()

    def check_token(self) -> None:
        """Refuse to write without this bot's token.

        Raises:
            UsageError: There is no token.
            WrongBotError: It names another bot.
        """
        if self.token is None:
            raise UsageError(
                f"no token was given for bot {self.bot}",
                hint=f"set {self.token_from}, or give --token-file",
            )
        if stranger := self._stranger():
            raise WrongBotError(stranger, hint="use the token from this bot's own page")

    def _stranger(self) -> str:
        owner = self.token.bot if self.token else ""
        if not owner or owner == self.bot:
            return ""
        return f"the token belongs to bot {owner}, not to bot {self.bot}"


def site_of(settings: Settings, manifest: Manifest | None, *, of_bot: bool = True) -> Site:
    """Decide which listing a manifest is for.

    Args:
        settings: Flags and environment; they go before what the manifest says.
        manifest: The manifest; None for a run without one.
        of_bot: Whether the run is about one bot, so that it must be known which.

    Raises:
        UsageError: The base URL or the bot is nowhere said, or makes no sense.
        PlainHttpError: The base URL is plain http to another machine.
        FileError: The token file cannot be read.
    """
    base_url = settings.base_url or (manifest.base_url if manifest else "")
    if not base_url:
        raise UsageError(
            "which service? There is no base URL",
            hint="give --base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest",
        )
    address = parse_address(base_url, insecure_http=settings.insecure_http)
    variable = (manifest.token_env if manifest else "") or TOKEN_VARIABLE
    token = _token(settings, variable)
    bot = settings.bot or (manifest.bot if manifest else "") or (token.bot if token else "")
    if of_bot and not bot.strip():
        raise UsageError(
            f"which bot? There is no bot id, and {_says_no_bot(token, variable)}",
            hint="give --bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give this bot's "
            "token as its page shows it: the id is inside",
        )
    if bot in {".", ".."}:
        raise UsageError(f"{bot!r} is not a bot id", hint="copy the id from the bot's page")
    return Site(address, bot, token, settings.token_file or variable)


def known_bot(settings: Settings) -> str:
    """Return the bot's id as far as it is known without a manifest; empty when it is not."""
    if settings.bot:
        return settings.bot
    token = _token(settings, TOKEN_VARIABLE)
    return token.bot if token else ""


def rules_of(settings: Settings, manifest: Manifest) -> SyncRules:
    """Return a manifest's rules with the flags before them."""
    rules = manifest.rules
    if not settings.prune:
        rules = replace(rules, prune=False)
    if settings.max_deletes is not None:
        rules = replace(rules, max_deletes=settings.max_deletes)
    return rules


def sites_of(settings: Settings, manifests: Sequence[Manifest]) -> list[Site]:
    """Decide for every manifest; two for one listing are refused.

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
    """Let an error say which manifest it is about, where there are several.

    Args:
        error: What went wrong.
        path: The manifest.
        of: How many there are.
    """
    if of == 1:
        return error
    named = copy(error)
    named.message = f"{path}: {error.message}"
    named.args = (named.message,)
    return named


def _says_no_bot(token: Token | None, variable: str) -> str:
    return "the token names no bot" if token else f"no token in {variable} that could name it"


def _token(settings: Settings, variable: str) -> Token | None:
    if settings.token_file:
        return Token(read_token(settings.token_file))
    secret = os.environ.get(variable, "")
    return Token(secret) if secret.strip() else None
