"""The documentation site: accessible, on a phone too, and nothing is loaded from another host."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from threading import Thread

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, expect

from tests.e2e.readme_blocks import DOCUMENTS, ROOT
from tests.support.browser import violations, visiting

PHONE, DESK = 360, 1440
PAGES = ["index", "tour", *(path.stem for path in DOCUMENTS[1:]), "CHANGELOG", "SECURITY", "404"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Leave the output to the tests."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Path:
    """The site as CI builds it, once for all processes of a run."""
    pytest.importorskip("material", reason="only the group dev has the theme")
    folder = tmp_path_factory.getbasetemp().parent / f"site-{testrun_uid}"
    command = (sys.executable, ".ci/site.py", str(folder))
    ci = {"GITHUB_REPOSITORY": "a/b", "GITHUB_SERVER_URL": "https://github.com"}
    built = folder.with_suffix(".built")
    with FileLock(folder.with_suffix(".lock")):
        if not built.exists():
            subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **ci})
            built.touch()
    return folder


@pytest.fixture(scope="module")
def built(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


Tabs = dict[str, Page]


@pytest.fixture(scope="module")
def tabs(browser: Browser, built: str) -> Iterator[Tabs]:
    """A tab of a visitor of each colour scheme, which the theme remembers."""
    with visiting(browser, built) as visits:
        yield {name: visits.open("/404.html", color_scheme=name) for name in ("light", "dark")}


@pytest.fixture
def tab(tabs: Tabs) -> Page:
    return tabs["light"]


def opened(tab: Page, url: str, width: int = 1280) -> Page:
    tab.set_viewport_size({"width": width, "height": 844})
    tab.goto(url)
    return tab


def test_it_is_built_without_a_warning_and_loads_nothing_from_another_host(folder: Path) -> None:
    """Then it is there: `.ci/site.py` says so by its exit code. This needs no browser."""
    assert {path.stem for path in folder.glob("*.html")} == set(PAGES)


@pytest.mark.parametrize(
    ("name", "scheme", "coloured"),
    [
        *zip(PAGES, cycle(("light", "dark")), cycle((PHONE, PHONE, DESK, DESK)), strict=False),
        ("index", "dark", DESK),
    ],
)
def test_a_page_is_accessible_and_fits_the_screen(
    tabs: Tabs, built: str, name: str, scheme: str, coloured: int
) -> None:
    """The theme has the colours, so the pages share the schemes and widths of this check."""
    page = opened(tabs[scheme], f"{built}/{name}.html", coloured)
    assert violations(page) == []
    for width in (PHONE, 768, 1024, DESK):
        page.set_viewport_size({"width": width, "height": 844})

        assert page.evaluate("document.documentElement.scrollWidth") == width
        if width in {PHONE, DESK} - {coloured}:  # here a colour may be on its way
            assert violations(page, colours=False) == []


@pytest.mark.parametrize("of_folder", [False, True], ids=["served", "of a folder"])
def test_a_search_finds_the_page_of_the_manifest_first(
    browser: Browser, built: str, folder: Path, *, of_folder: bool
) -> None:
    with visiting(browser, folder.as_uri() if of_folder else built) as visits:
        page = visits.open("/index.html")
        page.get_by_role("textbox", name="Search").focus()
        page.keyboard.type("formerly")
        links = page.locator(".md-search-result__link")

        expect(links.first).to_have_attribute("href", re.compile("manifest.html"))
        assert not any("CHANGELOG" in str(link.get_attribute("href")) for link in links.all())


def test_the_landing_page_leads_to_repository_and_first_steps(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/index.html")

    expect(page.locator(".md-header .md-source")).to_have_attribute(
        "href", "https://github.com/a/b"
    )
    for name in ("pipx", "uv", "pip"):
        page.get_by_text(name, exact=True).first.click()
        expect(page.locator(".tabbed-block:visible code")).to_contain_text(f"{name} ")
    page.get_by_role("link", name="discord.js at top.gg").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("discord.js")


def test_a_wide_picture_can_be_read_on_a_phone(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/index.html", PHONE)
    picture = page.locator(".picture img")

    assert picture.evaluate("each => each.getBoundingClientRect().width") >= 640
    assert page.locator(".picture").get_attribute("href") == "plan.svg"


def test_a_button_copies_the_commands_of_a_session_alone(browser: Browser, built: str) -> None:
    with visiting(browser, built) as visits:
        page = visits.open("/start.html", permissions=["clipboard-read", "clipboard-write"])
        session = page.locator(".language-console", has_text="commandsync init").first
        session.scroll_into_view_if_needed()
        session.locator(".md-code__nav button").click()

        expect(page.locator(".md-dialog--active")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert copied == ["commandsync init", "commandsync validate", "commandsync plan"]


def test_no_output_of_a_session_is_highlighted(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/start.html")
    prompts = page.locator(".language-console .gp").all_text_contents()

    assert {*prompts} <= {"$ ", "> "}
    assert page.locator(".language-console .go", has_text="# Harbor").count() >= 1


@pytest.mark.parametrize("name", [name for name in PAGES if name not in {"index", "404"}])
def test_a_page_has_one_name(folder: Path, name: str) -> None:
    html = (folder / f"{name}.html").read_text(encoding="utf-8")
    title, heading, entry = (
        unescape(re.sub("<[^>]+>", "", found[1])).replace("¶", "").strip()
        for pattern in (
            r"<title>(.*?) - commandsync</title>",
            r"<h1[^>]*>(.*?)</h1>",
            r'(?s)class="md-nav__link md-nav__link--active">(.*?)</a>',
        )
        if (found := re.search(pattern, html))
    )

    assert title == heading == entry


def test_each_document_has_its_name_in_the_table_of_the_readme() -> None:
    readme = DOCUMENTS[0].read_text(encoding="utf-8")
    table = readme.partition("## Documentation")[2]
    for path in DOCUMENTS[1:]:
        heading = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        link = re.search(rf"\[([^]]+)\]\(docs/{re.escape(path.name)}\)", table)

        assert link is None or link[1] == heading


def test_the_header_shows_the_whole_name_on_a_small_phone(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/index.html", 320)
    name = page.locator(".md-header__title .md-ellipsis").first

    expect(name).to_have_text("commandsync")
    assert name.evaluate("it => it.scrollWidth <= it.clientWidth")


def test_the_title_of_the_landing_page_is_the_name_alone(tab: Page, built: str) -> None:
    assert opened(tab, f"{built}/index.html").title() == "commandsync"


def test_a_wrong_address_leads_to_pages_that_exist(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/404.html")
    links = page.locator("article ul a")

    assert links.count() == 3
    links.get_by_text("Manifest").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Manifest"))


def test_a_search_finds_a_page(tab: Page, built: str) -> None:
    page = opened(tab, f"{built}/index.html")
    page.get_by_role("textbox", name="Search").focus()
    expect(page.locator(".md-search-result__meta")).to_have_text("Type to start searching")
    page.keyboard.type("max_deletes")

    expect(page.locator(".md-search-result__item").first).to_be_visible()
    page.locator(".md-search-result__link").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
