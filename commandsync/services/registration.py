"""The commands of a manifest as Discord registers them: whole objects, or nothing.

A manifest has an entry for each callable command; Discord has one record for all sub-commands of a
group. `compose` folds the entries into records before anything is compared with the list. Entries
whose options nobody knows are never written without options, and no listed command is deleted or
overwritten that the manifest leaves alone: by `ignore`, `exclude`, or as it was not read.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from commandsync.diagnostics import Location, Problem
from commandsync.records.losses import (
    COMMANDS,
    OPTIONS,
    TRANSLATIONS,
    Instead,
    Limit,
    Loss,
    LossReason,
)
from commandsync.records.snapshot import Entry, Node, Registrable, Standing
from commandsync.records.texts import (
    MENU_DESCRIPTIONS,
    ApplicationCommand,
    Resource,
    object_of,
    type_of,
)
from commandsync.services import commandtree
from commandsync.services.abilities import DISCORD_ABILITIES
from commandsync.services.commandtree import MOST_LEVELS, CallableCommand, Draft, Path
from commandsync.services.discord import Application
from commandsync.services.discordobjects import (
    SLASH,
    WrongPart,
    canonical_object,
    nested_in,
    with_unknown,
    wrong_parts,
)
from commandsync.services.fit import has_prefix, losses_of

_NAMES = {
    "1": "slash commands",
    "2": "commands in the menu of users",
    "3": "commands in the menu of messages",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The records of a manifest, and the listed ones that it leaves alone."""

    entries: tuple[Entry, ...] = ()  # to be registered, in the manifest's order
    untouched: tuple[Entry, ...] = ()  # listed ones that are neither written nor deleted
    losses: tuple[Loss, ...] = ()  # the parts that are not registered, and why
    problems: tuple[Problem, ...] = ()  # the parts that Discord would refuse


def compose(  # noqa: PLR0913 - the policy of the manifest
    commands: Sequence[Registrable],
    *,
    listed: Sequence[Entry] = (),
    application: Application,
    guild: str = "",
    ignored: Callable[[str], bool] = lambda _: False,
    prune: bool = True,
    earlier: Container[tuple[str, str]] | None = None,
) -> Registration:
    """Return the records of a manifest's commands, as far as their objects are known.

    Args:
        commands: The callable commands, in the manifest's order.
        listed: The registered commands as they were read; empty if they were not.
        application: The application whose commands they are.
        guild: The server of the commands; empty for all servers.
        ignored: Whether the manifest leaves a callable command alone, by its name.
        prune: Whether listed commands that the manifest does not have are deleted.
        earlier: If given, only these are deleted: the types and the names of callable commands
            that an earlier version of the manifest had. Sources that are partly read ask for it.
    """
    composing = _Composing(
        application.integration_types, guild, ignored, prune=prune, earlier=earlier
    )
    drafts = composing.drafts(commands)
    pairs = _counterparts([*drafts.values()], listed)
    for key, draft in drafts.items():
        composing.add(draft, pairs.get(key))
    composing.leave([entry for entry in listed if entry not in pairs.values()])
    return composing.registration()


def callable_names(commands: Iterable[Registrable]) -> set[tuple[str, str]]:
    """Return the types and names of the commands that a manifest registers.

    The sub-commands that the object of a group has are among them.
    """
    names = set()
    for command in commands:
        if command.standing is Standing.REGISTERED:
            kind = commandtree.type_of(command)
            names.add((kind or SLASH, commandtree.name_of(command)))
            calls = commandtree.calls_of(command) if kind else ()
            names |= {(call.type, " ".join(call.path)) for call in calls}
    return names


_Key = tuple[str, str]
"""A type, and the name of a command; the type is empty where it is not known."""

_PREFIXED = Loss(COMMANDS, LossReason.PREFIX)
_MENU = Loss(COMMANDS, LossReason.MENU)
_LEVELS = Loss(COMMANDS, LossReason.LEVELS, limit=Limit(most=MOST_LEVELS - 1))
_SAME_NAME = Loss("name", LossReason.SAME_NAME)
_GROUP = Loss(COMMANDS, LossReason.HAS_SUB_COMMANDS, Instead.GROUP)
_MISSING = Loss(COMMANDS, LossReason.UNKNOWN)
_STAYS = Loss(COMMANDS, LossReason.UNKNOWN, Instead.STAYS)
_IN_THE_WAY = Loss(COMMANDS, LossReason.KEPT, Instead.STAYS)
_OPTIONS_STAY = Loss(OPTIONS, LossReason.NO_OPTIONS, Instead.STAYS)
_TRANSLATED = Loss(TRANSLATIONS, LossReason.CHANGED, Instead.NOT_SHOWN)
_NOT_DESCRIBED = Loss("description", LossReason.NOT_DESCRIBED, Instead.ELLIPSIS)


def _counterparts(drafts: Sequence[Draft], listed: Sequence[Entry]) -> dict[_Key, Entry]:
    """Return the listed commands that drafts mean: by their ids, their names, or former names."""
    by_id = {entry.id: entry for entry in listed if entry.id}
    by_key = {_key(entry): entry for entry in listed}
    pairs: dict[_Key, Entry] = {}
    rounds: tuple[Callable[[Draft], Iterable[Entry | None]], ...] = (
        lambda draft: [by_id.get(draft.pin)],
        lambda draft: [by_key.get((draft.type, draft.name))],
        lambda draft: [by_key.get((draft.type, name)) for name in draft.formerly],
    )
    for meant, draft in product(rounds, drafts):
        free = [
            entry
            for entry in filter(None, meant(draft))
            if _key(entry)[0] == draft.type and entry not in pairs.values()
        ]
        if free:
            pairs.setdefault((draft.type, draft.name), free[0])
    return pairs


def _key(entry: Entry) -> _Key:
    return type_of(entry.text), entry.name


@dataclass(slots=True)
class _Composing:
    """Reads the entries, and makes the records."""

    installs: Sequence[int]
    guild: str
    ignored: Callable[[str], bool]
    prune: bool = field(kw_only=True)
    earlier: Container[_Key] | None = field(kw_only=True)
    entries: list[Entry] = field(default_factory=list)
    untouched: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)  # listed ones that stay, by type
    _left: set[_Key] = field(default_factory=set)  # the commands that entries leave alone
    _lost: dict[Loss, dict[str, Registrable]] = field(default_factory=dict)

    def drafts(self, commands: Iterable[Registrable]) -> dict[_Key, Draft]:
        """Return the entries of each command of Discord, by its type and name."""
        calls = [call for command in commands for call in self._calls(command)]
        drafts: dict[_Key, Draft] = {}
        for call in calls:
            drafts.setdefault((call.type, call.path[0]), Draft(call.type, call.path[0]))
        # The object of a group has the order of its sub-commands.
        for call in sorted(calls, key=lambda call: bool(call.command) and not call.is_group):
            if not drafts[call.type, call.path[0]].take(call):
                self._lose(_SAME_NAME, [call.command])
        for draft in drafts.values():
            self._lose(_GROUP, (call.command for call in draft.settle()))
        return drafts

    def _calls(self, command: Registrable) -> Iterable[CallableCommand]:
        kind, name = commandtree.type_of(command), commandtree.name_of(command)
        calls = [*commandtree.calls_of(command)] if kind else []
        if command.standing is Standing.UNTOUCHED or self.ignored(command.name):
            self._left |= {(kind, name), *((kind, " ".join(call.path)) for call in calls)}
        elif not kind:
            self._lose_uncalled(command, name)
        elif kind in _NAMES:
            if all(len(call.path) <= MOST_LEVELS for call in calls):
                return calls
            self._lose(_LEVELS, [command])
        return []

    def _lose_uncalled(self, command: Registrable, name: str) -> None:
        """Leave out a command that is not called with a `/`."""
        if not has_prefix(command.syntax, name):
            self._left.add(("", name))  # a registered one may be called by a word alone
        in_menu = command.syntax == name and (
            " " in name or command.description in MENU_DESCRIPTIONS.values()
        )
        if not command.reason:
            self._lose(_MENU if in_menu else _PREFIXED, [command])

    def _lose(self, cause: Loss, commands: Iterable[Registrable | None]) -> None:
        for command in filter(None, commands):
            self._lost.setdefault(cause, {}).setdefault(command.name, command)

    def _leaves(self, kind: str, name: str) -> bool:
        """Whether the manifest leaves a command or a group alone."""
        return self.ignored(name) or (kind, name) in self._left or ("", name) in self._left

    def _keeps(self, kind: str, path: Path) -> bool:
        """Whether a listed callable command stays that the manifest does not have."""
        name = " ".join(path)
        is_later = self.earlier is not None and (kind, name) not in self.earlier
        return is_later or self._leaves(kind, name)

    def add(self, draft: Draft, entry: Entry | None) -> None:
        """Add the record of a draft, which means a listed one, or is new."""
        listed = _object(entry) if entry else {}
        if not all(call.is_known for call in draft.calls.values()):
            self._stay(draft, entry, _STAYS if entry else _MISSING)
            return
        whole = draft.whole(listed)
        node = canonical_object(whole.node, installs=self.installs, guild=self.guild)
        old, renamed = _key(entry)[1] if entry else "", draft.renamed

        def keeps(path: Path) -> bool:
            is_kept = not self.prune or self._keeps(draft.type, (old, *path))
            return is_kept and path not in renamed

        full = commandtree.with_listed(node, listed, keeps)
        if full is None:
            self._stay(draft, entry, _IN_THE_WAY)
            return
        text = ApplicationCommand.of(with_unknown(full, listed))
        location = draft.at((draft.name,)).location
        self.entries.append(Entry(text, draft.pin, location, draft.formerly))
        self._lose(_OPTIONS_STAY, whole.kept)
        self._lose(_TRANSLATED, whole.translations)
        self._lose(_NOT_DESCRIBED, whole.undescribed)
        if entry is None or entry.text != text:
            self.problems += (_problem(draft, part) for part in wrong_parts(full))

    def _stay(self, draft: Draft, entry: Entry | None, cause: Loss) -> None:
        """Leave a command as it is registered, if it is."""
        self._lose(cause, (call.command for call in draft.calls.values()))
        self.untouched += [entry] if entry else []

    def leave(self, others: Iterable[Entry]) -> None:
        """Decide which listed commands stay that the manifest does not have, and parts of them."""
        for entry in others:
            kind, name = _key(entry)
            node = _object(entry)
            kept = commandtree.kept_of(node, partial(self._keeps, kind), (name,))
            if self._leaves(kind, name) or kept == node or (kept and not self.prune):
                self.untouched.append(entry)
            elif kept:
                self.entries.append(Entry(ApplicationCommand.of(kept), entry.id))
            elif not self.prune:
                self.others[kind] += 1

    def registration(self) -> Registration:
        """Return all of it, after the check of the numbers."""
        self.others.update(_key(entry)[0] for entry in self.untouched)
        for kind, most in DISCORD_ABILITIES[Resource.APPLICATION_COMMAND].most.items():
            mine = [entry for entry in self.entries if _key(entry)[0] == kind]
            others = self.others[kind]
            if mine and (count := len(mine) + others) > most:
                stay = f", with {others} that stay" if others else ""
                message = f"{count} {_NAMES[kind]}{stay}: Discord takes at most {most} in one list"
                place = next((entry.location for entry in mine[::-1] if entry.location), None)
                self.problems.append(Problem(place or Location("-"), message))
        return Registration(
            entries=tuple(self.entries),
            untouched=tuple(self.untouched),
            losses=losses_of({cause: [*lost.values()] for cause, lost in self._lost.items()}),
            problems=tuple(self.problems),
        )


def _object(entry: Entry) -> Node:
    return object_of(entry.text) or {}


def _problem(draft: Draft, part: WrongPart) -> Problem:
    """Return the error in a part of a command, at its place in the manifest."""
    path: Path = (draft.name,)
    rest = part.place
    while rest[:1] == ("options",) and any(
        each[: len(path) + 1] == (*path, *rest[1:2]) for each in draft.calls if rest[1:]
    ):
        path, rest = (*path, rest[1]), rest[2:]
    command = draft.at(path)
    where = f"{'/'.join(part.place)} " if part.place else ""
    source = f" (in {command.source})" if command.source else ""
    message = f"{draft.name}: {where}{part.message}{source}"
    return Problem(_location(command, part.place, rest), message, "Discord refuses the command")


def _location(command: Registrable, place: Path, rest: Path) -> Location:
    """Return where the manifest has a part of an object, else the next one around it."""
    node = commandtree.object_of(command)
    keys = place if nested_in(node or {}) else rest  # its object may be that of its group
    location = command.places.get("", command.location) or Location(command.source or "-")
    found: Path = ()
    part: object = node
    for key in keys:
        step, part = _step(part, key)
        found = (*found, step)
        location = command.places.get("/".join(found), location)
    return location


def _step(part: object, key: str) -> tuple[str, object]:
    """Return the key, or the number, of the part of an object that a key or a name means."""
    if isinstance(part, Mapping):
        return key, part.get(key)
    for number, each in enumerate(part if isinstance(part, list | tuple) else ()):
        if isinstance(each, Mapping) and each.get("name") == key:
            return str(number), each
    return key, None
