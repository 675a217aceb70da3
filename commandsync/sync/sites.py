"""The sites of the listings of a run: their addresses and tokens.

`sites_of` finds the page of every manifest: its address, the bot's id and the token, each from a
flag, the environment or the manifest. `list_sites` finds the services of a manifest's `listings:`
that take whole lists, and `discord_of` finds Discord, which has records. The host of a known
service is in our own table, and its token goes nowhere else. A host that a manifest names gets a
token only on this machine, or where the environment names the host too, and then only from a
variable that is neither the page's nor another service's.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commandsync.api.arguments import Address, parse_address, service_of
from commandsync.api.credentials import Token, keep_secret
from commandsync.diagnostics import Do, Location, Notice, Problem
from commandsync.errors import (
    CommandsyncError,
    ManifestError,
    RefusedError,
    UsageError,
    WrongBotError,
)
from commandsync.services.abilities import Reads
from commandsync.services.service import ListService
from commandsync.sync.files import in_usual_file, missing_token, read_token
from commandsync.sync.setting import BOT
from commandsync.sync.settings import (
    HOSTS_VARIABLE,
    TOKEN_VARIABLE,
    Settings,
    Site,
    about,
    token_in,
)

if TYPE_CHECKING:
    from commandsync.manifest import Manifest
    from commandsync.manifest.listings import ManifestListing
    from commandsync.manifest.reader import DiscordListing
    from commandsync.services.discord import Application


PORTAL = "copy the bot's token from the page Bot of Discord's developer portal"
"""The advice where the token for Discord is missing or is another one."""

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
    """Return the bot's id from a setting or the manifest, not the token, and the setting's name.

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
        UsageError: A flag names one bot for several manifests.
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
    """Return a token, which is hidden from now on; an error names its source."""
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
    secret = token_in(settings, variable)
    return secret_token(secret, variable) if secret else None, variable


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingSite(Site):
    """A listing of a manifest's `listings:`, and its token."""

    needs_token: bool = True
    untrusted: RefusedError | None = None  # why its token is not sent to its host, if it is not
    variables: Sequence[str] = ()  # that may contain its token

    def check_token(self) -> None:
        """Refuse to write without a token that may be sent; raises as `Site.check_token`."""
        if self.untrusted:
            raise self.untrusted
        if self.token is None and self.needs_token:
            otherwise = Do.SET_VARIABLE(variable=self.token_from)
            hint = missing_token(self.variables, otherwise)
            raise UsageError(f"no token was given for {self.service.name}", hint=hint)

    def token_notices(self) -> Iterator[Notice]:
        """Yield a notice if the list could be read: `.env` has the token."""
        if self.token is None and not self.untrusted and in_usual_file(self.variables):
            hint = missing_token(self.variables, Do.SET_VARIABLE(variable=self.token_from))
            yield Notice(f"{self.service.name} is not read: no token was given", hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSite(ListingSite):
    """The commands of an application at Discord, and its token.

    The bot's id is the id of the application, once it was read.
    """

    listing: DiscordListing  # the manifest's entry for it, or one of the options
    application: Application | None = None  # None until it was read

    @property
    def name(self) -> str:
        """Its name among several listings, with the server: `discord (server 613425648685)`."""
        return self.listing.name

    @property
    def guild(self) -> str:
        """The server whose commands they are; empty for the global ones."""
        return self.listing.guild

    @property
    def identity(self) -> str:
        """The identity of the listing, which is the same before and after it is read.

        Without the id of the bot, it is that in the token, which begins with it.
        """
        bot = self.listing.bot or (_user_of(self.token) if self.token else "")
        return f"{service_of(self.address.base_url)} {bot} {self.guild}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSite(ListingSite):
    """A listing that takes a whole list, and its token."""

    service: ListService
    entry: ManifestListing  # the manifest's entry for it

    @property
    def identity(self) -> str:
        """The identity of the list, which no spelling changes."""
        return self.entry.identity(self.bot)

    @property
    def returned(self) -> bool:
        """Whether the service returns the list to the holder of its token."""
        return self.service.facts.read.value is not Reads.NO

    @property
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.returned and self.token is not None


def discord_site(
    settings: Settings, manifest: Manifest | None, listing: DiscordListing
) -> DiscordSite:
    """Return the site of the commands of an application.

    The server of the settings comes before the listing's. Raises `UsageError` if two variables
    contradict each other, or the token belongs to a page.
    """
    from commandsync.services.discord import (  # noqa: PLC0415 - seldom needed
        ORIGIN,
        UNKNOWN,
        VARIABLES,
        discord_address,
        discord_service,
    )

    listing = replace(listing, guild=settings.guild or listing.guild)
    address = discord_address(listing.base_url or ORIGIN)
    page = None if address.base_url == ORIGIN else _of_page(manifest)
    token, source, untrusted, names = _token_of(settings, listing, address, VARIABLES, page)
    if token and token.bot:
        raise UsageError(f"{source} contains the token of a listing service", hint=PORTAL)
    return DiscordSite(
        address,
        listing.bot,
        token,
        source,
        service=discord_service(UNKNOWN, listing.guild),
        listing=listing,
        untrusted=untrusted,
        variables=names,
    )


def discord_of(settings: Settings, manifest: Manifest) -> DiscordSite | None:
    """Return the site of the commands at Discord; None if the run does not select it.

    Raises as `discord_site`.
    """
    if manifest.discord is None:
        return None
    site = discord_site(settings, manifest, manifest.discord)
    names = {site.name, site.service.name}
    is_selected = settings.guild or not settings.listing or names & {*settings.listing}
    return site if is_selected else None


def record_site(settings: Settings, manifest: Manifest | None) -> Site:
    """Return the one listing with records of a manifest, or of a run without one.

    It is Discord if the settings say so, or where the manifest has no page. Raises `UsageError` if
    the settings name another listing, or as `site_of` and `discord_site`.
    """
    from commandsync.manifest.keys import DISCORD  # noqa: PLC0415 - loads yaml
    from commandsync.manifest.reader import DiscordListing  # noqa: PLC0415 - loads yaml

    listing = (manifest and manifest.discord) or DiscordListing(location=Location(""))
    names = {DISCORD, listing.name}
    without_page = manifest is not None and manifest.discord and not manifest.has_page
    if settings.guild or names & {*settings.listing} or (without_page and not settings.listing):
        if {*settings.listing} <= names:
            return discord_site(settings, manifest, listing)
    else:
        page = site_of(settings, manifest)
        if {*settings.listing} <= {page.name}:
            return page
    hint = "name the page by its host, or discord"
    raise UsageError("this works on one listing that has records with ids", hint=hint)


def listing_of(site: Site) -> DiscordListing | None:
    """Return the entry of a manifest that leads to a site of Discord; None for a page.

    The bot is not in it: it is a key of the manifest.
    """
    return replace(site.listing, bot="") if isinstance(site, DiscordSite) else None


def _user_of(token: Token) -> str:
    """Return the id of the bot's user, which a token of Discord begins with; empty for none."""
    first = token.reveal().partition(".")[0]
    with suppress(ValueError):
        user = urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
        return user if user.isdigit() else ""
    return ""


def list_sites(settings: Settings, manifest: Manifest) -> list[ListSite]:
    """Return the sites of the selected lists of a manifest.

    Raises `UsageError` if a bot's id is missing, or two variables contradict each other, and
    `WrongBotError` if a token belongs to another bot.
    """
    selected = [each for each in manifest.listings if is_selected(settings, each.service)]
    return [_site(settings, listing, manifest) for listing in selected]


def _of_page(manifest: Manifest | None) -> set[str]:
    """Return the variables of the token of a manifest's page."""
    return {TOKEN_VARIABLE, (manifest and manifest.token_env) or TOKEN_VARIABLE}


def _site(settings: Settings, listing: ManifestListing, manifest: Manifest) -> ListSite:
    service = listing.list_service
    address = parse_address(service.origin, version=None)
    own = "".join(c if c.isalnum() else "_" for c in service.name).upper()
    names = service.variables or (f"{_PREFIX}{own}",)
    page = _of_page(manifest) if listing.base_url or listing.replace else None
    token, source, untrusted, names = _token_of(settings, listing, address, names, page)
    bot = listing.bot_of(manifest.bot)
    if service.names_bot and not bot:
        problem = _no_bot(listing)
        raise UsageError(problem.message, hint=problem.hint)
    _check_number(service, listing.bot, token)
    return ListSite(
        address,
        bot,
        token,
        source,
        service=service,
        entry=listing,
        needs_token=bool(service.authorization or service.variables),
        untrusted=untrusted,
        variables=names,
    )


def _no_bot(listing: ManifestListing) -> Problem:
    message = f"the bot's id is missing for {listing.service}, whose requests name the bot"
    return Problem(listing.location, message, "write bot: in its entry, or at the top")


def check_bots(manifests: Iterable[Manifest]) -> None:
    """Raise `ManifestError` for the listings whose requests name a bot that no manifest names."""
    problems = [
        _no_bot(listing)
        for manifest in manifests
        for listing in manifest.listings
        if listing.list_service.names_bot and not listing.bot_of(manifest.bot)
    ]
    if problems:
        raise ManifestError(problems)


def _untrusted(
    listing: ManifestListing | DiscordListing, address: Address, page: Collection[str]
) -> RefusedError | None:
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
    from commandsync.services.discord import VARIABLES  # noqa: PLC0415 - as above

    return {*VARIABLES, *(name for service in LISTS.values() for name in service.variables)}


def _token_of(
    settings: Settings,
    listing: ManifestListing | DiscordListing,
    address: Address,
    names: tuple[str, ...],
    page: set[str] | None,
) -> tuple[Token | None, str, RefusedError | None, tuple[str, ...]]:
    """Return the token of a listing, its variable, why it is not sent, and its variables.

    `names` are the variables of the service; the first one is the one to set. `page` are the
    variables of the manifest's page; None for a service at its own host. Raises `UsageError` if two
    variables contradict each other.
    """
    if listing.token_env:
        names = (listing.token_env,)
    elif page is not None:
        names = tuple(name for name in names if name.startswith(_PREFIX))
    if page is not None and (untrusted := _untrusted(listing, address, page)):
        return None, names[0], untrusted, names
    values = {name: token_in(settings, name) for name in names}
    given = {name: value for name, value in values.items() if value}
    if len(set(given.values())) > 1:
        message = f"{' and '.join(given)} are set, and differ"
        raise UsageError(message, hint="unset all but one of them")
    source = next(iter(given), names[0])
    token = secret_token(given[source], source) if given else None
    return token, source, None, names


def _check_number(service: ListService, bot: str, token: Token | None) -> None:
    """Refuse a token that begins with the number of another bot, as Telegram's do."""
    number, colon, _ = token.reveal().partition(":") if token else ("", "", "")
    if bot and colon and number.isdigit() and not service.names_bot and number != bot:
        message = f"the token for {service.name} belongs to bot {number}, not to bot {bot}"
        raise WrongBotError(
            message, hint="use this bot's own token, or correct bot: of the listing"
        )


def check_tokens(sites: Sequence[Site]) -> None:
    """Refuse one token for two listings of a service, of one manifest or several.

    Raises `UsageError` if one token is used for two.
    """
    seen: dict[tuple[str, str], str] = {}
    for site in sites:
        if site.token is None or not isinstance(site, ListingSite):
            continue
        label = site.service.label if isinstance(site.service, ListService) else site.name
        key = (label, site.token.reveal())
        if key in seen:
            raise UsageError(
                f"{seen[key]} and {site.token_from} have one token for two listings of "
                f"{site.service.name}",
                hint="give each bot its own token, with token_env:",
            )
        seen[key] = site.token_from


def is_selected(settings: Settings, name: str) -> bool:
    """Return whether a run is for a listing other than Discord."""
    return not settings.guild and (not settings.listing or name in settings.listing)


def check_names(
    settings: Settings, manifests: Sequence[Manifest], pages: Iterable[Site] = ()
) -> None:
    """Raise `UsageError` if the settings name a listing or a server that no manifest has."""
    names = {page.name for page in pages}
    for manifest in manifests:
        names |= {entry.service for entry in manifest.listings}
        names |= {manifest.discord.service, manifest.discord.name} if manifest.discord else set()
    if settings.guild and not any(manifest.discord for manifest in manifests):
        hint = "add an entry to listings: with service: discord"
        raise UsageError("no manifest of the run lists discord", hint=hint)
    for given in settings.listing:
        if given not in names:
            hint = f"the listings are: {', '.join(sorted(names)) or 'none'}"
            raise UsageError(f"no listing is called {given!r}", hint=hint)
