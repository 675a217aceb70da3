"""The answers for a first manifest: from options, from questions, or the defaults.

Each question has a default, which the bot's folder shows: where bots of this platform are listed,
which folder has the commands, which prefix the code names. `--yes` takes all of them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.application import confirm
from commandsync.cli.options import Run
from commandsync.cli.output import print_err
from commandsync.errors import CommandsyncError, UsageError
from commandsync.manifest.checks import uses_of_prefix
from commandsync.records.texts import counted, named
from commandsync.report.lines import joined, visible
from commandsync.services.catalogue import LISTS
from commandsync.sources.reading import Project, project_in
from commandsync.sync.init import (
    DISCORD,
    Answers,
    has_workflows,
    services_of,
    workflow_path,
)
from commandsync.sync.process import Interruption
from commandsync.sync.settings import token_in
from commandsync.sync.sites import known_bot

if TYPE_CHECKING:
    from commandsync.sync.importsource import RecordedCommands

_NONE, _RECORD = "none", "record"
_BOT, _COMMANDSYNC = "bot", "commandsync"
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The answers that options give; the others are empty or None, and asked or defaults."""

    listings: Sequence[str]
    sources: Sequence[str]
    prefix: str | None
    platform: str | None
    workflow: bool
    yes: bool

    @property
    def any(self) -> bool:
        """Whether an option asks for more than a starter."""
        flags = self.workflow or self.yes or self.prefix is not None
        return bool(flags or self.listings or self.sources or self.platform)


def find_answers(run: Run, folder: Path, given: Given, *, asks: bool) -> Answers | None:
    """Return the answers for the bot in a folder; None if a recorded program registers nothing.

    Raises `UsageError` if an answer is missing, or the code cannot be read without an extra.
    """
    project = project_in(folder)
    if project.problem and not given.sources:
        raise project.problem
    if project.library:
        place = "this folder" if project.source == "." else project.source
        where = f": {_commands(project)} in {place}" if project.source else ""
        run.output.talk(f"This bot uses {project.library}{where}.")
    try:
        return _Questions(run, project, given, asks).answers()
    except (click.Abort, Interruption) as error:
        print_err("")  # end the line of the question
        if isinstance(error, Interruption):
            raise
        raise CommandsyncError("declined; nothing was written", kind="declined") from None


def _commands(project: Project) -> str:
    unread = f", {len(project.reading.unread):,} not read" if project.reading.unread else ""
    return counted(len(project.reading.entries), "command") + unread


@dataclass(frozen=True, slots=True)
class _Questions:
    run: Run
    project: Project
    given: Given
    asks: bool

    def answers(self) -> Answers | None:
        """Return all answers, each asked at most once."""
        names, base_url = self._listings()
        services = tuple(name for name in names if name != DISCORD)
        registers = DISCORD in names and self._is_registered_here()
        bot = self._bot(services, base_url)
        sources, recorded = self._sources(), None
        if sources == (_RECORD,):
            recorded, code = self._recorded(), self.project.source
            sources = (code,) if code else ()
            if recorded is None:
                if not (code and self.asks):
                    return None
                sources = self._sources(is_recorded=True)
        return Answers(
            services=services,
            registers=registers,
            registered=DISCORD in names and not registers,
            base_url=base_url,
            bot=bot,
            sources=sources,
            recorded=recorded,
            program=self.project.program,
            prefix=self._prefix(sources),
            workflow=self._workflow(),
        )

    def _ask(
        self, question: str, name: str, default: str, check: Callable[[str], object] = str
    ) -> str:
        """Ask until an answer passes the check; without questions, return the default."""
        if not self.asks:
            return default
        output = self.run.output
        output.talk(joined(["", question], output.screen(sys.stderr)), at=-1)
        while True:
            text = str(click.prompt(f"  {name}", default, show_default=bool(default), err=True))
            try:
                check(text.strip())
            except UsageError as error:
                output.failure(error)
                continue
            return text.strip()

    def _listings(self) -> tuple[tuple[str, ...], str]:
        """Return the names of services, and the address of a page."""
        own = self.run.settings.base_url
        if self.given.listings:
            return _parted(self.given.listings, own)
        usual = self._usual_listings()
        if not self.asks:
            return ((), own) if own and not self.given.platform else (tuple(usual), "")
        at_discord = [] if usual == ["telegram"] else [DISCORD]
        default = own or " ".join([*at_discord, *usual])
        known = ", ".join((DISCORD, *LISTS))
        asked = f"Where is the bot listed? Services are {known}; or write the address of a page."
        answer = self._ask(asked, "listings", default, lambda text: _parted(_words(text), ""))
        return _parted(_words(answer), own)

    def _is_registered_here(self) -> bool:
        """Whether commandsync is to register the commands at Discord: else the bot does."""
        if self.given.listings:
            return True
        asked = (
            "Who registers the commands at Discord: the bot, as its program does now, or "
            "commandsync, with a plan before each change?"
        )
        return self._ask(asked, "registered by", _BOT, _check_who) == _COMMANDSYNC

    def _usual_listings(self) -> list[str]:
        """Return the services whose tokens are set, or else the platform's usual one."""
        set_tokens = [
            name
            for name, service in LISTS.items()
            if any(token_in(self.run.settings, variable) for variable in service.variables)
        ]
        if set_tokens and not self.given.platform:
            return set_tokens
        platform = self.given.platform or self.project.platform
        return ["telegram" if platform == "telegram" else "top.gg"]

    def _bot(self, services: Sequence[str], base_url: str) -> str:
        """Return the bot's id, where the requests name it."""
        settings = self.run.settings
        bot = settings.bot or (known_bot(settings) if base_url else "")
        needing = [each.name for each in services_of(services) if each.names_bot]
        if bot or not (self.asks and (needing or base_url)):
            return bot
        asked = f"Which id does the bot have at {' and '.join(needing or [base_url])}?"
        return self._ask(asked, "bot", "", _not_empty)

    def _sources(self, *, is_recorded: bool = False) -> tuple[str, ...]:
        """Return the code to read, or `record` for a run of the bot, if it was not tried yet."""
        if self.given.sources:
            return tuple(self.given.sources)
        default, record = self.project.source or _NONE, ""
        can_record = self.asks and self.project.program and not is_recorded
        if can_record and self._can_record():
            record = "write record, to record a run of the bot, or "
            # The bot itself knows best which slash commands it has.
            if self.project.registers or not self.project.source:
                default = _RECORD
        asked = f"Which folder or file has its commands? Or {record or 'write '}none."
        answer = self._ask(asked, "code", default, _check_source)
        return () if answer == _NONE else (answer,)

    @staticmethod
    def _can_record() -> bool:
        """Return whether a program can be recorded here: with the extra, and inside a fence."""
        try:
            from commandsync.recording.fence import why_not
        except ImportError:
            return False
        return why_not() is None

    def _recorded(self) -> RecordedCommands | None:
        from commandsync.cli.recorded import record_program

        asked = "Which program registers its commands? It is run once, cut off from all services."
        line = self._ask(asked, "program", self.project.program, _not_empty)
        return record_program(self.run.output, shlex.split(line))

    def _prefix(self, sources: Sequence[str]) -> str:
        """Return the prefix of the text commands; empty to leave them out."""
        if self.given.prefix is not None:
            return self.given.prefix
        entries = self.project.reading.entries if sources else ()
        texts = [entry.name for entry in entries if uses_of_prefix(entry.syntax)]
        if not texts:
            return ""
        names = visible(named(texts, most=_MOST_NAMED))
        are, them = ("is", "it") if len(texts) == 1 else ("are", "them")
        called = f"{counted(len(texts), 'command')} {are} called with a prefix ({names})"
        asked = f"{called}. Which prefix? Or write none, to leave {them} out."
        answer = self._ask(asked, "prefix", self.project.prefix or _NONE)
        return "" if answer == _NONE else answer

    def _workflow(self) -> bool:
        if not self.asks:
            return self.given.workflow or (self.given.yes and has_workflows())
        if self.given.workflow or Path(workflow_path()).exists():
            return self.given.workflow
        asked = f"\nWrite {workflow_path()}, for plans and applies in CI?"
        return confirm(asked)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _parted(words: Sequence[str], base_url: str) -> tuple[tuple[str, ...], str]:
    """Return the names of services, and the address of a page among them."""
    pages = [word for word in words if "://" in word]
    names = tuple(word for word in words if "://" not in word)
    services_of([name for name in names if name != DISCORD])
    if len(pages) > 1:
        raise UsageError("a manifest has one page", hint="give the address of one")
    return names, pages[0] if pages else ("" if names else base_url)


def _not_empty(text: str) -> None:
    if not text:
        raise UsageError("an answer is needed", hint="Ctrl-C ends without writing anything")


def _check_who(text: str) -> None:
    if text not in {_BOT, _COMMANDSYNC}:
        raise UsageError(f"{text} is not an answer", hint=f"write {_BOT} or {_COMMANDSYNC}")


def _check_source(text: str) -> None:
    if text not in {_NONE, _RECORD} and not Path(text).exists():
        raise UsageError(f"{text} does not exist", hint="name a folder or file of the bot")
