"""The listings of a manifest as values, and the problems that only show beside other keys."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

from pydantic import ConfigDict

from commandsync.api.arguments import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.manifest import nodes
from commandsync.manifest.listingmodel import ListingModel
from commandsync.manifest.model import ManifestModel
from commandsync.manifest.source import FileProblems, did_you_mean, quoted
from commandsync.records.losses import COMMANDS
from commandsync.services.abilities import Source
from commandsync.services.catalogue import LISTS, SERVICES, declared
from commandsync.services.service import ListService

_MANIFESTS_BOT = "the manifest's"  # not a valid id

Target = tuple[str, str, str]
"""What two listings may not both have: a host or none, a path or name, and a bot."""


class Listing(ListingModel):
    """A service that lists the bot, at its place in the manifest."""

    model_config = ConfigDict(defer_build=True)  # it is made of a model that is checked

    location: Location

    @property
    def list_service(self) -> ListService:
        """The service, at the address and with the limits of this listing."""
        own = self.replace
        service = declared(self.service, **dict(own)) if own else LISTS[self.service]
        facts, says = service.facts, Source("the manifest").says
        limits, most_records = dict(facts.limits), facts.most_records
        for name, most in self.limits.items():
            if name == COMMANDS:
                most_records = says(min(most, most_records.number or most))
            else:
                limit = facts.limit(name)
                limits[name] = says(limit._replace(most=min(most, limit.most or most)))
        facts = replace(facts, limits=MappingProxyType(limits), most_records=most_records)
        return replace(service, facts=facts, origin=self.base_url or service.origin)

    def bot_of(self, manifests_bot: str) -> str:
        """Return the bot's id on the service, empty for the one of the token."""
        return self.bot or ("" if self.list_service.own_bots else manifests_bot)

    def identity(self, manifests_bot: str) -> tuple[str, ...]:
        """Return what tells whose list it is: that of another identity is another list."""
        service, own = self.list_service, self.replace
        token = "" if service.names_bot else self.token_env
        url = own.url if own else service.origin
        return self.service, url, self.bot_of(manifests_bot), token

    def targets(self, manifests_bot: str) -> Iterator[Target]:
        """Yield what no other listing may have: its address, and the name of a declared one."""
        bot = self.bot_of(manifests_bot)
        if self.list_service.own_bots and not bot:
            bot = f"that of {self.token_env}"
        if bot:
            path = urlsplit(self.replace.url).path if self.replace else self.service
            yield service_of(self.list_service.origin), path, bot
            if self.replace:
                yield "", self.service.casefold(), bot


def read_listings(
    report: FileProblems, root: nodes.Mapping, manifest: ManifestModel
) -> tuple[Listing, ...]:
    """Return the listings of a manifest without errors in its keys; report other problems."""
    listings: list[Listing] = []
    starts: dict[Location, int] = {}
    entries = cast("list[nodes.Mapping]", root.get("listings", []))
    for node, model in zip(entries, manifest.listings, strict=True):
        if wrong := list(_problems(node, model)):
            for each in wrong:
                report.error(*each)
            continue
        location = report.source.location(node.at)
        listings.append(Listing.model_construct(**dict(model), location=location))
        starts[location] = node.at
    for problem in same_listing_problems([(listings, manifest.bot or _MANIFESTS_BOT)]):
        report.error(starts[problem.location], problem.message, problem.hint)
    return tuple(listings)


def same_listing_problems(listings: Iterable[tuple[Iterable[Listing], str]]) -> tuple[Problem, ...]:
    """Refuse two listings of one bot on one service: each would replace the other's commands.

    The listings of each manifest come with its bot, empty where that is not known.
    """
    first: dict[Target, Listing] = {}
    problems = {}
    named = ((listing, bot) for managed, bot in listings for listing in managed)
    for listing, target in ((each, target) for each, bot in named for target in each.targets(bot)):
        other = first.setdefault(target, listing)
        if other is not listing:
            message = f"duplicate listing {quoted(listing.service)} (first at {other.location})"
            hint = "remove one; for another bot, write the bot: of each"
            problems[listing.location] = Problem(listing.location, message, hint)
    return tuple(problems.values())


def _problems(node: nodes.Mapping, listing: ListingModel) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong between the keys of a listing: where, a message and a hint."""
    name, own = listing.service, listing.replace
    if own is None:
        if name not in LISTS:
            known = did_you_mean(name, LISTS) or f"known services are {', '.join(LISTS)};"
            hint = f"{known} another service needs replace:"
            yield node["service"].at, f"{quoted(name)} is not a known service", hint
        return
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
