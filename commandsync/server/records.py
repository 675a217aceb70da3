"""What the service answers with: the records and envelopes, as they are on the wire.

The bot's fields are those of the service interface ("Resources and their fields"); those of
commands and announcements follow the wire notes. The seed file gives bots in the same form.
"""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

T = TypeVar("T")


def _encodable(text: str) -> str:
    """Refuse what a seed file can spell and no answer can carry; pydantic looks only at limits."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is not text") from None
    return text


Text = Annotated[str, AfterValidator(_encodable)]
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
        allow_inf_nan=False,  # a seed file may spell them, and JSON has no words for them
    )


class ProfileRecord(Wire):
    """How a bot looks on its platform; `tag` is made of the two names when it is left out."""

    avatar: Text = ""
    avatar_url: Text = Field(default="", alias="avatarURL")
    username: Text = Field(min_length=1)
    discriminator: Text = "0"
    tag: Text = ""
    banner: Text = ""

    @model_validator(mode="after")
    def _with_tag(self) -> "ProfileRecord":
        if not self.tag:
            plain = self.discriminator in {"", "0"}
            self.tag = self.username if plain else f"{self.username}#{self.discriminator}"
        return self


class CreatorRecord(Wire):
    """Who made a bot."""

    is_team: bool = False
    id: Text = ""


class InformationRecord(Wire):
    """What a bot's page says."""

    description: Text = ""
    overview: Text = ""
    creator: CreatorRecord = CreatorRecord()
    tags: list[Text] = []


class StatisticsRecord(Wire):
    """A bot's counters."""

    servers: Count = 0
    daily_votes: Count = 0
    weekly_votes: Count = 0
    monthly_votes: Count = 0
    total_votes: Count = 0


class RatingsRecord(Wire):
    """What users think of a bot; `average` is null while there are no ratings."""

    average: float | None = None
    total: Count = 0


class ThemeRecord(Wire):
    """The colours of a bot's page."""

    enabled: bool = False
    automatic: bool = True
    color: Colour = "#3b82f6"
    color_lighter: Colour = "#93c5fd"


class BotFields(Wire):
    """A bot without its id and timestamps: what the seed file says and the database keeps."""

    provider: Text = "discord"
    profile: ProfileRecord
    prefix: Text = ""
    information: InformationRecord = InformationRecord()
    statistics: StatisticsRecord = StatisticsRecord()
    state: int = 0
    certificate: int = 0
    invite_url: Text = Field(default="", alias="inviteURL")
    ratings: RatingsRecord = RatingsRecord()
    vanity: Text | None = None
    theme: ThemeRecord = ThemeRecord()
    status: int = 0


class BotRecord(BotFields):
    """A bot as listed."""

    id: str
    created_at: Timestamp
    updated_at: Timestamp


class CommandRecord(Wire):
    """A command as listed. No category: the field is absent."""

    id: str = Field(examples=["64f0c2a91be73d5a0c8e41f7"])
    name: str
    description: str
    syntax: str
    category: str | None = None
    uses: Count
    created_at: Timestamp
    updated_at: Timestamp


class AnnouncementRecord(Wire):
    """An announcement as listed."""

    id: str = Field(examples=["64f0c2a91be73d5a0c8e41f7"])
    title: str
    description: str
    created_at: Timestamp


class Done(Wire):
    """The answer to a write: that it was done. A new id is learned by reading the list."""

    success: bool = True
    message: str
    passing_time: str = Field(description="how long it took", examples=["1.25ms"])


class Answer(Done, Generic[T]):
    """The answer to a read."""

    data: T


class Refusal(Wire):
    """The answer to anything that was not done."""

    error: str = Field(description="what is wrong, for people to read")


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the given error answers for the OpenAPI document."""
    meanings = {
        400: "The body is not what is asked for; the text names every field that is wrong.",
        401: "The token is missing or invalid.",
        403: "The token is another bot's.",
        404: "The bot or the record is not known.",
        413: "The body is too large.",
        500: "The service's own trouble.",
    }
    return {
        status: {"model": Refusal, "description": meanings[status]} for status in (*statuses, 500)
    }
