"""A recording on the command line: the program is run, and the user reads what came of it."""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from commandsync.cli.output import Output
from commandsync.errors import UsageError
from commandsync.extras import missing
from commandsync.report.lines import visible
from commandsync.services.catalogue import LISTS
from commandsync.sync.importsource import Recorded

_TRY = (
    "try the deploy script alone, --say TEXT (a message after the login), --allow HOST:PORT (a "
    "database), or --timeout SECONDS"
)
_NOT_HELD = (
    "without a fence: what the program writes is real, and programs in other languages than Python "
    "and JavaScript, and children with an empty environment, can reach any host"
)


def record_program(  # noqa: PLR0913 - the options of one command
    output: Output,
    program: Sequence[str],
    *,
    timeout: float,
    allow: Sequence[str],
    say: str | None,
    guild: str | None,
    unfenced: bool,
) -> Recorded | None:
    """Run a program once and return what it registered, to be read in a language.

    Returns None, with the program's last lines printed, if it registered nothing.
    """
    try:
        from commandsync.record.recorded import reading_of, summary
        from commandsync.record.recording import Order, record
        from commandsync.record.relay import parse_allowed
    except ImportError as error:
        raise missing("recording a program needs", "record", error) from error
    hosts = [urlsplit(service.origin).hostname or "" for service in LISTS.values()]
    folder = Path.cwd()
    if folder == Path(folder.anchor):
        raise UsageError("a program is not recorded in the root folder", hint="go to its folder")
    order = Order(
        program=program,
        cwd=folder,
        timeout=timeout,
        allowed=parse_allowed(allow, hosts),
        say=say,
        guild=guild,
        unfenced=unfenced,
    )
    for service in order.allowed:
        output.talk(f"the program may reach {visible(service.name)}: what it does there is real")
    if unfenced:
        output.talk(_NOT_HELD)
    recording = asyncio.run(record(order))
    for request in recording.unknown:
        output.talk(f"not known to the stand-in: {visible(request)}", at=1)
    shown = visible(shlex.join(program))
    if recording.is_empty:
        output.talk("\n".join(f"  {visible(line)}" for line in recording.tail))
        output.talk(f"`{shown}` registered nothing; nothing was changed\n  hint: {_TRY}")
        return None
    output.talk(summary(recording, order, shown))
    return Recorded(
        shlex.join(program), lambda locale: reading_of(recording, locale), recording.is_whole
    )
