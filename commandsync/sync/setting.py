"""The settings that several commands or doors share, each defined once.

`MAX_DELETES` and the others have a name, type, default and help. The command line makes an option
of one by `@option(MAX_DELETES)`, the Action reads its input by it, and the library's `run` has an
argument of its name. A run has their values in `settings.Settings`, under the same names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from commandsync.sync import DEFAULT_MANIFESTS

if TYPE_CHECKING:
    from commandsync.plan.rules import DeleteLimit

T = TypeVar("T")


class Setting(NamedTuple, Generic[T]):
    """A setting; a door that has no text for it does not have it."""

    name: str  # of the argument, and of the field of `Settings`
    default: T
    section: str = ""  # the heading on a help page; empty for a command's own options
    value: str = ""  # the word for the value on a help page; empty for a switch
    read: Callable[[str], T] | None = None  # raises `ValueError`; None for a text, or a switch
    range: tuple[float, float] | None = None  # of a number
    variable: str = ""  # the environment variable
    option: str = ""  # the name of the option, where it is not that of the setting
    letter: str = ""  # the short name of the option
    input: str = ""  # the name of the Action's input, where it is not that of the setting
    help: str = ""  # of the option
    input_help: str = ""  # of the Action's input
    argument_help: str = ""  # of the library's argument

    @property
    def options(self) -> str:
        """The names of the option, and the word for its value, such as `-f, --file PATH`."""
        short = f"-{self.letter}, " if self.letter else ""
        return f"{short}--{self.option or self._dashed} {self.value}".strip()

    @property
    def input_name(self) -> str:
        """The name of the Action's input."""
        return self.input or self._dashed

    @property
    def _dashed(self) -> str:
        return self.name.replace("_", "-")


def _delete_limit(text: str) -> DeleteLimit | None:
    from commandsync.plan.rules import parse_delete_limit  # noqa: PLC0415 - no help page needs it

    return parse_delete_limit(text)


def _tokens(path: str) -> Mapping[str, str]:
    from commandsync.sync.files import read_env_file  # noqa: PLC0415 - as above

    return read_env_file(path)


def _digits(text: str) -> str:
    if re.fullmatch("[0-9]{1,20}", text) is None:
        raise ValueError(f"{text!r} is not the id of a server, such as 613425648685547541")
    return text


FILES = Setting[tuple[str, ...]](
    "files",
    (),
    section="Manifest",
    value="PATH",
    option="file",
    letter="f",
    input="file",
    help="A manifest, `-` for standard input, or a folder of manifests; may be repeated. "
    f"[default: {' or '.join(DEFAULT_MANIFESTS)}]",
    input_help="The manifest, or a folder of manifests, relative to working-directory. For "
    f"several, write one per line. By default {', or '.join(DEFAULT_MANIFESTS)}.",
)
STRICT = Setting(
    "strict",
    default=False,
    section="Manifest",
    help="Exit 4 for warnings about the manifest, too.",
)
PRUNE = Setting(
    "prune",
    default=True,
    section="Manifest",
    option="no-prune",
    help="Keep listed records that are not in the manifest.",
    input_help="false keeps listed records that are not in the manifest; true deletes them, unless "
    "the manifest contains prune: false.",
    argument_help="Whether to delete listed records that are not in the manifest, unless it "
    "contains `prune: false`.",
)
MAX_DELETES = Setting["DeleteLimit | None"](
    "max_deletes",
    None,
    section="Manifest",
    value="LIMIT",
    read=_delete_limit,
    help="Refuse to delete more: a number, a percentage, or all.  [default: max_deletes of the "
    "manifest, or 30%, with 3 always allowed]",
    input_help="The limit on deletes, a number, a percentage, or all; by default the manifest's "
    "limit.",
    argument_help='The limit on deletes, a number, a percentage like `"30%"`, or `"all"`; by '
    "default the manifest's limit.",
)
ONLY = Setting(
    "only",
    "",
    section="Manifest",
    value="PATTERN",
    help="Plan only the changes of names and titles that match, such as 'mod-*'.",
    argument_help="A pattern: only the changes whose old or new name or title matches are made.",
)
BASE_URL = Setting(
    "base_url",
    "",
    section="Service",
    value="URL",
    variable="COMMANDSYNC_BASE_URL",
    help="The listing service, without /v1.",
    input_help="The URL of the listing service, without /v1. It overrides the manifest, so that a "
    "manifest cannot send the token to another host.",
)
BOT = Setting(
    "bot",
    "",
    section="Service",
    value="ID",
    variable="COMMANDSYNC_BOT",
    help="The bot's id.",
    input_help="The bot's id; by default the id in the manifest or the token.",
)
TOKEN_FILE = Setting(
    "token_file",
    "",
    section="Service",
    value="PATH",
    help="A file that contains the bot's token; by default the token is in COMMANDSYNC_TOKEN, "
    "or in the variable that token_env: of the manifest names.",
)
ENV_FILE = Setting["Mapping[str, str] | None"](
    "env_file",
    None,
    section="Service",
    value="PATH",
    read=_tokens,
    help="A file such as .env, for tokens whose variables are not set.",
)
TIMEOUT = Setting[float](
    "timeout",
    30,
    section="Service",
    value="SECONDS",
    range=(0.1, 600),
    help="The time limit of one request.",
)
INSECURE_HTTP = Setting(
    "insecure_http",
    default=False,
    section="Service",
    help="Allow plain http to another machine. Not advised.",
)
RETRIES = Setting(
    "retries",
    4,
    section="Service",
    value="N",
    range=(0, 20),
    help="The maximum number of retries of a request.",
)
CONCURRENCY = Setting(
    "concurrency",
    4,
    section="Service",
    value="N",
    range=(1, 64),
    help="The maximum number of requests in flight.",
)
LISTING = Setting[tuple[str, ...]](
    "listing",
    (),
    section="Service",
    value="NAME",
    help="Only this listing of the manifest: a service of listings:, or the host of the page; may "
    "be repeated.",
)
GUILD = Setting(
    "guild",
    "",
    section="Service",
    value="ID",
    read=_digits,
    help="Use the commands of this server at Discord in place of the global ones, and no other "
    "listing.",
)
SINCE = Setting(
    "since",
    "",
    section="Service",
    value="REF|FILE",
    help="The earlier version to compare with where a list cannot be read: a revision of git, or a "
    "manifest.",
)
STATE = Setting(
    "state",
    "",
    section="Service",
    value="FILE",
    variable="COMMANDSYNC_STATE",
    help="The file that remembers the lists sent to services that do not return them. By "
    "default it is in git's folder.",
)
OWNED = Setting(
    "owned",
    default=False,
    help="Refuse to delete or replace a record that no version of the manifest in git had.",
)
UNSEEN = Setting(
    "unseen",
    default=False,
    help="Allow replacing a list even if its content is not known.",
)
UNORDERED = Setting(
    "unordered",
    default=False,
    help="Add concurrently, in any order; quicker.",
    argument_help="Whether to send adds concurrently, in any order.",
)
DRY_RUN = Setting(
    "dry_run",
    default=False,
    help="Show the plan and write nothing.",
    argument_help="Whether to write nothing, and return the plan, refused or not.",
)
PLAN_FILE = Setting(
    "plan_file",
    "",
    value="PATH",
    option="plan",
    help="Apply this saved plan and nothing else.",
    input_help="A saved plan that apply applies instead of a new one, relative to the workspace. "
    "The base URL must be an input or a variable then.",
)
