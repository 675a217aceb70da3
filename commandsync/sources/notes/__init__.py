"""Release notes of people, read as values: what an announcement is made of.

`changelog` and `release` find them, `plain` leaves out what a listing does not show, and `excerpt`
shortens them. Text is kept to the character: it is cut out, and never written anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from commandsync.errors import FileError

LONGEST = 125_000
"""Characters of one version's notes, as GitHub allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The notes of one version.

    Attributes:
        text: Markdown, as it is written.
        version: The version, without a leading `v`; empty if it is not known.
        title: A title for them; empty if they have none.
        link: The address of the whole notes; empty if there is none.
        prerelease: Whether the version is not final.
        draft: Whether they are not published.
    """

    text: str
    version: str = ""
    title: str = ""
    link: str = ""
    prerelease: bool = False
    draft: bool = False


def check_length(text: str, *, of: str) -> None:
    """Refuse notes that are not read in a moment; `of` is their name.

    Raises:
        FileError: They are longer than `LONGEST`.
    """
    if len(text) > LONGEST:
        message = f"{of} is longer than {LONGEST:,} characters"
        raise FileError(message, hint="is it the right file?")
