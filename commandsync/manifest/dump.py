"""A listed snapshot -> a manifest that loads back to the very same texts; a starter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.errors import FileError
from commandsync.manifest.problems import quoted
from commandsync.manifest.scalars import block_lines, inline, one_line
from commandsync.manifest.sharing import fields_of, shared_of
from commandsync.manifest.usage import noted_uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from commandsync.records.snapshot import Entry, Snapshot
    from commandsync.records.texts import Resource, Text

_SURROGATE = re.compile(r"[\ud800-\udfff]")

_STARTER = """\
# yaml-language-server: $schema={schema}
#
# Your bot's public commands. Check this file with `commandsync validate`, see what would change
# with `commandsync plan`, and make the listing match with `commandsync apply`.

version: 1

# Which bot, and on which listing service. --bot and --base-url, or COMMANDSYNC_BOT and
# COMMANDSYNC_BASE_URL, do as well. The token is never in this file: it is in COMMANDSYNC_TOKEN.
{target}

# What {prefix} in a syntax stands for.
prefix: "/"

defaults:
  category: General

sync:
  prune: true # delete listed commands that are not in this file
  # max_deletes: 10% # what one run may delete; when left out 30 %, and always 3

commands:
  - name: help
    description: Shows what the bot can do.
    syntax: "{prefix}help [command]"

  - name: ping
    description: Says how quickly the bot answers.
    syntax: "{prefix}ping"
    category: Tools
    # formerly: [latency] # a rename keeps the command's id and uses

# Announcements are managed only when the key is there.
# announcements:
#   - title: v2.0 is out
#     description: Slash commands everywhere.
"""
_EXAMPLE = {
    "bot": '# bot: "779641401482805289"',
    "base_url": "# base_url: https://listing.example",
}


@dataclass(frozen=True, slots=True)
class Dump:
    """The text of a manifest file, and warnings about what it cannot express."""

    text: str
    warnings: tuple[str, ...] = ()


def dump_manifest(
    snapshot: Snapshot,
    *,
    bot: str,
    base_url: str,
    pin: bool = False,
    uses: bool = False,
    header: Sequence[str] = (),
) -> Dump:
    """Write a listing as a manifest; the prefix and the category of most commands are written once.

    An empty bot or base URL is left out; the header becomes comments; `pin` adds the entries' ids,
    and `uses` a comment behind each id that notes how often the command was used.

    Raises:
        FileError: A text holds half of a surrogate pair, which YAML cannot express.
    """
    warnings: list[str] = []
    texts = [entry.text for each in snapshot.collections.values() for entry in each]
    shared = shared_of(dict.fromkeys(texts))
    lines = [f"# {one_line(line)}".rstrip() for line in header]
    lines += ("version: 1", *_target_lines(bot=bot, base_url=base_url))
    lines += _fields([("prefix", shared.prefix, True)] if shared.prefix else [], "")
    if shared.category:
        lines += ("defaults:", *_fields([("category", shared.category, False)], "  "))
    for resource in snapshot.scope:
        entries = snapshot.collections[resource]
        lines.append(f"{resource.collection}:" if entries else f"{resource.collection}: []")
        for entry in _expressible(resource, entries, lines, warnings):
            lines += _entry(entry, fields_of(entry.text, shared), pin=pin, uses=uses)
    return Dump("\n".join(lines) + "\n", tuple(warnings))


def starter(schema: str = "./commands.schema.json", *, bot: str = "", base_url: str = "") -> str:
    """Return the text of a starter manifest; an empty bot or base URL becomes a comment.

    Args:
        schema: The path of the JSON Schema for editors, relative to the manifest.
        bot: The bot's id.
        base_url: The service's base URL.

    Raises:
        FileError: The bot's id cannot be written to a file.
    """
    known = {line.partition(":")[0]: line for line in _target_lines(bot=bot, base_url=base_url)}
    target = "\n".join((_EXAMPLE | known).values())
    return _STARTER.replace("{schema}", schema).replace("{target}", target)


def _target_lines(*, bot: str, base_url: str) -> Iterator[str]:
    """Return the keys that name the listing of a manifest; what is empty is left out."""
    target = (("bot", bot, True), ("base_url", base_url, False))
    return _fields((field for field in target if field[1]), "")


def _expressible(
    resource: Resource, entries: Iterable[Entry], lines: list[str], warnings: list[str]
) -> Iterator[Entry]:
    """Yield what a manifest can contain; what is wrong becomes comments and warnings."""
    seen: set[Text] = set()
    for entry in entries:
        text = entry.text
        if resource.unique and text in seen:
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


def _entry(entry: Entry, values: Mapping[str, str], *, pin: bool, uses: bool) -> Iterator[str]:
    fields = [(name, text, False) for name, text in values.items()]
    if pin and entry.writable:
        fields.append(("id", entry.id, True))
    lines = [
        f"  - {line.lstrip()}" if not n else line for n, line in enumerate(_fields(fields, "    "))
    ]
    if uses and pin and entry.writable and entry.uses is not None:
        lines[-1] += noted_uses(entry.uses)
    return iter(lines)


def _fields(fields: Iterable[tuple[str, str, bool]], indent: str) -> Iterator[str]:
    """Write keys with their texts; the flag asks for quotes always, as ids look best."""
    for name, text, quotes in fields:
        if _SURROGATE.search(text):
            raise FileError(
                f"{name} {quoted(text)} contains half of a surrogate pair, which YAML forbids",
                hint="correct that text on the service's page first",
            )
        lines = block_lines(text) if "\n" in text else None
        if lines:
            yield f"{indent}{name}: |-"
            for line in lines:
                yield f"{indent}  {line}" if line else ""
        else:
            yield f"{indent}{name}: {inline(text, always=quotes)}"
