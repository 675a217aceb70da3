r"""Untrusted text, of the service or of a manifest, escaped for each format.

Readable text stays as it is: letters of all scripts, emoji with their joiners, and spaces between
words. A character that is invisible, controls a terminal or changes the direction of writing is
shown as an escape, and so is a command to a CI runner (`\x1b`, `\u202e`, `##\[`).

A runner obeys `##[command]` (and `##vso[`) anywhere in a line, `::command` only where a line begins
with it: the first is escaped here, and the second never begins a line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

# Spaces that look like another space or like nothing; the ideographic space is as wide as a letter.
_SPACES = r"\u00a0\u1680\u2000-\u200a\u202f\u205f"
_FILLERS = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
_FORMAT = (
    r"\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    r"\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = rf"\x7f-\x9f{_SPACES}{_FILLERS}{_FORMAT}\ud800-\udfff"

# Invisible characters in their proper places: they shape the characters beside them.
EMOJI = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001faff"
)
_JOINING = (
    r"\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u1820-\u18aa"
    r"\ufb50-\ufdff\ufe70-\ufefc"
)
_CJK = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SHAPING = re.compile(
    rf"(?<=[#*0-9{EMOJI}])[\ufe0e\ufe0f]"
    rf"|(?<=[{EMOJI}\ufe0e\ufe0f])\u200d(?=[{EMOJI}])"
    rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    rf"|(?<=[{_CJK}])[\U000e0100-\U000e01ef]"
    r"|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"
)

# A pattern that begins with a set is searched quickly, which one that begins with `(...)+` is not.
_HIDDEN_RUN = re.compile(rf"[{_HIDDEN}][{_HIDDEN}]*")
_CONTROL = re.compile(r"[\x00-\x1f]")
_CONTROL_IN_LINE = re.compile(r"[\x00-\x08\x0b-\x1f]")  # neither a line end nor a tab
_SPACE = re.compile(f"[{_SPACES}]")
_RUNNER_PREFIX = re.compile(r"##(?=\w*\[)")
_RUNNER_COMMAND = re.compile(r"##(\w*)\[")
_SHORTEST_FENCE = 3


def visible(text: str) -> str:
    """Return text on one line, with invisible and unsafe characters as escapes."""
    shown = _CONTROL.sub(lambda match: _python_escape(match[0]), _unhidden(text, _python_escape))
    return _RUNNER_COMMAND.sub(r"##\1\\[", shown)


def visible_line(text: str) -> str:
    """Return a line of a longer text, made visible with the spaces at its end."""
    shown = visible(text)
    kept = shown.rstrip(" ")
    return kept + "·" * (len(shown) - len(kept))


def readable(text: str) -> str:
    """Return text for a page, with its lines and all kinds of spaces; else as `visible`.

    The commands of runners are not escaped: none reads a page.
    """
    shown = _unhidden(text, lambda sign: sign if _SPACE.match(sign) else _python_escape(sign))
    return _CONTROL_IN_LINE.sub(lambda match: _python_escape(match[0]), shown)


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Return two different texts, spelt out in ASCII where they would look the same."""
    if normalize("NFC", visible(old)) == normalize("NFC", visible(new)):
        return ascii(old)[1:-1], ascii(new)[1:-1]
    return old, new


def path(text: str) -> str:
    """Return a file's path for the beginning of a line, where runners look for commands."""
    shown = visible(text)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def json_text(text: str) -> str:
    r"""Return dumped JSON of the same value, with `\u` escapes where it would be misread.

    The escapes of `json.dumps` contain nothing that is replaced here.
    """
    safe = _RUNNER_PREFIX.sub(r"\\u0023\\u0023", text.replace("::", r"\u003a\u003a"))
    return _unhidden(safe, _json_escape)


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


def _unhidden(text: str, escape: Callable[[str], str]) -> str:
    """Escape invisible characters, except those that shape the characters beside them."""

    def shown(run: re.Match[str]) -> str:
        done, at = [], run.start()
        while at < run.end():
            shaping = _SHAPING.match(text, at)
            done.append(shaping[0] if shaping else escape(text[at]))
            at = shaping.end() if shaping else at + 1
        return "".join(done)

    return _HIDDEN_RUN.sub(shown, text)


@cache
def _python_escape(character: str) -> str:
    return ascii(character)[1:-1]


@cache
def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))
