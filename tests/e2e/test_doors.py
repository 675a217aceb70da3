"""The promises about writes hold through each program that writes.

These are the command line, the Action, `run` and `run_async`; for one record also the commands that
write it, and both clients.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from commandsync import AsyncClient, Client
from commandsync.api.operations import cast_vote
from commandsync.errors import RefusedError, WrongBotError
from commandsync.sync import run, run_async
from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.home import Home
from tests.support.runner import ACTION, Hub, Runner, hub, push

__all__ = ["hub"]

GENERATED = settings(  # without shrinking: each try is a whole run
    max_examples=8, phases=(Phase.explicit, Phase.generate)
)
NAMES = ("help", "play", "stop", "ping", "vote")
PLACES = (
    *("name", "description", "syntax", "category", "prefix", "default category"),
    *("title", "text of an announcement", "edited description"),
)
SHORT = {"category", "prefix", "default category"}  # at most 100 characters


@dataclass(frozen=True)
class Programs:
    """Each of the four programs, ready to apply the manifest of the folder to a bot's page."""

    home: Home
    runner: Runner
    url: str

    def apply(self, door: str, manifest: str, *, bot: str, token: str) -> str:
        """Apply a manifest; return why it was refused, empty if it was applied."""
        self.home.write(manifest)
        doors = {
            "command line": self._command_line,
            "Action": self._action,
            "run": self._run,
            "run_async": self._run_async,
        }
        return doors[door](bot, token)

    def _command_line(self, bot: str, token: str) -> str:
        self.home.variable("COMMANDSYNC_TOKEN", token)
        self.home.variable("COMMANDSYNC_BASE_URL", self.url)
        ran = self.home.run("apply", "--yes", "--bot", bot)

        assert ran.code in {0, 5}, ran.said
        return ran.said if ran.code else ""

    def _action(self, bot: str, token: str) -> str:
        self.runner.write(self.home.read("commands.yaml"))
        step = self.runner.run(push(), base_url=self.url, bot=bot, token=token, apply="current")

        assert step.code in {0, 5}, step.log
        assert step.outputs["failure-reason"] == ("refused" if step.code else "")
        return step.log if step.code else ""

    def _run(self, bot: str, token: str) -> str:
        with Client(token, self.url, bot=bot) as client:
            try:
                result = run(client, self._path)
            except RefusedError as error:
                return str(error)

        assert result.complete
        return ""

    def _run_async(self, bot: str, token: str) -> str:
        async def work() -> str:
            async with AsyncClient(token, self.url, bot=bot) as client:
                try:
                    result = await run_async(client, self._path)
                except RefusedError as error:
                    return str(error)
            assert result.complete
            return ""

        return asyncio.run(work())

    @property
    def _path(self) -> Path:
        return self.home.path / "commands.yaml"


@pytest.fixture
def programs(home: Home, proxy: Proxy, hub: Hub, tmp_path: Path) -> Programs:
    runner = Runner(tmp_path / "runner", python="", api=hub.url)
    hub.checkout = runner.workspace
    return Programs(home, runner, proxy.url)


@pytest.fixture
def bot(service: Service) -> Bot:
    return service.bot(NAMES, ["v1"])


THE_ACTION = pytest.param(
    "Action", marks=pytest.mark.skipif(not ACTION.exists(), reason="the wheel has no Action")
)
DOORS = pytest.mark.parametrize("door", ["command line", THE_ACTION, "run", "run_async"])


def manifest(
    *names: str, place: str = "", text: str = "", sync: dict[str, str] | None = None
) -> str:
    """Return a manifest of plain commands, and of one more with a text in one place of it."""
    new = {"name": "new", "description": "Is new.", "syntax": "{prefix} new"}
    post = {"title": "v2", "description": "Is out."}
    commands = [
        {"name": name, "description": "Does it.", "syntax": f"{{prefix}}{name}"} for name in names
    ]
    if place == "edited description":
        commands[0]["description"] = text
    elif place in {"name", "description", "syntax", "category"}:
        commands.append(new | {place: text})
    elif place in {"prefix", "default category"}:
        commands.append(new)
    posts = [post | {"title": text}] if place == "title" else []
    posts += [post | {"description": text}] if place == "text of an announcement" else []
    content: dict[str, Any] = {
        "version": 1,
        "prefix": text if place == "prefix" else "/",
        "commands": commands,
    }
    content |= {"announcements": posts} if posts else {}
    content |= {"defaults": {"category": text}} if place == "default category" else {}
    content |= {"sync": sync} if sync else {}
    return json.dumps(content)


@st.composite
def spelled(draw: st.DrawFn, token: str) -> str:
    """Return a text that contains a token, some of its characters percent-encoded."""
    around = st.sampled_from(["", "Uses ", "https://x.example/?a=", '"', "é", "("])
    ways = draw(st.lists(st.integers(0, 3), min_size=len(token), max_size=len(token)))
    inside = "".join(
        f"%{ord(character):02{'x' if way == 1 else 'X'}}" if way in {1, 2} else character
        for character, way in zip(
            token, ways if draw(st.booleans()) else [0] * len(ways), strict=True
        )
    )
    return draw(around) + inside + draw(st.sampled_from(["", " here.", "&b=1", '"', ")", "é"]))


@pytest.mark.promise("token-in-text")
@DOORS
@GENERATED
@given(data=st.data(), place=st.sampled_from(PLACES), own=st.booleans())
def test_a_text_with_the_token_is_never_sent(
    programs: Programs,
    bot: Bot,
    proxy: Proxy,
    *,
    data: st.DataObject,
    door: str,
    place: str,
    own: bool,
) -> None:
    token = (
        bot.token
        if own and place not in SHORT
        else data.draw(st.sampled_from(["opaque", "a-b", "opaque-token.1/x+y="]))
    )
    text = data.draw(spelled(token))
    proxy.requests.clear()

    refused = programs.apply(
        door, manifest(*NAMES, place=place, text=text), bot=bot.id, token=token
    )

    assert "contains a token" in refused
    assert proxy.writes == []


@DOORS
def test_a_manifest_without_the_token_is_applied(programs: Programs, bot: Bot, door: str) -> None:
    text = bot.token[:-1]  # all but one character may be written
    written = manifest(*NAMES, place="description", text=text)

    refused = programs.apply(door, written, bot=bot.id, token=bot.token)

    assert refused == ""
    assert bot.commands()[-1]["description"] == text


@pytest.mark.promise("limited-deletes")
@DOORS
@pytest.mark.parametrize(
    ("left", "sync", "why"),
    [
        (NAMES[:1], {}, "would delete 4 of 5 listed commands (80 %); the limit is 30 %"),
        ((), {}, "keeps none of"),
        (NAMES[:3], {"max_deletes": "1"}, "the limit is 1"),
    ],
)
def test_more_deletes_than_the_limit_are_never_sent(
    programs: Programs,
    bot: Bot,
    proxy: Proxy,
    *,
    door: str,
    left: tuple[str, ...],
    sync: dict[str, str],
    why: str,
) -> None:
    written = manifest(*left, sync=sync)

    refused = programs.apply(door, written, bot=bot.id, token=bot.token)

    assert why in refused
    assert proxy.writes == []
    assert bot.names() == list(NAMES)


@pytest.mark.promise("token-of-another-bot")
@DOORS
def test_nothing_is_written_with_another_bots_token(
    programs: Programs, service: Service, bot: Bot, proxy: Proxy, door: str
) -> None:
    other = service.bot()

    refused = programs.apply(door, manifest(*NAMES, "new"), bot=bot.id, token=other.token)

    assert f"belongs to bot {other.id}, " in refused
    assert proxy.requests == []


@pytest.mark.promise("plan-files")
@pytest.mark.parametrize("door", ["command line", THE_ACTION])
def test_a_saved_plan_of_another_page_is_never_sent(
    programs: Programs, home: Home, bot: Bot, proxy: Proxy, door: str
) -> None:
    """`run` and `run_async` take no saved plan: they plan from what they have just read."""
    home.knows(bot, url=proxy.url)
    home.write(manifest(*NAMES, place="edited description", text="Reworded."))
    assert home.run("plan", "--out", "plan.json").code == 0
    bot.post("commands", id=bot.ids()["help"], name="help", description="Other.", syntax="/help")

    if door == "command line":
        dry = home.run("apply", "--plan", "plan.json", "--dry-run")
        ran = home.run("apply", "--plan", "plan.json", "--yes")
        code, said = ran.code, ran.err

        assert (dry.code, dry.err) == (code, said)
    else:
        programs.runner.write(home.read("plan.json"), "plan.json")
        given = {"plan_file": "plan.json", "base_url": proxy.url, "token": bot.token}
        step = programs.runner.run(push(), mode="apply", **given)
        code, said = step.code, step.log

    assert code == 5
    assert "edit of command 'help'" in said
    assert proxy.writes == []


@pytest.mark.promise("token-in-text")
@GENERATED
@given(data=st.data(), place=st.sampled_from(["title", "text"]))
def test_notes_with_the_token_are_never_posted(
    home: Home, bot: Bot, proxy: Proxy, *, data: st.DataObject, place: str
) -> None:
    home.knows(bot, url=proxy.url)
    text = data.draw(spelled(bot.token))
    title, notes = (text, "Is out.") if place == "title" else ("v2", f"Is out: `{text}`")

    ran = home.run("announce", f"--title={title}", f"--text={notes}", "--post", "--yes", exits=5)

    assert "an announcement contains" in ran.err
    assert proxy.writes == []


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "add_command": lambda client, text: client.add_command("a", text, "/a"),
    "the category": lambda client, text: client.add_command("a", "b", "/a", text),
    "edit_command": lambda client, text: client.edit_command("1", text, "b", "/a"),
    "add_announcement": lambda client, text: client.add_announcement(text, "b"),
    "call": lambda client, text: client.call(cast_vote("42", "1", username=text)),
}


@pytest.mark.promise("token-in-text")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
@GENERATED
@given(data=st.data(), token=st.sampled_from(["opaque", "a-b", "opaque-token.1/x+y="]))
def test_a_client_never_sends_its_token_in_a_text(
    proxy: Proxy, kind: type[Client | AsyncClient], call: str, *, data: st.DataObject, token: str
) -> None:
    text = data.draw(spelled(token))

    with pytest.raises(RefusedError, match="contains a token"):
        called(kind, proxy.url, token, lambda client: CALLS[call](client, text))

    assert proxy.requests == []


@pytest.mark.promise("token-in-text")
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_short_token_in_a_word_is_sent(proxy: Proxy, kind: type[Client | AsyncClient]) -> None:
    proxy.rule = lambda _: Instead(200, {"success": True, "data": None})

    called(kind, proxy.url, "opaque", lambda client: client.add_command("a", "opaquely", "/a"))

    assert [write.json["description"] for write in proxy.writes] == ["opaquely"]


@pytest.mark.promise("token-of-another-bot")
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_writes_nothing_with_another_bots_token(
    service: Service, bot: Bot, proxy: Proxy, kind: type[Client | AsyncClient]
) -> None:
    other = service.bot()
    listed: list[object] = []

    with pytest.raises(WrongBotError, match=f"bot {other.id}"):
        called(kind, proxy.url, other.token, lambda client: client.delete_command("1"), bot=bot.id)
    called(
        kind,
        proxy.url,
        other.token,
        lambda client: client.get_commands(),
        bot=bot.id,
        then=listed.append,
    )

    assert proxy.writes == []
    assert len(listed) == 1  # it may read


def called(
    kind: type[Client | AsyncClient],
    url: str,
    token: str,
    call: Callable[[Any], Any],
    *,
    bot: str = "42",
    then: Callable[[object], object] = lambda _: None,
) -> None:
    """Make a call of a client of either kind."""
    if kind is Client:
        with Client(token, url, bot=bot) as client:
            then(call(client))
        return

    async def work() -> None:
        async with AsyncClient(token, url, bot=bot) as client:
            then(await call(client))

    asyncio.run(work())


REFUSED = {
    "too many deletes": manifest("help"),
    "a text with the token": "",
    "another bot's token": manifest(*NAMES, "new"),
    "changes": manifest(*NAMES, "new"),
    "no changes": manifest(*NAMES),
}


@pytest.mark.promise("token-in-text", "dry-run")
@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_a_dry_run_says_what_plan_says_and_exits_as_it_does(
    home: Home, service: Service, bot: Bot, proxy: Proxy, what: str, form: str
) -> None:
    token = service.bot().token if what == "another bot's token" else bot.token
    home.knows(bot, url=proxy.url, token=token)
    home.write(REFUSED[what] or manifest(*NAMES, place="description", text=bot.token))

    planned = home.run("plan", "--format", form, exits=0)
    dry = home.run("apply", "--dry-run", "--format", form)
    applied = home.run("apply", "--yes", "--format", form)

    assert dry == planned
    assert applied.code == (0 if "changes" in what else 5)
    assert '"refused": null' in dry.out or ("refuse" in dry.out or "--max-deletes" in dry.out) is (
        applied.code == 5
    )
