"""Discord's own objects of commands: one for each callable command, put together and found again.

Each sub-command has the object of its group with itself alone, so that it can come, go and be left
out by itself. `joined` puts the sub-commands of a group together; `by_name` returns where each
command and group is in such objects.
"""

from collections.abc import Iterable, Iterator, Mapping

from commandsync.records.snapshot import Levels, Node
from commandsync.records.texts import Text, object_of

NESTING = (1, 2)
"""The types of options that are sub-commands, or groups of them."""


def together(objects: Iterable[Node]) -> list[Node]:
    """Return each command once, with the sub-commands that several objects have of it."""
    wholes: dict[tuple[object, object], Node] = {}
    for part in objects:
        key = part.get("type", 1), part.get("name")
        wholes[key] = joined(wholes[key], part) if key in wholes else part
    return list(wholes.values())


def joined(whole: Node, part: Node) -> Node:
    """Return an object with the sub-commands of another part of it."""
    options = {option["name"]: option for option in whole.get("options", ())}
    for option in part.get("options", ()):
        if option["type"] in NESTING:
            known = options.get(option["name"])
            options[option["name"]] = joined(known, option) if known else option
    return {**part, **whole, **({"options": [*options.values()]} if options else {})}


def order_of(content: Node) -> tuple[str, str]:
    """Return the place of an object in a sorted list: slash commands first, by name."""
    return str(content.get("type", 1)), _text(content, "name")


def by_name(objects: Iterable[Node]) -> dict[str, Levels]:
    """Return where each command and group of objects is, by its name in any language.

    Of equal names that of the default language counts, and then that of a slash command.
    """
    commands = [levels for node in sorted(objects, key=order_of) for levels in levels_of(node)]
    locales = {
        locale
        for levels in commands
        for node in levels
        for locale in node.get("name_localizations", ())
    }
    names: dict[str, Levels] = {}
    for locale in ("", *sorted(locales)):
        for levels in commands:
            name = " ".join(
                _text(node.get("name_localizations", {}), locale) or _text(node, "name")
                for node in levels
            )
            names.setdefault(name, levels)
    return names


def levels_of(node: Node, above: Levels = ()) -> Iterator[Levels]:
    """Yield the levels down to a node, and to all below it; a group has `options` without any."""
    options = node.get("options")
    nested = [
        option
        for option in (options if isinstance(options, list | tuple) else ())
        if isinstance(option, Mapping) and option.get("type") in NESTING
    ]
    levels = (*above, {**node, "options": ()} if nested else node)
    yield levels
    for option in nested:
        yield from levels_of(option, levels)


def callables(text: Text) -> tuple[str, ...]:
    """Return the names of the commands that users call in a record: of a group, its sub-commands.

    Each has the names of its groups: `queue add`.
    """
    node = object_of(text)
    if node is None:
        return (text[0],)
    return tuple(
        " ".join(_text(part, "name") for part in levels)
        for levels in levels_of(node)
        if levels[-1].get("options") != ()  # a group cannot be called
    )


def lost_callables(before: Text, after: Text) -> int:
    """Count the commands that users call in a record before an edit of it, and not after it.

    A new name of the record itself takes none of them away.
    """
    own, new = (len(text[0].split()) for text in (before, after))
    left = {tuple(name.split()[new:]) for name in callables(after)}
    return sum(tuple(name.split()[own:]) not in left for name in callables(before))


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""
