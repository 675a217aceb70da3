"""The platform's own object of a command, with the manifest's texts laid over it.

It is sent to services that take Discord's objects: with its options, permissions and languages.
"""

from collections.abc import Callable, Mapping, Sequence

from commandsync.records.snapshot import Levels, Node
from commandsync.records.texts import canonical

_MENUS = (2, 3)  # of users and of messages
_LANGUAGES = ("name_localizations", "description_localizations")


def own_of(objects: Mapping[str, Levels], names: Sequence[str]) -> Levels:
    """Return the object of a command that has the first of some names, or had one of the others.

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

    A text that the platform has in no language loses its translations. What is `shown` of a
    description may be shorter.
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
