import pickle
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from commandsync.records.models import (
    Announcement,
    Bot,
    BotPage,
    Command,
    Statistics,
    Voter,
    VoterPage,
    with_raw,
)
from tests.support.bots import WHOLE


def test_a_command_is_read_as_documented() -> None:
    command = Command.model_validate(
        {"id": "c1", "name": "help", "description": "d", "syntax": "/help", "category": "General"}
    )

    assert command == Command(
        id="c1", name="help", description="d", syntax="/help", category="General"
    )


@pytest.mark.parametrize("sent", [{}, {"category": None}, {"category": ""}])
def test_a_category_that_is_absent_null_or_empty_is_none(sent: dict[str, object]) -> None:
    command = Command.model_validate({"name": "help", **sent})

    assert command.category == ""


@pytest.mark.parametrize(
    ("sent", "identifier"),
    [
        ({"id": "c1"}, "c1"),
        ({"_id": "c1"}, "c1"),
        ({"id": "c1", "_id": "c2"}, "c1"),
        ({"id": 7}, "7"),
        ({"id": None}, ""),
        ({"id": "c\ufffd1"}, ""),
        ({}, ""),
    ],
)
def test_an_identifier_has_two_spellings(sent: dict[str, object], identifier: str) -> None:
    records: list[Command | Announcement | Voter] = [
        Command.model_validate({"name": "n", **sent}),
        Announcement.model_validate({"title": "t", **sent}),
        Voter.model_validate(sent),
    ]

    assert {record.id for record in records} == {identifier}


def test_unknown_fields_stay_readable() -> None:
    command = Command.model_validate({"name": "help", "__v": 3, "createdAt": "2021", "x": {"y": 1}})

    assert command.model_extra == {"__v": 3, "createdAt": "2021", "x": {"y": 1}}


def test_a_name_that_was_sent_as_a_number_is_text() -> None:
    assert Command.model_validate({"name": 247}).name == "247"


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"name": None},
        {"name": ""},
        {"name": True},
        {"name": ["help"]},
        {"name": "help", "description": {"en": "x"}},
        "help",
        None,
    ],
)
def test_what_is_no_command_is_an_error(sent: object) -> None:
    with pytest.raises(ValidationError):
        Command.model_validate(sent)


def test_an_announcement_needs_a_title() -> None:
    with pytest.raises(ValidationError):
        Announcement.model_validate({"description": "x"})


@pytest.mark.parametrize(
    ("sent", "uses"), [(12, 12), (1.5, 1), ("many", None), (None, None), (True, None), ({}, None)]
)
def test_an_odd_counter_does_not_spoil_the_command(sent: object, uses: int | None) -> None:
    assert Command.model_validate({"name": "help", "uses": sent}).uses == uses


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        (1e400, None),
        (-1e400, None),
        ("12345", 12345),
        ("9007199254740993", 9007199254740993),
        ("0", 0),
        ("12,345", 12345),
        ("1,234,567", 1234567),
        (" 12 345 ", 12345),
        ("-1 234 567.5", -1234567),
        ("1.234", 1),
        ("12,34", None),
        ("1,2345", None),
        ("NaN", None),
        ("9" * 5000, None),
        (True, None),
    ],
)
def test_a_number_is_read_from_a_string_with_separators(sent: object, number: int | None) -> None:
    assert Statistics.model_validate({"servers": sent, "totalVotes": 7}) == Statistics(
        servers=number, total_votes=7
    )


def test_a_record_keeps_what_it_was_read_from_and_is_equal_without_it() -> None:
    sent = {"_id": "c1", "name": "help", "uses": "many", "__v": 3}
    command = with_raw(Command.model_validate(sent), sent)

    assert command.raw == sent
    assert pickle.loads(pickle.dumps(command)).raw == sent  # noqa: S301 - its own
    assert command == Command(id="c1", name="help", __v=3)
    assert "raw" not in command.model_dump()
    assert Bot(id="7").model_copy().raw == {"id": "7"}
    assert Command(name="help").raw == {}


def test_records_do_not_change() -> None:
    command = Command(name="help")

    with pytest.raises(ValidationError, match="frozen"):
        command.name = "other"  # type: ignore[misc]  # that is the point


def test_a_bot_is_read_as_documented() -> None:
    bot = Bot.model_validate(WHOLE)

    assert bot.id == "42"
    assert bot.profile.avatar_url == "https://cdn.example/a.png"
    assert bot.information.creator.is_team
    assert bot.information.tags == ("fun", "music")
    assert bot.statistics.total_votes == 4
    assert bot.invite_url == "https://chat.example/invite"
    assert bot.ratings.average == 4.5
    assert bot.theme.color_lighter == "#aaffaa"
    assert bot.created_at == datetime(2021, 2, 3, 4, 5, 6, 789_000, UTC)
    assert not any(
        part.model_extra
        for part in (bot, bot.profile, bot.information, bot.statistics, bot.ratings, bot.theme)
    )


def test_a_bot_needs_nothing_but_its_id() -> None:
    bot = Bot.model_validate({"_id": "42"})

    assert (bot.id, bot.profile.username, bot.statistics.servers) == ("42", "", None)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("2021-02-03T04:05:06.789", datetime(2021, 2, 3, 4, 5, 6, 789_000, UTC)),
        ("2021-02-03", datetime(2021, 2, 3, tzinfo=UTC)),
        ("", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_an_odd_time_does_not_spoil_the_bot(sent: object, read: datetime | None) -> None:
    bot = Bot.model_validate({"id": "42", "createdAt": sent, "updatedAt": sent})

    assert bot.created_at == bot.updated_at == read


def test_a_part_of_a_bot_that_is_null_is_as_if_it_were_not_there() -> None:
    parts = ("profile", "information", "statistics", "ratings", "theme")

    bot = Bot.model_validate({"id": "42", **dict.fromkeys(parts)})
    within = {
        "information": {"creator": None, "tags": None},
        "ratings": {"total": None},
        "theme": {"enabled": None, "automatic": None},
    }

    assert bot == Bot.model_validate({"id": "42", **within}) == Bot(id="42")


def test_a_bot_without_an_id_is_none() -> None:
    with pytest.raises(ValidationError):
        Bot.model_validate({"success": True, "message": "ok"})


def test_pages_keep_their_records_and_their_paging() -> None:
    bots = BotPage.model_validate(
        {"bots": [WHOLE], "queries": {"page": 1, "limit": 12, "maxPage": 3, "ids": 5}}
    )
    voters = VoterPage.model_validate({"voters": [{"id": "7", "username": "Ann"}], "queries": {}})

    assert [bot.id for bot in bots.bots] == ["42"]
    assert (bots.queries.page, bots.queries.limit, bots.queries.max_page) == (1, 12, 3)
    assert [voter.username for voter in voters.voters] == ["Ann"]
    assert voters.queries.max_page is None


def test_every_documented_query_of_a_page_of_bots_has_its_type() -> None:
    sent = {
        "page": 2,
        "limit": 1,
        "sort": "-servers",
        "q": "Music!",
        "certified": "true",
        "tags": "music,fun",
        "maxPage": 9,
        "isSafety": True,
    }
    named, unnamed, odd, absent = (
        BotPage.model_validate({"bots": [], "queries": queries}).queries
        for queries in ({**sent, "ids": "7,8"}, {**sent, "ids": 0}, {"certified": "maybe"}, {})
    )

    assert (named.sort, named.q, named.certified) == ("-servers", "Music!", True)
    assert (named.tags, named.ids, named.is_safety) == ("music,fun", "7,8", True)
    assert (unnamed.ids, odd.certified, absent.sort, absent.ids) == ("", None, None, None)


@pytest.mark.parametrize(
    ("sent", "read"),
    [("fun, music ", ("fun", "music")), (["fun", " music"], ("fun", "music")), (7, ())],
)
def test_tags_are_a_list_or_one_string(sent: object, read: tuple[str, ...]) -> None:
    bot = Bot.model_validate({"id": "42", "information": {"tags": sent}})

    assert bot.information.tags == read
