"""Texts that try to be more than text, in every field of every page, in a real browser.

Each page is opened as visitors do, and without its policy: then nothing but the escaping stops a
script.
"""

from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, Route

from commandsync.pages.templates import commands_page
from commandsync.records.display import readable
from commandsync.records.texts import CommandOption, LoadedCommand
from commandsync.server import votes
from tests.e2e.test_untrusted_text import TEXTS
from tests.support.bots import Bot
from tests.support.browser import Visits, visiting
from tests.support.inside import Inside
from tests.support.pages import FRAGMENTS

LONG = (
    "W" * 1_000,
    "wide \ufdfd\U00012031" * 40,
    "a" + "\u0301\u0323" * 400,
    "\u202e" + "مرحبا بالعالم " * 60,
    "👩‍👩‍👧‍👦" * 200,
    "|" + "\u00a0" * 500 + "|",
    "\n".join("line" for _ in range(200)),
)
TRIES = (
    *("<script>tried()</script>", "<img src=x onerror=tried()>", '"><svg onload=tried()>'),
    "' autofocus onfocus='tried()' x='",
    '" onmouseover="tried()" style="position:fixed;inset:0',
    "</textarea></title></style></script><script>tried()</script>",
    *("<iframe srcdoc='<script>parent.tried()</script>'></iframe>", "[x](javascript:tried())"),
    *("![x](https://evil.example/x.png)", "<a href=javascript:tried()>x</a>"),
    *("javascript:tried()", "</main></body><h1>other</h1><!--"),
    "<style>*{display:none}</style><link rel=stylesheet href=//evil.example>",
    "<base href=https://evil.example/><form action=https://evil.example>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
)
TEXTS_OF_ALL = [text for text in (*TRIES, *FRAGMENTS, *TEXTS.values(), *LONG) if text.strip()]
WIDTHS = (390, 820, 1440)
FIELDS = {"name": 100, "description": 2_000, "syntax": 500, "category": 100}

COUNT = "window.tries = 0; window.tried = () => { window.tries += 1; };"

# What a page contains of its own. Anything else would come from a text.
FOREIGN = """() => {
  const own = new Set(["A", "ARTICLE", "ASIDE", "BDI", "BLOCKQUOTE", "BODY", "BR", "BUTTON", "CODE",
    "DD", "DEL", "DETAILS", "DIV", "DL", "DT", "EM", "FOOTER", "FORM", "H1", "H2", "H3", "H4", "H5",
    "H6", "HEAD", "HEADER", "HR", "HTML", "INPUT", "INS", "LABEL", "LI", "LINK", "MAIN", "META",
    "NAV", "OL", "OPTION", "P", "PRE", "S", "SCRIPT", "SECTION", "SELECT", "SPAN", "STRONG",
    "SUMMARY", "TABLE", "TBODY", "TD", "TH", "THEAD", "TIME", "TITLE", "TR", "UL", "defs",
    "linearGradient", "path", "rect", "stop", "svg", "text"]);
  const addresses = /^(https?:|#|\\?|\\/)/;
  const wrong = [];
  for (const element of document.querySelectorAll("*")) {
    const html = element.outerHTML.slice(0, 120);
    if (!own.has(element.tagName)) wrong.push(`element ${html}`);
    for (const { name, value } of element.attributes) {
      if (/^(on.*|style|srcdoc)$/.test(name)) wrong.push(`${name} ${html}`);
      const address = ["href", "src", "action"].includes(name);
      if (address && !addresses.test(value)) wrong.push(`${name} ${html}`);
    }
  }
  for (const script of document.scripts) {
    if (!script.src.startsWith(`${location.origin}/static/`)) wrong.push(`script ${script.src}`);
  }
  if (document.querySelectorAll("h1, main").length !== 2) wrong.push("more than one h1 or main");
  return wrong;
}"""

# Takes a page's own script, icon and stylesheet out of it; the stylesheet stays in force.
OWN_APART = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(document.querySelector("style").textContent);
  document.adoptedStyleSheets = [sheet];
  for (const own of document.querySelectorAll("script, style, link")) own.remove();
}"""

# What is wider than the window, and what sticks out of its box.
OUTSIDE = """() => {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > window.innerWidth) wrong.push(`width ${root.scrollWidth}`);
  const isCut = (element, box) => {
    for (let at = element.parentElement; at !== box.parentElement; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  const boxes = "header.site .wide, .hero-text, .card, .card-body, .command, .announcement, .side, "
    + ".voters, .categories, .results-head, .empty";
  for (const box of document.querySelectorAll(boxes)) {
    const frame = box.getBoundingClientRect();
    for (const element of box.querySelectorAll("*")) {
      const place = element.getBoundingClientRect();
      if (!place.width || element.closest(".unseen, svg")) continue;
      if (place.right <= frame.right + 1 && place.left >= frame.left - 1) continue;
      if (isCut(element, box)) continue;
      wrong.push(`${box.className}: ${element.outerHTML.slice(0, 120)}`);
    }
  }
  return wrong;
}"""


def fields(text: str) -> dict[str, str]:
    """Return a command with a text in every field."""
    texts = {name: text[:longest] for name, longest in FIELDS.items()}
    return texts | {"name": without_nul(texts["name"])}


def without_nul(text: str) -> str:
    """Return a text for a name or a field of a bot, in which the service refuses NUL."""
    return text.replace("\x00", "") or "a"


def bot_with(text: str, *, records: list[str]) -> dict[str, Any]:
    """Return a bot with a text in every field, and with more of them in its records."""
    text, *tags = map(without_nul, (text, *records))
    names = ("username", "discriminator", "tag", "avatar", "avatarURL", "banner")
    return {
        "provider": text,
        "profile": dict.fromkeys(names, text),
        "prefix": text,
        "information": {"overview": text, "description": text, "tags": [text, *tags]},
        "inviteURL": text,
        "vanity": text,
        "certificate": 1,
        "commands": [fields(record) for record in records],
        "announcements": [
            {"title": without_nul(record[:100]), "description": record[:2_000]}
            for record in records
        ],
    }


@pytest.fixture(scope="module")
def bots(site: Inside) -> list[Bot]:
    """A bot for each text; the first one has all of them, and all votes."""
    whole = bot_with("\n\n".join(TEXTS_OF_ALL), records=TEXTS_OF_ALL)
    created = site.add(whole, *(bot_with(text, records=[text]) for text in TEXTS_OF_ALL))
    with site.database.writing() as connection:
        for number, text in enumerate(TEXTS_OF_ALL):
            voter = {"id": str(number), "username": text, "avatar": text}
            votes.cast(connection, created[0].id, voter, at=datetime.now(UTC))
    return created


def assert_only_text(visits: Visits, first: str, *others: str, protected: bool) -> None:
    """Check pages one after the other in a tab that counts the scripts that texts have started.

    No policy changes the layout, so without it one look is enough.
    """
    widths = WIDTHS if protected else WIDTHS[:1]
    page = visits.open(first, script=COUNT, bypass_csp=not protected)
    assert_page(page, widths)
    for path in others:
        page.goto(f"{visits.url}{path}")
        assert_page(page, widths)


def assert_page(page: Page, widths: tuple[int, ...]) -> None:
    """Check a page at these widths, with everything unfolded and the pointer on some of it."""
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    outside = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        outside += [(width, place) for place in page.evaluate(OUTSIDE)]
    page.mouse.move(300, 300)

    assert page.evaluate(FOREIGN) == []
    assert outside == []
    assert page.evaluate("window.tries") == 0


PROTECTED = pytest.mark.parametrize("protected", [True, False], ids=["with policy", "without"])


@PROTECTED
def test_the_list(bots: list[Bot], visits: Visits, *, protected: bool) -> None:
    pages = range(1, len(bots) // 12 + 2)
    assert_only_text(visits, *(f"/?page={number}" for number in pages), protected=protected)


@pytest.mark.usefixtures("bots")
@PROTECTED
def test_the_words_of_a_search(visits: Visits, *, protected: bool) -> None:
    texts = ("".join(TRIES), LONG[0], LONG[3])
    queries = [{"q": text, "tags": ",".join((text, *TRIES))} for text in texts]
    queries += [{"sort": text} for text in texts]
    assert_only_text(visits, *(f"/?{urlencode(query)}" for query in queries), protected=protected)


@pytest.mark.promise("pages-escape")
@PROTECTED
def test_a_bot_and_its_voters(bots: list[Bot], visits: Visits, *, protected: bool) -> None:
    paths = (f"/bot/{bots[0].id}{path}" for path in ("", "/voters", "/voters?page=2"))
    assert_only_text(visits, *paths, protected=protected)


def test_bots_of_one_text(bots: list[Bot], visits: Visits) -> None:
    for texts, protected in ((TRIES[2:5], False), (LONG, True)):
        chosen = [bots[1 + TEXTS_OF_ALL.index(text)] for text in texts]
        assert_only_text(visits, *(f"/bot/{bot.id}" for bot in chosen), protected=protected)


def test_texts_are_shown_as_they_were_written(bots: list[Bot], visits: Visits) -> None:
    page = visits.open(f"/bot/{bots[0].id}")
    shown = page.locator(".command h4").all_text_contents()

    assert set(shown) >= {readable(text.strip()) for text in TRIES}


@PROTECTED
def test_the_page_of_the_commands_alone(
    browser: Browser, tmp_path: Path, *, protected: bool
) -> None:
    commands = [
        LoadedCommand.of(
            (text, text, text, text),
            options=[CommandOption(text, text, choices=(text, *TRIES))],
            menu=menu,
        )
        for text in TEXTS_OF_ALL
        for menu in ("", "message")
    ]
    html = commands_page(commands, bot="\n".join(TRIES))
    (tmp_path / "commands.html").write_text(html, encoding="utf-8", errors="replace")
    with visiting(browser, tmp_path.as_uri()) as visits:
        page = visits.open("/commands.html", script=COUNT, bypass_csp=not protected)
        assert page.locator("script, style, link").count() == len(("script", "style", "icon"))
        page.evaluate(OWN_APART)
        assert_page(page, WIDTHS if protected else WIDTHS[:1])


@PROTECTED
def test_the_check_would_notice(
    site: Inside, browser: Browser, bots: list[Bot], *, protected: bool
) -> None:
    """Without escaping the policy stops every script, and each check but that one fails."""
    visits = Visits(browser, site.url)
    page = visits.open("/", script=COUNT, bypass_csp=not protected)
    page.route(f"**/bot/{bots[0].id}", without_escapes)
    page.goto(f"{site.url}/bot/{bots[0].id}")
    tries, complaints = page.evaluate("window.tries"), " ".join(visits.complaints)

    assert page.evaluate(FOREIGN) != []
    assert (tries == 0) is protected
    assert ("Content Security Policy" in complaints) is protected
    page.context.close()


def test_the_check_of_the_layout_would_notice(site: Inside, visits: Visits) -> None:
    (bot,) = site.add({"profile": {"username": LONG[0]}})
    page = visits.open(f"/bot/{bot.id}")
    assert page.evaluate(OUTSIDE) == []
    page.evaluate("document.body.style.overflowWrap = 'normal'")

    assert page.evaluate(OUTSIDE) != []


def without_escapes(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=unescape(answer.text()))
