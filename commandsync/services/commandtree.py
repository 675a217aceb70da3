"""A command of Discord, put together: one object from the entries for its sub-commands.

A manifest has an entry for each callable command. `calls_of` reads one entry: the levels of its own
object, from the outermost group down to itself, as far as they are known. A `Draft` gathers those
of one command, and `Draft.whole` returns its object, over which the manifest's texts are laid.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from commandsync.records.snapshot import NESTING, Node, Registrable
from commandsync.records.texts import canonical
from commandsync.services.discordobjects import (
    COMMAND,
    GROUP,
    MENUS,
    NOT_DESCRIBED,
    SLASH,
    SUB_COMMAND,
    Object,
    nested_in,
    options_of,
)
from commandsync.services.fit import QUOTES

MOST_LEVELS = 3
"""Of a command: itself, a group, and a sub-command."""

Path = tuple[str, ...]
"""The names of a command, from the outermost group down to itself."""


@dataclass(frozen=True, slots=True)
class CallableCommand:
    """One callable command, or a group of them, as an entry has it."""

    type: str  # the type of Discord's command
    path: Path
    levels: tuple[Node | None, ...]  # as long as the path; None for an unknown one
    command: Registrable | None  # None for a sub-command that only the object of its group has
    is_group: bool = False  # whether its own object has sub-commands

    @property
    def own(self) -> Node | None:
        """Its own object; None if it has none."""
        return self.levels[-1]

    @property
    def is_known(self) -> bool:
        """Whether it is known which options it has: it may have none."""
        if self.own is not None or self.command is None:
            return self.own is not None
        syntax = self.command.syntax
        # A `/` and the name alone say that it has none.
        return f"/{name_of(self.command)}" in {syntax, syntax.strip(QUOTES)}


def name_of(command: Registrable) -> str:
    """Return the name of a command without the `/` that shows how it is called."""
    return " ".join(command.name.removeprefix("/").split())


def object_of(command: Registrable) -> Node | None:
    """Return the own object of a command; an id alone says nothing of it."""
    node = command.discord
    return None if node is None or node.keys() <= {"id"} else node


def type_of(command: Registrable) -> str:
    """Return the type of a command at Discord; empty if it may be none of Discord's."""
    node = object_of(command)
    if node is None:
        return SLASH if command.syntax.lstrip(QUOTES).startswith("/") else ""
    kind = str(node.get("type") or COMMAND)
    # The object of a group of sub-commands has the type of a user's menu.
    return SLASH if kind in MENUS and nested_in(node) else kind


def calls_of(command: Registrable) -> Iterator[CallableCommand]:
    """Yield the call of a command, and of each sub-command in its object."""
    kind, name, node = type_of(command), name_of(command), object_of(command)
    parts = (name,) if kind in MENUS else tuple(name.split(" "))
    levels: tuple[Node | None, ...] = (*(None for _ in parts[1:]), node)
    if node is not None and (len(parts) == 1 or (nested_in(node) and node.get("type") != GROUP)):
        levels = _levels(node, parts)
    path = tuple(_named(level, part) for level, part in zip(levels, parts, strict=True))
    call = CallableCommand(kind, path, levels, command)
    below = nested_in(levels[-1] or {})
    yield replace(call, is_group=bool(below))
    for option in below:
        yield from _below(call, option)


def _below(group: CallableCommand, option: Node) -> Iterator[CallableCommand]:
    """Yield the calls of a sub-command, or of a group of them, that an object has."""
    call = CallableCommand(
        group.type, (*group.path, str(option.get("name"))), (*group.levels, option), command=None
    )
    if not (inner := nested_in(option)):
        yield call
    for each in inner:
        yield from _below(call, each)


def _levels(node: Node, parts: Path) -> tuple[Node | None, ...]:
    """Return the objects from a command down to one of its sub-commands, None where it has none.

    Of a group with one sub-command, it is that one, whatever its name is.
    """
    levels: list[Node | None] = [node]
    for part in parts[1:]:
        below = nested_in(levels[-1] or {})
        alone = below[0] if len(below) == 1 else None
        levels.append(next((each for each in below if part in _names(each)), alone))
    return tuple(levels)


def _names(node: Node) -> set[str]:
    return set(_texts(node, "name"))


def _texts(node: Node, key: str) -> Iterator[str]:
    """Yield a text of an object in all its languages, canonical."""
    languages = node.get(f"{key}_localizations")
    translations = languages.values() if isinstance(languages, Mapping) else ()
    for text in (node.get(key), *translations):
        if isinstance(text, str):
            yield canonical(text)


def _named(node: Node | None, part: str) -> str:
    """Return the name of an object that a manifest calls by it, or by a translation of it."""
    name = (node or {}).get("name")
    return name if isinstance(name, str) and part in _names(node or {}) else part


@dataclass(slots=True)
class Draft:
    """The entries of one command of Discord, in the manifest's order."""

    type: str
    name: str
    calls: dict[Path, CallableCommand] = field(default_factory=dict)  # the callable ones
    groups: dict[Path, CallableCommand] = field(default_factory=dict)  # entries of groups

    def take(self, call: CallableCommand) -> bool:
        """Add a call; return whether it was possible: a name is there once."""
        calls = self.groups if call.is_group else self.calls
        known = calls.setdefault(call.path, call)
        if known is call:
            return True
        if known.command is not None and call.command is not None:
            return False
        # One is from the object of a group, over which the other one's texts and object are laid.
        of_entry, of_group = (known, call) if known.command is not None else (call, known)
        levels = zip(of_entry.levels, of_group.levels, strict=True)
        calls[call.path] = replace(
            of_entry, levels=tuple(other if own is None else own for own, other in levels)
        )
        return True

    def settle(self) -> list[CallableCommand]:
        """Make groups of the calls that have sub-commands; return the ones that were callable."""
        above = {path[:depth] for path in self.calls for depth in range(1, len(path))}
        found = [call for path, call in self.calls.items() if path in above]
        for call in found:
            del self.calls[call.path]
            self.groups.setdefault(call.path, call)
        return found

    @property
    def commands(self) -> list[Registrable]:
        """The entries, groups first."""
        every = chain(self.groups.values(), self.calls.values())
        return [call.command for call in every if call.command is not None]

    @property
    def pin(self) -> str:
        """The id that an entry says; empty for none."""
        return next((command.id for command in self.commands if command.id), "")

    @property
    def formerly(self) -> tuple[str, ...]:
        """The names that the command had before: as an entry has them, or its sub-commands."""
        names = []
        for call in (*self.groups.values(), *self.calls.values()):
            for name in call.command.formerly if call.command else ():
                parts = (name,) if self.type in MENUS else former_path(name)
                if len(parts) == len(call.path) and parts[0] != self.name:
                    names.append(parts[0])
        return tuple(dict.fromkeys(names))

    @property
    def renamed(self) -> set[Path]:
        """The names that its sub-commands had before, below it."""
        commands = (call.command for call in self.calls.values())
        names = chain.from_iterable(command.formerly for command in commands if command)
        return {former_path(name)[1:] for name in names}

    def at(self, path: Path) -> Registrable:
        """Return the entry of a command or a group, else the next one above it, else the first."""
        for depth in range(len(path), 0, -1):
            for calls in (self.calls, self.groups):
                if (call := calls.get(path[:depth])) and call.command:
                    return call.command
        return self.commands[0]

    def below(self, path: Path) -> list[CallableCommand]:
        """Return the callable commands of a group."""
        return [call for call in self.calls.values() if call.path[: len(path)] == path]

    def whole(self, listed: Node) -> "Whole":
        """Return the object of the command, of its entries and of the registered one.

        That one is empty if there is none. Only where the entries say nothing of a part, it stays
        as it is registered.
        """
        whole = Whole(self, listed)
        whole.node = whole.fold((self.name,))
        return whole


def former_path(name: str) -> Path:
    """Return a former name as the names of its levels."""
    return tuple(name.removeprefix("/").split())


@dataclass(slots=True)
class Whole:
    """The object of a command, as it is put together, with the losses and the kept parts."""

    draft: Draft
    listed: Node
    node: Object = field(default_factory=dict)
    translations: list[Registrable] = field(default_factory=list)  # whose texts are others
    kept: list[Registrable] = field(default_factory=list)  # whose options are the registered ones
    # Whose group has no description; None for a sub-command of an object.
    undescribed: list[Registrable | None] = field(default_factory=list)

    def fold(self, path: Path) -> Object:
        """Return the object of a call, or of a group with all below it."""
        call = self.draft.calls.get(path)
        return self._group(path) if call is None else self._call(call)

    def _call(self, call: CallableCommand) -> Object:
        own = call.command
        if call.own is None:
            # The entry has texts alone: all the rest stays as registered.
            node = dict(self._registered(call))
            if node.get("options") and own:
                self.kept.append(own)
        else:
            node = dict(call.own)
        if len(call.path) == 1:
            node["type"] = int(self.draft.type)
        elif node.get("type") != GROUP:  # a registered one, or one without sub-commands
            node["type"] = SUB_COMMAND
        return self._described(node, call.path[-1], own)

    def _registered(self, call: CallableCommand) -> Node:
        """Return the registered object of a call, which may have had another name."""
        formerly = map(former_path, call.command.formerly if call.command else ())
        others = (path[1:] for path in formerly if len(path) == len(call.path))
        found = (node_at(self.listed, path) for path in (call.path[1:], *others))
        return next((node for node in found if node), {})

    def _group(self, path: Path) -> Object:
        entry, depth = self.draft.groups.get(path), len(path)
        below = self.draft.below(path)
        calls = [entry, *below] if entry else below
        own = next(filter(None, (call.levels[depth - 1] for call in calls)), {})
        node = dict(own or node_at(self.listed, path[1:]) or {})
        node = self._described(node, path[-1], entry.command if entry else None)
        if not node.get("description"):
            node["description"] = NOT_DESCRIBED
            self.undescribed += (call.command for call in below)
        names = dict.fromkeys(call.path[depth] for call in below)
        options = [*(self.fold((*path, name)) for name in names), *_beside_nested(own)]
        return {**node, "type": COMMAND if depth == 1 else GROUP, "options": options}

    def _described(self, node: Object, name: str, own: Registrable | None) -> Object:
        """Lay a name and the texts of an entry over an object."""
        node = self._with_text(node, "name", name, own)
        if own is None or self.draft.type in MENUS:
            return node
        return self._with_text(node, "description", own.description, own)

    def _with_text(self, node: Object, key: str, text: str, own: Registrable | None) -> Object:
        """Lay a text over an object; a text that it has in a language is its own already.

        Another one loses its translations, which would say something else.
        """
        if text in _texts(node, key):
            return node
        languages = f"{key}_localizations"
        if node.get(languages) and own and own not in self.translations:
            self.translations.append(own)
        return {**{k: v for k, v in node.items() if k != languages}, key: text}


def _beside_nested(node: Node) -> Iterator[Node]:
    """Yield the options beside sub-commands: Discord refuses them, and so they must be named."""
    if nested_in(node):
        yield from (option for option in options_of(node) if option.get("type") not in NESTING)


def node_at(node: Node, path: Path) -> Node | None:
    """Return the object below a command that a path leads to; None if there is none."""
    for part in path:
        below = nested_in(node)
        found = next((each for each in below if each.get("name") == part), None)
        if found is None:
            return None
        node = found
    return node


def with_listed(
    node: Node, listed: Node, keeps: Callable[[Path], bool], path: Path = ()
) -> Node | None:
    """Return the object of a command with the listed sub-commands that are to stay.

    `keeps` says which ones do, by the names below the command; each gets its listed place. Returns
    None if that is not possible: a command and a group would have the same name.
    """
    mine, theirs = nested_in(node), nested_in(listed)
    if not theirs:
        return None if mine and path and keeps(path) else node
    if not mine:
        return None if kept_of(listed, keeps, path) else node
    known = {str(option.get("name")): option for option in mine}
    found: list[Node | None] = [*mine]
    for place, option in enumerate(theirs):
        name = str(option.get("name"))
        if name in known:
            found[found.index(known[name])] = with_listed(known[name], option, keeps, (*path, name))
        elif kept := kept_of(option, keeps, (*path, name)):
            found.insert(place, kept)
    return None if None in found else {**node, "options": found}


def kept_of(option: Node, keeps: Callable[[Path], bool], path: Path) -> Node | None:
    """Return a listed sub-command that is to stay, or a group with its sub-commands that stay."""
    below = nested_in(option)
    if not below:
        return option if keeps(path) else None
    kept = (kept_of(each, keeps, (*path, str(each.get("name")))) for each in below)
    stays = [each for each in kept if each is not None]
    return {**option, "options": stays} if stays else None
