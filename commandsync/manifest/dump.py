"""Records -> a manifest that loads back to the very same texts; and the end of an import.

`ejected` writes all commands of a manifest with `import:` into the manifest itself. The rest of the
file stays as it is, with its comments: only the lines of `import:`, `commands:` and `include:` go,
and a new list of commands is put at the end.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import starmap
from typing import Any, NamedTuple, cast

from commandsync.errors import FileError, UsageError
from commandsync.manifest.reader import DiscordListing, Manifest
from commandsync.manifest.source import quoted
from commandsync.manifest.yamltext import block, entry_lines, one_line, written
from commandsync.records.snapshot import Entry, Levels, Node, Snapshot, is_imported
from commandsync.records.texts import (
    MENU_DESCRIPTIONS,
    ApplicationCommand,
    Resource,
    Text,
    canonical,
)
from commandsync.services.abilities import PAGE_ABILITIES

_QUOTED = {"bot", "guild", "id", "prefix"}  # keys whose values always have quotes
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_EXAMPLE = {
    "bot": '# bot: "779641401482805289"',
    "base_url": "# base_url: https://listing.example",
}
_NOT = r"\s{}<>\[\]()\"'|,;"
_PREFIX = re.compile(rf"[^{_NOT}]{{0,9}}[^\w{_NOT}]")  # / or !! or m!
_SIGNS = re.compile(rf"[^\w{_NOT}]{{1,5}}(?=\w)")
_LONGEST_CATEGORY = 100  # as the manifest's model has it
_LINES = 2  # that `defaults:` takes up
_WIDTH = 86  # characters of a line of an object, without the indentation of its entry
_FIRST = ("id", "type", "name", "name_localizations", "description", "description_localizations")
_MENUS = {"2": "user", "3": "message"}  # by the types of their commands
_LAST = ("choices", "options")  # of the keys of an object, in the order for readers


@dataclass(frozen=True, slots=True)
class Dump:
    """The text of a manifest file, and warnings about the records that it cannot express."""

    text: str
    warnings: tuple[str, ...] = ()


def dump_manifest(  # noqa: PLR0913 - a backup has more than a pull
    snapshot: Snapshot,
    *,
    name: str = "",
    bot: str,
    base_url: str,
    pin: bool = False,
    uses: bool = False,
    mirrored: Iterable[Resource] = (),
    header: Sequence[str] = (),
    discord: DiscordListing | None = None,
) -> Dump:
    """Write a listing as a manifest; the prefix and the category of most commands are written once.

    An empty one of the first three is left out; the header becomes comments; `pin` adds the
    entries' ids, and `uses` a comment behind each id that notes how often the command was used. An
    apply of it deletes records of the kinds `mirrored` that are added later. Commands that are
    registered at Discord have their objects, and their ids in these; `discord` is the listing that
    they are from. Raises `FileError` for a text with half of a surrogate pair, which YAML cannot
    express.
    """
    warnings: list[str] = []
    shared = shared_of(snapshot)
    lines = [f"# {one_line(line)}".rstrip() for line in header]
    lines += ("version: 1", *_given(name=name, bot=bot, base_url=base_url, prefix=shared.prefix))
    if shared.category:
        lines += ("defaults:", *_fields({"category": shared.category}, "  "))
    lines += _listing(discord) if discord else ()
    for resource in snapshot.scope:
        entries = snapshot.collections[resource]
        if resource.exact:
            lines += _registered(entries, pin=pin)
            continue
        lines.append(f"{resource.collection}:" if entries else f"{resource.collection}: []")
        for entry in _expressible(resource, entries, lines, warnings):
            lines += _entry(entry, fields_of(entry.text, shared, resource), pin=pin, uses=uses)
    if policies := [f"  {resource.collection}: mirror" for resource in mirrored]:
        lines += ("sync:", *policies)
    return Dump("\n".join(lines) + "\n", tuple(warnings))


def dump_entry(kind: Resource, text: Text) -> str:
    """Return an entry of a manifest, to paste below the key of its kind."""
    values = fields_of(text, Shared(), kind)
    return "\n".join(_entry(Entry(text), values, pin=False, uses=False)) + "\n"


def starter(schema: str = "./commands.schema.json", *, bot: str = "", base_url: str = "") -> str:
    """Return the text of a starter manifest; an empty bot or base URL becomes a comment.

    The path of the JSON Schema for editors is relative to the manifest. Raises `FileError` if the
    bot's id cannot be written to a file.
    """
    known = {line.partition(":")[0]: line for line in _given(bot=bot, base_url=base_url)}
    target = "\n".join((_EXAMPLE | known).values())
    text = files(__package__).joinpath("starter.yaml").read_text("utf-8")
    return text.replace("{schema}", schema).replace("{target}", target)


def _listing(discord: DiscordListing) -> Iterator[str]:
    yield from ("listings:", f"  - service: {discord.service}")
    values = {key: getattr(discord, key) for key in ("bot", "guild", "base_url", "token_env")}
    yield from _fields({key: text for key, text in values.items() if text}, "    ")


def _registered(entries: Sequence[Entry], *, pin: bool) -> Iterator[str]:
    """Yield the lines of commands that are registered at Discord, each with its whole object."""
    key = Resource.COMMAND.collection
    yield f"{key}:" if entries else f"{key}: []"
    for entry in entries:
        name, kind, content = cast("ApplicationCommand", entry.text)
        node: dict[str, Any] = json.loads(content)
        menu = _MENUS.get(kind)
        description = MENU_DESCRIPTIONS[menu] if menu else canonical(node.get("description", ""))
        syntax = name if menu else f"/{name}"
        values = {"name": name, "description": description or name, "syntax": _literal(syntax)}
        first, *lines = _fields(values, "    ")
        yield from (f"  - {first.lstrip()}", *lines)
        pinned = {"id": entry.id} if pin and entry.writable else {}
        yield from object_lines({**pinned, **node})


def object_lines(node: Node) -> Iterator[str]:
    """Yield the lines of the key `discord` of an entry."""
    if _SURROGATE.search(json.dumps(node, ensure_ascii=False)):
        message = (
            f"{quoted(str(node['name']))} contains half of a surrogate pair, which YAML forbids"
        )
        raise FileError(message, hint="correct that text at Discord first")
    first, below = block(_in_order(node), width=_WIDTH)
    yield f"    discord: {first}".rstrip()
    yield from (f"      {line}" for line in below)


def _in_order(value: Any) -> Any:  # noqa: ANN401 - of JSON
    """Return a value of JSON with the keys of each object in the order for readers."""
    if isinstance(value, list):
        return [_in_order(part) for part in value]
    if not isinstance(value, dict):
        return value
    first = [key for key in _FIRST if key in value]
    last = [key for key in _LAST if key in value]
    rest = [key for key in value if key not in {*first, *last}]
    return {key: _in_order(value[key]) for key in (*first, *rest, *last)}


def _given(**values: str) -> Iterator[str]:
    """Return keys of the top level without the empty ones."""
    return _fields({key: text for key, text in values.items() if text}, "")


def _expressible(
    resource: Resource, entries: Iterable[Entry], lines: list[str], warnings: list[str]
) -> Iterator[Entry]:
    """Yield the entries that a manifest can contain; problems become comments and warnings."""
    seen: set[Text] = set()
    for entry in entries:
        text = entry.text
        if not PAGE_ABILITIES[resource].posts and text in seen:
            message = (
                f"the {resource} {quoted(entry.name)} (id {quoted(entry.id)}) is listed once more, "
                "equal in all fields"
            )
            warnings.append(f"{message}, and a manifest can contain it only once")
            lines.append(f"  # {message}")
            continue
        seen.add(text)
        if empty := " and ".join(name for name in resource.required if not getattr(text, name)):
            message = f"the {resource} {quoted(entry.name)} is listed without {empty}"
            warnings.append(f"{message}, which a manifest must have: fill it in")
            lines.append(f"  # needs {empty}")
        yield entry


def _entry(entry: Entry, values: dict[str, str], *, pin: bool, uses: bool) -> list[str]:
    pinned = {"id": entry.id} if pin and entry.writable else {}
    lines = list(_fields(values | pinned, "    "))
    lines[0] = f"  - {lines[0].lstrip()}"
    if uses and pinned and entry.uses is not None:
        lines[-1] += f" # uses: {int(entry.uses)}"  # as `reader` reads it
    return lines


def _fields(values: Mapping[str, str], indent: str) -> Iterator[str]:
    for name, text in values.items():
        if _SURROGATE.search(text):
            raise FileError(
                f"{name} {quoted(text)} contains half of a surrogate pair, which YAML forbids",
                hint="correct that text on the service's page first",
            )
        first, below = written(text, always=name in _QUOTED)
        yield f"{indent}{name}: {first}"
        yield from (line and f"{indent}  {line}" for line in below)


class Shared(NamedTuple):
    """The `prefix:` and the `defaults.category` of a manifest; empty for none."""

    prefix: str = ""
    category: str = ""


def shared_of(snapshot: Snapshot) -> Shared:
    """Return the values that shorten a manifest of these records.

    A prefix is the beginning of more than half of the syntaxes, and of two at least. A category is
    the default if fewer lines are needed with it: commands of none need a line then.
    """
    texts = [
        (kind, text)
        for kind, entries in snapshot.collections.items()
        for text in dict.fromkeys(entry.text for entry in entries)
    ]
    syntaxes = [(getattr(text, kind.usage), text[0]) for kind, text in texts if kind.usage]
    prefixes = Counter(filter(None, starmap(_prefix, syntaxes)))
    categories = Counter(getattr(text, kind.group) for kind, text in texts if kind.group)
    uncategorized = categories.pop("", 0)
    prefix, uses = max(prefixes.items(), key=lambda item: item[1], default=("", 0))
    category, members = max(categories.items(), key=lambda item: item[1], default=("", 0))
    if uses <= max(1, len(syntaxes) // 2):
        prefix = ""
    if members - uncategorized <= _LINES or len(category) > _LONGEST_CATEGORY:
        category = ""
    return Shared(prefix, category)


def fields_of(text: Text, shared: Shared, kind: Resource) -> dict[str, str]:
    """Return the keys and values of an entry, as a manifest with these shared values has them.

    An optional field is left out if it is empty, and a group only if it is the shared one.
    """
    kept = (*kind.required, kind.group)
    values = {name: value for name, value in text._asdict().items() if value or name in kept}
    if kind.usage:
        prefix, usage = "", values[kind.usage]
        if shared.prefix and usage.startswith(shared.prefix):
            prefix, usage = "{prefix}", usage.removeprefix(shared.prefix)
        values[kind.usage] = prefix + _literal(usage)
    if kind.group and values[kind.group] == shared.category:
        del values[kind.group]
    return values


def _literal(text: str) -> str:
    """Return a part of a syntax in which no prefix is filled in."""
    return text.replace("{prefix}", "{{prefix}}")


def _prefix(syntax: str, name: str) -> str:
    """Return the text before the name in a syntax, or its first signs; empty for none."""
    before = syntax[: max(0, syntax.find(name))]
    if _PREFIX.fullmatch(before):
        return before
    signs = _SIGNS.match(syntax)
    return signs[0] if signs else ""


_COMMANDS = Resource.COMMAND
_GONE = ("import", "commands", "include")
_PART = re.compile(  # a key at the beginning of a line, and the lines that belong to it
    rf"^(?P<quote>[\"']?)({'|'.join(_GONE)})(?P=quote)[ \t]*:.*\n?(?:(?:[ \t-].*|[ \t]*)\n?)*",
    re.MULTILINE,
)


def ejected(manifest: Manifest, text: str) -> str:
    """Return the text of a manifest with all commands of it, and without `import:`.

    Raises `UsageError` if it has no `import:`, or if its included files have commands.
    """
    if manifest.imported is None:
        raise UsageError(f"{manifest.path} has no import:", hint="it has all of its commands")
    entries = manifest.snapshot.collections[_COMMANDS]
    files = {each.location.path for each in entries if each.location} - {manifest.path}
    if included := [path for path in sorted(files) if not is_imported(path)]:
        hint = "move their entries into the manifest first"
        raise UsageError(f"{included[0]} has commands of {manifest.path}", hint=hint)
    rest = re.sub(r"\n{3,}", "\n\n", _PART.sub("", text)).rstrip()
    lines = [*_unlisted(manifest, rest), "commands:" if entries else "commands: []"]
    lines += _lines(manifest, entries)
    return "\n".join([rest, "", *lines]) + "\n"


def _unlisted(manifest: Manifest, rest: str) -> Iterator[str]:
    """Yield the rule by which the commands that only Discord has stay there: entries are public."""
    names = [each.name for each in manifest.registrables if each.reason]
    if not (names and manifest.discord):
        return
    shown = one_line(", ".join(names))
    if re.search(r"^[\"']?sync[\"']?\s*:", rest, re.MULTILINE):
        yield f"# Not listed, since they are not public: {shown}."
        yield "# Add them to sync.ignore: then they stay at Discord as they are."
        return
    yield "# Not public, and so not listed here: they stay at Discord as they are."
    yield "sync:"
    yield f"  ignore: {json.dumps(names, ensure_ascii=False)}"
    yield ""


def _lines(manifest: Manifest, entries: tuple[Entry, ...]) -> Iterator[str]:
    shared = Shared(manifest.prefix or "", manifest.category)
    # Commands in menus may have the name of another one, by which objects are known.
    menus = {
        each.location: {"id": each.id, **each.discord} if each.id else each.discord
        for each in manifest.registrables
        if each.discord and each.discord.get("type", 1) != 1
    }
    for entry in entries:
        values: dict[str, Any] = {**fields_of(entry.text, shared, _COMMANDS)}
        if entry.formerly:
            values["formerly"] = entry.formerly
        if entry.id:
            values["id"] = entry.id
        yield from entry_lines(values)
        name = " ".join(entry.name.removeprefix("/").split())
        if node := menus.get(entry.location) or _nested(manifest.objects.get(name, ())):
            yield from object_lines(_without_null(node))


def _nested(levels: Levels) -> Node | None:
    """Return the object of a command, with the sub-command alone that the levels lead to."""
    if not levels:
        return None
    *groups, node = levels
    for group in reversed(groups):
        node = {**group, "options": [node]}
    return {key: value for key, value in node.items() if (key, value) != ("options", ())}


def _without_null(value: Any) -> Any:  # noqa: ANN401 - of JSON
    """Return a value of JSON without the keys that have no value, which an entry cannot have."""
    if isinstance(value, list):
        return [_without_null(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_null(part) for key, part in value.items() if part is not None}
