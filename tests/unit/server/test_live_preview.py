"""The web server of a preview, over a real connection."""

from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPException
from urllib.parse import urlsplit

import pytest

from commandsync.pages.botpage import BotPage, Preview
from commandsync.pages.templates import served_files
from commandsync.server import live_preview, protocol
from commandsync.server.live_preview import PreviewServer, preview_server
from commandsync.server.middleware import HEADERS
from tests.support.callers import Caller
from tests.support.gateway import opened_stream
from tests.support.pages import bot

LONG_NUMBER = 10**4_000
SENT = 1_200  # long numbers, more than the system keeps for a client that does not read


def page(summary: str = "Plan: 1 to add.") -> BotPage:
    return BotPage(bot=bot(), rows={}, preview=Preview(summary=summary))


@pytest.fixture(scope="module")
def server() -> Iterator[PreviewServer]:
    with preview_server(page()) as running:
        yield running


def get(
    server: PreviewServer, path: str, host: str = "", method: str = "GET"
) -> tuple[int, dict[str, str], str]:
    headers = {"Host": host or urlsplit(server.url).netloc}
    status, content, found = Caller(server.url, "", "").raw(method, path, headers=headers)
    return status, found, content.decode()


def test_the_page_is_the_one_that_was_shown_last(server: PreviewServer) -> None:
    pages = []
    for summary in ("Plan: first.", "Plan: second."):
        server.show(page(summary))
        pages.append(get(server, "/")[2])

    assert ["Plan: first." in pages[0], "Plan: second." in pages[1]] == [True, True]
    assert "Plan: first." not in pages[1]


@pytest.mark.parametrize("path", ["/", *(f"/static/{name}" for name in served_files()), "/nothing"])
def test_every_answer_has_the_headers_of_the_pages(server: PreviewServer, path: str) -> None:
    status, headers, _ = get(server, path)

    assert status == (404 if path == "/nothing" else 200)
    assert {name: headers[name.lower()] for name in HEADERS} == HEADERS
    assert get(server, path, method="HEAD")[::2] == (status, "")


@pytest.mark.promise("preview")
@pytest.mark.parametrize("path", ["/", "/live", "/static/style.css", "/nothing"])
def test_another_hosts_name_is_refused(server: PreviewServer, path: str) -> None:
    assert get(server, path, "attacker.example")[0] == 400
    assert "Plan" not in get(server, path, "attacker.example")[2]


def test_the_names_of_loopback_are_answered(server: PreviewServer) -> None:
    port = urlsplit(server.url).port

    assert [get(server, "/", f"{host}:{port}")[0] for host in ("localhost", "127.0.0.1")] == [
        200
    ] * 2


def test_open_pages_hear_of_the_next_page(server: PreviewServer) -> None:
    with opened_stream(server.url, "/live") as first, opened_stream(server.url, "/live") as second:
        before = first.state()["version"], second.state()["version"]
        server.show(page())
        after = first.state()["version"], second.state()["version"]

    assert (before[0], after[0]) == (before[1], after[1])
    assert after[0] == before[0] + 1
    assert f'data-version="{after[0]}"' in get(server, "/")[2]


def test_a_page_from_before_a_restart_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = []
    for time in (1.0, 1.5):
        monkeypatch.setattr(live_preview, "time", lambda time=time: time)
        with preview_server(page()) as server, opened_stream(server.url, "/live") as stream:
            versions.append(stream.state()["version"])

    assert len(set(versions)) == 2


def test_streams_end_with_the_service_and_one_that_is_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(protocol, "LONGEST_SHUTDOWN", 0.1)
    monkeypatch.setattr(live_preview, "time", lambda: LONG_NUMBER)
    with ExitStack() as stack:
        with preview_server(page()) as server:
            stuck = stack.enter_context(opened_stream(server.url, "/live", receives=4_096))
            stream = stack.enter_context(opened_stream(server.url, "/live"))
            versions = [stream.state()["version"]]
            for _ in range(SENT):
                server.show(page())
                versions.append(stream.state()["version"])

        assert versions == [LONG_NUMBER * 1_000 + number for number in range(SENT + 1)]
        assert stream.event() == b""
        with pytest.raises((HTTPException, OSError)):
            stuck.rest()
    assert caplog.text == ""


def test_a_silent_stream_is_kept_alive_and_stored_by_nobody(
    server: PreviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_preview, "KEEP_ALIVE", 0.001)
    with opened_stream(server.url, "/live") as stream:
        headers = stream.response.headers
        first = stream.state()
        comments = {stream.event() for _ in range(3)}

    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    assert ([*first], comments) == (["version"], {b":\n"})


def test_the_head_of_a_stream_has_an_end(server: PreviewServer) -> None:
    with opened_stream(server.url, "/live", method="HEAD") as stream:
        assert (stream.response.status, stream.event()) == (200, b"")
