"""Models of commands, announcements, bots and voters, as the service sends them.

The field lists come from the service interface ("Resources and their fields"). Services send more
than that (wire notes): unknown fields stay readable as attributes and are never sent back. A
documented field that is left out reads as empty: none is promised to be there. An odd
value of a bot or a voter reads as absent, since no page is unreadable for one value of it.
"""

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from typing import Annotated, Self, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from commandsync.records.texts import Resource


def _null_is(default: object) -> BeforeValidator:
    """Read null as an absent field."""
    return BeforeValidator(lambda value: default if value is None else value)


def _usable(value: object) -> object:
    """Read an identifier that cannot be sent back as empty: U+FFFD replaces other characters."""
    return "" if value is None or (isinstance(value, str) and "\ufffd" in value) else value


def _number(value: object) -> int | float | None:
    """Read a number, also from a string with separators of thousands; `ValueError` for another."""
    if isinstance(value, str):
        text = _SEPARATOR.sub("", value.strip())
        value = float(text) if "." in text else int(text)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise ValueError  # noqa: TRY004 - pydantic reads no other
    return value


def _whole(value: object) -> int | None:
    """Read a whole number, without a fraction that it may have; raises as `_number`."""
    if type(value) is int:  # pragma: no mutate - as nearly always, and quicker
        return value
    number = _number(value)
    if number in {inf, -inf}:
        raise ValueError
    return None if number is None else int(number)


def _whole_or_none(value: object) -> int | None:
    """Read a counter that nothing depends on."""
    with suppress(ValueError):
        return _whole(value)
    return None


def _tags(value: object) -> object:
    """Read tags, also from one string."""
    return value.split(",") if isinstance(value, str) else value


def _time(value: object, read: ValidatorFunctionWrapHandler) -> datetime | None:
    """Read a time; one without a zone is in UTC, as the service interface has all of them.

    An invalid time reads as absent: it must not make a page of bots unreadable.
    """
    try:
        time: datetime | None = read(value)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


_SEPARATOR = re.compile(r"(?<=\d)[,_ '\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_log = logging.getLogger("commandsync.records")

OptionalText = Annotated[str, _null_is("")]
"""Text that is absent, null or empty alike (wire notes: a category left out comes back as any)."""

Identifier = Annotated[str, BeforeValidator(_usable)]
Time = Annotated[datetime | None, WrapValidator(_time)]
_Tag = Annotated[str, StringConstraints(strip_whitespace=True)]
_Part = _null_is({})  # an object without fields
_Whole = Annotated[int | None, BeforeValidator(_whole)]
_Flag = Annotated[bool, _null_is(False)]  # noqa: FBT003 - a value
_IDENTIFIER = Field(default="", validation_alias=AliasChoices("id", "_id"))
M = TypeVar("M", bound="Record")


class Record(BaseModel):
    """The base of all records: frozen, tolerant of unknown fields, numbers read as text."""

    model_config = ConfigDict(
        frozen=True, extra="allow", coerce_numbers_to_str=True, populate_by_name=True
    )


class _Listed(Record):
    """A record that keeps the object it was read from."""

    @cached_property
    def raw(self) -> Mapping[str, object]:
        """The object as the service sent it, unknown fields and odd values included."""
        return {}


def with_raw(record: M, raw: object) -> M:
    """Set the object that a record was read from, which is neither compared nor dumped."""
    record.__dict__["raw"] = raw
    return record


class _Read(_Listed):
    """A listed record that reads an odd value as absent."""

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, data: object, read: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            record = read(data)
        except ValidationError as error:
            if not isinstance(data, dict):
                raise
            odd = {problem["loc"][0] for problem in error.errors(include_url=False)}
            for name in odd:
                _log.debug("%s: %s is not readable: %.100r", cls.__name__, name, data.get(name))
            record = read({name: value for name, value in data.items() if name not in odd})
        return with_raw(record, data) if isinstance(data, dict) else record


class Command(_Listed):
    """A command of a bot; its name is not unique.

    Attributes:
        id: The service's identifier (`id` or `_id` on the wire); empty when it sent none.
        name: The name, which is not unique.
        description: Its effect, in words.
        syntax: Its usage.
        category: Its group; empty for none.
        uses: How often it was used; None when the service does not send it.
    """

    id: Identifier = _IDENTIFIER
    name: str = Field(pattern=r"\S")
    description: OptionalText = ""
    syntax: OptionalText = ""
    category: OptionalText = ""
    uses: Annotated[int | None, BeforeValidator(_whole_or_none)] = None


class Announcement(_Listed):
    """An announcement of a bot; announcements cannot be edited."""

    id: Identifier = _IDENTIFIER
    title: str = Field(pattern=r"\S")
    description: OptionalText = ""


class Profile(_Read):
    """How a bot looks on its platform."""

    avatar: str | None = None
    avatar_url: str | None = Field(default=None, validation_alias="avatarURL")
    username: OptionalText = ""
    discriminator: OptionalText = ""
    tag: OptionalText = ""
    banner: str | None = None


class Creator(_Read):
    """The creator of a bot."""

    is_team: _Flag = Field(default=False, validation_alias="isTeam")
    id: Identifier = ""


class Information(_Read):
    """The texts of a bot's page."""

    description: OptionalText = ""
    overview: OptionalText = ""
    creator: Annotated[Creator, _Part] = Creator()
    tags: Annotated[tuple[_Tag, ...], BeforeValidator(_tags), _null_is(())] = ()


class Statistics(_Read):
    """A bot's counters."""

    servers: _Whole = None
    daily_votes: _Whole = Field(default=None, validation_alias="dailyVotes")
    weekly_votes: _Whole = Field(default=None, validation_alias="weeklyVotes")
    monthly_votes: _Whole = Field(default=None, validation_alias="monthlyVotes")
    total_votes: _Whole = Field(default=None, validation_alias="totalVotes")


class Ratings(_Read):
    """The ratings of a bot by its users; `average` is None while there are none."""

    average: Annotated[float | None, BeforeValidator(_number)] = None
    total: Annotated[_Whole, _null_is(0)] = 0


class Theme(_Read):
    """The colours of a bot's page, as `#rrggbb`."""

    enabled: _Flag = False
    automatic: _Flag = False
    color: str | None = None
    color_lighter: str | None = Field(default=None, validation_alias="colorLighter")


class Bot(_Read):
    """A bot as listed. The meaning of `state`, `certificate` and `status` is not published.

    Its times have a zone.
    """

    id: Identifier = Field(min_length=1, validation_alias=AliasChoices("id", "_id"))
    provider: OptionalText = ""
    profile: Annotated[Profile, _Part] = Profile()
    prefix: OptionalText = ""
    information: Annotated[Information, _Part] = Information()
    statistics: Annotated[Statistics, _Part] = Statistics()
    state: _Whole = None
    certificate: _Whole = None
    invite_url: str | None = Field(default=None, validation_alias="inviteURL")
    ratings: Annotated[Ratings, _Part] = Ratings()
    vanity: str | None = None
    theme: Annotated[Theme, _Part] = Theme()
    status: _Whole = None
    created_at: Time = Field(default=None, validation_alias="createdAt")
    updated_at: Time = Field(default=None, validation_alias="updatedAt")


class Account(Record):
    """The user or bot that an event is about; the fields are not published beyond these."""

    id: Identifier = _IDENTIFIER
    username: OptionalText = ""


read_account: Callable[[object], Account] = TypeAdapter(Account).validator.validate_python
"""`Account.model_validate` without its options, for events by the thousand."""


class Voter(_Read, Account):
    """A voter of a bot, and the time of the vote; None if the service does not send it."""

    voted_at: Time = Field(default=None, validation_alias="votedAt")


class Queries(_Read):
    """The paging a list answer reports (`data.queries`)."""

    page: int | None = None
    limit: int | None = None
    max_page: int | None = Field(default=None, validation_alias="maxPage")


class BotQueries(Queries):
    """The query of a page of bots, as the service reports it; None if it does not.

    Attributes:
        sort: The field the bots are sorted by.
        q: The text that was searched.
        certified: Whether only certified bots are listed.
        tags: The tags, separated by commas.
        ids: The ids, separated by commas; empty for none.
        is_safety: As the service sends it: its meaning is not published.
    """

    sort: str | None = None
    q: str | None = None
    certified: bool | None = None
    tags: str | None = None
    ids: Annotated[str | None, BeforeValidator(lambda ids: ids or "")] = None
    is_safety: bool | None = Field(default=None, validation_alias="isSafety")


class BotPage(Record):
    """One page of bots."""

    bots: tuple[Bot, ...]
    queries: BotQueries = BotQueries()


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
