"""The checks of a manifest's values: a node in, its value out, or an error with a hint.

The values are the nodes of the file, in which each is a string as it is spelled. pydantic calls
these functions for the fields of its models, and `keys` calls them for files that need no model;
so only an error loads pydantic here.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from commandsync.api.arguments import parse_address
from commandsync.diagnostics import Do, Hint
from commandsync.errors import PlainHttpError, UsageError
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence, called
from commandsync.manifest.source import MOST_BYTES, Allowance, quoted
from commandsync.manifest.syntax import typographic
from commandsync.plan import rules
from commandsync.records.losses import NAMES, limit_of_characters
from commandsync.records.texts import canonical, has_wildcard

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import PydanticCustomError

FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_COMMENT = re.compile(r"[ \t]+#(?=\S)")
LONGEST = 100  # characters of a value that is repeated in every command
BOT = r"\s*(?=\S*[0-9])\S+\s*"
TOKEN_ENV = "COMMANDSYNC_[A-Za-z0-9_]+"  # noqa: S105 - a variable's name
T = TypeVar("T")
_LITERAL, _ESCAPED = "{prefix}", "{{prefix}}"


class ValidationContext(NamedTuple):
    """The context of a validation."""

    text: str  # of the file
    has_prefix: bool  # whether the manifest has a prefix, or may have lost it to a syntax error
    cut: list[Scalar]  # the strings that end before a `#`, which may belong to them
    has_import: bool = False  # whether imported commands complete the entries


class Checking(Protocol):
    """What a check needs beside the value: a part of pydantic's `ValidationInfo`."""

    @property
    def context(self) -> ValidationContext:
        """The context of the validation."""
        ...


class UnfitError(Exception):
    """A record's field cannot be completed: its key, a message, and perhaps a hint."""


class CommandDefaults(NamedTuple):
    """What a manifest defines for all of its commands."""

    allowance: Allowance  # prefixes take their characters from it
    prefix: str
    category: str  # of commands that have none

    def filled(self, text: str) -> str:
        """Return a syntax with the prefix filled in; `UnfitError` if it is empty or too long."""
        if _LITERAL not in text or self.allowance.characters < 0:  # which is reported already
            return text
        self.allowance.characters -= uses_of_prefix(text) * max(len(self.prefix) - len(_LITERAL), 0)
        if self.allowance.characters < 0:
            raise UnfitError(
                "syntax",
                f"the values of the manifest have more than {MOST_BYTES:,} characters once "
                "{prefix} is filled in",
                "shorten the prefix, or write it out where it is needed",
            )
        filled = with_prefix(text, self.prefix)
        if not filled:
            raise UnfitError("syntax", "syntax is empty once {prefix} is filled in")
        return filled


def with_prefix(text: str, prefix: str) -> str:
    """Return a syntax with the prefix in it, canonical."""
    # {{prefix}} stays: the text around it has no brace that belongs to it.
    return canonical(_LITERAL.join(part.replace(_LITERAL, prefix) for part in text.split(_ESCAPED)))


def uses_of_prefix(text: str) -> int:
    """Return how often a syntax has the prefix."""
    return text.count(_LITERAL) - text.count(_ESCAPED)


def value_error(message: str, hint: str | Hint = "") -> PydanticCustomError:
    """Return an error with a message and a hint, for pydantic to collect."""
    from pydantic_core import PydanticCustomError  # noqa: PLC0415 - plain entries have no error

    return PydanticCustomError("refused", "{message}", {"message": message, "hint": hint})


def as_written(value: Node, info: Checking) -> Node:
    """Check how a string is written, and collect it where a comment may have cut it."""
    if isinstance(value, Scalar) and value.plain:
        if _COMMENT.match(info.context.text, value.end):
            info.context.cut.append(value)
        if problem := typographic(value):
            raise value_error(*problem)
    return value


def text_of(value: Node, info: Checking) -> Node | str:
    """Return a string that is not empty, canonical; another node as it is."""
    if not isinstance(value, Scalar):
        return value
    text = canonical(value)
    if not text:
        from pydantic_core import PydanticCustomError  # noqa: PLC0415 - as above

        raise PydanticCustomError("empty", "empty")
    if value.plain:
        as_written(value, info)
    return text


def prefixed(text: str, info: Checking) -> str:
    """Check that a syntax with {prefix} has a prefix to fill in."""
    if not info.context.has_prefix and uses_of_prefix(text):
        raise value_error(
            "the syntax uses {prefix}, and the manifest has no prefix:",
            "add prefix: to the manifest, or write {{prefix}} for the literal text",
        )
    return text


def not_null(value: Node, info: Checking) -> Node:
    """Check that a category is not null; one in quotes may be."""
    if isinstance(value, Scalar) and value.is_null:
        hint = 'write "" for none, or the string in quotes if it is meant'
        raise value_error("category must be a string, not null", hint)
    return as_written(value, info)


def items_of(value: Node) -> Node | tuple[Node, ...]:
    """Return the nodes of a list, or of a single string in its place."""
    if isinstance(value, Scalar) and not value.is_null:
        return (value,)
    return tuple(value) if isinstance(value, Sequence) else value


def shown(value: Node) -> str:
    """Return a value for a message."""
    return quoted(value) if isinstance(value, Scalar) else called(value)


def version(value: Node) -> Node:
    """Check the version of the grammar."""
    if not (isinstance(value, Scalar) and value.plain and value == "1"):
        newer = isinstance(value, Scalar) and value.plain and value.isdecimal()
        hint = "write version: 1, or upgrade commandsync if the file is for a newer one"
        message = f"version must be the number 1, not {shown(value)}"
        raise value_error(message, hint if newer else "")
    return value


def flag(value: Node) -> Node | bool:
    """Return a plain true or false as a boolean; another node as it is."""
    return FLAGS.get(value, value) if isinstance(value, Scalar) and value.plain else value


def limit(value: Node) -> rules.DeleteLimit:
    """Return a limit on deletes."""
    try:
        return rules.parse_delete_limit(value if isinstance(value, Scalar) else "-")
    except ValueError:
        empty = isinstance(value, Scalar) and not value.strip()
        raise value_error(
            f"max_deletes must be a number, a percentage or all, not {shown(value)}",
            "leave the key out for 30 % and always 3, or write 0 for none" if empty else "",
        ) from None


def few_wildcards(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Check that patterns are not too many or too long to be compared."""
    wild = [pattern for pattern in patterns if has_wildcard(pattern)]
    if len(wild) > rules.MOST_WILDCARDS or sum(map(len, wild)) > rules.MOST_WILD_CHARACTERS:
        raise value_error(
            f"ignore has more than {rules.MOST_WILDCARDS} patterns with a wildcard, or more than "
            f"{rules.MOST_WILD_CHARACTERS:,} characters in them",
            "one pattern can match many names: beta-*",
        )
    return patterns


def matching(pattern: str, message: str, hint: str) -> Callable[[T], T]:
    """Return a check that refuses strings which do not match, without showing them."""

    def check(text: T) -> T:
        if isinstance(text, str) and not re.fullmatch(pattern, text):
            raise value_error(message, hint)
        return text

    return check


bot = matching(
    BOT,
    "bot must look like 779641401482805289",
    "an id has a digit and no space: copy it from the address of the bot's page, or leave the "
    "key out where the bot's token is set, which holds the id",
)
token_env = matching(
    TOKEN_ENV,
    "token_env must look like COMMANDSYNC_TOKEN_MYBOT",
    "it names a variable of your environment; never write the token itself here",
)


def address(text: str, *, insecure_http: bool = False) -> str:
    """Return an address in its one spelling."""
    try:
        return str(parse_address(text, insecure_http=insecure_http))
    except PlainHttpError as error:
        raise value_error(error.message, "use https://") from None
    except UsageError as error:
        raise value_error(error.message, error.hint) from None


LANGUAGE = "[a-z]{2}"
SERVICE = r"\s*[A-Za-z0-9][A-Za-z0-9._-]{0,99}\s*"
GUILD = r"\s*[0-9]{1,20}\s*"
GREATEST = 999_999_999  # limit of a listing
CHARACTERS = r"[!-~]*[!-,.-~]-[!-,.-~][!-~]*"  # with a range
EXAMPLE = "https://list.example/api/bots/{bot}/commands"
_URL = r"(https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?)(/(?:%[0-9A-Fa-f]{2}|[!\"$&-\[\]-z|~]|\{bot\})*)"
_UNQUOTED = re.compile("%([0-9A-Fa-f]{2})")
_UNCHANGED = "%{}/?:@!$&'()*+,;=-._~"  # the characters that a client sends as they are written

service = matching(
    SERVICE,
    "service must look like top.gg or our-list",
    "a name has at most 100 letters, digits, dots, hyphens and underscores",
)
guild = matching(
    GUILD,
    "guild must look like 613425648685547541",
    "it is the id of a server: copy it in Discord, with the developer mode",
)
language = matching(LANGUAGE, "a language must look like de", "it has two letters (ISO 639-1)")
authorization = matching(
    r"[ !-z|~]*\{token\}[ !-z|~]*",
    "authorization must contain {token} once, and otherwise ASCII characters",
    'write "Bearer {token}" or "{token}"; never write the token itself here',
)
without_token = matching(
    r"(?s)(?!.*\{token\}).*",
    "{token} is allowed in authorization only",
    "the token is sent in that header",
)
_like_url = matching(
    _URL,
    f"url must look like {EXAMPLE}",
    "it has a host and a path of ASCII characters, and only {bot} in braces",
)
_like_origin = matching(
    "https?://[^/]+",
    "base_url of a listing must not have a path",
    "it replaces the service's own scheme and host, such as http://127.0.0.1:8081",
)


def origin(text: str) -> str:
    """Return the scheme and host of a listing in their one spelling."""
    return _like_origin(address(text))


def url(text: str) -> str:
    """Return the URL of a request in its one spelling, as it is sent.

    A path has no empty parts and no dots.
    """
    parts = re.fullmatch(_URL, _like_url(without_token(text)))
    assert parts is not None  # noqa: S101 - it is checked
    host, target = parts.groups()
    path, query, parameters = target.partition("?")
    path, parameters = (
        quote(_UNQUOTED.sub(_unquoted, part), safe=_UNCHANGED) for part in (path, parameters)
    )
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in {"", "."}:
            names.append(name)
    end = "/" if names and path.endswith(("/", "/.", "/..")) else ""
    return f"{address(host)}/{'/'.join(names)}{end}{query if parameters else ''}{parameters}"


def _unquoted(match: re.Match[str]) -> str:
    """Return a letter, digit or mark that needs no quoting; else the quoted one in capitals."""
    character = chr(int(match[1], 16))
    plain = character.isascii() and (character.isalnum() or character in "-._~")
    return character if plain else match[0].upper()


def with_name(keys: dict[str, T]) -> dict[str, T]:
    """Check that one of the keys of an object has the name of the command."""
    if "name" not in keys.values():
        raise value_error("fields has no key for the name", "write name: name")
    return keys


def limit_of_listing(value: Node) -> int | str:
    """Return a limit of a listing: a number, or characters such as a-z0-9_."""
    if isinstance(value, Scalar) and value.plain and re.fullmatch("0{0,9}[1-9][0-9]{0,8}", value):
        return int(value)
    if isinstance(value, Scalar) and re.fullmatch(CHARACTERS, value):
        with suppress(ValueError):
            limit_of_characters(value)
            return str(value)
    raise value_error(f"a limit must be a number from 1 to {GREATEST:,}, not {shown(value)}")


def limits(by_name: dict[str, int | str]) -> dict[str, int | str]:
    """Check that the limit of each name has the type that it needs."""
    for name, most in by_name.items():
        if isinstance(most, str) != (name == NAMES):
            expected = "characters, such as a-z0-9_" if name == NAMES else "a number"
            raise value_error(f"the limit {name} must be {expected}")
    return by_name


def identifier(text: str) -> str:
    """Check that an id can be part of a path."""
    if text in {".", ".."}:
        raise value_error(f'"{text}" is not a valid id', Do.SHOW_IDS(first=""))
    return text


def as_json(node: Node) -> Any:  # noqa: ANN401 - of JSON
    """Return a value of JSON: a quoted one is a string, a plain one is read by its spelling."""
    match node:
        case Mapping():
            return {str(key): as_json(part) for key, part in node.items()}
        case Sequence():
            return [as_json(part) for part in node]
        case Scalar(plain=True):
            try:
                read = json.loads(node, parse_constant=str)
            except ValueError:
                return str(node)
            is_text = isinstance(read, float) and not isfinite(read)  # larger than any number
            return str(node) if is_text else read
        case _:
            return str(node)


def written_object(node: Node) -> dict[str, Any]:
    """Return Discord's own object as an import writes it: every key is kept."""
    if not isinstance(node, Mapping):
        raise value_error(f"discord must be keys and values, not {called(node)}")
    return {str(key): as_json(part) for key, part in node.items()}
