"""`preview`: the page while the manifest is edited, by a real process."""

import re
import signal
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from socket import create_server
from urllib.parse import urlsplit

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import LONGEST, Home, fields
from tests.support.terminal import POSIX, Terminal

on_posix = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
CLOCK = re.compile(r"\d\d:\d\d:\d\d  ")


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    """A bot whose listing differs from the manifest in each way."""
    home.write(fields(("edited", "Reworded."), ("kept",), ("new", "Is new.")))
    return home.knows(service.bot(["edited", "gone", "kept"], ["v1"]))


def page_of(url: str) -> str:
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc, timeout=30)) as connection:
        connection.request("GET", parts.path)
        reply = connection.getresponse()
        assert reply.status == 200
        return reply.read().decode()


def next_line(child: subprocess.Popen[bytes], *, error: bool = False) -> str:
    """Return the next line of a child, without its clock."""
    stream = child.stderr if error else child.stdout
    assert stream is not None
    return CLOCK.sub("", stream.readline().decode()).rstrip("\n")


@on_posix
def test_the_page_follows_the_manifest_until_it_is_interrupted(home: Home, bot: Bot) -> None:
    before = bot.everything()
    child = home.started("preview", "--no-open")
    name, _, url = next_line(child).removeprefix("preview of ").partition(" at ")
    assert (name, next_line(child)) == (
        f"Bot {bot.id}",
        "Plan: 1 to add, 1 to edit, 1 to delete, 1 unchanged.",
    )
    page = page_of(url)
    assert "Plan: 1 to add, 1 to edit, 1 to delete, 1 unchanged." in page
    assert bot.token not in page
    assert page.count('class="mark ') >= 3

    home.write("include: [more/*.yaml]\nversion: 1\ncommands: [\n")
    assert "commands.yaml:" in next_line(child, error=True)
    page = page_of(url)
    assert ("Plan: 1 to add, 1 to edit" in page, "last valid state" in page) == (True, True)

    home.write("commands: [{name: late, description: Came late., syntax: /late}]\n", "more/a.yaml")
    home.write("version: 1\ninclude: [more/*.yaml]\n")
    assert next_line(child).endswith(" Plan: 1 to add, 0 to edit, 3 to delete, 0 unchanged.")
    page = page_of(url)
    assert ("late" in page, "last valid state" in page) == (True, False)
    assert "would refuse" in page

    home.write("commands: []\n", "more/a.yaml")
    assert next_line(child) == "Plan: 0 to add, 0 to edit, 3 to delete, 0 unchanged."

    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=LONGEST)
    assert (child.returncode, b"Traceback" in err) == (130, False)
    assert bot.everything() == before


@on_posix
@pytest.mark.usefixtures("bot")
def test_on_a_terminal_the_page_is_opened_in_the_browser(home: Home) -> None:
    script = home.write("import sys\nprint('opened', sys.argv[1])\n", "browser.py")
    home.variable("BROWSER", f"{sys.executable} {script} %s")
    home.forget("CI")
    with Terminal.running(home, "preview") as terminal:
        url = terminal.until(" at http").rpartition(" at ")[2]
        terminal.until(f"opened {url}")
        terminal.child.send_signal(signal.SIGTERM)
        code, _, _ = terminal.ended()

    assert code == 143


@on_posix
def test_a_request_to_end_it_ends_it_at_once_and_the_port_is_free(home: Home, bot: Bot) -> None:
    child = home.started("preview", "--no-open")
    url = urlsplit(next_line(child).partition(" at ")[2])
    assert bot.id in page_of(url.geturl())
    with closing(HTTPConnection(url.netloc, timeout=30)) as page:  # an open page, which listens
        page.request("GET", f"{url.path}live")
        page.getresponse().readline()
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=LONGEST)

    assert (child.returncode, err) == (143, b"")
    assert url.port is not None
    create_server(("127.0.0.1", url.port)).close()


@on_posix
def test_the_page_has_no_token_that_is_in_a_text(home: Home, bot: Bot) -> None:
    home.write(fields(("edited", f"Says {bot.token}."), ("kept",), ("new", f"With {bot.token}.")))
    child = home.started("preview", "--no-open")
    url = next_line(child).rpartition(" at ")[2]

    page = page_of(url)

    assert "Says" in page
    assert "With" in page
    assert bot.token not in page
