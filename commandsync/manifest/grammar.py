"""What keys a manifest may have, as one table; checking and the JSON Schema both follow it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto


class Kind(Enum):
    """What kind of value a key takes."""

    TEXT = auto()
    """Any single value, as it is spelled."""
    TEXTS = auto()
    """A list of texts, or a single one."""
    VERSION = auto()
    """The number 1."""
    FLAG = auto()
    """true or false."""
    LIMIT = auto()
    """A number, a percentage, or `all`."""
    TABLE = auto()
    """Keys and values."""
    TABLES = auto()
    """A list of tables."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that may stand in a table.

    Attributes:
        name: How it is written.
        kind: What its value is.
        about: What it means, for people who complete it in an editor.
        required: Whether the table must have it.
        blank: Whether a text may be empty or hold spaces only.
        null: Whether a plain null is a text like any other.
        longest: The most characters of a text that is repeated wherever it applies; 0 for any.
        pattern: What a text must match as a whole, as Python and JavaScript read alike.
        hint: What to say when it does not match.
        choices: The only texts allowed, when there are any.
        keys: The keys of the table or tables.
        default: What holds when it is left out, for the schema; None for nothing.
        examples: Values to show in an editor.
    """

    name: str
    kind: Kind
    about: str
    required: bool = False
    blank: bool = False
    null: bool = True
    longest: int = 0
    pattern: str = ""
    hint: str = ""
    choices: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    default: object = None
    examples: tuple[object, ...] = field(default=())


VERSION = "1"
"""The only version of the manifest's grammar."""

_PREFIX_HINT = "{prefix} stands for the manifest's prefix; {{prefix}} stays literally {prefix}."
_ID = Key(
    "id",
    Kind.TEXT,
    "Optional pin: the service's own id of this very entry, as `commandsync pull --pin` writes it.",
    examples=("64f0c2a91be34d5a7c0e8812",),
)

COMMAND = (
    Key("name", Kind.TEXT, "What the command is called.", required=True, examples=("help",)),
    Key(
        "description",
        Kind.TEXT,
        "What the command does. Many lines go into a block: description: |",
        required=True,
        examples=("Shows the help menu.",),
    ),
    Key(
        "syntax",
        Kind.TEXT,
        f"How the command is used. {_PREFIX_HINT}",
        required=True,
        examples=("{prefix}help [command]",),
    ),
    Key(
        "category",
        Kind.TEXT,
        'The group it is shown in; "" for none, also where defaults has one.',
        blank=True,
        null=False,
        examples=("General",),
    ),
    Key(
        "formerly",
        Kind.TEXTS,
        "Names the command had before: it is renamed and keeps its id and uses.",
        examples=(("h",),),
    ),
    _ID,
)

ANNOUNCEMENT = (
    Key("title", Kind.TEXT, "The announcement's title.", required=True, examples=("v2.0 is out",)),
    Key(
        "description",
        Kind.TEXT,
        "The announcement's text.",
        required=True,
        examples=("Slash commands everywhere.",),
    ),
    _ID,
)

_SYNC = (
    Key(
        "prune", Kind.FLAG, "Delete listed commands that the manifest does not have.", default=True
    ),
    Key(
        "ignore",
        Kind.TEXTS,
        "Patterns (*, ?, [...]) of listed names and titles that are never touched; upper and lower "
        "case do not matter.",
        examples=(("beta-*",),),
    ),
    Key(
        "max_deletes",
        Kind.LIMIT,
        "How much one run may delete: a number, a percentage of what is listed, or all. Left out, "
        "it is 30%, and 3 are always allowed.",
        examples=("30%", 10, "all"),
    ),
    Key(
        "announcements",
        Kind.TEXT,
        "append adds what is missing; mirror also replaces and deletes.",
        choices=("append", "mirror"),
        default="append",
    ),
)

_VERSION = Key("version", Kind.VERSION, "The version of this grammar: 1.", required=True)
_COMMANDS = Key(
    "commands",
    Kind.TABLES,
    "The bot's commands, in the order to be shown. Left out, commands are not managed; an empty "
    "list means none.",
    keys=COMMAND,
)
_ANNOUNCEMENTS = Key(
    "announcements",
    Kind.TABLES,
    "The bot's announcements. Left out, announcements are not managed; an empty list means none.",
    keys=ANNOUNCEMENT,
)

MANIFEST = (
    _VERSION,
    Key(
        "bot",
        Kind.TEXT,
        "The bot's id. Optional: --bot, COMMANDSYNC_BOT or the id inside the token do as well.",
        pattern=r"\s*(?=\S*[0-9])\S+\s*",
        hint="an id has a digit and no space: copy it from the address of the bot's page, or leave "
        "the key out where the bot's token is set, which holds the id",
        examples=("779641401482805289",),
    ),
    Key(
        "base_url",
        Kind.TEXT,
        "Where the listing service is, without /v1. Optional: --base-url or COMMANDSYNC_BASE_URL "
        "do as well.",
        examples=("https://listing.example",),
    ),
    Key(
        "token_env",
        Kind.TEXT,
        "The environment variable with this bot's token; never the token itself.",
        pattern="COMMANDSYNC_[A-Za-z0-9_]+",
        hint="it names a variable of your environment; never write the token itself here",
        examples=("COMMANDSYNC_TOKEN_MYBOT",),
    ),
    Key(
        "prefix",
        Kind.TEXT,
        "What {prefix} in a syntax stands for, kept to the letter.",
        blank=True,
        longest=100,
        examples=("/", "!"),
    ),
    Key(
        "defaults",
        Kind.TABLE,
        "What holds for every command that does not say otherwise.",
        keys=(
            Key(
                "category",
                Kind.TEXT,
                "The category of commands that name none.",
                blank=True,
                null=False,
                longest=100,
                examples=("General",),
            ),
        ),
    ),
    Key(
        "include",
        Kind.TEXTS,
        "More files with a commands: or announcements: list, as patterns relative to this file's "
        "folder; they must stay inside it.",
        examples=(("commands/*.yaml",),),
    ),
    Key("sync", Kind.TABLE, "What a sync may do.", keys=_SYNC),
    _COMMANDS,
    _ANNOUNCEMENTS,
)

INCLUDED = (
    Key("version", Kind.VERSION, _VERSION.about),
    _COMMANDS,
    _ANNOUNCEMENTS,
)
"""The keys of an included file."""

TELLING = frozenset({"bot", "base_url", "token_env", "sync", "commands", "announcements"})
"""The keys that tell a manifest; other programs' files have include, defaults or prefix, too."""

MEANT = {
    "alias": "formerly",
    "aliases": "formerly",
    "args": "syntax",
    "arguments": "syntax",
    "body": "description",
    "botid": "bot",
    "cog": "category",
    "content": "description",
    "desc": "description",
    "example": "syntax",
    "format": "syntax",
    "group": "category",
    "help": "description",
    "includes": "include",
    "module": "category",
    "old_name": "formerly",
    "previously": "formerly",
    "section": "category",
    "summary": "description",
    "text": "description",
    "title": "name",
    "token": "token_env",
    "url": "base_url",
    "usage": "syntax",
}
"""Keys of other formats, and the key here that says the same."""
