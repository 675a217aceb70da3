"""The bot token: hidden, found in texts, and read only to find the bot it belongs to.

Wire notes: a token is a JWT (HS256) whose payload carries the bot's `id`. Nothing here verifies the
signature: only the service can. A token that is not a JWT is opaque, and the service decides.
"""

import binascii
import json
import re
from base64 import urlsafe_b64decode
from itertools import groupby
from typing import final

from commandsync.api import arguments
from commandsync.errors import UsageError

_HIDDEN = "<hidden>"
_SHORTEST_SECRET = 8  # a shorter one may be in a text by chance
_LONGEST_SECRET = 8_192  # a server reads no header that is much longer
_WORD = "[0-9A-Za-z]"
_BEFORE = rf"(?:(?<!{_WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{{4}}))"
_REFERENCES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_DEEPEST = 15  # backslashes before one that escapes: JSON within JSON within JSON

SCHEME = "Bot"
"""The word before the token in the header of the service interface ("Authentication")."""


def bare(secret: str) -> str:
    """Return a token without whitespace around it and without the scheme in front."""
    return re.sub(rf"^{SCHEME}(\s+|$)", "", secret.strip())


@final
class Token:
    """A bot token, hidden in every representation; surrounding whitespace is stripped.

    One that is shorter than 8 characters may be in a text by chance. It is found only where it is a
    whole word.

    Raises:
        UsageError: It is empty, too long, contains a control character, or is not valid in an HTTP
            header; as `ArgumentError`, it is not a string.
    """

    __slots__ = ("_secret", "_spelled")

    def __init__(self, secret: str) -> None:
        text = arguments.string("token", secret)
        stripped = bare(text)  # some users copy the whole header
        if not stripped:
            raise UsageError("the token is empty", hint="copy it again from the service's bot page")
        if not all("\x20" < character < "\x7f" for character in stripped):
            raise UsageError(
                "the token contains a space, a control character or a letter outside ASCII",
                hint="copy it again, without line breaks, from the service's bot page",
            )
        if len(stripped) > _LONGEST_SECRET:
            raise UsageError(
                f"the token is longer than {_LONGEST_SECRET:,} characters",
                hint="copy it again from the service's bot page, and nothing else",
            )
        self._secret = stripped
        spelled = "".join(map(_spelling, stripped))
        self._spelled = re.compile(f"{_BEFORE}{spelled}(?!{_WORD})" if self.is_short else spelled)

    def reveal(self) -> str:
        """Return the secret itself, for the request that contains it."""
        return self._secret

    @property
    def is_short(self) -> bool:
        """Whether it may be in a text by chance."""
        return len(self._secret) < _SHORTEST_SECRET

    def is_in(self, text: str) -> bool:
        """Whether a text contains it, also if JSON or a URL escapes some of its characters."""
        return self._spelled.search(text) is not None

    def hide(self, text: str) -> str:
        """Return a text without it, found as by `is_in`.

        JSON in a string of JSON has to be hidden again after the string is decoded.
        """
        return self._spelled.sub(_HIDDEN, text)

    def hide_parts(self, text: str) -> str:
        """Return a text without it, and without parts of it that have 8 characters or more.

        A text with a longest size, such as the reason of a close, may end in the middle of it.
        """
        text, size = self.hide(text), _SHORTEST_SECRET
        parts = {self._secret[at : at + size] for at in range(len(self._secret) - size + 1)}
        starts = [at for at in range(len(text)) if text[at : at + size] in parts]
        hidden = {at for start in starts for at in range(start, start + size)}
        return "".join(
            _HIDDEN if is_hidden else "".join(text[at] for at in run)
            for is_hidden, run in groupby(range(len(text)), hidden.__contains__)
        )

    @property
    def bot(self) -> str:
        """The id of the bot the token belongs to; empty if the token does not contain it."""
        _, *rest = self._secret.split(".")
        if len(rest) != 2:  # noqa: PLR2004 - a JWT has a payload and a signature
            return ""
        try:
            claims = json.loads(urlsafe_b64decode(rest[0] + "=" * (-len(rest[0]) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            return ""
        identifier = claims.get("id") if isinstance(claims, dict) else None
        named = isinstance(identifier, str | int) and not isinstance(identifier, bool)
        return str(identifier) if named else ""

    def __repr__(self) -> str:
        return "Token(<hidden>)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse to be pickled: a pickle would contain the secret."""
        raise TypeError("a token cannot be pickled")


def _spelling(character: str) -> str:
    """Return the pattern of a character that a document of any format may escape.

    JSON, also within JSON, Markdown and Python escape it with a backslash, URLs with a percent
    sign, HTML with an ampersand; YAML and the shell double a single quote.
    """
    code, plain = f"(?i:{ord(character):02x})", re.escape(character)
    if character in _REFERENCES:
        plain = rf"(?:&(?:#0*{ord(character)}|#[xX]0*{code}|{_REFERENCES[character]});|{plain})"
    if character == "'":
        plain = rf"(?:'(?:\"'\")?'|{plain})"
    if character == "\\":
        return rf"(?:\\(?:u00{code})?|%{code}){{1,{_DEEPEST}}}"
    return rf"(?:%{code}|{plain}|\\(?:\\{{0,{_DEEPEST}}}+)(?:u00{code}|{plain}))"
