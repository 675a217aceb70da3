import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.operations import add, get_bot
from commandsync.api.policy import Retry, Send, Wait
from commandsync.apply.outcomes import Call, Outcome, Settled, Step
from commandsync.cli import progress
from commandsync.cli.output import Output
from commandsync.cli.progress import Lines, ProgressPlace, shown
from commandsync.errors import RateLimited, Reply, ServerError
from commandsync.records.texts import CommandText, Resource
from commandsync.sync.settings import ApplyProgress, CallProgress, FilesRead, Site
from tests.support.home import LONGEST
from tests.support.plans import command, plan_of
from tests.support.terminal import POSIX, Monitor

PLAN = plan_of([command("a", line=1), command("b", line=2)])
SITE = Site(parse_address("https://example.org"), "1", None, "COMMANDSYNC_TOKEN")
READ = get_bot("1")
WRITE = add("1", Resource.COMMAND, CommandText("b", "b", "b"))
on_posix = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch) -> Monitor:
    monkeypatch.setattr(progress, "monotonic", lambda: 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return Monitor(100, monkeypatch)


@on_posix
def test_the_place_shows_a_pause_and_then_what_is_under_way(monitor: Monitor) -> None:
    with monitor.attached(), shown(Output()) as show:
        show(ApplyProgress(PLAN, Step(wait=3.0)))
        monitor.until("0/2 reading again in 3 s: not every write is listed yet")
        done = Settled(PLAN.changes[0], Outcome.DONE)
        monitor.monkeypatch.setattr(progress, "PATIENCE", LONGEST)
        show(ApplyProgress(PLAN, Step((Call(1, WRITE),), settled=(done,))))
        show(CallProgress(SITE, WRITE, Send()))
        monitor.until("1/2 add command b")
        show(CallProgress(SITE, WRITE, None))
        show(ApplyProgress(PLAN, Step((Call(-1, READ),))))
        show(CallProgress(SITE, READ, Send()))
        monitor.until("1/2\n")
        show(ApplyProgress(PLAN, None))

    assert monitor.text == "\n"


FAILED = ServerError("HTTP 503\n::error::x\x1b[31m", reply=Reply(503, b""))
RETRY = Retry(2, 4, FAILED)


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (Send(), ": no answer for 1 s from example.org"),
        (Send(RETRY), ": retry 2 of 4, no answer for 1 s from example.org"),
        (Wait(0.25, retry=RETRY), ": retry 2 of 4 in 1 s: HTTP 503\\n::error::x\\x1b[31m"),
        (
            Wait(120, everyone=True, retry=RETRY),
            ": retry 2 of 4 in 120 s: HTTP 503\\n::error::x\\x1b[31m",
        ),
    ],
)
def test_a_wait_shows_the_call_and_what_it_waits_for_with_its_reason_escaped(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    step: Send | Wait,
    line: str,
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1.0)
    lines = Lines(Output(verbosity=1))
    lines.show(CallProgress(SITE, READ, step))
    if isinstance(step, Send):
        lines._late(READ)  # noqa: SLF001 - what its timer calls

    assert f"get bot{line}\n" in capsys.readouterr().err
    lines.show(CallProgress(SITE, READ, None))


@on_posix
def test_of_several_waits_the_end_of_a_rate_limit_is_shown(monitor: Monitor) -> None:
    limited = RateLimited("HTTP 429", reply=Reply(429, b""))
    with monitor.attached(), shown(Output()) as show:
        show(CallProgress(SITE, READ, Send()))
        monitor.until("get bot: no answer for 0 s from example.org")
        show(CallProgress(SITE, WRITE, Wait(90, everyone=True, retry=Retry(1, 4, limited))))
        monitor.until("add command: retry 1 of 4 in 90 s: HTTP 429")

    assert monitor.text == "\n"


@on_posix
def test_ctrl_c_is_erased_with_a_line_as_wide_as_the_terminal(monitor: Monitor) -> None:
    limited = RateLimited("the service limits the rate of requests" * 3, reply=Reply(429, b""))
    with monitor.attached(), shown(Output()) as show:
        show(CallProgress(SITE, READ, Wait(90, everyone=True, retry=Retry(1, 4, limited))))
        monitor.until("get bot: retry 1 of 4 in 90 s")
        monitor.type("\x03", echo="^C")  # no process belongs to this terminal, which only shows it

    assert monitor.text == "\n"


@on_posix
def test_a_place_that_is_closed_shows_nothing_of_calls_that_were_left(monitor: Monitor) -> None:
    with monitor.attached():
        place = ProgressPlace(color=False)
        place.show(CallProgress(SITE, READ, Send()))
        monitor.until("no answer")
        place.close()
        place.show(ApplyProgress(PLAN, Step()))
        place.show(CallProgress(SITE, READ, None))

    assert monitor.text == "\n"


@on_posix
def test_a_terminal_that_cannot_erase_a_line_shows_none(monitor: Monitor) -> None:
    with monitor.attached():
        monitor.monkeypatch.setenv("TERM", "dumb")
        with shown(Output()) as show:
            show(ApplyProgress(PLAN, Step(wait=3.0)))
            show(ApplyProgress(PLAN, None))
        Output().talk("the next line")

    assert monitor.text == "the next line\n"


@on_posix
def test_an_apply_without_changes_opens_no_place(monitor: Monitor) -> None:
    with monitor.attached(), shown(Output()) as show:
        show(ApplyProgress(plan_of([]), Step()))
        show(ApplyProgress(plan_of([]), None))
        show(FilesRead([], PLAN, 0.1))
        show(CallProgress(SITE, READ, None))

    assert monitor.text == "\n"


def test_a_pause_is_a_line_where_there_is_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    Lines(Output(verbosity=1)).show(ApplyProgress(PLAN, Step(wait=1.0)))

    assert capsys.readouterr().err == "reading again in 1 s: not every write is listed yet\n"


def test_a_call_that_was_never_sent_is_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    Lines(Output(verbosity=1)).show(CallProgress(SITE, READ, None))

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("verbosity", [-1, 0])
def test_a_terminal_or_nothing_is_shown(capsys: pytest.CaptureFixture[str], verbosity: int) -> None:
    with shown(Output(verbosity=verbosity)) as show:
        show(ApplyProgress(PLAN, Step(wait=1.0)))

    assert capsys.readouterr().err == ""
