"""The services that take a bot's commands as an array of objects as Discord has them.

Discord's own limits of an object are kept; how many commands a list may have is the service's, and
not known. A command without the platform's own object has a name and a description: no option is
made from a syntax.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from commandsync.api import arguments
from commandsync.api.content import content_of
from commandsync.api.operations import Method, Operation, bot_part
from commandsync.errors import ArgumentError, Reply
from commandsync.records.losses import Limit
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, Resource
from commandsync.services.abilities import (
    LIST_ABILITIES,
    Facts,
    FactSource,
    Reads,
    Support,
    facts_of,
)
from commandsync.services.fit import in_menu
from commandsync.services.service import ListService, accepted, explained, managed

DESCRIPTION = Limit(least=1, most=100)
NAME = Limit(
    least=1,
    most=32,
    # letters and digits of all scripts, and all of the scripts Devanagari and Thai
    pattern=r"[-\w'\u0900-\u0950\u0955-\u0963\u0966-\u097f\ua8e0-\ua8ff\U00011b00-\U00011b09"
    r"\u0e01-\u0e3a\u0e40-\u0e5b]+",
    lower_case=True,
    allowed="lower-case letters, digits, -, _ and '",
)
_COMMAND, _SUB_COMMAND, _GROUP = 1, 1, 2  # types of commands, and of their options
_UNKNOWN = "…"  # the description of a group that nothing describes; Discord requires one

_Call = tuple[tuple[str, ...], Entry]  # the names of all levels of a command

_DISCORD = FactSource(
    "Discord: Application Commands",
    "https://docs.discord.com/developers/interactions/application-commands",
    "2026-11",
)
_TOP_GG = FactSource("top.gg: Projects", "https://docs.top.gg/api/v1/projects", "2026-11")
_TOP_GG_RATES = FactSource("top.gg: Rate limits", "https://docs.top.gg", "2026-11")
_DISCORD_BOT_LIST = FactSource(
    "discordbotlist.com: Commands list", "https://docs.discordbotlist.com/commands-list", "2026-11"
)

_ANNOUNCEMENT = {"title": Limit(least=3, most=100), "description": Limit(least=10, most=2000)}
_CATEGORIES = ("announcement", "event", "new_feature")


def facts_of_objects(source: FactSource) -> Facts:
    """Return the facts of a list of Discord's objects, unless a source says otherwise."""
    limits = {"name": NAME, "description": DESCRIPTION}
    objects = facts_of(_DISCORD, ("description",), limits, read=Reads.NO, replace=Support.YES)
    return replace(
        facts_of(source, (), {}, read=Reads.NO, replace=Support.YES, options=Support.YES),
        most_sub_commands=_DISCORD.says(25),
        levels=_DISCORD.says(2),
        fields=objects.fields,
        limits=objects.limits,
    )


def objects(snapshot: Snapshot) -> list[Any]:
    """Return commands, as `fit` returns them, as Discord has them.

    `/group sub` is a command with sub-commands. A command or group that is not among the commands
    has its own object's description, else `…`. Raises as `managed`.
    """
    managed(snapshot)
    calls = [
        ((entry.name,) if in_menu(entry.own) else tuple(entry.name.split(" ")), entry)
        for entry in snapshot.collections[Resource.COMMAND]
    ]
    return list(_level(calls, 0))


def _level(calls: Sequence[_Call], depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of one level, with those below them."""
    members: dict[str, list[_Call]] = {}
    for call in calls:
        members.setdefault(call[0][depth], []).append(call)
    for name, inner in members.items():
        itself = [entry for path, entry in inner if len(path) == depth + 1]
        below = [call for call in inner if len(call[0]) > depth + 1]
        node = _node(name, [*itself, *dict(inner).values()], depth)
        if itself:
            node["description"] = itself[0].text[1]
        if below:
            options = list(_level(below, depth + 1))
            node |= {"type": _GROUP if depth else _COMMAND, "options": options}
        elif depth:
            node["type"] = _SUB_COMMAND
        yield node


def _node(name: str, entries: Sequence[Entry], depth: int) -> dict[str, Any]:
    """Return the first own object of commands, without its id; else a name, not described."""
    own = next((entry.own[depth] for entry in entries if entry.own), {})
    node = {"name": name, "description": _UNKNOWN, "type": _COMMAND, **own}
    return {key: value for key, value in node.items() if key != "id" and value != ()}


def replacing(
    method: Method,
    path: str,
    *,
    array: Callable[[Snapshot], list[Any]] = objects,
    wrap: str = "",
    fallback: Method | None = None,
) -> Callable[[str, Snapshot], Operation[None]]:
    """Return the function that replaces a list: `{bot}` in its path is the id, if it names the bot.

    The array of the commands is sent under the key `wrap`, or bare without one.
    """

    def replace_list(bot: str, snapshot: Snapshot) -> Operation[None]:
        at = path.replace("{bot}", bot_part(bot)) if "{bot}" in path else path
        body: Any = array(snapshot)
        body = {wrap: body} if wrap else body
        name = "replace commands"
        return Operation(name, method, at, accepted, body=body, fallback=fallback)

    return replace_list


def _announce_at_top_gg(text: AnnouncementText, category: str) -> Operation[None]:
    """Return the request that posts an announcement; `ArgumentError` if top.gg refuses it."""
    for name, limit in _ANNOUNCEMENT.items():
        value = arguments.string(name, getattr(text, name))
        if limit.is_short(value) or limit.is_long(value):
            bounds = f"{limit.least} to {limit.most:,} characters"
            raise ArgumentError(f"the {name} of an announcement at top.gg has {bounds}")
    if category not in _CATEGORIES:
        known = ", ".join(_CATEGORIES)
        raise ArgumentError(f"{category!r} is not a category of announcements at top.gg: {known}")
    return Operation(
        "post announcement",
        "POST",
        "/api/v1/projects/@me/announcements",
        accepted,
        body={"title": text.title, "content": text.description, "category": category},
        idempotent=False,
        fallback="PUT",  # a copy of its documents has that
    )


def _project(reply: Reply) -> str:
    """Read the name of a project; empty if the answer does not contain it."""
    with explained(reply):
        content = content_of(reply)
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else ""


TOP_GG = ListService(
    name="top.gg",
    abilities=LIST_ABILITIES,
    facts=replace(
        facts_of_objects(_TOP_GG),
        announcements=_TOP_GG.says(Support.YES),
        wait=_TOP_GG_RATES.says(3600),
    ),
    authorization="Bearer {token}",
    simulated_only=True,
    origin="https://top.gg",
    variables=("COMMANDSYNC_TOKEN_TOPGG", "TOPGG_TOKEN"),
    renewal="tokens of the interface v0 are not accepted: copy the one of Integrations & API, in "
    "the settings of the bot at top.gg",
    names_bot=False,
    replace=replacing("PUT", "/api/v1/projects/@me/commands", fallback="POST"),
    check=lambda: Operation("check token", "GET", "/api/v1/projects/@me", _project),
    announce=_announce_at_top_gg,
)
"""top.gg, interface v1. Its older documents have POST for the PUT of the list."""

DISCORD_BOT_LIST = ListService(
    name="discordbotlist.com",
    abilities=LIST_ABILITIES,
    facts=facts_of_objects(_DISCORD_BOT_LIST),
    authorization="Bot {token}",
    simulated_only=True,
    origin="https://discordbotlist.com",
    variables=("COMMANDSYNC_TOKEN_DISCORDBOTLIST", "DISCORDBOTLIST_TOKEN", "DBL_TOKEN"),
    replace=replacing("POST", "/api/v1/bots/{bot}/commands"),
)
"""discordbotlist.com, as it documents the header; some clients send the token alone."""
