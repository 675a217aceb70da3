"""The answers of the service: bots and envelopes, as on the wire.

The bot's fields are those of the service interface ("Resources and their fields"). The seed file
contains bots in the same form.
"""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

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
    """Who made a bot."""

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
    """What a page of bots was asked for, and how many pages there are."""

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
"""What any request may be answered: a GET may have a body as well."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the given error answers for the OpenAPI document, and those of every request."""
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
