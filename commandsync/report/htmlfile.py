"""A page of commands as a file: sealed with a checksum, so that an edit by hand is seen."""

import re

from commandsync.report.escape import in_html
from commandsync.report.markdownfile import State, checksum

_GENERATOR = '<meta name="generator" content="commandsync docs">'
_SEAL = re.compile(r'(?<=<meta name="generator" content="commandsync docs) (sha256:[0-9a-f]{16})')


def sealed(html: str) -> str:
    """Return a page, as the service's templates make it, with its checksum."""
    html = in_html(html.rstrip("\n") + "\n")
    seal = _GENERATOR.replace('">', f' {checksum(html)}">')
    return html.replace(_GENERATOR, seal, 1)


def state_of(old: str | None, new: str) -> State:
    """Return what a file is, before a sealed page is written into it; None if it does not exist."""
    if old is None:
        return State.STALE
    old = old.replace("\r\n", "\n")
    if old == new:
        return State.CURRENT
    seal = _SEAL.search(old)
    if seal is None:
        return State.FOREIGN
    return State.STALE if seal[1] == checksum(_SEAL.sub("", old, 1)) else State.EDITED
