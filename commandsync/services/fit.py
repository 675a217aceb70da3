"""Fitting a manifest's commands to a service, and the losses: before anything is planned.

`fit` goes through the commands in the manifest's order. A name is never shortened or changed: a
command is listed under its own name or not at all. The `/` in front of it is not part of the name
where a service shows one itself. Of commands that cannot be listed together, the first one is.

Services that take Discord's objects get the platform's own object of a command, with its options,
permissions and languages, and with the manifest's texts laid over it: the functions at the end.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from commandsync.records.losses import (
    COMMANDS,
    OPTIONS,
    SYNC,
    TRANSLATIONS,
    Instead,
    Limit,
    Loss,
    LossReason,
)
from commandsync.records.snapshot import Entry, Levels, Node, Snapshot
from commandsync.records.texts import MENU_DESCRIPTIONS, Resource, canonical
from commandsync.services.abilities import Facts, Reads, Support
from commandsync.services.service import ListService

QUOTES = "`\"'*_"  # that a manifest may put around a syntax
_PROSE = frozenset({"description"})  # what is understood without its end; other texts are not cut

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The commands that are sent to a service."""

    # Its commands as the service shows them, in the manifest's order, without ids. A sub-command
    # has the names of all levels, and a command that is shown as a group is one of them. What the
    # service does not take is empty.
    snapshot: Snapshot
    losses: tuple[Loss, ...]  # what it does not show


def fit(
    service: ListService,
    snapshot: Snapshot,
    *,
    unprotected: Sequence[str] = (),
    objects: Mapping[str, Levels] | None = None,
) -> Fitted:
    """Return the part of a manifest that a service can show; announcements are not in its list.

    `unprotected` is what the manifest's policy keeps on a list, such as `ignore`: it keeps nothing
    where a list cannot be read. A service that shows options gets the platform's own `objects`, by
    the names of commands, with the manifest's texts.
    """
    fitting = _Fitting(service, objects or {})
    fitted = Snapshot(
        {
            kind: tuple(fitting.fitted(kind, entries))
            for kind, entries in snapshot.collections.items()
            if kind in service.abilities
        }
    )
    losses = fitting.losses()
    if unprotected and service.facts.read.value is Reads.NO:
        losses += (Loss(SYNC, LossReason.NOT_READ, Instead.NOT_KEPT, tuple(unprotected)),)
    return Fitted(fitted, losses)


def as_listed(snapshot: Snapshot) -> Snapshot:
    """Return the entries that were sent to a service as listed ones, each with its name as id.

    Where that is taken or cannot be an id, it is the entry's number behind a space, with which no
    canonical name begins.
    """
    listed: dict[Resource, tuple[Entry, ...]] = {}
    for kind, entries in snapshot.collections.items():
        found: dict[str, Entry] = {}
        for number, entry in enumerate(entries, start=1):
            named = Entry(entry.text, id=entry.name, own=entry.own)
            is_free = named.writable and named.id not in found
            record = named if is_free else replace(named, id=f" {number}")
            found[record.id] = record
        listed[kind] = tuple(found.values())
    return Snapshot(listed)


_CHANGED = Loss(TRANSLATIONS, LossReason.CHANGED, Instead.NOT_SHOWN)
_NOT_DESCRIBED = Loss("description", LossReason.NOT_DESCRIBED, Instead.ELLIPSIS)


class _Fitting:
    """Fits one list, and gathers the losses."""

    def __init__(self, service: ListService, objects: Mapping[str, Levels]) -> None:
        self._facts, self._slash = service.facts, "/" if service.slash else ""
        self._prefixed = service.prefixed
        self._names = _Names(service.facts, unique=service.unique)
        self._objects, self._keeps = objects, self._facts.options.value is Support.YES
        self._lost: dict[Loss, list[Entry]] = {}
        self._described: set[_Path] = set()
        self._sent: list[tuple[_Path, Entry]] = []

    def fitted(self, kind: Resource, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries that are sent, as the service shows them."""
        for entry in entries:
            name = self._name(entry.name)
            texts = dict(zip(kind.fields[1:], entry.text[1:], strict=True))
            formerly = tuple(map(self._name, entry.formerly))
            known = own_of(self._objects, (name, *formerly))
            levels = known if self._keeps else ()
            path = (name,) if in_menu(levels) else self._names.path(name)
            cause = (
                self._menu(known)
                or self._uncallable(path, texts[kind.usage], levels)
                or self._misfit(path, texts, levels)
                or self._names.take(path)
            )
            if cause:
                self._lose(entry, cause)
            if not cause or cause.instead is Instead.GROUP:
                shown, lost = zip(*self._shown(kind, name, texts, levels), strict=True)
                self._lose(entry, *chain(*lost))
                shorter = self._facts.limit("description").shortened
                own = with_texts(levels, path, entry.text[1], shorter)
                if loses_translations(levels, own):
                    self._lose(entry, _CHANGED)
                self._note_groups(path, entry, own)
                text = kind.text(name, *shown)
                yield Entry(text, location=entry.location, formerly=formerly, own=own)

    def _note_groups(self, path: _Path, entry: Entry, own: Levels) -> None:
        """Note a command, and which of its groups it or its object describes."""
        self._sent.append((path, entry))
        self._described.add(path)
        known = [depth for depth, node in enumerate(own, 1) if node.get("description")]
        self._described.update(path[:depth] for depth in known)

    def losses(self) -> tuple[Loss, ...]:
        """Return the losses so far, in the order of their consequences."""
        for path, entry in self._sent:
            if not {path[:depth] for depth in range(1, len(path))} <= self._described:
                self._lose(entry, _NOT_DESCRIBED)
        order = list(Instead)
        losses = (
            replace(cause, names=tuple(each.name for each in lost), location=lost[0].location)
            for cause, lost in self._lost.items()
        )
        return tuple(sorted(losses, key=lambda loss: order.index(loss.instead)))

    def _lose(self, entry: Entry, *causes: Loss) -> None:
        for cause in causes:
            self._lost.setdefault(cause, []).append(entry)

    def _name(self, name: str) -> str:
        return " ".join(name.removeprefix("/").split()) if self._slash else name

    def _uncallable(self, path: _Path, usage: str, levels: Levels) -> Loss | None:
        """Return why a command is not one that users call with a `/`; it may be without its object.

        The name of a command in a menu has spaces, and its usage is the name alone.
        """
        if levels or not self._slash:
            return None
        if not self._prefixed and has_prefix(usage, path[0]):
            return Loss(COMMANDS, LossReason.PREFIX)
        if len(path) > 1 and usage == " ".join(path):
            return Loss(COMMANDS, LossReason.MENU)
        return None

    def _menu(self, levels: Levels) -> Loss | None:
        """Return that a command of a menu cannot be listed where its object is not kept."""
        return Loss(COMMANDS, LossReason.MENU) if in_menu(levels) and not self._keeps else None

    def _misfit(self, path: _Path, texts: Mapping[str, str], levels: Levels) -> Loss | None:
        """Return why a command cannot be listed, whatever else is."""
        limit = self._facts.limit("name")
        if in_menu(levels):
            limit = Limit(least=limit.least, most=limit.most)
        for part in path:
            if reason := _reason(part, limit):
                return Loss("name", reason, limit=limit)
        for field, text in texts.items():
            limit = self._facts.limit(field)
            if limit.is_short(text):
                return Loss(field, LossReason.SHORT, limit=limit)
        return None

    def _shown(
        self, kind: Resource, name: str, texts: Mapping[str, str], levels: Levels
    ) -> Iterator[tuple[str, list[Loss]]]:
        """Yield the text of each field as the service shows it, and its losses."""
        for field, text in texts.items():
            limit, is_prose = self._facts.limit(field), field in _PROSE
            if not self._facts.takes(field) or (is_prose and in_menu(levels)):
                is_usage = field == kind.usage
                lost = self._uncalled(field, name, text, levels) if is_usage else _said(field, text)
                yield (
                    "",
                    [Loss(each, LossReason.NOT_TAKEN, Instead.NOT_SHOWN) for each in lost if text],
                )
            elif limit.is_long(text):
                instead = Instead.SHORTENED if is_prose else Instead.NOT_SHOWN
                shown = limit.shortened(text) if is_prose else ""
                yield shown, [Loss(field, LossReason.LONG, instead, limit=limit)]
            else:
                yield text, []

    def _uncalled(self, field: str, name: str, text: str, levels: Levels) -> Iterable[str]:
        """Return the parts of the usage that are dropped; the name and own options are shown."""
        slash = "" if in_menu(levels) else self._slash
        before, found, rest = text.partition(name)
        lost = []
        if not found or before != slash or rest[:1].strip():
            lost.append(field)
        has_options = rest.strip() or (not found and set("<[") & set(text))
        if has_options and not (levels and levels[-1].get("options")):
            lost.append(OPTIONS if self._facts.options.value is Support.YES else field)
        return dict.fromkeys(lost)


def _said(field: str, text: str) -> list[str]:
    """Return a field with a text of its own: an import describes commands in menus."""
    return [field] if text not in MENU_DESCRIPTIONS.values() else []


class _Names:
    """The names of a list: its commands, and the groups that their sub-commands are in."""

    def __init__(self, facts: Facts, *, unique: bool) -> None:
        self._levels = facts.levels.number or 0
        self._is_unique = unique
        self._most_records = facts.most_records.number
        self._most_sub_commands = facts.most_sub_commands.number
        self._taken: set[_Path] = set()
        self._members: dict[_Path, int] = {(): 0}  # of the list, and of each command with any

    def path(self, name: str) -> _Path:
        """Return the names of all levels."""
        return tuple(name.split(" ")) if self._levels else (name,)

    def take(self, path: _Path) -> Loss | None:
        """Take a name; return why that is not possible, or that it is the name of a group."""
        if not self._is_unique:
            path = (str(len(self._taken)),)
        above = [path[:level] for level in range(len(path))]
        if cause := self._conflict(path, above):
            return cause
        if path in self._members:
            self._taken.add(path)
            return Loss(COMMANDS, LossReason.HAS_SUB_COMMANDS, Instead.GROUP)
        within = max((group for group in above if group in self._members), key=len)
        if cause := self._excess(within):
            return cause
        self._members[within] += 1
        self._members.update(dict.fromkeys(above[len(within) + 1 :], 1))
        self._taken.add(path)
        return None

    def _conflict(self, path: _Path, above: Sequence[_Path]) -> Loss | None:
        """Return why a name cannot be beside those before it."""
        if len(above) > self._levels + 1:
            return Loss(COMMANDS, LossReason.LEVELS, limit=Limit(most=self._levels))
        if path in self._taken:
            return Loss("name", LossReason.SAME_NAME)
        if any(name in self._taken and name not in self._members for name in above):
            return Loss(COMMANDS, LossReason.BELOW_COMMAND)
        return None

    def _excess(self, within: _Path) -> Loss | None:
        """Return the loss of a command if the list or a group is full."""
        most = self._most_sub_commands if within else self._most_records
        if most is None or self._members[within] < most:
            return None
        reason = LossReason.SUB_COMMANDS if within else LossReason.RECORDS
        return Loss(COMMANDS, reason, limit=Limit(most=most))


def _reason(name: str, limit: Limit) -> LossReason | None:
    """Return why a name is not accepted."""
    if limit.is_short(name):
        return LossReason.SHORT
    if limit.is_long(name):
        return LossReason.LONG
    return None if limit.allows(name) else LossReason.CHARACTERS


_MENUS = (2, 3)  # of users and of messages
_LANGUAGES = ("name_localizations", "description_localizations")


def has_prefix(usage: str, name: str) -> bool:
    """Whether a command is called with a prefix other than `/`, such as `!afk` or `m!afk <reason>`.

    A word is not a prefix, and neither is the beginning of an argument.
    """
    first, *_ = usage.lstrip(QUOTES).split(" ", 1)
    if first.startswith("/"):
        return False
    before = first.partition(name)[0] if name and name in first else ""
    signs = before or re.split(r"[\w<\[({]", first, maxsplit=1)[0]
    return re.search(r"\W", signs) is not None


def own_of(objects: Mapping[str, Levels], names: Sequence[str]) -> Levels:
    """Return the object of a command by the first of its names, or else by an earlier name.

    It has as many levels as the name: a command does not become a sub-command.
    """
    depth = len(names[0].split(" "))
    found = (objects.get(name, ()) for name in names)
    return next((each for each in found if in_menu(each) or len(each) == depth), ())


def in_menu(levels: Levels) -> bool:
    """Whether a command is in a menu: its name may have spaces, and it has no description."""
    return bool(levels) and levels[0].get("type") in _MENUS


def with_texts(
    levels: Levels, path: Sequence[str], description: str, shown: Callable[[str], str]
) -> Levels:
    """Return the levels of a command with the manifest's names and its description.

    A text that the platform has in no language loses its translations. `shown` may shorten a
    description.
    """
    pairs = zip(levels, path, strict=False)  # without an object, there are no levels
    laid = [_laid(node, "name", name) for node, name in pairs]
    if laid and not in_menu(levels):
        laid[-1] = _laid(laid[-1], "description", description)
    return tuple(_shortened(node, shown) for node in laid)


def loses_translations(levels: Levels, laid: Levels) -> bool:
    """Whether texts that are laid over a command have cost translations."""
    pairs = zip(levels, laid, strict=True)
    return any(node.get(key) and key not in new for node, new in pairs for key in _LANGUAGES)


def _laid(node: Node, key: str, text: str) -> Node:
    languages = node.get(f"{key}_localizations", {})
    if text in map(canonical, (node.get(key, ""), *languages.values())):
        return {**node, key: text}
    rest = {name: value for name, value in node.items() if name != f"{key}_localizations"}
    return {**rest, key: text}


def _shortened(node: Node, shown: Callable[[str], str]) -> Node:
    texts = {key: shown(node[key]) for key in ("description",) if key in node}
    languages = {
        key: {locale: shown(text) for locale, text in node[key].items()}
        for key in _LANGUAGES[1:]
        if key in node
    }
    return {**node, **texts, **languages}
