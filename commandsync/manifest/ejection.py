"""A manifest with `import:` -> one that has all of its commands itself.

The rest of the file stays as it is, with its comments: only the lines of `import:`, of `commands:`
and of `include:` go, and a new list of commands is put at the end.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from commandsync.errors import UsageError
from commandsync.manifest.dump import Shared, fields_of, object_lines
from commandsync.manifest.imported import entry_lines
from commandsync.manifest.reader import Manifest
from commandsync.manifest.scalars import one_line
from commandsync.records.imported import is_imported
from commandsync.records.snapshot import Entry, Levels, Node
from commandsync.records.texts import Resource

_COMMANDS = Resource.COMMAND
_GONE = ("import", "commands", "include")
_PART = re.compile(  # a key at the beginning of a line, and the lines that belong to it
    rf"^(?P<quote>[\"']?)({'|'.join(_GONE)})(?P=quote)[ \t]*:.*\n?(?:(?:[ \t-].*|[ \t]*)\n?)*",
    re.MULTILINE,
)


def ejected(manifest: Manifest, text: str) -> str:
    """Return the text of a manifest with all commands of it, and without `import:`.

    Raises `UsageError` for one without `import:`, and for one whose included files have commands.
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
