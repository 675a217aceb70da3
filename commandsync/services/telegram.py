"""Telegram: the lists of commands that it shows to the users of a bot, which can be read back.

There is a list for each scope and language, and a user sees the most special one that exists. Each
list is a service of its own here: `telegram` returns the service of an audience, and `TELEGRAM` has
the list of all other chats and languages.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from commandsync.api.content import content_of
from commandsync.api.operations import Operation
from commandsync.errors import DecodeError, Reply
from commandsync.records.losses import Limit
from commandsync.records.snapshot import Audience, Entry, Snapshot
from commandsync.records.texts import CommandText, Resource, canonical
from commandsync.services.abilities import LIST_ABILITIES, FactSource, Reads, Support, facts_of
from commandsync.services.fit import as_listed
from commandsync.services.service import ListService, explained, managed, with_others

DEFAULT_SCOPE = "default"

OVERRIDING: Mapping[str, tuple[str, frozenset[str]]] = MappingProxyType(
    {
        "all_private_chats": ("in private chats", frozenset({DEFAULT_SCOPE})),
        "all_group_chats": ("in groups", frozenset({DEFAULT_SCOPE})),
        "all_chat_administrators": (
            "from administrators of groups",
            frozenset({DEFAULT_SCOPE, "all_group_chats"}),
        ),
    }
)
"""The scopes that need no chat, with the places of their lists, and the lists that they replace."""

_SOURCE = FactSource(
    "Telegram Bot API: setMyCommands", "https://core.telegram.org/bots/api#setmycommands", "2026-11"
)
_MEASURED = FactSource(
    "opencrabs: setMyCommands rejected with BOT_COMMANDS_TOO_MUCH",
    "https://github.com/adolfousier/opencrabs/issues/1613",
    "2026-11",
)
_BOT = "/bot{token}"  # the path of each method begins with it
_NAME = Limit(least=1, most=32, pattern="[a-z0-9_]+", allowed="a-z, 0-9 and _")
_KEYS = ("command", "description")
_FACTS = replace(
    facts_of(
        _SOURCE,
        ("description",),
        {"name": _NAME, "description": Limit(least=1, most=256)},
        read=Reads.LIST,
        **dict.fromkeys(("replace", "clear", "order"), Support.YES),
        most_records=100,
    ),
    most_bytes=_MEASURED.says(7_750),  # were accepted; 7,876 were not
)


def _result(reply: Reply) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the result in an answer; raises as `accepted`."""
    with explained(reply, missing_is_token=True):
        content = content_of(reply)
        if not isinstance(content, dict) or content.get("ok") is not True:
            raise DecodeError("the answer does not say whether it was accepted", reply=reply)
        return content.get("result")


def _done(reply: Reply) -> None:
    if _result(reply) is not True:
        raise DecodeError("the answer does not say whether the list was replaced", reply=reply)


def _listed(reply: Reply) -> tuple[Entry, ...]:
    entries = []
    result = _result(reply)
    commands: list[Any] = result if isinstance(result, list) else [None]
    for command in commands:
        match command:
            case {"command": str(name), "description": str(description), **extra}:
                text = CommandText(canonical(name), canonical(description), syntax="")
                others = {str(key): value for key, value in extra.items()}
                entries.append(Entry(text, own=(others,) if others else ()))
            case _:
                raise DecodeError("the answer contains no list of commands", reply=reply)
    return as_listed(Snapshot({Resource.COMMAND: tuple(entries)})).collections[Resource.COMMAND]


def _account(reply: Reply) -> str:
    """Read the user name of the token's bot; empty if the answer does not contain it."""
    result = _result(reply)
    name = result.get("username") if isinstance(result, dict) else None
    return f"@{name}" if isinstance(name, str) else ""


_Which = Mapping[str, Any]
"""The parameters that name a list; none for the default one."""


def _replace(which: _Which, bot: str, snapshot: Snapshot) -> Operation[None]:  # noqa: ARG001 - the token names the bot
    managed(snapshot)
    entries = snapshot.collections[Resource.COMMAND]
    if not entries:
        path = f"{_BOT}/deleteMyCommands"
        return Operation("clear commands", "POST", path, _done, body={**which})
    listed = [with_others(dict(zip(_KEYS, entry.text, strict=False)), entry) for entry in entries]
    path, body = f"{_BOT}/setMyCommands", {"commands": listed, **which}
    return Operation("replace commands", "POST", path, _done, body=body)


def _read(which: _Which, bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:  # noqa: ARG001 - as above
    texts = {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in which.items()
    }
    query = f"?{urlencode(texts)}" if texts else ""
    return Operation(f"list {resource.collection}", "GET", f"{_BOT}/getMyCommands{query}", _listed)


def telegram(audience: Audience) -> ListService:
    """Return the list of a scope and a language, empty for all languages without one."""
    which: dict[str, Any] = {}
    if audience.scope != DEFAULT_SCOPE:
        which["scope"] = {"type": audience.scope}
    if audience.language:
        which["language_code"] = audience.language
    return replace(
        TELEGRAM,
        audience=audience,
        replace=partial(_replace, which),
        read=partial(_read, which),
    )


TELEGRAM = ListService(
    name="telegram",
    abilities=LIST_ABILITIES,
    facts=_FACTS,
    authorization="",
    simulated_only=True,
    origin="https://api.telegram.org",
    variables=("COMMANDSYNC_TOKEN_TELEGRAM", "TELEGRAM_BOT_TOKEN", "TELEGRAM_TOKEN"),
    names_bot=False,
    own_bots=True,
    replace=partial(_replace, {}),
    read=partial(_read, {}),
    check=lambda: Operation("check token", "GET", f"{_BOT}/getMe", _account),
    audience=Audience(DEFAULT_SCOPE),
    for_audience=telegram,
)
"""Telegram: the commands of all chats and languages without a list of their own."""
