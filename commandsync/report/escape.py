r"""Untrusted text, of the service or of a manifest, escaped for each format.

Readable text stays as it is: letters of all scripts, emoji with their joiners, and spaces between
words. A character that is invisible, controls a terminal or changes the direction of writing is
shown as an escape, and so is a command to a CI runner (`\x1b`, `\u202e`, `##\[`).

A runner obeys `##[command]` (and `##vso[`) anywhere in a line, `::command` only where a line begins
with it: the first is escaped here, and the second never begins a line.
"""

import re
from functools import cache
from unicodedata import normalize

from commandsync.characters import python_escape, unhidden

_CONTROL = re.compile(r"[\x00-\x1f]")
RUNNER_PREFIX = re.compile(r"##(?=\w*\[)")  # of a command to a CI runner, anywhere in a line
_LINE_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_RUNNER_COMMAND = re.compile(r"##(\w*)\[")
_SHORTEST_FENCE = 3


def visible(text: str) -> str:
    """Return text on one line, with invisible and unsafe characters as escapes."""
    shown = _CONTROL.sub(lambda match: python_escape(match[0]), unhidden(text, python_escape))
    return _RUNNER_COMMAND.sub(r"##\1\\[", shown)


def visible_line(text: str) -> str:
    """Return a line of a longer text, made visible with the spaces at its end."""
    shown = visible(text)
    kept = shown.rstrip(" ")
    return kept + "·" * (len(shown) - len(kept))


def distinct(old: str, new: str) -> tuple[str, str]:
    """Return two different texts, spelt out in ASCII where they would look the same."""
    if normalize("NFC", visible(old)) == normalize("NFC", visible(new)):
        return ascii(old)[1:-1], ascii(new)[1:-1]
    return old, new


def path(text: str) -> str:
    """Return a file's path for the beginning of a line, where runners look for commands."""
    shown = visible(text)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def beginning(text: str) -> str:
    """Return visible text for the beginning of a line, where runners look for commands."""
    return _LINE_COMMAND.sub(r"\1\\x3a", visible(text))


def json_text(text: str) -> str:
    r"""Return dumped JSON of the same value, with `\u` escapes where it would be misread.

    The escapes of `json.dumps` contain nothing that is replaced here.
    """
    safe = RUNNER_PREFIX.sub(r"\\u0023\\u0023", text.replace("::", r"\u003a\u003a"))
    return unhidden(safe, _json_escape)


def in_html(page: str) -> str:
    """Return a page with references in the place of what a CI runner would obey in its lines."""
    return _LINE_COMMAND.sub(r"\1&#58;", RUNNER_PREFIX.sub("#&#35;", page))


def code(text: str) -> str:
    """Return text as a Markdown code span: nothing inside is a mention, a link or HTML."""
    shown = visible(text)
    if not shown.strip():
        return "*empty*"
    fence = "`" * (_longest_run(shown) + 1)
    padding = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def fenced(lines: list[str], language: str) -> str:
    """Return lines, each made visible already, as a Markdown block that none of them can end."""
    fence = "`" * max(_SHORTEST_FENCE, _longest_run("\n".join(lines)) + 1)
    return "\n".join((f"{fence}{language}", *lines, fence))


def command_data(text: str) -> str:
    """Return text for the message of a GitHub workflow command; its own line ends are kept."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Return text for a property (`file=`, `title=`) of a GitHub workflow command."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


@cache
def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))
