"""The pages of the service, as a browser asks for them; what they contain is tested beside them."""

import gzip
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from fastapi import FastAPI

from commandsync.server.database import Database
from commandsync.server.endpoint import HEADERS
from commandsync.server.service import create_app, running
from tests.support.bots import Service
from tests.support.callers import ROOT, Caller

LANTERN = "/bot/779641401482805289"


class Page(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


class Reader:
    """Somebody who opens pages."""

    def __init__(self, url: str) -> None:
        self._caller = Caller(url, "", "")

    def get(self, path: str, *, method: str = "GET", **headers: str) -> Page:
        status, content, found = self._caller.raw(method, path, headers=headers)
        if found.get("content-encoding") == "gzip" and content:
            content = gzip.decompress(content)
        return Page(status, found, content.decode())


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with running(seed=ROOT / "examples" / "seed.json") as service:
        yield Reader(service.url)


def test_the_list_links_to_the_page_of_every_bot(reader: Reader) -> None:
    page = reader.get("/")
    links = re.findall(r'href="(/bot/[^"]+)"', page.text)

    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert len(links) == 2
    assert [reader.get(link).status for link in links] == [200, 200]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/?page=2", 404, "Page 2 does not exist"),
        ("/?page=0", 400, "Page must be"),
        ("/?page=1000000001", 400, "Page must be"),
        (f"/?page={'9' * 5_000}", 400, "Page is not valid"),
        ("/?page=%D9%A1", 400, "Page must be"),
        ("/?certified=maybe", 400, "Certified must be"),
        ("/?sort=luck", 400, "Sort must be"),
        ("/bot/unknown", 404, "bot is not"),
        ("/bot/unknown/voters", 404, "bot is not"),
        (f"{LANTERN}/voters?page=two", 400, "Page must be"),
        (f"{LANTERN}/voters?page=2", 404, "Page 2 does not exist"),
        ("/bot/%3Cscript%3E/a/b", 404, "Check the address"),
    ],
)
def test_a_failed_page_says_what_to_do(reader: Reader, path: str, status: int, words: str) -> None:
    page = reader.get(path)

    assert (page.status, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in page.text
    assert 'href="/' in page.text


def test_only_browsers_get_a_page_for_a_path_that_is_not_known(reader: Reader) -> None:
    for_browser = reader.get("/nothing", Accept="text/html,*/*;q=0.8")
    for_program = reader.get("/nothing", Accept="*/*")
    of_interface = reader.get("/v1/nothing", Accept="text/html")

    assert (for_browser.status, for_program.status, of_interface.status) == (404, 404, 404)
    assert for_browser.text.startswith("<!doctype html>")
    assert for_program.text.startswith('{"error":')
    assert of_interface.text.startswith('{"error":')


def test_another_method_is_refused_with_those_that_there_are(reader: Reader) -> None:
    page = reader.get("/", method="DELETE")

    assert (page.status, page.headers["allow"]) == (405, "GET, HEAD")
    assert page.text.startswith("<!doctype html>")


def test_a_failure_of_the_service_is_a_page_too(caplog: pytest.LogCaptureFixture) -> None:
    def broken(database: Database) -> FastAPI:
        app = create_app(database)
        app.state.now = "not a clock"
        return app

    with running(seed=ROOT / "examples" / "seed.json", application=broken) as service:
        page = Reader(service.url).get(LANTERN)

    assert page.status == 500
    assert {name: page.headers.get(name.lower()) for name in HEADERS} == HEADERS
    assert "Internal error" in page.text
    assert "TypeError" not in page.text
    assert "Exception in ASGI application" in caplog.text


def test_every_file_of_a_page_is_there_and_read_again_where_it_changed(reader: Reader) -> None:
    page = reader.get(LANTERN)
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    answers = {file: reader.get(file) for file in files}

    assert {file.rpartition(".")[2] for file in files} == {"css", "js", "svg"}
    for file, answer in answers.items():
        assert answer.status == 200, file
        again = reader.get(file, **{"If-None-Match": answer.headers["etag"]})
        assert (again.status, again.headers["cache-control"]) == (304, "private, no-cache"), file


@pytest.mark.parametrize("file", ["", "none.css", "..%2Ftemplates.py", "%00"])
def test_no_other_file_is_served(reader: Reader, file: str) -> None:
    assert reader.get(f"/static/{file}").status in {400, 404}


def test_a_page_is_compressed_for_whoever_can_read_that(reader: Reader) -> None:
    plain = reader.get(LANTERN)
    compressed = reader.get(LANTERN, **{"Accept-Encoding": "gzip, br"})

    assert plain.text == compressed.text
    assert plain.headers["vary"] == compressed.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in plain.headers
    assert int(compressed.headers["content-length"]) < int(plain.headers["content-length"]) / 2


def test_the_head_of_a_page_can_be_asked_for(reader: Reader) -> None:
    assert reader.get(LANTERN, method="HEAD").headers["content-type"].startswith("text/html")


def test_voters_are_listed_the_newest_first_on_pages_of_fifty(service: Service) -> None:
    bot = service.bot()
    bot.cast(*map(str, range(60)))
    reader = Reader(bot.url)
    pages = [reader.get(f"/bot/{bot.id}/voters?page={page}").text for page in (1, 2)]
    latest = reader.get(f"/bot/{bot.id}").text

    assert [len(re.findall(r"<li><bdi>u\d+</bdi>", page)) for page in pages] == [50, 10]
    assert re.findall(r"<li><bdi>u(\d+)</bdi>", latest) == [*map(str, range(59, 51, -1))]
    assert "?page=2" in pages[0]
    assert "60 votes" in pages[0]


def test_the_pages_are_not_part_of_the_interface(reader: Reader) -> None:
    assert '"/bot/' not in reader.get("/v1/openapi.json").text
