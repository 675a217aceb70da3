"""One apply for every door: its steps, its hooks, and its ends."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from commandsync.errors import CommandsyncError, FileError, TooManyDeletesError, UsageError
from commandsync.manifest import Manifest
from commandsync.sync.apply import (
    AppliedPlans,
    ApplySteps,
    CheckedPlans,
    Declined,
    Ending,
    Hooks,
    apply,
    carry_out,
)
from commandsync.sync.job import Job, Planned
from commandsync.sync.selection import jobs
from commandsync.sync.settings import Settings, load, read_clock
from tests.support.bots import Bot, Proxy, Service
from tests.support.home import fields

Steps = Callable[..., ApplySteps[Ending]]


@pytest.fixture
def bot(service: Service, monkeypatch: pytest.MonkeyPatch) -> Bot:
    bot = service.bot(["help", "ping"])
    monkeypatch.setenv("COMMANDSYNC_TOKEN", bot.token)
    return bot


@pytest.fixture
def steps(bot: Bot, proxy: Proxy, tmp_path: Path) -> Steps:
    """Return the steps of an apply of these names."""
    path = tmp_path / "commands.yaml"

    def steps(*names: str, hooks: Hooks, dry_run: bool = False) -> ApplySteps[Ending]:
        path.write_text(fields(*((name,) for name in names)), encoding="utf-8")
        settings = Settings(now=read_clock(), files=(str(path),), base_url=proxy.url, bot=bot.id)
        return apply(
            load=partial(load, settings),
            connect=partial(jobs, settings),
            hooks=hooks,
            dry_run=dry_run,
        )

    return steps


class Seen:
    """Hooks that note their calls, each with the requests that were sent before it."""

    def __init__(self, proxy: Proxy, answers: str = "") -> None:
        self.calls: list[str] = []
        self._proxy = proxy
        self._answers = list(answers)  # to the questions: y or n

    def note(self, name: str) -> None:
        sent = [request.short for request in self._proxy.requests]
        self.calls.append(" ".join([name, *(each.replace(" ", ":") for each in sent)]))
        self._proxy.requests.clear()

    def planned(self, planned: Planned) -> Planned:
        self.note("planned")
        return planned

    def ask(self, _planned: Sequence[Planned], changed: bool) -> bool:  # noqa: FBT001 - a hook
        self.note("ask again" if changed else "ask")
        return self._answers.pop(0) == "y"

    @property
    def hooks(self) -> Hooks:
        return Hooks(
            opened=lambda _jobs: self.note("opened"),
            planned=self.planned,
            passed=lambda _planned, _unread: self.note("passed"),
            ask=self.ask if self._answers else None,
            begin=lambda _planned: self.note("begin"),
        )


def test_every_hook_has_its_place_and_what_is_written_comes_last(
    steps: Steps, proxy: Proxy, bot: Bot
) -> None:
    seen = Seen(proxy)

    ending = carry_out(steps("help", "ping", "new", hooks=seen.hooks))

    assert seen.calls == [
        "opened",
        "planned GET:commands",
        "passed",
        "begin",
    ]
    assert [request.short for request in proxy.requests] == ["POST commands", "GET commands"]
    assert isinstance(ending, AppliedPlans)
    assert bot.names() == ["help", "ping", "new"]


def test_after_a_yes_the_listing_is_read_again(steps: Steps, proxy: Proxy) -> None:
    seen = Seen(proxy, "y")

    assert isinstance(carry_out(steps("help", "ping", "new", hooks=seen.hooks)), AppliedPlans)
    assert seen.calls[2:5] == ["passed", "ask", "begin GET:commands"]


def test_a_changed_plan_is_asked_about_again(steps: Steps, proxy: Proxy, bot: Bot) -> None:
    seen = Seen(proxy, "yn")

    def ask(planned: Sequence[Planned], changed: bool) -> bool:  # noqa: FBT001 - a hook
        if not changed:
            bot.delete(bot.ids()["ping"])
        return seen.ask(planned, changed)

    ending = carry_out(steps("help", "ping", "new", hooks=replace(seen.hooks, ask=ask)))

    assert isinstance(ending, Declined)
    assert seen.calls[3:] == ["ask", "ask again GET:commands"]
    assert bot.names() == ["help"]


def test_a_plan_that_is_refused_after_the_question_is_an_error(
    steps: Steps, proxy: Proxy, bot: Bot
) -> None:
    seen = Seen(proxy, "y")

    def ask(planned: Sequence[Planned], changed: bool) -> bool:  # noqa: FBT001 - a hook
        for number in range(9):
            bot.post("commands", name=f"x{number}", description="x", syntax="/x")
        return seen.ask(planned, changed)

    with pytest.raises(TooManyDeletesError, match="9 of 11"):
        carry_out(steps("help", "ping", "new", hooks=replace(seen.hooks, ask=ask)))

    assert seen.calls[-1] == "ask"
    assert len(bot.names()) == 11


@pytest.mark.parametrize("hook", ["opened", "planned", "passed", "begin"])
def test_a_hook_that_raises_before_the_first_write_ends_the_run(
    steps: Steps, proxy: Proxy, bot: Bot, hook: str
) -> None:
    def fail(*_: object) -> None:
        raise FileError("marked", hint="")

    hooks = replace(Seen(proxy).hooks, **{hook: fail})  # type: ignore[arg-type]  # any hook

    with pytest.raises(FileError, match="marked"):
        carry_out(steps("help", "ping", "new", hooks=hooks))

    assert bot.names() == ["help", "ping"]


def test_a_refusal_and_a_dry_run_begin_nothing(steps: Steps, proxy: Proxy) -> None:
    refused, dry = Seen(proxy, "y"), Seen(proxy, "y")

    not_begun = carry_out(steps("other", hooks=refused.hooks))
    shown = carry_out(steps("help", "ping", "new", hooks=dry.hooks, dry_run=True))

    assert isinstance(not_begun, CheckedPlans)
    assert isinstance(shown, CheckedPlans)
    assert [type(error) for error in not_begun.errors] == [TooManyDeletesError]
    assert shown.errors == [None]
    assert refused.calls == dry.calls == ["opened", "planned GET:commands"]


def test_a_run_without_a_token_reads_nothing(
    steps: Steps, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMMANDSYNC_TOKEN")

    with pytest.raises(UsageError, match="no token"):
        carry_out(steps("help", hooks=Hooks()))

    assert proxy.requests == []


def test_connections_are_closed_however_a_run_ends(steps: Steps, bot: Bot) -> None:
    opened: list[Job] = []

    def fail(jobs: Sequence[Job]) -> None:
        opened.extend(jobs)
        raise FileError("marked", hint="")

    with pytest.raises(CommandsyncError):
        carry_out(steps("help", hooks=Hooks(opened=fail)))

    assert [job.connection.transport.closed for job in opened] == [True]
    assert bot.names() == ["help", "ping"]


def test_what_loads_and_connects_is_the_doors_own(bot: Bot, proxy: Proxy, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(fields(("help",), ("ping",)), encoding="utf-8")
    settings = Settings(now=read_clock(), files=(str(path),), base_url=proxy.url, bot=bot.id)
    connected: list[Manifest] = []

    def connect(manifests: Sequence[Manifest]) -> AbstractContextManager[Sequence[Job]]:
        connected.extend(manifests)
        return jobs(settings, manifests)

    ending = carry_out(apply(load=lambda: load(settings), connect=connect))

    assert isinstance(ending, AppliedPlans)
    assert [manifest.path for manifest in connected] == [str(path)]
    assert [result.complete for result in ending.results] == [True]
