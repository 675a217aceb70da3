"""The commands of a manifest as one file: a page of the bot's own site, which loads nothing.

Its stylesheet and its script are in the page. The policy allows these two by their digests, and
nothing else.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from markupsafe import Markup

from commandsync.server.pages.assets import static_files
from commandsync.server.pages.rows import Row, groups_of
from commandsync.server.pages.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commandsync.records.texts import CommandText

_NO_ANCHOR = re.compile(r"[\W_]+")


def commands_page(commands: Iterable[CommandText]) -> str:
    """Return the HTML of a page with commands by category, which can be filtered."""
    rows = list(_rows(commands))
    style, script = (_own(name) for name in ("style.css", "filter.js"))
    return render(
        "commandlist",
        groups=groups_of(rows),
        number=len(rows),
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
        yield Row({**command._asdict(), "uses": 0}, anchor + again)


def _own(name: str) -> Markup:
    """Return a file of the pages, to be written into a page as it is."""
    return Markup(static_files()[name].decode())  # noqa: S704 - a file of this package


def _digest(text: str) -> str:
    """Return the digest of a stylesheet or a script, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()
