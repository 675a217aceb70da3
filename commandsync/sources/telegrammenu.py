"""The menus of a Telegram bot, which its code sets, or a recorded run set.

A bot has a menu for each scope and language. One of them is imported: the default one without a
language, else that of all private chats, else the first. A command is public if this menu lists
it: a handler without an entry there is left out. `CodeMenus` collects the handlers and the menus of
code. `offers` says how a manifest can have the other menus, too.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import Audience, Node, labelled
from commandsync.sources.entry import NO_DESCRIPTION, Excluded, Menu, SourceEntry, SourceReading

SCOPES = ("default", "all_private_chats", "all_group_chats", "all_chat_administrators")
"""The scopes that need no chat, which a manifest can have."""

NOT_IN_MENU = "not in the menu that is imported"
COMPUTED_MENU = "the menu that is set here is computed at run time"
NO_TEXT = "{!r} has no description"
_WRITE_TEXT = "write one in the menu that the code sets, or in the manifest"
_FILE = "commands.{}.yaml"
_CODE = 2  # letters of a language at Telegram


@dataclass(slots=True)
class CodeMenus:
    """The handlers, the menus and the single texts of commands that code has, by their names."""

    handlers: dict[str, SourceEntry] = field(default_factory=dict)
    menus: dict[Audience, dict[str, SourceEntry]] = field(default_factory=dict)
    texts: dict[str, SourceEntry] = field(default_factory=dict)  # in no menu that is read
    partial: set[Audience] = field(default_factory=set)  # the menus with parts that are not read

    @property
    def _chosen(self) -> Audience | None:
        known = [key for key in self.menus if self.menus[key] or key in self.partial]
        of_all = [key for key in known if key.scope in SCOPES]
        usual = [key for key in map(Audience, SCOPES[:2]) if key in known]
        return next(iter([*usual, *of_all, *([] if self.handlers else known)]), None)

    @property
    def is_closed(self) -> bool:
        """Whether the commands of a menu are all that are public."""
        return self._chosen not in {None, *self.partial}

    def reading(self) -> SourceReading:
        """Return the public commands, the commands that the menu leaves out, and other menus."""
        chosen = self._chosen
        listed = self.menus[chosen] if chosen else {}
        known: dict[str, SourceEntry] = {}
        for entry in chain(listed.values(), self.texts.values()):
            add_text(known, entry)
        public = listed if self.is_closed else known | self.handlers
        entries = [self._described(name, known) for name in public]
        every = chain.from_iterable(
            each.values() for each in (known, self.handlers, *self.menus.values())
        )
        left_out = {entry.name: entry for entry in every if entry.name not in public}
        return SourceReading(
            entries=tuple(entries),
            excluded=tuple(Excluded(entry, NOT_IN_MENU) for entry in left_out.values()),
            notes=tuple(filter(None, map(_without_text, entries))),
            menus=tuple(
                Menu(key, {name: entry.description for name, entry in self.menus[key].items()})
                for key in self.menus
                if key != chosen
            ),
        )

    def _described(self, name: str, known: Mapping[str, SourceEntry]) -> SourceEntry:
        """Return a command with the text of a menu, else with the text of its handler."""
        handler, text = self.handlers.get(name), known.get(name)
        if handler is None or text is None or text.description == NO_DESCRIPTION:
            return handler or known[name]
        return replace(handler, description=text.description)


def add_text(texts: dict[str, SourceEntry], entry: SourceEntry) -> None:
    """Add a command by its name; the first text that is not empty counts."""
    first = texts.setdefault(entry.name, entry)
    if first.description == NO_DESCRIPTION:
        texts[entry.name] = replace(first, description=entry.description)


def _without_text(entry: SourceEntry) -> Notice | None:
    """Return a warning about a command without a description."""
    has_text = entry.description != NO_DESCRIPTION
    return None if has_text else Notice(NO_TEXT.format(entry.name), _WRITE_TEXT, entry.place)


def menu_entry(name: str, description: str, place: Location | None = None) -> SourceEntry:
    """Return a command of a menu."""
    text = description.strip() or NO_DESCRIPTION
    return SourceEntry(name=name, description=text, syntax=f"/{name}", place=place)


def localized(objects: Iterable[Node]) -> Iterator[Menu]:
    """Yield a menu for each language in which Discord's objects of commands have descriptions."""
    texts: dict[str, dict[str, str]] = {}
    for node in objects:
        for locale, text in node.get("description_localizations", {}).items():
            texts.setdefault(locale[:_CODE], {}).setdefault(node["name"], text)
    for language in sorted(texts):
        yield Menu(Audience(SCOPES[0], language), texts[language])


def offers(
    menus: Iterable[Menu], declared: Collection[Audience], names: Collection[str]
) -> Iterator[Notice]:
    """Yield the lines for a manifest for menus that it does not declare.

    `declared` are the audiences of its listing, and `names` are the commands that are imported. All
    lists of a manifest have the same commands: a menu of a scope with others is only named.
    """
    new = [menu for menu in menus if menu.texts and menu.audience not in declared]
    if ours := [menu for menu in new if _fits(menu, names)]:
        message = f"menus that the manifest does not have: {_titles(ours)}"
        yield Notice(message, _advice(ours, declared, names))
    if others := [menu for menu in new if not _fits(menu, names)]:
        message = f"menus with other commands, or of one chat, are not imported: {_titles(others)}"
        yield Notice(message, "all lists of a manifest have its commands: leave these in the code")


def _titles(menus: Iterable[Menu]) -> str:
    return ", ".join(labelled("telegram", menu.audience) for menu in menus)


def _fits(menu: Menu, names: Collection[str]) -> bool:
    """Whether a manifest with these commands can have a menu; in a language some may lack."""
    scope, language = menu.audience
    is_equal = menu.texts.keys() == {*names}
    return scope in SCOPES and (is_equal or bool(language and scope == SCOPES[0]))


def _content(language: str, texts: Mapping[str, str], names: Collection[str]) -> str:
    """Return the advice for the file of a language, with its content."""
    ours = {name: text for name, text in texts.items() if name in names}
    return f"write into {_FILE.format(language)}:  {json.dumps(ours, ensure_ascii=False)}"


def _advice(menus: Sequence[Menu], declared: Collection[Audience], names: Collection[str]) -> str:
    """Return the lines for the listing, and the content of the file of each language."""
    keys = []
    wanted = {key.scope for key in [*declared, *(menu.audience for menu in menus)]}
    if scopes := sorted(wanted - {SCOPES[0]}, key=SCOPES.index):
        keys.append(f"scopes: [{', '.join([SCOPES[0], *scopes])}]")
    texts = {menu.audience.language: menu.texts for menu in reversed(menus)}  # the first counts
    for language in ("", *(key.language for key in declared)):
        texts.pop(language, None)
    if texts:
        files = (f"{language}: {_FILE.format(language)}" for language in sorted(texts))
        keys.append(f"languages: {{{', '.join(files)}}}")
    parts = [f"write below service: telegram:  {'  and  '.join(keys)}"]
    parts += (_content(language, texts[language], names) for language in sorted(texts))
    return "; ".join(parts)
