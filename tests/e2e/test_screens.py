"""What a terminal of 80 or 120 columns shows, to the letter: results, and waits while they last.

A service holds its answer until the terminal shows what is waited for, and the clock of the display
goes on when a test says so: nothing is timed.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from commandsync.cli import progress
from commandsync.client.threads import Gate
from commandsync.report.lines import columns_of
from tests.support.home import LONGEST, Home, fields
from tests.support.rawserver import Act, Exchange, RawServer, answer, answering, keeping
from tests.support.terminal import POSIX, Monitor

Compare = Callable[[str, str], None]

pytestmark = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
WIDTHS = pytest.mark.parametrize("monitor", [80, 120], indirect=True)

LONG = (
    "Plays music {} in every voice channel of the server, day and night, for everybody who wants "
    "to listen to it together with others."
)
MANIFEST = f"""\
version: 1
commands:
  - name: help
    description: Shows the help menu.
    syntax: /help
  - name: play
    description: {LONG.format("very loudly")}
    syntax: /play <title or address>
  - name: rank
    description: Shows the rank.
    syntax: /rank [member]
    formerly: [level]
  - name: leaderboard
    description: Shows the members with the most points on this server.
    syntax: /leaderboard
  - name: rules
    description: |
      Shows the rules.
      Members accept them once.
    syntax: /rules
"""


def listed(*records: tuple[str, str, int]) -> Act:
    """Answer a list of commands: a name, a description and uses each."""
    data = [
        {"id": f"64f0c2a91be34d5a7c0e88{n:02}", "name": name, "description": description}
        | {"syntax": f"/{name}", "category": "", "uses": uses}
        for n, (name, description, uses) in enumerate(records)
    ]
    return answering({"success": True, "data": data})


RECORDS = (
    ("help", "Shows help.", 12_345),
    ("play", LONG.format("quietly"), 1_234_567),
    ("level", "Shows the rank.", 88),
    ("leaderbord", "Shows the members with the most points on this server.", 1840),
    ("rules", "Shows the rules.\nEverybody accepts them.", 3),
    ("purge", "Deletes messages.", 40),
)
ADDED = answer({"success": True, "data": {"id": "x"}})


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server(home: Home) -> Iterator[RawServer]:
    with RawServer() as server:
        home.variable("COMMANDSYNC_BASE_URL", server.url)
        home.variable("COMMANDSYNC_BOT", "779641401482805289")
        home.variable("COMMANDSYNC_TOKEN", "secret")
        home.write(MANIFEST)
        yield server


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the display, which loses its patience at once."""
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return clock


@pytest.fixture
def monitor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Monitor:
    return Monitor(getattr(request, "param", 80), monkeypatch)


@WIDTHS
@pytest.mark.parametrize(("name", "arguments"), [("plan", "plan"), ("quiet", "plan -q")])
def test_results_fit_the_terminal(
    server: RawServer, monitor: Monitor, golden: Compare, name: str, arguments: str
) -> None:
    server.then(listed(*RECORDS))

    assert monitor.run(*arguments.split()) == 0
    check(golden, server, monitor.text, name, monitor)


@WIDTHS
def test_problems_show_their_lines(
    server: RawServer, home: Home, monitor: Monitor, golden: Compare
) -> None:
    home.write(
        MANIFEST.replace("syntax: /help", "sintax: /help").replace(
            "name: play", f"name: help\n    category: [{', '.join(['General'] * 20)}]"
        )
    )

    assert monitor.run("validate") == 4
    check(golden, server, monitor.text, "problems", monitor)


@WIDTHS
def test_what_a_read_waits_for_is_shown_and_leaves_no_trace(
    server: RawServer, monitor: Monitor, clock: Clock, golden: Compare
) -> None:
    shown = []

    def see(part: str) -> None:
        shown.append(monitor.until(part))

    def hang(exchange: Exchange) -> None:
        clock.now += 12
        see("no answer for 12 s")
        exchange.send(answer(status=503))

    def wait(gate: Gate, seconds: float) -> bool:
        if gate.stopped:  # by the interruption of an earlier run, whose call ends now
            return False
        clock.now += 10 if seconds > 1 else 0
        see(f"in {80 + 1 if seconds > 1 else 1} s")
        return True

    def hang_again(exchange: Exchange) -> None:
        clock.now += 3
        see("no answer for 3 s")
        listed(*RECORDS)(exchange)

    monitor.monkeypatch.setattr(Gate, "wait", wait)
    limiting = answering(status=429, headers={"Retry-After": "90"})
    server.then(hang, limiting, hang_again)

    assert monitor.run("plan") == 0
    check(golden, server, "".join(shown), "waits", monitor)
    check(golden, server, monitor.text, "plan", monitor)


@WIDTHS
def test_the_bar_of_an_apply_counts_and_names_what_is_under_way(
    server: RawServer, home: Home, monitor: Monitor, clock: Clock, golden: Compare
) -> None:
    shown = []
    monitor.monkeypatch.setattr(progress, "PATIENCE", LONGEST)
    home.write(fields(("ping", "Says pong."), ("play", "Plays."), ("stop", "Stops.")))

    def see(exchange: Exchange) -> None:
        shown.append(monitor.until("1/3 add command play"))
        monitor.monkeypatch.setattr(progress, "PATIENCE", 0.0)
        exchange.send(ADDED)

    def hang(exchange: Exchange) -> None:
        clock.now = 5
        shown.append(monitor.until("2/3 add command stop: no answer for 5 s"))
        exchange.send(ADDED)

    new = (("ping", "Says pong.", 0), ("play", "Plays.", 0), ("stop", "Stops.", 0))
    server.then(listed(), keeping(ADDED), see, hang, listed(*new))

    assert monitor.run("apply", "--yes") == 0
    check(golden, server, "".join(shown), "bar", monitor)
    check(golden, server, monitor.text, "applied", monitor)


@WIDTHS
@pytest.mark.usefixtures("clock")
def test_verbose_waits_are_lines(server: RawServer, monitor: Monitor, golden: Compare) -> None:
    def answered(act: Act, *, after: str) -> Act:
        def wait(exchange: Exchange) -> None:
            monitor.until(after)
            act(exchange)

        return wait

    server.then(
        answered(answering(status=503), after="no answer for 0 s"),
        answered(listed(*RECORDS), after="retry 1 of 4, no answer for 0 s"),
    )

    assert monitor.run("plan", "-v", "--only", "purge") == 0
    check(golden, server, monitor.text, "verbose", monitor)


def test_a_question_shows_the_plan_with_quiet_too(server: RawServer, monitor: Monitor) -> None:
    server.then(listed(*RECORDS))
    monitor.type("n\n")

    assert monitor.run("apply", "-q", "--only", "purge") == 1
    assert "  - purge  (40 uses go with it)\n" in monitor.text
    *_, last = monitor.text.splitlines()  # the terminal shows the key before everything, or here
    assert last.removesuffix(" n") == "1 to delete (40 uses). Make these changes? [y/N]:"


@pytest.mark.usefixtures("clock")
def test_an_interruption_erases_what_was_waited_for(
    server: RawServer, home: Home, monitor: Monitor
) -> None:
    server.then(listed(*RECORDS))
    home.run("plan", exits=0)  # loads what a plan needs: no import of this process is interrupted

    def interrupt(exchange: Exchange) -> None:
        monitor.until("no answer for 0 s")
        os.kill(os.getpid(), signal.SIGINT)
        exchange.released.wait(LONGEST)
        exchange.close()

    server.then(interrupt)

    assert monitor.run("plan") == 130
    assert monitor.text == "error: interrupted; no listing was changed\n"


def check(golden: Compare, server: RawServer, text: str, name: str, monitor: Monitor) -> None:
    """Compare with a golden screen; the port has five digits on every machine."""
    assert max(map(columns_of, text.splitlines())) <= monitor.columns
    text = re.sub(r"[0-9]\.[0-9]{2} s", "0.00 s", text.replace(f":{server.port}", ":12345"))
    golden(text, f"screens/{name}-{monitor.columns}")
