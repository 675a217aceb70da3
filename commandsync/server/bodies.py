"""The records of the service: bots, commands and announcements, as on the wire and in seed files.

The bot's fields are those of the service interface ("Resources and their fields"). Listed records
follow the wire notes. Text is stored as it is sent. A body that is not valid gets one message;
unknown fields of it are ignored, since clients send back whole records.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from commandsync.records.texts import Resource

T = TypeVar("T")


# PostgreSQL cannot read a record with a NUL character. To look for one, pydantic decodes a text,
# and refuses half of a surrogate pair, which a seed file may contain and an answer cannot.
_NO_NUL = r"^[^\x00]*$"
Text = Annotated[str, Field(pattern=_NO_NUL), WithJsonSchema({"type": "string"})]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", examples=["#3b82f6"])]
Count = Annotated[int, Field(ge=0)]
Timestamp = Annotated[
    str, Field(description="ISO 8601, UTC, milliseconds", examples=["2025-01-31T12:00:00.000Z"])
]


class Wire(BaseModel):
    """Anything on the wire: camelCase names, strict types, nothing unknown."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,  # a seed file may contain them, and JSON cannot
    )


class ProfileRecord(Wire):
    """How a bot looks on its platform; by default `tag` is made of the two names."""

    avatar: Text = Field(default="", examples=["a_5f2c"], description="the hash of its picture")
    avatar_url: Text = Field(
        default="", alias="avatarURL", examples=["https://cdn.example/avatars/a_5f2c.png"]
    )
    username: str = Field(min_length=1, pattern=_NO_NUL, examples=["Lantern"])
    discriminator: Text = "0"
    tag: Text = Field(default="", examples=["Lantern"])
    banner: Text = Field(default="", examples=["https://cdn.example/banners/lantern.png"])

    @model_validator(mode="after")
    def _with_tag(self) -> "ProfileRecord":
        if not self.tag:
            plain = self.discriminator in {"", "0"}
            self.tag = self.username if plain else f"{self.username}#{self.discriminator}"
        return self


class CreatorRecord(Wire):
    """The creator of a bot."""

    is_team: bool = False
    id: Text = Field(default="", examples=["212045337190064138"])


class InformationRecord(Wire):
    """The text of a bot's page."""

    description: Text = Field(
        default="", description="may contain markup", examples=["Lantern lights *every* channel."]
    )
    overview: Text = Field(
        default="", description="a short text", examples=["Lights every channel."]
    )
    creator: CreatorRecord = CreatorRecord()
    tags: list[Text] = Field(default=[], examples=[["fun", "music"]])


class StatisticsRecord(Wire):
    """A bot's counters."""

    servers: Count = 0
    daily_votes: Count = 0
    weekly_votes: Count = 0
    monthly_votes: Count = 0
    total_votes: Count = 0
    shards: Count | None = Field(
        default=None,
        exclude_if=lambda shards: shards is None,
        description="beyond the interface: absent until the bot reports it",
    )


class RatingsRecord(Wire):
    """The ratings of a bot; `average` is null while there are none."""

    average: float | None = Field(default=None, examples=[4.5])
    total: Count = 0


class ThemeRecord(Wire):
    """The colours of a bot's page."""

    enabled: bool = False
    automatic: bool = True
    color: Colour = "#3b82f6"
    color_lighter: Colour = "#93c5fd"


class BotFields(Wire):
    """A bot without its id and timestamps, as in the seed file and the database."""

    provider: Text = "discord"
    profile: ProfileRecord
    prefix: Text = Field(default="", examples=["/"])
    information: InformationRecord = InformationRecord()
    statistics: StatisticsRecord = StatisticsRecord()
    state: int = 0
    certificate: int = 0
    invite_url: Text = Field(
        default="", alias="inviteURL", examples=["https://listing.example/invite/lantern"]
    )
    ratings: RatingsRecord = RatingsRecord()
    vanity: Text | None = Field(default=None, examples=["lantern"])
    theme: ThemeRecord = ThemeRecord()
    status: int = 0


class BotRecord(BotFields):
    """A bot as listed."""

    id: str = Field(examples=["779641401482805289"])
    created_at: Timestamp
    updated_at: Timestamp


class BotQueries(Wire):
    """The query of a page of bots, and the number of pages."""

    page: int = Field(description="the page", examples=[1])
    limit: int = Field(description="the bots of a page", examples=[12])
    sort: str = Field(description='the field as asked for; "" for none', examples=["-totalVotes"])
    q: str = Field(description='the text searched; "" for none', examples=["music"])
    certified: str = Field(
        pattern="^(true|false)$",
        description="whether only certified bots are listed",
        examples=["false"],
    )
    tags: str = Field(
        description='the tags, separated by commas; "" for none', examples=["music,fun"]
    )
    ids: int | str = Field(description="the ids, separated by commas; 0 for none", examples=[0])
    max_page: int = Field(
        ge=1,
        description="the number of the last page. A search with `q` counts the first 1,000 bots: "
        "if there are more, `page` also reads the pages after this one",
        examples=[3],
    )
    is_safety: bool = Field(
        description="always true; the interface does not give its meaning", examples=[True]
    )


class BotPage(Wire):
    """A page of bots."""

    queries: BotQueries
    data: list[BotRecord]


class Done(Wire):
    """The answer to a write. A new id is found by reading the list."""

    success: bool = True
    message: str = Field(description="what was done", examples=["Done."])
    passing_time: str = Field(description="the time it took", examples=["1.25ms"])


class Answer(Done, Generic[T]):
    """The answer to a read."""

    data: T


class Refusal(Wire):
    """The answer to a failed request."""

    error: str = Field(description="the problem, for people to read", examples=["name is missing"])


_REFUSALS = {
    400: "The body or a parameter is not valid; the text names every invalid field.",
    401: "The token is missing or invalid.",
    403: "The token belongs to another bot.",
    404: "The bot or the record is not known.",
    408: "The body arrived too slowly.",
    409: "The user has voted already; `Retry-After` is the time left, in seconds.",
    413: "The body is too large.",
    429: "Too many requests; `Retry-After` has the seconds to wait.",
    500: "An internal error of the service.",
    503: "The database does not answer in time; or a failure on request (`serve --fail`).",
}
_ALWAYS = (408, 413, 429, 500, 503)
"""Statuses that any request may be answered with: a GET may have a body as well."""


def refusal_schemas(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe these error answers for the OpenAPI document, beside the ones of every request."""
    return {
        status: {
            "model": Refusal,
            "description": meaning,
            **_HEADERS.get(status, {}),
        }
        for status, meaning in _REFUSALS.items()
        if status in {*statuses, *_ALWAYS}
    }


_SECONDS = {"type": "integer", "minimum": 1, "examples": [9]}
_RETRY_AFTER = {"headers": {"Retry-After": {"description": "seconds", "schema": _SECONDS}}}
_HEADERS: dict[int, dict[str, Any]] = dict.fromkeys((409, 429), _RETRY_AFTER)


LARGEST_BODY = 1024 * 1024
"""Bytes: enough for every field at its limit, written with `\\u` escapes throughout."""

AN_ID = "64f0c2a91be73d5a0c8e41f7"
"""The id of a record, as examples have it."""

A_USER = "80351110224678912"
"""The id of a user, as examples have it."""

MOST_USES = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""


def _whole(value: object) -> object:
    """Read 3.0 as 3: JSON has one kind of number, and JSON Schema takes both for an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain NUL")
    return _not_empty(text)


# Every character that `str.strip` does not remove; the classes of other dialects differ from it.
NOT_SPACE = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_filled = partial(Field, json_schema_extra={"pattern": NOT_SPACE})
_NAME = {"pattern": r"^[^\x00]*[^\x00" + NOT_SPACE.removeprefix("[^") + r"[^\x00]*$"}
Name = Annotated[
    str, Field(max_length=1_000, json_schema_extra=_NAME), AfterValidator(_without_nul)
]
Description = Annotated[str, _filled(max_length=20_000), AfterValidator(_not_empty)]
Syntax = Annotated[str, _filled(max_length=5_000), AfterValidator(_not_empty)]
Category = Annotated[str, Field(max_length=1_000)]
UserId = Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,100}$")]
Uses = Annotated[int, Field(ge=0, le=MOST_USES), BeforeValidator(_whole)]


class Body(BaseModel, strict=True, extra="ignore", frozen=True):
    """The body of a write."""

    def columns(self) -> dict[str, Any]:
        """Return its fields by column; `""` for a null or absent field."""
        columns = self.model_dump(exclude={"id"})
        return {name: "" if value is None else value for name, value in columns.items()}


class CommandRecord(Wire):
    """A command as listed. Without a category the field is absent."""

    id: str = Field(examples=[AN_ID])
    name: str = Field(examples=["ping"])
    description: str = Field(examples=["Says pong."])
    syntax: str = Field(examples=["/ping"])
    category: str | None = Field(default=None, examples=["Fun"])
    uses: Count = Field(examples=[12])
    created_at: Timestamp
    updated_at: Timestamp


class CommandBody(Body):
    """A command to add, or, with `id`, to edit."""

    id: str | None = Field(
        default=None, min_length=1, description="the command to edit; if absent, one is added"
    )
    name: Name = Field(description="its name; not unique", examples=["ping"])
    description: Description = Field(description="what it does", examples=["Says pong."])
    syntax: Syntax = Field(description="how to use it", examples=["/ping"])
    category: Category | None = Field(
        default=None,
        examples=["Fun"],
        description='its group; absent, null or "" for none',
    )


class CommandEdit(CommandBody):
    """A command to edit."""

    id: str = Field(min_length=1, description="the command to edit", examples=[AN_ID])


class SeedCommand(CommandBody, extra="forbid"):
    """A command of the seed file: the body that adds it, and its uses."""

    id: None = None  # the service gives it
    uses: Uses = 0


class AnnouncementRecord(Wire):
    """An announcement as listed."""

    id: str = Field(examples=[AN_ID])
    title: str = Field(examples=["v2 is out"])
    description: str = Field(examples=["Slash commands everywhere."])
    created_at: Timestamp


class AnnouncementBody(Body):
    """An announcement to add."""

    title: Name = Field(description="its title; not unique", examples=["v2 is out"])
    description: Description = Field(
        description="its text", examples=["Slash commands everywhere."]
    )


class SeedAnnouncement(AnnouncementBody, extra="forbid"):
    """An announcement of the seed file."""


SEEDED: dict[Resource, type[Body]] = {
    Resource.COMMAND: SeedCommand,
    Resource.ANNOUNCEMENT: SeedAnnouncement,
}
"""The form of each kind of record in a seed file."""


class UsesBody(Body):
    """How often a command was used."""

    uses: Uses = Field(examples=[12])


class VoterRecord(Wire):
    """A vote as listed: who voted, and when."""

    id: str = Field(examples=[A_USER])
    username: str = Field(examples=["Ann"])
    avatar: str = ""
    voted_at: Timestamp


class PageQueries(Wire):
    """The paging of a list."""

    page: int = Field(examples=[1])
    limit: int = Field(examples=[10])
    max_page: int = Field(description="the number of pages", examples=[3])


class VoterPage(Wire):
    """A page of votes."""

    queries: PageQueries
    data: list[VoterRecord]


class VoteCheck(Done):
    """Whether a user has voted; `success` is the same, as some clients read it."""

    voted: bool = Field(examples=[True])


class UserBody(Body):
    """A user who votes."""

    id: UserId = Field(description="the user's id", examples=[A_USER])
    username: Name | None = Field(
        default=None, description="the name; if absent, the id", examples=["Ann"]
    )
    avatar: str = Field(default="", max_length=1_000, description="the hash of the picture")


class VoteBody(Body):
    """A vote to cast."""

    user: UserBody


class StatsBody(Body):
    """The size of a bot, as it reports it."""

    servers: Uses = Field(description="the servers it is in", examples=[1284])
    shards: Uses | None = Field(default=None, description="the shards it runs", examples=[2])


def describe(
    errors: Sequence[Mapping[str, Any]], *, whole: str = "the body (application/json)"
) -> str:
    """Return pydantic's errors in one line, field by field; errors of the whole under its name."""
    sentences = []
    for error in errors:
        kind, context = error["type"], error.get("ctx", {})
        if kind == "json_invalid":
            reason = context.get("error", "it cannot be read")
            sentences.append(f"the body is not valid JSON: {reason}")
            continue
        steps = error["loc"][1:] if error["loc"][:1] in _PLACES else error["loc"]
        problem = _PROBLEMS.get(kind, "is not valid: {msg}").format(msg=error["msg"], **context)
        # The place in the document: `bots[0].profile.username`.
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        sentences.append(f"{place.removeprefix('.') or whole} {problem}")
    return "; ".join(sentences)


_PLACES = {("body",), ("query",)}
_PROBLEMS = {
    "value_error": "{error}",
    "missing": "is missing",
    "string_type": "must be a string",
    "string_unicode": "contains half of a surrogate pair, which is not text",
    "string_too_long": "is longer than {max_length} characters",
    "string_too_short": "must not be empty",
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "must be a whole number"),
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    **dict.fromkeys(("model_attributes_type", "model_type", "dict_type"), "must be a JSON object"),
    "extra_forbidden": "is not a known field",
}
