"""The description of a command, from its docstring as the frameworks read it."""

from __future__ import annotations

import inspect
import re
import textwrap

_PARAMETERS = re.compile(r"Parameters?\n---+\n", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n\s*\n")
_LOCALIZATION_KEY = re.compile(r"\{\{[^{}\n]{1,100}\}\}")
_LONGEST = 100  # characters, of a slash command


def of_prefix_command(
    *, brief: str | None, help_text: str | None, docstring: str, description: str | None
) -> str:
    """Return what the help of discord.py shows for a command, else its description.

    Args:
        brief: Its argument `brief`.
        help_text: Its argument `help`.
        docstring: The docstring of its function.
        description: Its argument `description`.
    """
    short = brief
    if short is None:
        short = _short_help(docstring)
        if help_text is not None:
            short = inspect.cleandoc(help_text).split("\n", 1)[0]
    return short or inspect.cleandoc(description or "")


def of_slash_command(*, docstring: str, description: str | None) -> str:
    """Return the description of a slash command, else the first paragraph of the docstring."""
    if description is not None:
        return description
    first = _PARAGRAPH.split(docstring.strip(), maxsplit=1)[0]
    return textwrap.shorten(" ".join(first.split())[: 2 * _LONGEST], _LONGEST, placeholder="…")


def without_keys(docstring: str) -> str:
    """Return a docstring without the keys of translations that disnake takes out of it."""
    return _LOCALIZATION_KEY.sub("", docstring)


def _short_help(docstring: str) -> str:
    """Return the first line of a docstring, without a section on parameters.

    If there is such a section, discord.py joins the lines of each paragraph before it.
    """
    text, *parameters = _PARAMETERS.split(inspect.cleandoc(docstring), maxsplit=1)
    if parameters:
        text = re.sub(r"\n+", _joined, text.strip())
    return text.split("\n", 1)[0]


def _joined(lines: re.Match[str]) -> str:
    return " " if len(lines[0]) == 1 else "\n"
