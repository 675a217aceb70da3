"""A recording as a source of an import: the commands that count, with the platform's objects.

Of Discord's lists the global one counts; commands of one server are left out, unless the program
registers only such. Of Telegram's menus one counts: the default scope without a language, else all
private chats, else the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commandsync.diagnostics import Notice
from commandsync.record.recording import Ending, Order, Recording
from commandsync.sources.entry import Excluded, SourceEntry, SourceReading
from commandsync.sources.reading import read_answer

_MENUS = (("default", ""), ("all_private_chats", ""))
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
    menu = next(
        (key for key in (*_MENUS, *recording.telegram) if recording.telegram.get(key)), None
    )
    notes += _other_menus(recording, menu)
    entries = tuple(map(_menu_entry, recording.telegram[menu])) if menu else ()
    return SourceReading(
        entries=(*reading.entries, *entries),
        unread=reading.unread,
        excluded=tuple(excluded),
        notes=tuple(notes),
        objects=reading.objects,
    )


def _other_menus(recording: Recording, chosen: tuple[str, str] | None) -> Iterator[Notice]:
    """Yield a notice that names the menus of other scopes and languages, with their keys."""
    menus = [key for key in recording.telegram if recording.telegram[key]]
    scopes = ", ".join(dict.fromkeys(scope for scope, _ in menus))
    languages = ", ".join(sorted({language for _, language in menus if language}))
    if set(menus) - {chosen}:
        several = f"scopes: [{scopes}]" + (f", languages: {languages}" if languages else "")
        message = "of several menus of Telegram that the program sets, one is imported"
        yield Notice(message, f"telegram: under listings: can have the others: {several}")


def _discord(commands: Sequence[Mapping[str, Any]], locale: str) -> SourceReading:
    if not commands:
        return SourceReading()
    return read_answer(json.dumps(list(commands)).encode(), locale=locale)


def _menu_entry(command: Mapping[str, Any]) -> SourceEntry:
    name = str(command.get("command", ""))
    return SourceEntry(
        name=name, description=str(command.get("description", "")), syntax=f"/{name}"
    )


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
