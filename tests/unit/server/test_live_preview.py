"""The web server of a preview, over a real connection."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from urllib.parse import urlsplit

import pytest

from commandsync.pages.botpage import BotPage, Preview
from commandsync.pages.templates import static_files
from commandsync.server import live_preview
from commandsync.server.live_preview import PreviewServer, preview_server
from commandsync.server.middleware import HEADERS
from tests.support.callers import Caller
from tests.support.pages import bot


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


@pytest.mark.parametrize("path", ["/", *(f"/static/{name}" for name in static_files()), "/nothing"])
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


def version(server: PreviewServer, after: int | str = "") -> int:
    status, headers, text = get(server, f"/live?after={after}" if after else "/live")
    assert (status, headers["cache-control"]) == (200, HEADERS["Cache-Control"])
    number: int = json.loads(text)["version"]
    return number


def test_open_pages_hear_of_the_next_page(
    server: PreviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version(server)
    monkeypatch.setattr(live_preview, "LONGEST_WAIT", 30)
    with ThreadPoolExecutor() as pages:
        asked = [pages.submit(version, server, before) for _ in range(2)]
        server.show(page())
        after = [each.result() for each in asked]

    assert after == [before + 1] * 2
    assert f'data-version="{before + 1}"' in get(server, "/")[2]


def test_without_a_next_page_the_answer_comes_after_a_while(server: PreviewServer) -> None:
    before, begun = version(server), monotonic()

    assert version(server, before) == before
    assert monotonic() - begun >= live_preview.LONGEST_WAIT


def test_a_page_from_before_a_restart_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = []
    for time in (1.0, 1.5):
        monkeypatch.setattr(live_preview, "time", lambda time=time: time)
        with preview_server(page()) as server:
            versions.append(version(server))

    assert len(set(versions)) == 2
