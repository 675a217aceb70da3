"""Models of commands, announcements, bots and voters, as the service sends them.

The field lists come from the service interface ("Resources and their fields"). Services send more
than that (wire notes): unknown fields stay readable as attributes and are never sent back. What is
documented but left out reads as empty, since no documented field is promised to be there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Callable


def _null_is(default: object) -> BeforeValidator:
    """Read null as an absent field."""
    return BeforeValidator(lambda value: default if value is None else value)


def _usable(value: object) -> object:
    """Read an identifier that cannot be sent back as empty: U+FFFD replaces other characters."""
    return "" if value is None or (isinstance(value, str) and "\ufffd" in value) else value


def _none_for_no_number(value: object) -> object:
    """Keep a counter that nothing depends on from making a whole listing unreadable."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _time(value: object, read: ValidatorFunctionWrapHandler) -> datetime | None:
    """Read a time; one without a zone is in UTC, as the service interface has all of them.

    An invalid time reads as absent: it must not make a page of bots unreadable.
    """
    try:
        time: datetime | None = read(value)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


OptionalText = Annotated[str, _null_is("")]
"""Text that is absent, null or empty alike (wire notes: a category left out comes back as any)."""

Identifier = Annotated[str, BeforeValidator(_usable)]
Time = Annotated[datetime | None, WrapValidator(_time)]
_Part = _null_is({})  # an object without fields
_Flag = Annotated[bool, _null_is(False)]  # noqa: FBT003 - a value
_IDENTIFIER = Field(default="", validation_alias=AliasChoices("id", "_id"))


class Record(BaseModel):
    """What all records share: frozen, tolerant of unknown fields, numbers read as text."""

    model_config = ConfigDict(
        frozen=True, extra="allow", coerce_numbers_to_str=True, populate_by_name=True
    )


class Command(Record):
    """A command of a bot; its name is not unique.

    Attributes:
        id: The service's identifier (`id` or `_id` on the wire); empty when it sent none.
        name: What the command is called; not unique.
        description: What it does.
        syntax: How it is used.
        category: Its group; empty for none.
        uses: How often it was used; None when the service does not send it.
    """

    id: Identifier = _IDENTIFIER
    name: str = Field(pattern=r"\S")
    description: OptionalText = ""
    syntax: OptionalText = ""
    category: OptionalText = ""
    uses: Annotated[int | float | None, BeforeValidator(_none_for_no_number)] = None


class Announcement(Record):
    """An announcement of a bot; announcements cannot be edited."""

    id: Identifier = _IDENTIFIER
    title: str = Field(pattern=r"\S")
    description: OptionalText = ""


class Profile(Record):
    """How a bot looks on its platform."""

    avatar: str | None = None
    avatar_url: str | None = Field(default=None, validation_alias="avatarURL")
    username: OptionalText = ""
    discriminator: OptionalText = ""
    tag: OptionalText = ""
    banner: str | None = None


class Creator(Record):
    """Who made a bot."""

    is_team: _Flag = Field(default=False, validation_alias="isTeam")
    id: Identifier = ""


class Information(Record):
    """The texts of a bot's page."""

    description: OptionalText = ""
    overview: OptionalText = ""
    creator: Annotated[Creator, _Part] = Creator()
    tags: Annotated[tuple[str, ...], _null_is(())] = ()


class Statistics(Record):
    """A bot's counters."""

    servers: int | float | None = None
    daily_votes: int | float | None = Field(default=None, validation_alias="dailyVotes")
    weekly_votes: int | float | None = Field(default=None, validation_alias="weeklyVotes")
    monthly_votes: int | float | None = Field(default=None, validation_alias="monthlyVotes")
    total_votes: int | float | None = Field(default=None, validation_alias="totalVotes")


class Ratings(Record):
    """What users think of a bot; `average` is None while there are no ratings."""

    average: float | None = None
    total: Annotated[int | float, _null_is(0)] = 0


class Theme(Record):
    """The colours of a bot's page, as `#rrggbb`."""

    enabled: _Flag = False
    automatic: _Flag = False
    color: str | None = None
    color_lighter: str | None = Field(default=None, validation_alias="colorLighter")


class Bot(Record):
    """A bot as listed. The meaning of `state`, `certificate` and `status` is not published.

    Its times have a zone.
    """

    id: Identifier = Field(min_length=1, validation_alias=AliasChoices("id", "_id"))
    provider: OptionalText = ""
    profile: Annotated[Profile, _Part] = Profile()
    prefix: OptionalText = ""
    information: Annotated[Information, _Part] = Information()
    statistics: Annotated[Statistics, _Part] = Statistics()
    state: int | float | None = None
    certificate: int | float | None = None
    invite_url: str | None = Field(default=None, validation_alias="inviteURL")
    ratings: Annotated[Ratings, _Part] = Ratings()
    vanity: str | None = None
    theme: Annotated[Theme, _Part] = Theme()
    status: int | float | None = None
    created_at: Time = Field(default=None, validation_alias="createdAt")
    updated_at: Time = Field(default=None, validation_alias="updatedAt")


class Account(Record):
    """Whom an event is about, a user or a bot; the fields are not published beyond these."""

    id: Identifier = _IDENTIFIER
    username: OptionalText = ""


read_account: Callable[[object], Account] = TypeAdapter(Account).validator.validate_python
"""`Account.model_validate` without its options, for events by the thousand."""


class Voter(Account):
    """Somebody who voted for a bot."""


class Queries(Record):
    """The paging a list answer reports (`data.queries`)."""

    page: int | None = None
    limit: int | None = None
    max_page: int | None = Field(default=None, validation_alias="maxPage")


class BotPage(Record):
    """One page of bots."""

    bots: tuple[Bot, ...]
    queries: Queries = Queries()


class VoterPage(Record):
    """One page of voters."""

    voters: tuple[Voter, ...]
    queries: Queries = Queries()


AnyRecord = Command | Announcement

MODELS: dict[Resource, type[AnyRecord]] = {
    Resource.COMMAND: Command,
    Resource.ANNOUNCEMENT: Announcement,
}
"""The model of each kind of record."""
