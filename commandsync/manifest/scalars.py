"""A text -> a YAML scalar that reads well, and loads as exactly that text.

Written by hand rather than by PyYAML's emitter, which is slow, folds long lines, and quotes what
people would write plain. Escapes are those that JSON has too: a manifest may be JSON.
"""

from __future__ import annotations

import re

# What needs an escape: what YAML refuses or takes for a line break, and what hides in print (bidi
# overrides and marks, spaces of no width, a byte order mark). Joiners stay: emoji and scripts need
# them.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_HIDDEN = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
_UNSAFE = _CONTROLS + _HIDDEN
_ESCAPED = re.compile(rf'[{_UNSAFE}"\\\n\t]|#(?=#\w*\[)')
_UNPRINTABLE = re.compile(rf"[{_UNSAFE}]")
_BREAKING = re.compile(rf"[{_UNSAFE}\n]")
# What a CI runner that prints a pulled manifest would obey, had it the beginning of a line.
_OBEYED = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
# A letter first, then nothing that could end the text or make it a key.
_PLAIN = re.compile(rf"[^\W\d_](?:[^{_UNSAFE}\n\t:#]|:(?=[^\s])|(?<! )#)*")
_FLOW_SIGNS = re.compile(r"[\[\]{},:#]")
# Words that some YAML reader takes for something other than a string.
_WORDS = re.compile(r"true|false|yes|no|on|off|y|n|null", re.IGNORECASE)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def is_plain(text: str, *, in_flow: bool = False) -> bool:
    """Whether a text needs no quotes; inside `[]` and `{}` more signs need them."""
    if _OBEYED.search(text) or text != text.strip() or (in_flow and _FLOW_SIGNS.search(text)):
        return False
    return bool(_PLAIN.fullmatch(text)) and not _WORDS.fullmatch(text)


def inline(text: str, *, quote: str = "", always: bool = False, in_flow: bool = False) -> str:
    """Write a text on one line.

    Args:
        text: Any text without half of a surrogate pair.
        quote: The quotes to use, `"` or `'`; empty for those that need fewer escapes. Texts that
            single quotes cannot express get double ones.
        always: Whether to use quotes where none are needed, too.
        in_flow: Whether it is inside `[]` or `{}`.
    """
    if not always and is_plain(text, in_flow=in_flow):
        return text
    if not quote:
        quote = "'" if _ESCAPED.search(text) and "'" not in text else '"'
    if quote == "'" and not (_needs_escapes(text) or "\t" in text or "\n" in text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def block_lines(text: str) -> list[str] | None:
    """Return the lines of a text as a block (`|-`) has them; None if only quotes can express it."""
    if _needs_escapes(text) or not text or text != text.strip():
        return None
    return text.split("\n")


def one_line(text: str) -> str:
    """Return a text as a comment can contain it."""
    return _BREAKING.sub(" ", text)


def _needs_escapes(text: str) -> bool:
    return bool(_UNPRINTABLE.search(text) or _OBEYED.search(text))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
