"""The commands of a manifest as one file: a page of the bot's own site, which loads nothing.

Its stylesheet and its script are in the page. The policy allows these two by their digests, and
nothing else.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256

from commandsync.pages.assets import static_files
from commandsync.pages.rows import Row, groups_of
from commandsync.pages.templates import as_it_is, render
from commandsync.records.texts import CommandText, Resource

_NO_ANCHOR = re.compile(r"[\W_]+")


def commands_page(commands: Iterable[CommandText], *, bot: str = "") -> str:
    """Return the HTML of a page with the commands of a bot, whose name may be empty."""
    groups = groups_of(_rows(commands))
    style, script = (as_it_is(static_files()[name].decode()) for name in ("style.css", "filter.js"))
    return render(
        "commandlist",
        bot=bot,
        kind=Resource.COMMAND,
        groups=groups,
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
    )


def _rows(commands: Iterable[CommandText]) -> Iterator[Row]:
    """Yield the rows of commands; links to them stay as long as their names and order do."""
    seen: dict[str, int] = {}
    for command in commands:
        anchor = "-".join(("command", *filter(None, _NO_ANCHOR.split(command.name.casefold()))))
        seen[anchor] = seen.get(anchor, 0) + 1
        again = f"--{seen[anchor]}" if seen[anchor] > 1 else ""
        yield Row(Resource.COMMAND, command._asdict(), anchor + again)


def _digest(text: str) -> str:
    """Return the digest of a stylesheet or a script, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()
