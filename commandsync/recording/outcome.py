"""The outcome of a recorded run: a `Recording`, its commands as a source, and its progress.

Only a run that is known to be whole proves that a command is gone: `Recording.doubt` says why a run
is not.

`reading_of` makes a recording a source of an import. Of Discord's lists the global one counts;
commands of one server are left out, unless the program registers only such. Of Telegram's menus one
counts: the default scope without a language, else all private chats, else the first.

`progress` tells about a run without commands: the last step that the program reached, the refused
hosts and ports, and the signs in its output and folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from commandsync.diagnostics import Notice
from commandsync.records.snapshot import Audience
from commandsync.simulation.discord import FIXTURES, RefusedRegistration
from commandsync.simulation.telegram import Menu
from commandsync.sources.entry import Excluded, SourceReading
from commandsync.sources.reading import read_answer
from commandsync.sources.telegrammenu import CodeMenus, menu_entry


class RunEnd(StrEnum):
    """How a run ended."""

    ENDED = "the program ended"
    QUIET = "the program was still running"
    POINTLESS = "the program waited"
    FAILED = "the program failed"
    TIMED_OUT = "the time limit was reached"
    LIMITED = "the program was ended"


@dataclass(frozen=True, slots=True)
class Recording:
    """The commands that a program registered, without any id of the stand-ins."""

    discord: Mapping[str, Sequence[Mapping[str, Any]]]  # by server; "" for the global ones
    telegram: Mapping[Menu, Sequence[Mapping[str, Any]]]
    ending: RunEnd
    seconds: float
    registrations: int  # requests that registered something
    exit_code: int | None = None  # of the program, if it ended by itself
    reason: str = ""  # why it was ended
    requests: Mapping[str, int] = field(default_factory=dict)  # by platform
    asked: bool = False  # whether it looked up a platform
    logged_in: bool = False
    untrusted: int = 0  # connections that did not trust the stand-ins
    refused: Mapping[str, int] = field(default_factory=dict)  # by host
    ports: Mapping[int, int] = field(default_factory=dict)  # refused connections, by port
    refusals: Sequence[RefusedRegistration] = ()  # registrations
    unknown: Sequence[str] = ()  # requests that the stand-ins do not know
    tail: Sequence[str] = ()  # the last lines that the program printed, without tokens
    # Signs of a run without commands, see `with_signs`:
    open_ports: Collection[int] = ()  # refused ones where this machine itself has a service
    unset: Sequence[str] = ()  # variables that the bot's code reads, and that have no value

    @property
    def doubt(self) -> str:
        """Why the run is not known to be whole, as the end of a sentence; empty if it is.

        Only a whole run removes commands.
        """
        refusal = next(iter(self.refusals), RefusedRegistration("", 0, ""))
        of_all = {_key(command) for command in self.discord.get("", ())}
        of_servers = {
            _key(command) for server in self.discord if server for command in self.discord[server]
        }
        ended = f"{self.ending}: {self.reason}" if self.reason else str(self.ending)
        doubts = (
            (self.ending is RunEnd.FAILED, f"the program failed (exit {self.exit_code})"),
            (self.ending is not RunEnd.ENDED, ended),
            (self.refusals, f"a registration was refused ({refusal.status}: {refusal.reason})"),
            (self.refused, f"{', '.join([*self.refused][:3])} was refused"),
            (self.ports, f"nothing listens at port {', '.join(map(str, [*self.ports][:3]))}"),
            (not self.registrations, "nothing was registered"),
            (of_servers - of_all, "it registered commands of one server only"),
        )
        return next((text for applies, text in doubts if applies), "")

    @property
    def is_whole(self) -> bool:
        """Whether the run is known to be whole: only then a command can go."""
        return not self.doubt

    @property
    def is_empty(self) -> bool:
        """Whether no command is registered at the end."""
        return not (any(self.discord.values()) or any(self.telegram.values()))


def _key(command: Mapping[str, Any]) -> tuple[str, str]:
    """Return the identity of a command in a list of Discord."""
    return str(command.get("type", 1)), str(command.get("name"))


def reading_of(recording: Recording, locale: str = "") -> SourceReading:
    """Return the commands of a recording as a source; `locale` is the language of Discord's texts.

    Raises `FileError` if the program registered something other than commands.
    """

    def read(commands: Sequence[Mapping[str, Any]]) -> SourceReading:
        if not commands:
            return SourceReading()
        return read_answer(json.dumps(list(commands)).encode(), locale=locale)

    lists = dict(recording.discord)
    of_all = lists.pop("", ())
    of_servers = [command for listed in lists.values() for command in listed]
    # Several servers can have the same command: the first one counts.
    of_servers = [*{_key(command): command for command in reversed(of_servers)}.values()][::-1]
    reading = read(of_all or of_servers)
    notes, excluded = list(reading.notes), list(reading.excluded)
    if of_all:
        known = {_key(command) for command in of_all}
        others = [command for command in of_servers if _key(command) not in known]
        excluded += [Excluded(entry, "guild-only") for entry in read(others).entries]
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


def _menus(recording: Recording) -> CodeMenus:
    menus = CodeMenus()
    for menu, listed in recording.telegram.items():
        if listed:
            entries = [
                menu_entry(str(each["command"]), str(each["description"])) for each in listed
            ]
            menus.menus[Audience(*menu)] = {entry.name: entry for entry in entries}
    return menus


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
_USUAL = {  # the usual service at a port
    1433: "SQL Server",
    2333: "Lavalink",
    3306: "MySQL or MariaDB",
    5432: "PostgreSQL",
    5672: "RabbitMQ",
    6379: "Redis",
    8086: "InfluxDB",
    9042: "Cassandra",
    9200: "Elasticsearch",
    11211: "memcached",
    27017: "MongoDB",
}


def summary(recording: Recording, shown_program: str) -> str:
    """Return the line about a run: how many commands, from which program, and the refused hosts."""
    lists = [*recording.discord.values(), *recording.telegram.values()]
    count = sum(map(len, lists))
    with_options = sum(bool(command.get("options")) for listed in lists for command in listed)
    options = f" ({with_options} with options)" if with_options else ""
    commands = f"{count} command{'' if count == 1 else 's'}{options}"
    text = f"Recorded {commands} from `{shown_program}` in {max(1, round(recording.seconds))} s"
    if recording.refused:
        text += f"; refused: {_refused(recording)}"
    return f"{text}."


def _refused(recording: Recording) -> str:
    return _first([f"{host} ({times})" for host, times in recording.refused.items()])


def _first(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return f"{', '.join(names[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"


def progress(recording: Recording) -> Iterator[str]:
    """Yield sentences about a run that registered nothing: how far it came, and the next steps."""
    printed = "\n".join(recording.tail)
    if not_started := _NO_PROGRAM.search(printed):
        yield f"{not_started['program']} cannot be run: {not_started['reason']}"
        return
    ended = {
        RunEnd.ENDED: "it ended by itself",
        RunEnd.FAILED: f"it failed (exit {recording.exit_code})",
        RunEnd.TIMED_OUT: "the time limit was reached",
        RunEnd.LIMITED: recording.reason,
        RunEnd.QUIET: "it was quiet then",
        RunEnd.POINTLESS: "it waited for something that does not come",
    }
    yield f"{_reached(recording)}; {ended[recording.ending]}"
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
        usual = f", where {_USUAL[port]} usually is" if port in _USUAL else ""
        is_open = port in recording.open_ports
        step = (
            "this machine has a service there" if is_open else "start a test database and allow it"
        )
        text = f"nothing listens at port {port} in the fence{usual} ({times} refused)"
        yield f"{text}; {step}: --allow 127.0.0.1:{port}"
    if recording.refused:
        yield f"hosts that were refused: {_refused(recording)}"
    if recording.unset:
        names = _first(recording.unset)
        yield f"variables of the bot that are not set: {names}; set them, and pass them: --env NAME"
    if recording.logged_in and not recording.refusals:
        owner = FIXTURES["telegram_owner" if recording.requests.get("telegram") else "owner"]["id"]
        yield (
            f"if it registers on a message of its owner: --say '!deploy'; the owner's ID is {owner}"
        )


def _reached(recording: Recording) -> str:
    """Return the last step of the program on its way to the platform."""
    calls = sum(recording.requests.values())
    steps = (
        (recording.refusals, "its registration was refused"),
        (recording.registrations, "it registered an empty list"),
        (recording.logged_in, "it logged in, and registered nothing"),
        (recording.requests, f"it called the platform {calls} times, and did not log in"),
        (
            recording.asked or recording.untrusted,
            "it looked for the platform, and did not call it",
        ),
    )
    never = "it did not reach Discord or Telegram"
    return next((sentence for is_reached, sentence in steps if is_reached), never)


def _missing(printed: str) -> Iterator[str]:
    """Yield the parts of the bot that its output misses: an addon that is not built, or modules."""
    if _ADDONS.search(printed):
        yield "a native addon is not built for this machine: build it first, such as by npm rebuild"
        return
    for module in dict.fromkeys(name for each in _MODULES for name in each.findall(printed)):
        if module.startswith(("/", ".")):
            yield f"the file {module!r} is missing: check the path, or build the bot first"
        else:
            yield f"the module {module!r} is missing: install the bot's dependencies first"
