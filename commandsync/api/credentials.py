"""The tokens of a run: hidden in all that is shown, and never sent in a text or written to a file.

A `Token` is read only to find the bot it belongs to. Wire notes: it is a JWT (HS256) whose payload
carries the bot's `id`. Nothing here verifies the signature: only the service can. A token that is
not a JWT is opaque, and the service decides.

A run has one set of tokens, which begins with `redacting`. Every token that its environment or its
settings have is added by `keep_secret`. `redacted` hides them in outputs, and `contains_token`
tells files that may not be written. A token of less than 8 characters may be in a text by chance:
it is never hidden, since a name must not change for it, and it counts in a request only if the run
uses it.

Escapes do not conceal a token. `_spelling` has the escapes of one document, and `_decoded` reads
one level of all others, so that a token is also found in a URL within HTML within JSON.

Before a write, `token_refusal` is asked: does the token belong to this bot, and does a text
contain a token of the run (`known_tokens`)? It is part of the check of a plan, and a client asks it
with `check_call` for each call that writes.

The outputs of `--version` and `--help` are redacted, too: the parts that only a token needs are
loaded later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias, final

if TYPE_CHECKING:
    from commandsync.api.operations import Operation
    from commandsync.errors import RefusedError

_HIDDEN = "<hidden>"
_SHORTEST_SECRET = 8  # a shorter one may be in a text by chance
_LONGEST_SECRET = 8_192  # a server reads no header that is much longer
_WORD = "[0-9A-Za-z]"
_BEFORE = rf"(?:(?<!{_WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{{4}}))"
_REFERENCES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_DEEPEST = 15  # backslashes before one that escapes: JSON within JSON within JSON
_LEVELS = 16  # of escapes within escapes
_ESCAPE = re.compile(
    r"%(?P<percent>[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|"
    r"&(?:#0*(?P<decimal>[0-9]{1,7})|#[xX]0*(?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z0-9]{2,31}));|"
    r"\\(?:(?P<code>x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|(?P<plain>[^xuU]))"
)
_PRINTABLE = range(0x21, 0x7F)

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
        from commandsync.api import arguments  # noqa: PLC0415 - see above
        from commandsync.errors import UsageError  # noqa: PLC0415 - see above

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
        """Whether a text contains it, even if its characters are escaped, and the escapes, too."""
        return bool(self._spelled.search(text)) or any(map(self._spans, self._words(text)))

    def hide(self, text: str) -> str:
        """Return a text without it, found as by `is_in`."""
        text = self._spelled.sub(_HIDDEN, text)
        spans = {word: each for word in self._words(text) if (each := self._spans(word))}
        if not spans:
            return text
        return re.sub(r"\S+", lambda word: _without(word[0], spans.get(word[0], ())), text)

    def _words(self, text: str) -> set[str]:
        """Return the words that may contain it with escapes: a token has no whitespace."""
        shortest = len(self._secret) + 1
        if not ("%" in text or "\\" in text or "&" in text):
            return set()
        return {
            word
            for word in text.split()
            if len(word) > shortest and ("%" in word or "\\" in word or "&" in word)
        }

    def _spans(self, word: str) -> list[tuple[int, int]]:
        """Return where a word has it, at any level of its escapes; places may overlap."""
        spans: list[tuple[int, int]] = []
        text, places = word, list(range(len(word) + 1))
        for _ in range(_LEVELS):
            before = text
            text, places = _decoded(text, places)
            if text == before:
                break
            found = self._spelled.finditer(text)
            spans += [(places[each.start()], places[each.end()]) for each in found]
        return spans

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
        import json  # noqa: PLC0415 - see above
        from base64 import urlsafe_b64decode  # noqa: PLC0415 - see above

        _, *rest = self._secret.split(".")
        if len(rest) != 2:  # noqa: PLR2004 - a JWT has a payload and a signature
            return ""
        try:
            claims = json.loads(urlsafe_b64decode(rest[0] + "=" * (-len(rest[0]) % 4)))
        except (ValueError, RecursionError):
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


def _without(word: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a word with some places hidden."""
    shown, at = "", 0
    for start, end in sorted(spans):
        if start >= at:
            shown += word[at:start] + _HIDDEN
        at = max(at, end)
    return shown + word[at:]


def _decoded(text: str, places: list[int]) -> tuple[str, list[int]]:
    """Read one level of the escapes in a text, and return where each character begins.

    `places` has the place of each character of the text, and the end.
    """
    parts: list[str] = []
    begins: list[int] = []
    at = 0
    for escape in _ESCAPE.finditer(text):
        parts += [text[at : escape.start()], _escaped(escape)]
        begins += places[at : escape.start() + 1]
        at = escape.end()
    return "".join([*parts, text[at:]]), begins + places[at:]


def _escaped(escape: re.Match[str]) -> str:
    """Return the character that is escaped; a space, if no token contains it."""
    percent, decimal, hexadecimal, name, code, plain = escape.groups()
    if plain:
        return " " if plain in "bfnrtv" else plain
    if name:
        from html.entities import html5  # noqa: PLC0415 - few texts have a reference

        named = html5.get(f"{name};", " ")
        return named if len(named) == 1 else " "
    number = int(decimal) if decimal else int((hexadecimal or percent or code).lstrip("xuU"), 16)
    return chr(number) if number in _PRINTABLE else " "


SECRET_VARIABLE = re.compile(
    r"COMMANDSYNC_TOKEN(_\w+)?|INPUT_(GITHUB_)?TOKEN|"
    r"(DISCORD|TOPGG|DISCORDBOTLIST|DBL|TELEGRAM(_BOT)?)_TOKEN"
)
"""The variables that contain a token, even if no setting names them: for the known services, for
Discord, and as inputs of the Action."""

Tokens: TypeAlias = "dict[str, Token]"
"""Tokens by their secrets."""

_of_run: ContextVar[Tokens | None] = ContextVar("_of_run", default=None)


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values of the variables that contain a token."""
    return [value for name, value in sorted(environ.items()) if SECRET_VARIABLE.fullmatch(name)]


@contextmanager
def redacting() -> Iterator[Tokens]:
    """Begin a run without tokens, until the block ends."""
    tokens: Tokens = {}
    before = _of_run.set(tokens)
    try:
        yield tokens
    finally:
        _of_run.reset(before)


def keep_secret(token: Token) -> Token:
    """Add a token to the tokens of the run, and return it. The library has no such run."""
    tokens = _of_run.get()
    if tokens is not None:
        tokens[token.reveal()] = token
    return token


def known_tokens() -> tuple[Token, ...]:
    """Return the tokens of the run, none of which may be sent in a text."""
    return tuple((_of_run.get() or {}).values())


def redacted(text: str, tokens: Tokens | None = None) -> str:
    """Return a text without the run's tokens; cut it afterwards, or a part of one could stay.

    A token may be the beginning of another one.
    """
    tokens = tokens or _of_run.get() or {}
    for secret in sorted(tokens, key=len, reverse=True):
        if not tokens[secret].is_short:
            text = tokens[secret].hide(text)
    return text


def contains_token(text: str, tokens: Tokens | None = None) -> bool:
    """Whether a text contains a token that `redacted` hides."""
    tokens = tokens or _of_run.get() or {}
    return any(token.is_in(text) for token in tokens.values() if not token.is_short)


def token_refusal(
    token: Token | None,
    bot: str,
    texts: Iterable[tuple[str, object]] = (),
    *,
    others: Sequence[Token] = (),
) -> RefusedError | None:
    """Return why nothing must be written with a token: it is another bot's, or it is in a text.

    A token without the id of a bot may write: the service decides, as it does where `bot` is empty.
    The texts, or values of JSON with texts in them, come with their names. None of the `others` may
    be in them either.
    """
    from commandsync.errors import RefusedError, WrongBotError  # noqa: PLC0415 - see above

    if token is None:
        return None
    if bot and token.bot not in {"", bot}:
        return WrongBotError(
            f"the token belongs to bot {token.bot}, not to bot {bot}",
            hint="use the token from this bot's own page",
        )
    for name, value in texts:
        if any(secret.is_in(text) for text in _strings(value) for secret in (token, *others)):
            hint = "remove it there, and renew the token: others may have read it"
            return RefusedError(f"{name} contains a token", hint=hint)
    return None


def check_call(
    operation: Operation[object], token: Token | None, *, bot: str, others: Sequence[Token] = ()
) -> None:
    """Check a single call of a client for a bot, before it is sent; reads are always allowed.

    Raises `WrongBotError` if the token belongs to another bot, and `RefusedError` if a text
    contains the token.
    """
    texts = [(f"a text of {operation.name!r}", operation.body)]
    is_read = operation.method == "GET"
    if not is_read and (error := token_refusal(token, bot, texts, others=others)):
        raise error


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _strings(part)
