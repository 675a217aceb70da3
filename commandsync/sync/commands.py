"""The commands of a manifest as users of the bot see them, with the mention and options of each.

The platform's own objects of commands are in the imported file, or in the entries. They say how
messages mention a command, and the purpose of its options: `load` returns the commands of a
manifest with both.
"""

import os
import re
from collections.abc import Callable, Mapping

from commandsync.errors import UsageError
from commandsync.manifest import Manifest, load_manifests
from commandsync.records.snapshot import Levels
from commandsync.records.texts import CommandOption, LoadedCommand, by_category
from commandsync.sources.entry import text_of

_IDENTIFIER = re.compile("[0-9]{1,20}")
_NAME = re.compile(r"[-\w']{1,32}")  # nothing that a message takes for something else
_SLASH_COMMAND = 1
_MENUS = {2: "user", 3: "message"}  # by the type of a command in one


def mention_of(name: str, objects: Mapping[str, Levels]) -> str:
    """Return the mention of a command for messages of Discord; empty if its id is not known."""
    levels = _levels_of(name, objects)
    names = [str(node.get("name")) for node in levels]
    if not levels or levels[0].get("type") != _SLASH_COMMAND or levels[-1].get("options") == ():
        return ""
    identifier = str(levels[0].get("id"))
    if not (_IDENTIFIER.fullmatch(identifier) and all(map(_NAME.fullmatch, names))):
        return ""
    return f"</{' '.join(names)}:{identifier}>"


def _levels_of(name: str, objects: Mapping[str, Levels]) -> Levels:
    return objects.get(" ".join(name.removeprefix("/").split()), ())


def commands_of(manifest: Manifest, shown: Callable[[str], str] = str) -> tuple[LoadedCommand, ...]:
    """Return the commands of a manifest with the facts of their objects.

    `shown` returns a text as it is shown.
    """
    objects = manifest.objects
    commands = []
    for text in manifest.snapshot.commands:
        levels = _levels_of(text.name, objects)
        options = [
            CommandOption(
                shown(text_of(option, "name")),
                shown(text_of(option, "description")),
                option.get("required") is True,
                tuple(shown(text_of(each, "name")) for each in option.get("choices", ())),
            )
            for node in levels[-1:]
            for option in node.get("options", ())
        ]
        mention = mention_of(text.name, objects)
        menu = _MENUS.get(levels[0].get("type", 0), "") if levels else ""
        commands.append(LoadedCommand.of(map(shown, text), mention, options, menu=menu))
    return tuple(commands)


def load(path: str | os.PathLike[str]) -> dict[str, tuple[LoadedCommand, ...]]:
    """Load the commands of a manifest by category, as `/help` of the bot shows them.

    Args:
        path: The manifest, with everything that it includes; or a folder with one manifest in it.

    Returns:
        The commands of each category, both in the order of their first appearance; those without a
        category come first, under `""`. The prefix is filled in, and defaults are applied. The
        `mention` and the `options` of a command are empty unless `commandsync import` has kept
        Discord's object of it.

    Raises:
        ManifestError: It is invalid or cannot be read. The traceback has the place of each problem.
        UsageError: It is a folder with several manifests.
    """
    manifests = load_manifests([os.fspath(path)], stdin=bytes)
    if len(manifests) != 1:
        raise UsageError(
            f"{os.fspath(path)} contains {len(manifests)} manifests",
            hint="pass the path of one file",
        )
    return by_category(commands_of(manifests[0]))
