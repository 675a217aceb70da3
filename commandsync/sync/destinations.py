"""Where the whole lists of a manifest go, and the token of each.

The host of a known service is in our own table: its token goes nowhere else. A host that a manifest
names gets a token only on this machine, or where the environment names the host too, and then only
from a variable that is neither the page's nor another service's.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from commandsync.api.arguments import Address, parse_address, service_of
from commandsync.api.credentials import Token
from commandsync.diagnostics import Do
from commandsync.errors import RefusedError, UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing
from commandsync.services.catalogue import LISTS
from commandsync.services.service import ListService
from commandsync.sync.settings import HOSTS_VARIABLE, TOKEN_VARIABLE, Settings, secret_token
from commandsync.sync.site import Site

_PREFIX = f"{TOKEN_VARIABLE}_"
_KNOWN_VARIABLES = {name for service in LISTS.values() for name in service.variables}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSite(Site):
    """A listing that takes a whole list, and its token."""

    service: ListService
    entry: Listing  # the manifest's entry for it
    untrusted: RefusedError | None = None  # why its token is not sent to its host, if it is not

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
    token, source = (None, names[0]) if untrusted else _token(names)
    bot = listing.bot_of(manifest.bot)
    if service.names_bot and not bot:
        raise UsageError(f"the bot's id is missing for {service.name}", hint=Do.GIVE_BOT())
    _check_bot(service, listing.bot, token)
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
    others = page if address.loopback else {*page, *_KNOWN_VARIABLES}
    if variable in others or not variable.startswith(_PREFIX):
        return RefusedError(
            f"{host} is named by the manifest: it gets only a token of its own",
            hint=f"write token_env: {_PREFIX}... in the entry of {listing.service}",
        )
    return None


def _variables(listing: Listing, service: ListService, *, own_host: bool) -> tuple[str, ...]:
    """Return the variables of a listing's token; the first one is the one to set."""
    if listing.token_env:
        return (listing.token_env,)
    own = "".join(c if c.isalnum() else "_" for c in service.name).upper()
    names = service.variables or (f"{_PREFIX}{own}",)
    return names if own_host else tuple(name for name in names if name.startswith(_PREFIX))


def _token(names: Sequence[str]) -> tuple[Token | None, str]:
    """Return the token, and the variable that it is from or could be from."""
    values = {name: os.environ.get(name, "").strip() for name in names}
    given = {name: value for name, value in values.items() if value}
    if len(set(given.values())) > 1:
        message = f"{' and '.join(given)} are set, and differ"
        raise UsageError(message, hint="unset all but one of them")
    for name, secret in given.items():
        return secret_token(secret, name), name
    return None, names[0]


def _check_bot(service: ListService, bot: str, token: Token | None) -> None:
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
        key = (site.service.name, site.token.reveal())
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
