from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from commandsync.records.texts import Resource
from commandsync.server import listing, preview, preview_service
from commandsync.server.pages.overlay import Overlay
from commandsync.server.preview import bot_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.server import PreviewService

BOT = "779641401482805289"
NO_CHANGES = Overlay(summary="Plan: 1 to add.", marks={}, gone={})


@pytest.fixture(scope="module")
def service() -> Iterator[PreviewService]:
    with preview_service(BOT, {"profile": {"username": "Lantern"}}, name="x") as running:
        yield running


def get(service: PreviewService, path: str, host: str = "") -> tuple[int, str]:
    netloc = urlsplit(service.url).netloc
    with closing(HTTPConnection(netloc, timeout=30)) as connection:
        connection.request("GET", path, headers={"Host": host or netloc})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def test_a_listing_is_replaced_with_ids_uses_and_order(service: PreviewService) -> None:
    rows = [
        {
            "id": f"c{n}",
            "name": f"n{n}",
            "description": "d",
            "syntax": "s",
            "category": "",
            "uses": n,
        }
        for n in (2, 1)
    ]
    service.replace(Resource.COMMAND, [{**row, "id": f"old-{row['id']}"} for row in rows])
    service.replace(Resource.COMMAND, rows)
    posts = [{"id": "a", "title": "v2", "description": "Out.", "uses": 0}]
    service.replace(Resource.ANNOUNCEMENT, posts)

    with service.database.reading() as connection:
        commands = listing.records_of(connection, BOT, Resource.COMMAND)
        (post,) = listing.records_of(connection, BOT, Resource.ANNOUNCEMENT)
    assert [(row["id"], row["name"], row["uses"]) for row in commands] == [
        ("c2", "n2", 2),
        ("c1", "n1", 1),
    ]
    assert (post["id"], post["title"]) == ("a", "v2")


def test_the_page_shows_the_overlay(service: PreviewService) -> None:
    service.show(NO_CHANGES)
    status, page = get(service, f"/bot/{BOT}")

    assert (status, NO_CHANGES.summary in page) == (200, True)
    assert NO_CHANGES.summary in service.page_files(NO_CHANGES)["index.html"].decode()


def test_an_open_page_hears_of_another_overlay(service: PreviewService) -> None:
    with closing(HTTPConnection(urlsplit(service.url).netloc, timeout=30)) as connection:
        connection.request("GET", f"/bot/{BOT}/live")
        reply = connection.getresponse()
        first = reply.readline()
        service.show(NO_CHANGES)
        reply.readline()
        second = reply.readline()

    assert first.startswith(b'data: {"version":')
    assert second.startswith(b'data: {"version":')
    assert first != second


@pytest.mark.parametrize("path", ["/", f"/bot/{BOT}", f"/v1/bot/{BOT}/commands"])
def test_a_name_of_another_host_that_leads_here_is_refused(
    service: PreviewService, path: str
) -> None:
    port = urlsplit(service.url).port

    assert get(service, path, "attacker.example")[0] == 400
    assert get(service, path, f"localhost:{port}")[0] == 200


def test_a_bot_whose_id_cannot_be_in_a_path_has_another_one_here() -> None:
    with preview_service("my/bot", {}, name="my/bot") as service:
        assert service.bot == "preview"
        assert "my/bot" in get(service, "/bot/preview")[1]


@pytest.mark.parametrize("today", ["2026-11-25", "2026-06-01"])
def test_the_page_has_the_age_and_the_votes_of_the_listing(
    monkeypatch: pytest.MonkeyPatch, today: str
) -> None:
    moment = datetime.fromisoformat(f"{today}T12:00:00+00:00")
    monkeypatch.setattr(preview, "_now", lambda: moment)
    votes = {"dailyVotes": 3, "weeklyVotes": 3, "monthlyVotes": 3, "totalVotes": 5210}
    if moment.weekday() and moment.day > 1:
        votes |= {"weeklyVotes": 40, "monthlyVotes": 700}
    profile = {"createdAt": "2025-03-04T05:06:07+02:00", "statistics": votes}
    with preview_service(BOT, profile, name="Lantern") as service:
        page = service.page_files(NO_CHANGES)["index.html"].decode()

    assert "4 March 2025" in page
    shown = dict(re.findall(r'data-count="(\w+)">([\d,]+)<', page))
    assert shown == {name: f"{number:,}" for name, number in votes.items()}


def test_a_time_that_is_none_is_not_shown_as_one() -> None:
    for odd in (7, "0001-01-01T00:00:00+14:00"):
        with preview_service(BOT, {"createdAt": odd}, name="Lantern") as service:
            assert (
                str(datetime.now(UTC).year) in service.page_files(NO_CHANGES)["index.html"].decode()
            )


@pytest.mark.parametrize(
    ("profile", "kept"),
    [
        ({}, {"profile": {"username": "Me"}}),
        ({"profile": 3, "prefix": "!"}, {"profile": {"username": "Me"}, "prefix": "!"}),
        (
            {"profile": {"username": "Lantern", "avatar": None}},
            {"profile": {"username": "Lantern"}},
        ),
        ({"profile": {"username": ""}}, {"profile": {"username": "Me"}}),
        (
            {"id": "4", "information": {"tags": ["fun", 3], "overview": "Fun.", "more": [1]}},
            {"profile": {"username": "Me"}, "information": {"overview": "Fun."}},
        ),
        (
            {"theme": {"color": "red", "enabled": True}, "ratings": None, "inviteURL": 7},
            {"profile": {"username": "Me"}, "theme": {"enabled": True}},
        ),
        ({"invite_url": 7}, {"profile": {"username": "Me"}}),
    ],
)
def test_what_another_service_sends_about_a_bot_is_kept_as_far_as_it_is_valid(
    profile: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert bot_fields(profile, name="Me") == bot_fields(kept, name="?")
