"""The description of a command, from its docstring as the frameworks read it."""

import inspect
import re
import textwrap

_PARAMETERS = re.compile(r"Parameters?\n---+\n", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST = 100  # characters, of a slash command


def first_paragraph(docstring: str) -> str:
    """Return the beginning of a docstring, as the description of a slash command."""
    first = _PARAGRAPH.split(docstring.strip(), maxsplit=1)[0]
    return textwrap.shorten(" ".join(first.split())[: 2 * _LONGEST], _LONGEST, placeholder="…")


def short_help(docstring: str, help_text: str | None) -> str:
    """Return the first line of a prefix command's help, else of its docstring.

    If the docstring has a section on parameters, discord.py joins the lines of each paragraph
    before it.
    """
    if help_text is not None:
        return inspect.cleandoc(help_text).split("\n", 1)[0]
    text, *parameters = _PARAMETERS.split(inspect.cleandoc(docstring), maxsplit=1)
    if parameters:
        text = re.sub(r"\n+", lambda lines: " " if lines[0] == "\n" else "\n", text.strip())
    return text.split("\n", 1)[0]
