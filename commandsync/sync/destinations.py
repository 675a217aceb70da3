"""Where the listings of a run are, and the token of each.

`sites_of` finds the page of every manifest: its address, the bot's id and the token, each from a
flag, the environment or the manifest. `list_sites` finds the services of a manifest's `listings:`.
The host of a known service is in our own table, and its token goes nowhere else. A host that a
manifest names gets a token only on this machine, or where the environment names the host too, and
then only from a variable that is neither the page's nor another service's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.api.arguments import Address, parse_address, service_of
from commandsync.api.credentials import Token, keep_secret
from commandsync.diagnostics import Do
from commandsync.errors import (
    CommandsyncError,
    ManifestError,
    RefusedError,
    UsageError,
    WrongBotError,
)
from commandsync.services.abilities import Reads
from commandsync.services.service import ListService
from commandsync.sync.files import read_token
from commandsync.sync.setting import BOT
from commandsync.sync.settings import (
    HOSTS_VARIABLE,
    TOKEN_VARIABLE,
    Settings,
    Site,
    about,
)

if TYPE_CHECKING:
    from commandsync.manifest import Manifest
    from commandsync.manifest.listings import Listing


_PREFIX = f"{TOKEN_VARIABLE}_"


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
    _check_variable(variable, settings, str(address))
    token, source = _token(settings, variable)
    bot, bot_from = bot_of(settings, manifest)
    if not bot and token and token.bot:
        bot, bot_from = token.bot, f"the token in {source}"
    if of_bot or bot.strip():
        no_id = "the token does not contain one" if token else f"{source} has no token"
        _check_bot(bot, no_id)
    base_url_from = "" if address.base_url == own else settings.base_url_from
    return Site(address, bot, token, source, bot_from=bot_from, base_url_from=base_url_from)


def _check_variable(variable: str, settings: Settings, address: str) -> None:
    """Refuse to send the token of a known service to a page; raises `RefusedError`."""
    if variable and not settings.token_file and variable in _known_variables():
        raise RefusedError(
            f"{variable} is the token of a known service: it is not sent to {address}",
            hint=f"name another variable in token_env:, such as {_PREFIX}PAGE",
        )


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
    if own and settings.bot_from == BOT.variable:
        message = f"{BOT.variable} is {settings.bot}, and bot: of {manifest.path} is {own}"
        raise UsageError(message, hint=Do.UNSET_BOT(variable=BOT.variable))
    return settings.bot, settings.bot_from


def known_bot(settings: Settings) -> str:
    """Return the bot's id if it is known without a manifest, else an empty string."""
    token, _ = _token(settings)
    return settings.bot or (token.bot if token else "")


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
    return sites


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSite(Site):
    """A listing that takes a whole list, and its token."""

    service: ListService
    entry: Listing  # the manifest's entry for it
    untrusted: RefusedError | None = None  # why its token is not sent to its host, if it is not

    @property
    def returned(self) -> bool:
        """Whether the service returns the list to the holder of its token."""
        return self.service.facts.read.value is not Reads.NO

    @property
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.returned and self.token is not None

    def check_token(self) -> None:
        """Refuse to write without a token that may be sent; raises as `Site.check_token`."""
        if self.untrusted:
            raise self.untrusted
        if self.token is None and (self.service.authorization or self.service.variables):
            hint = Do.SET_VARIABLE(variable=self.token_from)
            raise UsageError(f"no token was given for {self.service.name}", hint=hint)


def list_sites(settings: Settings, manifest: Manifest) -> list[ListSite]:
    """Return where each selected whole list of a manifest goes.

    Raises `UsageError` if a bot's id is missing, or two variables contradict each other, and
    `WrongBotError` if a token belongs to another bot.
    """
    selected = [each for each in manifest.listings if is_selected(settings, each.service)]
    return [_site(listing, manifest) for listing in selected]


def _site(listing: Listing, manifest: Manifest) -> ListSite:
    service = listing.list_service
    address = parse_address(service.origin, version=None)
    own_host = not (listing.base_url or listing.replace)
    page = {TOKEN_VARIABLE, manifest.token_env or TOKEN_VARIABLE}
    untrusted = None if own_host else _untrusted(listing, address, page)
    names = _variables(listing, service, own_host=own_host)
    token, source = (None, names[0]) if untrusted else _list_token(names)
    bot = listing.bot_of(manifest.bot)
    if service.names_bot and not bot:
        raise UsageError(f"the bot's id is missing for {service.name}", hint=Do.GIVE_BOT())
    _check_number(service, listing.bot, token)
    return ListSite(
        address, bot, token, source, service=service, entry=listing, untrusted=untrusted
    )


def _untrusted(listing: Listing, address: Address, page: Collection[str]) -> RefusedError | None:
    """Return why a host of a manifest gets no token, or None; `page` are the page's variables."""
    host, variable = service_of(address.base_url), listing.token_env
    hosts = os.environ.get(HOSTS_VARIABLE, "").replace(",", " ").lower().split()
    if not (address.loopback or host in hosts):
        message = (
            f"{host} is named by the manifest only: the token for {listing.service} is not sent"
        )
        return RefusedError(message, hint=f"if that host may have it, set {HOSTS_VARIABLE}={host}")
    if address.loopback and not variable:
        return None  # the token of a known service, for a simulation of it
    others = page if address.loopback else {*page, *_known_variables()}
    if variable in others or not variable.startswith(_PREFIX):
        return RefusedError(
            f"{host} is named by the manifest: it gets only a token of its own",
            hint=f"write token_env: {_PREFIX}... in the entry of {listing.service}",
        )
    return None


def _known_variables() -> set[str]:
    """Return the variables of the tokens of known services."""
    from commandsync.services.catalogue import LISTS  # noqa: PLC0415 - seldom needed

    return {name for service in LISTS.values() for name in service.variables}


def _variables(listing: Listing, service: ListService, *, own_host: bool) -> tuple[str, ...]:
    """Return the variables of a listing's token; the first one is the one to set."""
    if listing.token_env:
        return (listing.token_env,)
    own = "".join(c if c.isalnum() else "_" for c in service.name).upper()
    names = service.variables or (f"{_PREFIX}{own}",)
    return names if own_host else tuple(name for name in names if name.startswith(_PREFIX))


def _list_token(names: Sequence[str]) -> tuple[Token | None, str]:
    """Return the token, and the variable that it is from or could be from."""
    values = {name: os.environ.get(name, "").strip() for name in names}
    given = {name: value for name, value in values.items() if value}
    if len(set(given.values())) > 1:
        message = f"{' and '.join(given)} are set, and differ"
        raise UsageError(message, hint="unset all but one of them")
    for name, secret in given.items():
        return secret_token(secret, name), name
    return None, names[0]


def _check_number(service: ListService, bot: str, token: Token | None) -> None:
    """Refuse a token that begins with the number of another bot, as Telegram's do."""
    number, colon, _ = token.reveal().partition(":") if token else ("", "", "")
    if bot and colon and number.isdigit() and not service.names_bot and number != bot:
        message = f"the token for {service.name} belongs to bot {number}, not to bot {bot}"
        raise WrongBotError(
            message, hint="use this bot's own token, or correct bot: of the listing"
        )


def check_tokens(sites: Sequence[Site]) -> None:
    """Refuse one token for two lists of a service, of one manifest or several.

    Raises `UsageError` if one token is used for two.
    """
    seen: dict[tuple[str, str], str] = {}
    for site in sites:
        if site.token is None or not isinstance(site, ListSite):
            continue
        key = (site.service.label, site.token.reveal())
        if key in seen:
            raise UsageError(
                f"{seen[key]} and {site.token_from} have one token for two listings of "
                f"{site.service.name}",
                hint="give each bot its own token, with token_env:",
            )
        seen[key] = site.token_from


def is_selected(settings: Settings, name: str) -> bool:
    """Return whether a run is for a listing."""
    return not settings.listing or name in settings.listing


def unknown_listing(
    settings: Settings, manifests: Sequence[Manifest], pages: Iterable[Site]
) -> UsageError | None:
    """Return the error about a name that no listing has; None if there is no such name."""
    names = {entry.service for manifest in manifests for entry in manifest.listings}
    names |= {page.name for page in pages}
    hint = f"the listings are: {', '.join(sorted(names)) or 'none'}"
    unknown = (given for given in settings.listing if given not in names)
    return next((UsageError(f"no listing is called {each!r}", hint=hint) for each in unknown), None)
