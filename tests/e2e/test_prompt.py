"""apply asks before it writes: on a terminal it waits for a yes, elsewhere it requires --yes."""

import signal

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, failed, fields
from tests.support.terminal import POSIX, Terminal

on_posix = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
QUESTION = "Make these changes? [y/N]: "
RENAMED = 'Is "{}" renamed to "{}", with its id and uses kept? [y/N]: '


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("help", "Reworded."), ("play",), ("new",)))
    return home.knows(service.bot(["help", "play"]), url=proxy.url)


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_off_a_terminal_apply_wants_yes(home: Home, proxy: Proxy, form: str) -> None:
    ran = home.run("apply", "--format", form, exits=2)

    assert "--yes " in ran.said
    assert proxy.requests == []
    if form == "json":
        assert failed(ran, "usage")


@on_posix
def test_a_yes_reads_again_and_then_writes(home: Home, bot: Bot, proxy: Proxy) -> None:
    with Terminal.running(home, "apply") as terminal:
        shown = terminal.until(QUESTION)
        assert [request.method for request in proxy.requests] == ["GET"]
        terminal.type("maybe\n")
        terminal.until("\nanswer y or n: ")
        terminal.type("y\n")
        code, rest, _ = terminal.ended()

    assert code == 0
    assert "~ help" in shown
    assert "Apply: 2 done" in rest
    assert [request.method for request in proxy.requests] == ["GET", "GET", "POST", "POST", "GET"]
    assert bot.names() == ["help", "play", "new"]


@on_posix
def test_the_question_counts_writes_and_lost_uses(home: Home, service: Service) -> None:
    used = (("old", 1840), ("older", 1))
    bot = service.bot(
        [
            "help",
            *({"name": name, "description": "x", "syntax": "x", "uses": n} for name, n in used),
        ]
    )
    home.knows(bot)
    home.write(fields(("help", "Reworded."), ("new", "Does something else.", "/new <thing>")))
    home.variable("NO_COLOR", "1")
    with Terminal.running(home, "apply") as terminal:
        shown = terminal.until(QUESTION)
        terminal.type("n\n")
        terminal.ended()

    assert "  - old  (1,840 uses go with it)\n" in shown
    assert "  - older  (1 use goes with it)\n" in shown
    assert f"\n1 to add, 1 to edit, 2 to delete (1,841 uses). {QUESTION}" in shown


@on_posix
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("n\n", id="no"),
        pytest.param("\n", id="nothing", marks=pytest.mark.thorough),
        pytest.param("\x04", id="end of file", marks=pytest.mark.thorough),
    ],
)
def test_without_yes_nothing_changes(home: Home, bot: Bot, proxy: Proxy, answer: str) -> None:
    before = bot.everything()
    with Terminal.running(home, "apply") as terminal:
        terminal.until(QUESTION)
        terminal.type(answer)
        code, rest, _ = terminal.ended()

    assert code == 1
    assert "\nNothing was changed." in rest
    assert proxy.writes == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
@on_posix
def test_a_no_is_a_document_for_programs(home: Home) -> None:
    with Terminal.running(home, "apply", "--format", "json", piped=True) as terminal:
        terminal.until(QUESTION)
        terminal.type("n\n")
        code, _, out = terminal.ended()

    assert code == 1
    assert '"kind": "declined"' in out


@on_posix
def test_a_listing_that_changed_is_asked_about_again(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.variable("NO_COLOR", "1")
    with Terminal.running(home, "apply") as terminal:
        terminal.until(QUESTION)
        bot.post("commands", id=bot.ids()["help"], name="help", description="Other.", syntax="/h")
        terminal.type("y\n")
        shown = terminal.until(QUESTION)
        assert proxy.writes == []
        terminal.type("y\n")
        code, _, _ = terminal.ended()

    assert '"Other." → "Reworded."' in shown
    assert code == 0
    assert bot.commands()[0]["description"] == "Reworded."


def renamed(home: Home, bot: Bot, names: dict[str, str]) -> None:
    """Write the manifest that says what is listed, with other names."""
    listed = {record["name"]: record for record in bot.commands()}
    texts = (
        (names.get(name, name), one["description"], one["syntax"]) for name, one in listed.items()
    )
    home.write(fields(*texts))


@on_posix
def test_what_looks_like_a_rename_is_one_after_a_yes(home: Home, bot: Bot) -> None:
    ids = bot.ids()
    renamed(home, bot, {"help": "manual", "play": "start"})
    with Terminal.running(home, "apply") as terminal:
        for old, new in (("help", "manual"), ("play", "start")):
            terminal.until(RENAMED.format(old, new))
            terminal.type("y\n")
        shown = terminal.until(QUESTION)
        terminal.type("y\n")
        code, _, _ = terminal.ended()

    assert f"2 to rename. {QUESTION}" in shown
    assert "» help → manual" in shown
    assert code == 0
    assert bot.ids() == {"manual": ids["help"], "start": ids["play"]}


@on_posix
def test_and_none_after_a_no(home: Home, bot: Bot, proxy: Proxy) -> None:
    renamed(home, bot, {"play": "start"})
    with Terminal.running(home, "apply") as terminal:
        terminal.until(RENAMED.format("play", "start"))
        terminal.type("n\n")
        shown = terminal.until(QUESTION)
        terminal.type("n\n")
        code, _, _ = terminal.ended()

    assert code == 1
    assert 'formerly: ["play"]' in shown
    assert "1 to add, 0 to edit, 1 to delete, 1 unchanged" in shown
    assert proxy.writes == []


@on_posix
def test_a_plan_that_became_stale_meanwhile_is_refused(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.run("plan", "--out", "plan.json")
    with Terminal.running(home, "apply", "--plan", "plan.json") as terminal:
        terminal.until(QUESTION)
        bot.post("commands", id=bot.ids()["help"], name="help", description="Other.", syntax="/h")
        terminal.type("y\n")
        code, rest, _ = terminal.ended()

    assert code == 5
    assert "listing changed since" in rest
    assert proxy.writes == []


@pytest.mark.usefixtures("bot")
@on_posix
def test_nothing_to_do_asks_nothing(home: Home, proxy: Proxy) -> None:
    home.write(fields(("help",), ("play",)))
    with Terminal.running(home, "apply") as terminal:
        code, shown, _ = terminal.ended()

    assert code == 0
    assert "[y/N]" not in shown
    assert len(proxy.requests) == 1


@pytest.mark.usefixtures("bot")
@on_posix
def test_ctrl_c_at_the_question_changes_nothing_and_ends_its_line(home: Home, proxy: Proxy) -> None:
    home.variable("NO_COLOR", "1")
    with Terminal.running(home, "apply") as terminal:
        terminal.until(QUESTION)
        terminal.child.send_signal(signal.SIGINT)
        # A read that was just about to begin would not hear of the signal.
        terminal.type("\n", echo=False)
        code, rest, _ = terminal.ended()

    assert code == 130
    assert rest.startswith("\nerror: interrupted; no listing was changed")
    assert proxy.writes == []


@pytest.mark.usefixtures("bot")
@on_posix
def test_a_bar_is_shown_on_the_terminal_and_not_in_the_result(home: Home) -> None:
    with Terminal.running(home, "apply", "--yes", "--format", "json", piped=True) as terminal:
        code, shown, out = terminal.ended()

    assert code == 0
    assert "Applying" in shown
    assert "\x1b[" in shown
    assert "Applying" not in out
    assert "\x1b" not in out
    assert out.startswith("{")
