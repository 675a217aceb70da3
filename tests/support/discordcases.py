"""A case of the proof at Discord, and what must come of it, said apart from the product.

A case has the commands that are registered at first, and a manifest. The oracle compares commands
as Discord answers them: a wanted one is registered in a simulation of its own, so that what Discord
adds and leaves out is the same on both sides. Keys that begin with `x_` are not in any document.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from commandsync.simulation.discordcommands import OWN_KEYS, CommandLists, CommandRequest, respond
from tests.support.cases import AnyCase
from tests.support.discordserver import APPLICATION, SERVER, DiscordListing

Record = dict[str, Any]
Key = tuple[int, str]
Path = tuple[str, ...]

INSTALLS: Mapping[str, tuple[int, ...]] = {"both": (0, 1), "guild": (0,), "user": (1,)}
MOST: Mapping[int, int] = {1: 100, 2: 15, 3: 15}
"""How many commands of each type a list takes."""
KNOWN = (1, 2, 3, 4)
WRITTEN = (1, 2, 3)
"""The types of commands that are written; all others are never touched."""

_NOW = datetime(2026, 3, 4, tzinfo=UTC)
_MENUS = {2: "In the menu of users.", 3: "In the menu of messages."}


def key_of(record: Record) -> Key:
    """Return the type and the name of a command: no two commands have both in common."""
    return record.get("type") or 1, record["name"]


def nested(node: Record) -> list[Record]:
    """Return the sub-commands and their groups directly below a command or a group."""
    return [option for option in node.get("options") or () if option["type"] <= 2]


def calls(node: Record, path: Path | None = None) -> Iterator[Path]:
    """Yield the callable commands of a command: itself, or its sub-commands.

    A group without any cannot be called.
    """
    is_group = path is not None and node["type"] == 2
    path = path or (node["name"],)
    inner = nested(node)
    if not inner and not is_group:
        yield path
    for option in inner:
        yield from calls(option, (*path, option["name"]))


@dataclass(frozen=True)
class Wanted:
    """A command as the manifest wants it.

    Attributes:
        body: The object of its entry.
        pin: Which of the first commands it means, whatever that one's name is; None for no pin.
        formerly: Names that it had.
        description: The text of the entry, if it is not that of the object.
        texts: The texts of entries of its sub-commands, by their paths.
    """

    body: Record
    pin: int | None = None
    formerly: tuple[str, ...] = ()
    description: str = ""
    texts: Mapping[Path, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return key_of(self.body)

    @property
    def whole(self) -> Record:
        """The object with the texts laid over it; another text has no translations."""
        body = self._laid(self.body, (self.body["name"],), self.texts)
        return _described(body, self.description) if self.description else body

    def _laid(self, node: Record, path: Path, texts: Mapping[Path, str]) -> Record:
        if path in texts:
            node = _described(node, texts[path])
        if not nested(node):
            return node
        options = [self._laid(each, (*path, each["name"]), texts) for each in node["options"]]
        return {**node, "options": options}

    def entries(self, ids: Sequence[str]) -> Iterator[Record]:
        """Yield its entries in a manifest."""
        kind, name = self.key
        text = self.description or self.body.get("description") or _MENUS[kind]
        pinned = {} if self.pin is None else {"id": ids[self.pin]}
        yield {
            "name": name,
            "description": text,
            "syntax": name if kind in _MENUS else f"/{name}",
            "discord": {**self.body, **pinned},
            **({"formerly": [*self.formerly]} if self.formerly else {}),
        }
        for path, text in self.texts.items():
            called = " ".join(path)
            yield {"name": called, "description": text, "syntax": f"/{called} [more]"}


def _described(node: Record, text: str) -> Record:
    translations = node.get("description_localizations") or {}
    if text in {node.get("description"), *translations.values()}:
        return node
    rest = {key: value for key, value in node.items() if key != "description_localizations"}
    return {**rest, "description": text}


@dataclass(frozen=True)
class DiscordAct:
    """What another editor does before a request: a method, and which command it is about.

    Attributes:
        at: The number of the request.
        method: The method; PUT sends a whole list, as a bot does at its start.
        nth: Which command, counted round.
        body: The body that is sent; for PUT, the commands that are added to the others.
    """

    at: int
    method: str
    nth: int
    body: Record


@dataclass(frozen=True, kw_only=True, repr=False)
class DiscordCase(AnyCase):
    """One case of the commands that are registered at Discord.

    Attributes:
        before: The commands that are registered at first.
        wants: What the manifest wants.
        guild: The server whose commands they are; empty for the global ones.
        elsewhere: The commands of the other list, which is never touched.
        other: What the second of two runs at once wants; empty for the same.
        installs: Where the application can be installed: a key of `INSTALLS`.
        drops: Keys that Discord does not store.
        keeps_unknown: Whether it stores keys that are in no document.
        lag: From how many of the next reads each change is hidden.
    """

    before: tuple[Record, ...]
    wants: tuple[Wanted, ...]
    guild: str = ""
    elsewhere: tuple[Record, ...] = ()
    other: tuple[Wanted, ...] = ()
    installs: str = "both"
    drops: tuple[str, ...] = ()
    keeps_unknown: bool = True
    lag: int = 0
    acts: tuple[DiscordAct, ...] = ()

    def __repr__(self) -> str:
        return f"<{self}>"  # the whole of it would be too long: `told` shows it

    @property
    def kind(self) -> str:
        """The row of a table: what kind of service, or what goes wrong."""
        if self.named[0]:
            return self.named[0]
        return "drops" if self.drops else "lags" if self.lag else "discord"

    @property
    def keeps(self) -> bool:
        """Whether Discord stores all that it is sent."""
        return not self.drops and self.keeps_unknown

    @property
    def rival(self) -> "DiscordCase":
        """The case of the second of two runs at once."""
        return replace(self, wants=self.other) if self.other else self

    def document(self, ids: Sequence[str]) -> Record:
        """Return the manifest; `ids` are those of the first commands."""
        entry = {"service": "discord", **({"guild": self.guild} if self.guild else {})}
        limit = self.rules.max_deletes
        sync = {"prune": self.rules.prune, "ignore": [*self.rules.ignore]}
        sync |= {} if limit is None else {"max_deletes": str(limit)}
        commands = [each for want in self.wants for each in want.entries(ids)]
        return {"version": 1, "listings": [entry], "sync": sync, "commands": commands}

    def opened(self) -> DiscordListing:
        """Return Discord with the first commands."""
        choices = {
            "installs": self.installs,
            "unknown_keys": "kept" if self.keeps_unknown else "dropped",
        }
        service = DiscordListing(choices=choices)
        for body in self.before:
            if body.get("type", 1) in KNOWN:
                service.seed(body, guild=self.guild)
            else:
                service.place(body, guild=self.guild)
        service.seed(*self.elsewhere, guild=self.elsewhere_in)
        service.lag = self.lag
        if self.drops:
            service.store = _dropping(self.drops)
        return service

    @property
    def elsewhere_in(self) -> str:
        """The server of the other list."""
        return "" if self.guild else SERVER

    def ignores(self, name: str) -> bool:
        """Whether a callable command of this name is never touched."""
        return any(fnmatchcase(name.casefold(), each.casefold()) for each in self.rules.ignore)

    def leaves(self, record: Record) -> bool:
        """Whether a registered command is never touched: by its type, or its name."""
        return record["type"] not in WRITTEN or self.ignores(record["name"])

    def keeps_call(self, path: Path) -> bool:
        """Whether a registered callable command stays that the manifest does not have."""
        return not self.rules.prune or self.ignores(" ".join(path))


def _dropping(keys: Iterable[str]) -> Callable[[Any], Any]:
    """Return a function that drops keys of a command, and of its options and choices."""
    gone = {*keys}

    def drop(value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, list):
            return [drop(each) for each in value]
        if isinstance(value, dict):
            return {key: drop(each) for key, each in value.items() if key not in gone}
        return value

    return drop


# The oracle.


class Expected(NamedTuple):
    """What a plan must do with a list.

    Attributes:
        adds: The commands to add, as Discord answers them.
        edits: The commands to change, by their ids.
        deletes: The ids of the commands to delete.
        kept: The ids of all other commands.
        refused: The names of commands that Discord would refuse: nothing is written then.
        apart: The ids of those that cannot be as they are wanted, as other parts of them stay.
        first: How many deletes must go before the adds, at most.
    """

    adds: dict[Key, Record]
    edits: dict[str, Record]
    deletes: set[str]
    kept: set[str]
    refused: set[str]
    apart: set[str]
    first: set[str]

    @property
    def left(self) -> list[str]:
        """What is left to do, in words."""
        words = [f"add {key}" for key in self.adds]
        words += [f"edit {one}: {node['name']}" for one, node in self.edits.items()]
        return words + [f"delete {one}" for one in sorted(self.deletes)]


def expected(case: DiscordCase, listed: Sequence[Record], ids: Sequence[str]) -> Expected:
    """Say what must become of a list, as Discord answers it; `ids` as of `DiscordCase.document`."""
    live = {record["id"]: record for record in listed if not case.leaves(record)}
    every = {record["id"]: record for record in listed if record["type"] in WRITTEN}
    pairs = _pairs(case, every, ids)
    others = {record["id"] for record in listed} - {*live}
    found = Expected({}, {}, set(), others, set(), set(), set())
    for number, want in enumerate(case.wants):
        whole = want.whole
        record = every.get(pairs.get(number, ""))
        if record is None:
            found.adds[want.key] = shown(case, whole)
        elif record["id"] not in live:
            continue  # it is ignored: it stays as it is
        elif (node := _merged(case, whole, record, (record["name"],))) is None:
            found.kept.add(record["id"])
            found.apart.add(record["id"])
        elif not is_valid(case, node):
            found.refused.add(node["name"])
        else:
            answer = shown(case, node)
            is_same = agrees(answer, record, in_order=node is whole)
            found.kept.update([record["id"]] if is_same else [])
            found.edits.update({} if is_same else {record["id"]: answer})
    for one in live.keys() - {*pairs.values()}:
        _surplus(case, live[one], found)
    _order(listed, found)
    return found


def _order(listed: Sequence[Record], found: Expected) -> None:
    """Say which deletes go first: those that free a name, and as many as are missing."""
    before = {record["id"]: record for record in listed}
    renamed = {
        one: key_of(after)
        for one, after in found.edits.items()
        if key_of(after) != key_of(before[one])
    }
    first = {one for one in found.deletes if key_of(before[one]) in renamed.values()}
    taken = {key_of(record): one for one, record in before.items() if one not in first}
    waiting = dict(renamed)
    while free := [one for one, key in waiting.items() if key not in taken]:
        for one in free:
            del taken[key_of(before[one])]
            taken[waiting.pop(one)] = one
    found.refused.update(before[one]["name"] for one in waiting)
    for kind, most in MOST.items():
        size = sum(record["type"] == kind for record in listed)
        size += sum(key[0] == kind for key in found.adds)
        size -= sum(before[one]["type"] == kind for one in first)
        room = [one for one in before if one in found.deletes - first]
        for one in room:
            if size > most and before[one]["type"] == kind:
                first.add(one)
                size -= 1
        found.refused.update([f"type {kind}"] if size > most else [])
    found.first.update(first)


def _surplus(case: DiscordCase, record: Record, found: Expected) -> None:
    """Say what becomes of a command that the manifest does not have."""
    one, node = record["id"], _stays(case, record, (record["name"],))
    if node is None:
        found.deletes.add(one)
    elif not case.rules.prune or agrees(shown(case, node), record):
        found.kept.add(one)
    else:
        found.edits[one] = shown(case, node)


def _pairs(case: DiscordCase, every: Mapping[str, Record], ids: Sequence[str]) -> dict[int, str]:
    """Return the id of the registered command that each wanted one means: by pin, name, or former.

    A former name does not mean an ignored command.
    """
    by_key = {key_of(record): one for one, record in every.items()}
    wants, pairs = case.wants, dict[int, str]()

    def pair(number: int, one: str) -> None:
        if one not in every or number in pairs or one in pairs.values():
            return
        if every[one]["type"] == wants[number].key[0]:
            pairs[number] = one

    for number, want in enumerate(wants):
        pair(number, "" if want.pin is None else ids[want.pin])
    for number, want in enumerate(wants):
        pair(number, by_key.get(want.key, ""))
    for number, want in enumerate(wants):
        for name in want.formerly:
            if not case.ignores(name):
                pair(number, by_key.get((want.key[0], name), ""))
    return pairs


def _merged(case: DiscordCase, want: Record, record: Record, path: Path) -> Record | None:
    """Return a wanted command with the registered sub-commands that stay; None if it cannot be.

    The order of its parts does not count then.
    """
    mine, theirs = nested(want), nested(record)
    top = len(path) == 1
    if not theirs:
        return None if mine and not top and case.keeps_call(path) else want
    if not mine:
        return None if _stays(case, record, path) else want
    known = {option["name"]: option for option in mine}
    options = []
    for option in theirs:
        below = (*path, option["name"])
        if option["name"] not in known:
            kept = _stays(case, option, below)
            options += [] if kept is None else [kept]
            continue
        both = _merged(case, known.pop(option["name"]), option, below)
        if both is None:
            return None
        options.append(both)
    options += known.values()
    same = len(options) == len(mine) and all(any(a is b for b in mine) for a in options)
    return want if same else {**want, "options": options}


def _stays(case: DiscordCase, record: Record, path: Path) -> Record | None:
    """Return a registered command, or the part of a group, that the manifest's rules keep."""
    inner = nested(record)
    if not inner:
        return record if case.keeps_call(path) else None
    kept = [_stays(case, each, (*path, each["name"])) for each in inner]
    stays = [each for each in kept if each is not None]
    return {**record, "options": stays} if stays else None


def shown(case: DiscordCase, body: Record) -> Record:
    """Return a command as Discord answers it once it is registered."""
    status, content = _answered(json.dumps(body), case.guild, case.installs)
    assert status == 201, content
    return content


def is_valid(case: DiscordCase, body: Record) -> bool:
    """Whether Discord takes a command."""
    return _answered(json.dumps(body), case.guild, case.installs)[0] == 201


@lru_cache(maxsize=256)
def _answered(body: str, guild: str, installs: str) -> tuple[int, Record]:
    call = CommandRequest(
        method="POST", application=APPLICATION, guild=guild, body=json.loads(body)
    )
    response, _ = respond(call, CommandLists(installs=INSTALLS[installs]), _NOW)
    return response.status, json.loads(response.body)


def agrees(want: Record, record: Record, *, in_order: bool = True) -> bool:
    """Whether a registered command is the wanted one, both as Discord answers them.

    Keys that are in no document count only where they are wanted.
    """
    one, other = _compared(want), _compared(record)
    return _as_text(one, in_order=in_order) == _as_text(_known(other, one), in_order=in_order)


def _compared(record: Record) -> Record:
    """Return a command without what its registration adds, and with one way to say "on servers"."""
    gone = {*OWN_KEYS, "default_permission"}
    node = {key: value for key, value in record.items() if key not in gone}
    if node.pop("dm_permission", None) is False and not node.get("contexts"):
        node["contexts"] = [0]
    return node


def _known(node: Any, want: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a part of a record without the unknown keys that the wanted one does not have."""
    if isinstance(node, list):
        wants = {str(each.get("name")): each for each in want or () if isinstance(each, dict)}
        return [
            _known(each, wants.get(str(each.get("name")), {})) if isinstance(each, dict) else each
            for each in node
        ]
    if not isinstance(node, dict):
        return node
    wanted = want if isinstance(want, dict) else {}
    return {
        key: _known(value, wanted.get(key))
        for key, value in node.items()
        if not key.startswith("x_") or key in wanted
    }


def _as_text(node: Record, *, in_order: bool) -> str:
    return json.dumps(node if in_order else _ordered(node), sort_keys=True)


def _ordered(node: Record) -> Record:
    """Return a command whose sub-commands are in the order of their names."""
    if not nested(node):
        return node
    options = sorted(map(_ordered, node["options"]), key=lambda option: str(option["name"]))
    return {**node, "options": options}


def unknown_keys(node: Record, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the places of keys that are in no document: the names and types that lead to them."""
    yield from ((path, key) for key in node if key.startswith("x_"))
    for name in ("options", "choices"):
        for part in node.get(name) or ():
            step = f"{name} {part['name']} {part.get('type', '')}"
            yield from unknown_keys(part, (*path, step))
