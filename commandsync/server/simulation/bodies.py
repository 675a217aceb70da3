"""What simulated services accept as a body, from their documents."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

T = TypeVar("T")

_MOST_OPTIONS = Field(max_length=25)


class _Described(BaseModel):
    name: Annotated[
        str, Field(pattern=r"^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}&&[^\p{Lu}\p{Lt}]]{1,32}$")
    ]
    description: Annotated[str, Field(min_length=1, max_length=100)]


class _Option(_Described):
    type: Annotated[int, Field(ge=3)]


class _Subcommand(_Described):
    type: Literal[1]
    options: Annotated[list[_Option], _MOST_OPTIONS] = []


class _Group(_Described):
    type: Literal[2]
    options: Annotated[list[_Subcommand], _MOST_OPTIONS] = []


class _ChatCommand(_Described):
    type: Literal[1] = 1
    options: Annotated[list[_Subcommand | _Group | _Option], _MOST_OPTIONS] = []


class _MenuCommand(BaseModel):
    type: Literal[2, 3, 4]
    name: Annotated[str, Field(min_length=1, max_length=32)]


class _LongCommand(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    description: Annotated[str, Field(max_length=1_000)] = ""


class _TelegramCommand(BaseModel):
    command: Annotated[str, Field(pattern="^[a-z0-9_]{1,32}$")]
    description: Annotated[str, Field(min_length=1, max_length=256)]


class _Announcement(BaseModel):
    title: Annotated[str, Field(min_length=3, max_length=100)]
    content: Annotated[str, Field(min_length=10, max_length=2_000)]
    category: Literal["announcement", "event", "new_feature"]


class _Wrapped(BaseModel, Generic[T]):
    commands: T


Body = TypeAdapter[Any]
_Discord = _ChatCommand | _MenuCommand
_Hundred = Annotated[list[_Discord], Field(max_length=100)]
_OneToTwoHundred = Annotated[list[_Discord], Field(min_length=1, max_length=200)]
_TwoHundredLong = Annotated[list[_LongCommand], Field(max_length=200)]
DISCORD_LIST = Body(_Hundred)
WRAPPED = Body(_Wrapped[_Hundred])
ONDISCORD = Body(_Wrapped[_TwoHundredLong | None])
DISQ = Body(_Wrapped[_OneToTwoHundred])
TELEGRAM = Body(list[_TelegramCommand])
ANNOUNCEMENT = Body(_Announcement)
