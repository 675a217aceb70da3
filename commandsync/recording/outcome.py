"""The outcome of a recorded run: its commands as a source of an import, and how far it came.

`reading_of` makes a recording a source. Of Discord's lists the global one counts; commands of one
server are left out, unless the program registers only such. Of Telegram's menus one counts: the
default scope without a language, else all private chats, else the first.

`progress` says of a run without commands what the fence has counted: which ports were refused, who
was asked, whether the bot has logged in; and the signs in the program's output and folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from commandsync.diagnostics import Notice
from commandsync.recording import Order, Recording, RunEnd
from commandsync.recording.hosts import USUAL
from commandsync.recording.programenv import DISCORD, program_environment, unset_variables
from commandsync.records.snapshot import Audience
from commandsync.simulation.discord import FIXTURES
from commandsync.sources.entry import Excluded, SourceReading
from commandsync.sources.reading import read_answer
from commandsync.sources.telegrammenu import CodeMenus, menu_entry

_MOST_NAMED = 5
_LONGEST_REASON = 300
_NO_PROGRAM = re.compile(r"bwrap: execvp (?P<program>.+): (?P<reason>[^:]+)")
_ADDONS = re.compile(
    r"Could not locate the bindings file|compiled against a different Node\.js version"
    r"|invalid ELF header|build/Release/[\w.-]+\.node|wrong ELF class"
)
_MODULES = (
    re.compile(r"Cannot find (?:module|package) '(?P<name>[^']+)'"),
    re.compile(r"No module named '(?P<name>[^']+)'"),
)


def reading_of(recording: Recording, locale: str = "") -> SourceReading:
    """Return the commands of a recording as a source; `locale` is the language of Discord's texts.

    Raises `FileError` if the program registered something other than commands.
    """
    lists = dict(recording.discord)
    of_all = lists.pop("", ())
    of_servers = _once([command for listed in lists.values() for command in listed])
    reading = _discord(of_all or of_servers, locale)
    notes, excluded = list(reading.notes), list(reading.excluded)
    if of_all:
        known = {_key(command) for command in of_all}
        others = [command for command in of_servers if _key(command) not in known]
        excluded += [Excluded(entry, "guild-only") for entry in _discord(others, locale).entries]
    elif of_servers:
        notes.append(Notice("the program registers only commands of one server: they are imported"))
    of_telegram = _menus(recording).reading()
    return SourceReading(
        entries=(*reading.entries, *of_telegram.entries),
        unread=reading.unread,
        excluded=(*excluded, *of_telegram.excluded),
        notes=(*notes, *of_telegram.notes),
        menus=of_telegram.menus,
    )


def _key(command: Mapping[str, Any]) -> tuple[str, str]:
    return str(command.get("type", 1)), str(command.get("name"))


def _once(commands: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the commands of several servers, each once."""
    return [*{_key(command): command for command in reversed(commands)}.values()][::-1]


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


def summary(recording: Recording, shown_program: str) -> str:
    """Return the line about a run: how many commands, from which program, and the refused hosts."""
    lists = [*recording.discord.values(), *recording.telegram.values()]
    count = sum(map(len, lists))
    with_options = sum(bool(command.get("options")) for each in lists for command in each)
    options = f" ({with_options} with options)" if with_options else ""
    commands = f"{count} command{'' if count == 1 else 's'}{options}"
    text = f"Recorded {commands} from `{shown_program}` in {max(1, round(recording.seconds))} s"
    if refused := _refused(recording):
        text += f"; refused: {refused}"
    return f"{text}."


def _refused(recording: Recording) -> str:
    refused = [f"{host} ({times})" for host, times in recording.refused.items()]
    more = len(refused) - _MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{', '.join(refused[:_MOST_NAMED])}{rest}"


def progress(recording: Recording, order: Order, listening: Collection[int] = ()) -> Iterator[str]:
    """Yield sentences about a run that registered nothing: how far it came, and the next steps.

    `listening` are the refused ports at which something listens outside of the fence.
    """
    printed = "\n".join(recording.tail)
    if started := _NO_PROGRAM.search(printed):
        yield f"{started['program']} cannot be run: {started['reason']}"
        return
    yield _reached(recording)
    for refusal in recording.refusals[:_MOST_NAMED]:
        reason = refusal.reason[:_LONGEST_REASON]
        yield f"{refusal.request} was refused, as the platform would: {refusal.status}, {reason}"
    if recording.untrusted:
        yield (
            "it connected to the stand-in and did not trust its certificate: a program with root "
            "certificates of its own cannot be recorded"
        )
    yield from _missing(printed)
    for port, times in [*recording.ports.items()][:_MOST_NAMED]:
        yield _port(port, times, port in listening)
    if recording.refused:
        yield f"hosts that were refused: {_refused(recording)}"
    project = order.project
    known = program_environment(order.environment, project, order.named, platform=DISCORD)
    if unset := unset_variables(project, known):
        more = f" and {len(unset) - _MOST_NAMED} more" if len(unset) > _MOST_NAMED else ""
        names = f"{', '.join(unset[:_MOST_NAMED])}{more}"
        yield f"variables of the bot that are not set: {names}; set them, and pass them: --env NAME"
    if recording.logged_in and not recording.refusals:
        owner = FIXTURES["telegram_owner" if recording.requests.get("telegram") else "owner"]["id"]
        yield (
            f"if it registers on a message of its owner: --say '!deploy'; the owner's ID is {owner}"
        )


def _missing(printed: str) -> Iterator[str]:
    if _ADDONS.search(printed):
        yield "a native addon is not built for this machine: build it first, such as by npm rebuild"
        return
    for found in dict.fromkeys(name for each in _MODULES for name in each.findall(printed)):
        if found.startswith(("/", ".")):
            yield f"the file {found!r} is missing: check the path, or build the bot first"
        else:
            yield f"the module {found!r} is missing: install the bot's dependencies first"


def _reached(recording: Recording) -> str:
    """Return how far the program came on its way to the platform."""
    ended = {
        RunEnd.ENDED: "it ended by itself",
        RunEnd.FAILED: f"it failed (exit {recording.exit_code})",
        RunEnd.TIMED_OUT: "the time limit was reached",
        RunEnd.LIMITED: recording.reason,
        RunEnd.QUIET: "it was quiet then",
        RunEnd.POINTLESS: "it waited for something that does not come",
    }[recording.ending]
    if recording.refusals:
        return f"its registration was refused; {ended}"
    if recording.registrations:
        return f"it registered an empty list; {ended}"
    if recording.logged_in:
        return f"it logged in, and registered nothing; {ended}"
    if recording.requests:
        calls = sum(recording.requests.values())
        return f"it called the platform {calls} times, and did not log in; {ended}"
    if recording.asked or recording.untrusted:
        return f"it looked for the platform, and did not call it; {ended}"
    return f"it did not reach Discord or Telegram; {ended}"


def _port(port: int, times: int, is_outside: bool) -> str:  # noqa: FBT001 - a fact
    usual = f", where {USUAL[port]} usually is" if port in USUAL else ""
    text = f"nothing listens at port {port} in the fence{usual} ({times} refused)"
    if is_outside:
        return f"{text}; this machine has a service there: --allow 127.0.0.1:{port}"
    return f"{text}; start a test database and allow it: --allow 127.0.0.1:{port}"
