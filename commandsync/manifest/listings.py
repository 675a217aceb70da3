"""The listings of a manifest: the services that its entries name, and their problems.

An entry of `listings:` is checked as all keys are. Then `read_listings` makes
values of the entries, one for each scope and language, and reports the problems that only show
beside other keys. `ManifestListing` knows its service, its address, and the identity of its list.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from types import MappingProxyType
from typing import cast

from commandsync.api.arguments import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.manifest import nodes
from commandsync.manifest.keys import DISCORD, NONE, ListingKeys, ReplaceKeys
from commandsync.manifest.nodes import Scalar
from commandsync.manifest.source import FileProblems, did_you_mean, quoted
from commandsync.records.losses import COMMANDS, with_characters
from commandsync.records.snapshot import Audience, Snapshot
from commandsync.records.texts import Resource, canonical
from commandsync.services.abilities import FactSource
from commandsync.services.catalogue import LISTS, SERVICES, declared
from commandsync.services.service import ListService

_MANIFESTS_BOT = "the manifest's"  # not a valid id
_NO_BOT = "0"  # in place of an id that is not known
_NOTHING = Snapshot({Resource.COMMAND: ()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestListing(ListingKeys):
    """A service that lists the bot, at its place in the manifest."""

    location: Location
    audience: Audience | None = None  # the users who see the list, if the service has several lists
    first: bool = True  # whether it is the first list of its entry
    # The descriptions in its language by the names of commands; None for a list to delete.
    texts: Mapping[str, str] | None = field(default_factory=dict)

    @property
    def list_service(self) -> ListService:
        """The service, at the address and with the limits of this listing."""
        own = self.replace
        service = LISTS[self.service] if own is None else declared(self.service, **own._asdict())
        if self.audience and service.for_audience:
            service = service.for_audience(self.audience)
        facts, says = service.facts, FactSource("the manifest").says
        limits, most_records = dict(facts.limits), facts.most_records
        for name, most in self.limits.items():
            if isinstance(most, str):
                limits["name"] = says(with_characters(facts.limit("name"), most))
            elif name == COMMANDS:
                most_records = says(min(most, most_records.number or most))
            else:
                limit = facts.limit(name)
                limits[name] = says(limit._replace(most=min(most, limit.most or most)))
        facts = replace(facts, limits=MappingProxyType(limits), most_records=most_records)
        prefixed = self.prefix_commands == "send"
        origin = self.base_url or service.origin
        return replace(service, facts=facts, origin=origin, prefixed=prefixed)

    def bot_of(self, manifests_bot: str) -> str:
        """Return the bot's id on the service, empty for the token's."""
        return self.bot or ("" if self.list_service.own_bots else manifests_bot)

    def address(self, manifests_bot: str) -> str:
        """Return where the request goes, the same for every spelling of it."""
        service, bot = self.list_service, self.bot_of(manifests_bot)
        path = service.replace(bot or _NO_BOT, _NOTHING).path
        return service_of(service.origin) + path

    def names_bot(self, manifests_bot: str) -> bool:
        """Whether the address names the bot; else the token decides whose list it is.

        An id that is written out does so too.
        """
        bot = self.bot_of(manifests_bot)
        if self.list_service.names_bot:
            return bool(bot)
        return bool(bot) and bot in re.split("[/?&=]", self.address(manifests_bot))

    def identity(self, manifests_bot: str) -> str:
        """Return the identity of the list: its address, and the token where that decides the bot.

        All variables of a known service are for one token, and the first one identifies it.
        """
        service = self.list_service
        address = self.address(manifests_bot)
        if service.names_bot or self.names_bot(manifests_bot):
            return address
        first, own = next(iter(service.variables), ""), self.token_env
        identity = f"{address} {first if own in {'', *service.variables} else own}"
        return identity_for(identity, self.audience)

    def targets(self, manifests_bot: str) -> Iterator[tuple[str, ...]]:
        """Yield the values that no other listing may have: its identity, its name for one bot."""
        service, bot = self.list_service, self.bot_of(manifests_bot)
        if bot or not service.names_bot:
            yield (self.identity(manifests_bot),)
        if bot and (self.replace or service.own_bots):
            yield self.service.casefold(), bot, *(self.audience or ())


def identity_for(default: str, audience: Audience | None) -> str:
    """Return the identity of a list; `default` is the identity of its service's default list."""
    is_default = audience is None or audience == Audience("default")
    return default if is_default else f"{default} {'/'.join(audience or ())}"


def read_listings(
    report: FileProblems,
    root: nodes.Mapping,
    models: Sequence[ListingKeys],
    *,
    bot: str,
    texts_of: Callable[[Scalar], Mapping[str, str]],
) -> tuple[ManifestListing, ...]:
    """Return the listings of a manifest without errors in its keys; report other problems.

    Discord is not among them: its commands are records, not a list. An entry with scopes and
    languages becomes one listing for each pair. `texts_of` reads the file of a language.
    """
    listings: list[ManifestListing] = []
    starts: dict[Location, int] = {}
    entries = cast("list[nodes.Mapping]", root.get("listings", []))
    for node, model in zip(entries, models, strict=True):
        if model.service == DISCORD:
            continue
        if wrong := list(_problems(node, model)):
            for each in wrong:
                report.error(*each)
            continue
        location = report.source.location(node.at)
        listings += _lists(node, model, location, texts_of)
        starts[location] = node.at
    for problem in same_listing_problems([(listings, bot or _MANIFESTS_BOT)]):
        report.error(starts[problem.location], problem.message, problem.hint)
    return tuple(listings)


def _lists(
    node: nodes.Mapping,
    model: ListingKeys,
    location: Location,
    texts_of: Callable[[Scalar], Mapping[str, str]],
) -> Iterator[ManifestListing]:
    """Yield the listings of an entry: one for each scope and language."""
    texts: dict[str, Mapping[str, str] | None] = {"": {}}
    for key, file in cast("nodes.Mapping", node.get("languages", {})).items():
        language = canonical(key)
        deleted = model.languages[language] == NONE
        texts[language] = None if deleted else texts_of(cast("Scalar", file))
    scopes = dict.fromkeys(model.scopes or ("default",))
    for number, (scope, language) in enumerate(product(scopes, texts)):
        yield ManifestListing(
            **{each.name: getattr(model, each.name) for each in fields(model)},
            location=location,
            audience=Audience(scope, language) if _has_audiences(model.service) else None,
            first=number == 0,
            texts=texts[language],
        )


def same_listing_problems(
    listings: Iterable[tuple[Iterable[ManifestListing], str]],
) -> tuple[Problem, ...]:
    """Refuse two listings of one bot on one service: each would replace the other's commands.

    The listings of each manifest come with its bot, empty where that is not known.
    """
    first: dict[tuple[str, ...], ManifestListing] = {}
    problems = {}
    every = [(listing, bot) for managed, bot in listings for listing in managed]
    of_bots = {listing.address(bot) for listing, bot in every if listing.names_bot(bot)}
    for listing, bot in every:
        address = listing.address(bot)
        # The URL of one listing may contain the id of the other one's bot.
        known = [(address,)] if address in of_bots else []
        for target in (*listing.targets(bot), *known):
            other = first.setdefault(target, listing)
            if other is not listing:
                message = f"duplicate listing {quoted(listing.service)} (first at {other.location})"
                key = "bot" if address in of_bots else "token_env"
                hint = f"remove one; for another bot, write the {key}: of each"
                problems[listing.location] = Problem(listing.location, message, hint)
    return tuple(problems.values())


def _has_audiences(service: str) -> bool:
    """Whether a service has a list for each scope and language."""
    return service in LISTS and LISTS[service].for_audience is not None


def _problems(node: nodes.Mapping, listing: ListingKeys) -> Iterator[tuple[int, str, str]]:
    """Yield the problems between the keys of a listing: place, message and hint."""
    name, own = listing.service, listing.replace
    if not _has_audiences(name):
        for key in sorted({"scopes", "languages"} & {*node}):
            yield node[key].at, f"{key} is not allowed for {quoted(name)}", f"remove {key}:"
    if own is None:
        if name not in LISTS:
            every = (DISCORD, *LISTS)
            known = did_you_mean(name, every) or f"known services are {', '.join(every)};"
            hint = f"{known} another service needs replace:"
            yield node["service"].at, f"{quoted(name)} is not a known service", hint
        return
    yield from _declared_problems(node, listing, own)


def _declared_problems(
    node: nodes.Mapping, listing: ListingKeys, own: ReplaceKeys
) -> Iterator[tuple[int, str, str]]:
    """Yield the problems of a listing with `replace:`, as `_problems`."""
    name = listing.service
    if own.read and not own.fields:
        yield node["replace"].at, "replace.read needs fields", "write fields: {name: name, ...}"
    if own.read and own.read.url.split("/")[:3] != own.url.split("/")[:3]:
        hint = "the token is sent there: both have one scheme and host"
        yield node["replace"].at, "the url of read has another host than that of replace", hint
    if name.casefold() in SERVICES:
        message = f"replace is not allowed beside {quoted(name)}, the name of a known service"
        yield node["replace"].at, message, "remove replace:, or choose another name"
    if "base_url" in node:
        hint = "write the host in the url of replace: only"
        yield node["base_url"].at, "base_url is not allowed beside replace", hint
    if own.authorization and not listing.token_env:
        variable = re.sub(r"\W", "_", name).upper()
        hint = f"name the variable of the token, such as token_env: COMMANDSYNC_TOKEN_{variable}"
        yield node.at, "a listing whose replace has an authorization needs a token_env", hint
    if listing.token_env and not own.authorization:
        hint = 'add authorization: "Bearer {token}" to replace:, or remove token_env:'
        yield node["token_env"].at, "token_env has no effect without replace.authorization", hint
