r"""Characters that are invisible, control a terminal or change the direction of writing.

They are shown as escapes (`\x1b`, `\u202e`). Readable text stays as it is: letters of all scripts,
emoji with their joiners, and spaces between words.
"""

import re
from collections.abc import Callable
from functools import cache

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
# A pattern that begins with a set is searched quickly, which one that begins with `(...)+` is not.
_HIDDEN_RUN = re.compile(rf"[{_HIDDEN}][{_HIDDEN}]*")
_CONTROL_IN_LINE = re.compile(r"[\x00-\x08\x0b-\x1f]")  # neither a line end nor a tab
_SPACE = re.compile(f"[{_SPACES}]")


def readable(text: str) -> str:
    """Return text for a page, with its lines, tabs and all kinds of spaces."""
    shown = unhidden(text, lambda sign: sign if _SPACE.match(sign) else python_escape(sign))
    return _CONTROL_IN_LINE.sub(lambda match: python_escape(match[0]), shown)


@cache
def _shaping() -> re.Pattern[str]:
    """Return the pattern of such characters, which takes long to compile and few texts need."""
    return re.compile(
        rf"(?<=[#*0-9{EMOJI}])[\ufe0e\ufe0f]"
        rf"|(?<=[{EMOJI}\ufe0e\ufe0f])\u200d(?=[{EMOJI}])"
        rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
        rf"|(?<=[{_CJK}])[\U000e0100-\U000e01ef]"
        r"|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"
    )


def unhidden(text: str, escape: Callable[[str], str]) -> str:
    """Escape invisible characters, except those that shape the characters beside them."""

    def shown(run: re.Match[str]) -> str:
        done, at = [], run.start()
        while at < run.end():
            shaping = _shaping().match(text, at)
            done.append(shaping[0] if shaping else escape(text[at]))
            at = shaping.end() if shaping else at + 1
        return "".join(done)

    return _HIDDEN_RUN.sub(shown, text)


@cache
def python_escape(character: str) -> str:
    """Return the escape of a character, as in a Python string."""
    return ascii(character)[1:-1]
