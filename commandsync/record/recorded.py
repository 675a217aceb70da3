"""A recording as a source of an import: the commands that count, with the platform's objects.

Of Discord's lists the global one counts; commands of one server are left out, unless the program
registers only such. Of Telegram's menus one counts: the default scope without a language, else all
private chats, else the first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from commandsync.diagnostics import Notice
from commandsync.record.recording import Ending, Order, Recording
from commandsync.records.snapshot import Audience
from commandsync.sources.entry import Excluded, SourceReading
from commandsync.sources.reading import read_answer
from commandsync.sources.telegrammenu import CodeMenus, menu_entry

_MOST_HOSTS = 5


def reading_of(recording: Recording, locale: str = "") -> SourceReading:
    """Return the commands of a recording as a source; `locale` is the language of Discord's texts.

    Raises `FileError` if the program registered something other than commands.
    """
    lists = dict(recording.discord)
    chosen = lists.pop("", ()) or [command for each in lists.values() for command in each]
    reading = _discord(chosen, locale)
    notes = list(reading.notes)
    excluded = list(reading.excluded)
    if recording.discord.get(""):
        for commands in lists.values():
            of_server = _discord(commands, locale).entries
            excluded += [Excluded(entry, "it is guild-only") for entry in of_server]
    elif chosen:
        notes.append(Notice("the program registers only commands of one server: they are imported"))
    of_telegram = _menus(recording).reading()
    return SourceReading(
        entries=(*reading.entries, *of_telegram.entries),
        unread=reading.unread,
        excluded=(*excluded, *of_telegram.excluded),
        notes=(*notes, *of_telegram.notes),
        objects=reading.objects,
        menus=of_telegram.menus,
    )


def _menus(recording: Recording) -> CodeMenus:
    menus = CodeMenus()
    for key, listed in filter(itemgetter(1), recording.telegram.items()):
        entries = (menu_entry(str(part["command"]), str(part["description"])) for part in listed)
        menus.menus[Audience(*key)] = {entry.name: entry for entry in entries}
    return menus


def _discord(commands: Sequence[Mapping[str, Any]], locale: str) -> SourceReading:
    if not commands:
        return SourceReading()
    return read_answer(json.dumps(list(commands)).encode(), locale=locale)


def summary(recording: Recording, order: Order, shown_program: str) -> str:
    """Return the line about a run: how many commands, from which program, and the refused hosts."""
    lists = [*recording.discord.values(), *recording.telegram.values()]
    count = sum(map(len, lists))
    with_options = sum(bool(command.get("options")) for each in lists for command in each)
    options = f" ({with_options} with options)" if with_options else ""
    commands = f"{count} command{'' if count == 1 else 's'}{options}"
    text = f"Recorded {commands} from `{shown_program}` in {recording.seconds:.0f} s"
    if recording.ending is Ending.TIMED_OUT:
        text += f", cut by the time limit of {order.timeout:g} s"
    elif recording.ending is Ending.FAILED:
        text += f", and the program failed (exit {recording.exit_code})"
    refused = [f"{host} ({times})" for host, times in recording.refused.items()]
    if refused:
        more = len(refused) - _MOST_HOSTS
        rest = f" and {more} more" if more > 0 else ""
        text += f"; refused: {', '.join(refused[:_MOST_HOSTS])}{rest}"
    return f"{text}."
