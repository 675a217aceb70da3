"""Release notes of people, read as values: what an announcement is made of.

`changelog` and `release` find them, `plain` leaves out what a listing does not show, and `excerpt`
shortens them. Text is kept to the character: it is cut out, and never written anew. Only a first
block that is indented moves to the left as a whole.
"""

from dataclasses import dataclass

from commandsync.errors import FileError

LONGEST = 125_000
"""Characters of one version's notes, as GitHub allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The notes of one version."""

    text: str  # Markdown, as it is written
    version: str = ""  # the version, without a leading `v`; empty if it is not known
    title: str = ""  # a title for them; empty if they have none
    link: str = ""  # the address of the whole notes; empty if there is none
    prerelease: bool = False
    draft: bool = False


def check_length(text: str, *, of: str) -> None:
    """Refuse, with a `FileError`, notes longer than `LONGEST`; `of` is their name."""
    if len(text) > LONGEST:
        message = f"{of} is longer than {LONGEST:,} characters"
        raise FileError(message, hint="is it the right file?")
