"""Fitting a manifest's commands to a service, and the losses: before anything is planned.

`fit` goes through the commands in the manifest's order. A name is never shortened or changed: a
command is listed under its own name or not at all. The `/` in front of it is not part of the name
where a service shows one itself. Of commands that cannot be listed together, the first one is.

Services that take Discord's objects get the platform's own object of a command, with its options,
permissions and languages, and with the manifest's texts laid over it: the functions at the end.
"""

import re
from collections import defaultdict
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
from commandsync.records.snapshot import Entry, Levels, Node, Registrable, Snapshot
from commandsync.records.texts import MENU_DESCRIPTIONS, Resource, canonical
from commandsync.services.abilities import Facts, Reads, Support
from commandsync.services.service import ListService

QUOTES = "`\"'*_"  # that a manifest may put around a syntax
_PROSE = frozenset({"description"})  # understood without its end; other texts are not cut

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The commands that are sent to a service."""

    # Its commands as the service shows them, in the manifest's order, without ids. A sub-command
    # has the names of all levels, and a command that is shown as a group is one of them. A field
    # that the service does not take is empty.
    snapshot: Snapshot
    losses: tuple[Loss, ...]  # the parts that it does not show


def fit(
    service: ListService,
    snapshot: Snapshot,
    *,
    unprotected: Sequence[str] = (),
    objects: Mapping[str, Levels] | None = None,
) -> Fitted:
    """Return the part of a manifest that a service can show; announcements are not in its list.

    `unprotected` names the rules that keep records on a list, such as `ignore`: they keep nothing
    where a list cannot be read. A service that shows options gets the platform's own `objects`, by
    the names of commands, with the manifest's texts.
    """
    names, lost = _Names(service), defaultdict[Loss, list[Entry]](list)
    fitted: dict[Resource, tuple[Entry, ...]] = {}
    sent: list[tuple[_Path, Entry, Entry]] = []
    for kind, entries in snapshot.collections.items():
        if kind not in service.abilities:
            continue
        of_kind = []
        for entry in entries:
            path, shown, causes = _fitted(service, kind, entry, names, objects or {})
            for cause in causes:
                lost[cause].append(entry)
            if shown:
                sent.append((path, entry, shown))
                of_kind.append(shown)
        fitted[kind] = tuple(of_kind)
    if undescribed := _undescribed(sent):
        lost[_NOT_DESCRIBED] = undescribed
    losses = losses_of(lost)
    if unprotected and service.facts.read.value is Reads.NO:
        losses += (Loss(SYNC, LossReason.NOT_READ, Instead.NOT_KEPT, tuple(unprotected)),)
    return Fitted(Snapshot(fitted), losses)


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


def losses_of(lost: Mapping[Loss, Sequence[Entry | Registrable]]) -> tuple[Loss, ...]:
    """Return the losses, each with its commands, in the order of their consequences."""
    order = [*Instead]
    losses = (
        replace(
            cause,
            names=tuple(command.name for command in commands),
            location=commands[0].location,
        )
        for cause, commands in lost.items()
    )
    return tuple(sorted(losses, key=lambda loss: order.index(loss.instead)))


def _fitted(
    service: ListService,
    kind: Resource,
    entry: Entry,
    names: "_Names",
    objects: Mapping[str, Levels],
) -> tuple[_Path, Entry | None, list[Loss]]:
    """Return the path of an entry, the entry as the service shows it or None, and the losses."""
    name = _name(service, entry.name)
    formerly = tuple(_name(service, former) for former in entry.formerly)
    texts = dict(zip(kind.fields[1:], entry.text[1:], strict=True))
    known = _own_of(objects, (name, *formerly))
    levels = known if _keeps_objects(service) else ()
    path = (name,) if in_menu(levels) else names.path(name)
    cause = (
        _uncallable(service, path, texts[kind.usage], known)
        or _misfit(service.facts, path, texts, levels)
        or names.take(path)
    )
    losses = [cause] if cause else []
    if cause and cause.instead is not Instead.GROUP:
        return path, None, losses
    shown, lost = zip(*_shown(service, kind, name, texts, levels), strict=True)
    losses += chain(*lost)
    own = with_texts(levels, path, entry.text[1], service.facts.limit("description").shortened)
    if _loses_translations(levels, own):
        losses.append(_CHANGED)
    text = kind.text(name, *shown)
    return path, Entry(text, location=entry.location, formerly=formerly, own=own), losses


def _undescribed(sent: Sequence[tuple[_Path, Entry, Entry]]) -> list[Entry]:
    """Return the entries with a group that no entry and no object describes."""
    described = {path for path, _, _ in sent}
    for path, _, shown in sent:
        depths = (depth for depth, node in enumerate(shown.own, 1) if node.get("description"))
        described.update(path[:depth] for depth in depths)
    return [
        entry
        for path, entry, _ in sent
        if not {path[:depth] for depth in range(1, len(path))} <= described
    ]


def _name(service: ListService, name: str) -> str:
    """Return a name without the `/` that the service shows itself."""
    return " ".join(name.removeprefix("/").split()) if service.slash else name


def _keeps_objects(service: ListService) -> bool:
    """Whether a service takes options, and so the platform's own objects."""
    return service.facts.options.value is Support.YES


def _uncallable(service: ListService, path: _Path, usage: str, known: Levels) -> Loss | None:
    """Return the reason why users do not call a command with a `/`; its object may be missing.

    The name of a command in a menu has spaces, and its usage is the name alone.
    """
    if _keeps_objects(service):
        if known:
            return None
    elif in_menu(known):
        return Loss(COMMANDS, LossReason.MENU)
    if not service.slash:
        return None
    if not service.prefixed and has_prefix(usage, path[0]):
        return Loss(COMMANDS, LossReason.PREFIX)
    if len(path) > 1 and usage == " ".join(path):
        return Loss(COMMANDS, LossReason.MENU)
    return None


def _misfit(facts: Facts, path: _Path, texts: Mapping[str, str], levels: Levels) -> Loss | None:
    """Return why a command cannot be listed, whatever else is."""
    limit = facts.limit("name")
    if in_menu(levels):
        limit = Limit(least=limit.least, most=limit.most)
    for part in path:
        if limit.is_short(part):
            return Loss("name", LossReason.SHORT, limit=limit)
        if limit.is_long(part):
            return Loss("name", LossReason.LONG, limit=limit)
        if not limit.allows(part):
            return Loss("name", LossReason.CHARACTERS, limit=limit)
    for field, text in texts.items():
        limit = facts.limit(field)
        if limit.is_short(text):
            return Loss(field, LossReason.SHORT, limit=limit)
    return None


def _shown(
    service: ListService, kind: Resource, name: str, texts: Mapping[str, str], levels: Levels
) -> Iterator[tuple[str, list[Loss]]]:
    """Yield the text of each field as the service shows it, and its losses."""
    for field, text in texts.items():
        limit, is_prose = service.facts.limit(field), field in _PROSE
        if not service.facts.takes(field) or (is_prose and in_menu(levels)):
            is_usage = field == kind.usage
            lost = _uncalled(service, field, name, text, levels) if is_usage else _said(field, text)
            yield "", [Loss(part, LossReason.NOT_TAKEN, Instead.NOT_SHOWN) for part in lost if text]
        elif limit.is_long(text):
            instead = Instead.SHORTENED if is_prose else Instead.NOT_SHOWN
            shown = limit.shortened(text) if is_prose else ""
            yield shown, [Loss(field, LossReason.LONG, instead, limit=limit)]
        else:
            yield text, []


def _uncalled(
    service: ListService, field: str, name: str, text: str, levels: Levels
) -> Iterable[str]:
    """Return the parts of the usage that are dropped; the name and own options are shown."""
    slash = "/" if service.slash and not in_menu(levels) else ""
    before, found, rest = text.partition(name)
    lost = []
    if not found or before != slash or rest[:1].strip():
        lost.append(field)
    has_options = rest.strip() or (not found and set("<[") & set(text))
    if has_options and not (levels and levels[-1].get("options")):
        lost.append(OPTIONS if _keeps_objects(service) else field)
    return dict.fromkeys(lost)


def _said(field: str, text: str) -> list[str]:
    """Return a field with a text of its own: an import describes commands in menus."""
    return [field] if text not in MENU_DESCRIPTIONS.values() else []


class _Names:
    """The names of a list: its commands, and the groups that their sub-commands are in."""

    def __init__(self, service: ListService) -> None:
        facts = service.facts
        self._levels = facts.levels.number or 0
        self._is_unique = service.unique
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
        most = self._most_sub_commands if within else self._most_records
        if most is not None and self._members[within] >= most:
            reason = LossReason.SUB_COMMANDS if within else LossReason.RECORDS
            return Loss(COMMANDS, reason, limit=Limit(most=most))
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


def _own_of(objects: Mapping[str, Levels], names: Sequence[str]) -> Levels:
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


def _loses_translations(levels: Levels, laid: Levels) -> bool:
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
