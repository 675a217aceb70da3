"""Listings in CI: one comment for all, and each list compared with what it shows for certain."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from commandsync.api.arguments import service_of
from commandsync.testing import SimulatedListing
from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import SHA, Answer, Event, Hub, Runner, Step, other, pull_request, push
from tests.support.simulations import serve_simulation

BOT = "812045337190064138"
UNREAD = ("top.gg", "discordbotlist.com")
SERVICES = (*UNREAD, "telegram")
TEN = [f"command{number}" for number in range(10)]
CONTEXTS = [f"commandsync/{name}" for name in SERVICES]


@dataclass
class Lists:
    """A repository whose manifest has three listings."""

    runner: Runner
    hub: Hub
    places: dict[str, SimulatedListing]

    def write(self, *names: str, without: str = "", head: str = f'bot: "{BOT}"\n') -> str:
        """Write the manifest with these commands, and return it."""
        entries = [
            place.manifest.removeprefix("listings:\n") + "    lossy: [syntax, category, options]\n"
            for name, place in self.places.items()
            if name != without
        ]
        text = f"{fields(*((name,) for name in names))}{head}listings:\n{''.join(entries)}"
        self.runner.write(text)
        return text

    def first(self, *names: str) -> str:
        """Commit a manifest without listings, which the base branch has."""
        text = fields(*((name,) for name in names))
        self.runner.base["commands.yaml"] = text
        return self.runner.commit(text)

    def propose(self, **inputs: str) -> Step:
        """Plan the pull request; its job has no tokens."""
        return self.runner.run(pull_request(), **inputs)

    def merge(self, event: Event | None = None, **inputs: str) -> Step:
        """Apply the branch, with the tokens."""
        before = dict(self.runner.variables)
        self.runner.variables |= {each.variable: each.token for each in self.places.values()}
        step = self.runner.run(event or push(), **inputs)
        self.runner.variables = before
        return step

    def listed(self, *names: str) -> str:
        """Let these commands be listed everywhere; return the commit."""
        self.first(*names)
        self.runner.base["commands.yaml"] = self.write(*names)
        step = self.merge()
        assert step.outputs["result"] == "applied", step.log
        return self.head

    @property
    def head(self) -> str:
        return self.runner.repo.git("rev-parse", "HEAD")

    @property
    def writes(self) -> list[int]:
        return [len(place.writes) for place in self.places.values()]

    @property
    def names(self) -> list[list[str]]:
        """The names that each service shows."""
        listings = [place.commands for place in self.places.values()]
        return [[each.get("name") or each["command"] for each in listed] for listed in listings]

    def states(self, commit: str = "") -> dict[str, str]:
        """The newest states of the commit's statuses."""
        statuses = self.hub.statuses.get(commit or self.head, [])
        return {each["context"].rpartition(" ")[0]: each["state"] for each in statuses}


@pytest.fixture
def lists(runner: Runner, hub: Hub) -> Iterator[Lists]:
    with ExitStack() as opened:
        places = {
            name: opened.enter_context(serve_simulation(name, bot=None if "." not in name else BOT))
            for name in SERVICES
        }
        yield Lists(runner, hub, places)


def pushed(*commits: str) -> Event:
    """A push of several commits; the first is what the branch had before."""
    event = push()
    return replace(event, payload=event.payload | {"before": commits[0]})


def error_of(step: Step) -> str:
    return step.annotations("error")[0].data


@pytest.mark.promise("plan-without-token")
def test_a_pull_request_that_adds_listings_says_that_they_are_replaced_unseen(
    lists: Lists, hub: Hub, golden: Callable[[str, str], None]
) -> None:
    lists.first("help")
    lists.write("help", "ping", "No name!")
    lists.propose(ends="0 changes")

    assert [place.requests for place in lists.places.values()] == [[], [], []]
    (comment,) = hub.ours
    for name, place in lists.places.items():
        comment = comment.replace(place.base_url, f"https://{name}.example")
    golden(comment.partition("\n")[2], "listings-comment.md")


def test_a_merge_sends_all_lists_and_a_run_again_those_that_cannot_be_read(
    lists: Lists, hub: Hub
) -> None:
    lists.first("help")
    lists.write("help", "ping")
    lists.propose()
    hub.merged[SHA] = [7]
    step = lists.merge(ends="0 applied")
    (comment,) = hub.ours
    again = lists.merge(ends="0 applied")

    assert lists.names == [["help", "ping"]] * 3
    assert lists.writes == [2, 2, 1]
    assert "| `top.gg` | 2 sent. Accepted" in comment
    assert "| `telegram` | 2 done. Verified" in comment
    assert comment.count("#### Sent (2)\n\nAdded (2):") == 2
    assert "No changes since the list sent on 2026-01-01" in again.log
    assert lists.states() == dict.fromkeys(CONTEXTS, "success")
    sent = [each["description"] for each in hub.statuses[lists.head]]
    assert sent[:3] == ["sent 2 commands"] * 2 + ["2 changes applied, 0 unchanged"]
    assert sent[3:] == ["sent 2 commands"] * 2 + ["0 changes applied, 2 unchanged"]
    made = hub.deployments.deployments
    assert [each["environment"] for each in made] == [f"commandsync/{name}" for name in UNREAD]
    assert {each["ref"] for each in made} == {lists.head}
    assert hub.deployments.states() == [["in_progress", "success"] * 2] * 2
    for place in lists.places.values():
        assert place.token not in step.log.replace(f"::add-mask::{place.token}\n", "")


def test_a_pull_request_is_compared_with_what_was_sent_or_the_base_branch(
    lists: Lists, hub: Hub
) -> None:
    lists.listed(*TEN)
    lists.write(*TEN[:9], "new")
    step = lists.propose(ends="0")

    (comment,) = hub.ours
    base = lists.runner.repo.git("rev-parse", "apart")
    for name in UNREAD:
        assert f"| `{name}` | 1 | 0 | 1 | none | `the list sent on 2026-01-01 00:00" in comment
    assert f"| `telegram` | 1 | 0 | 1 | none | `{base[:7]}` |" in comment
    assert "unseen" not in comment
    assert step.outputs["adds"] == step.outputs["deletes"] == "3"
    assert lists.writes == [1, 1, 1]


@pytest.mark.promise("sent-deployments")
def test_after_a_refused_merge_the_next_push_is_compared_with_what_was_sent(lists: Lists) -> None:
    lists.listed(*TEN)
    lists.write("command0")
    refused = lists.merge()
    lists.write("command0", "new")
    later = lists.merge()
    states = lists.states()
    lists.merge(max_deletes="all", ends="0 applied")

    for step in (refused, later):
        assert (step.code, step.outputs["failure-reason"]) == (5, "refused"), step.log
        assert "would delete 9 of 10" in error_of(step)
    assert states == {}
    assert lists.names == [["command0", "new"]] * 3


def test_a_rerun_says_of_the_newest_commit_what_lists_show(lists: Lists, hub: Hub) -> None:
    old = lists.listed(*TEN)
    lists.write(*TEN, "new")
    lists.merge()
    lists.write(*TEN)
    hub.head = lists.runner.commit()
    lists.runner.repo.git("checkout", "--quiet", "--detach", old)
    again = lists.merge()
    lists.runner.repo.git("checkout", "--quiet", "main")
    lists.write(*TEN, "new")
    hub.head, newest = "", hub.head
    later = lists.merge()

    assert (again.code, later.code) == (0, 0), again.log + later.log
    assert lists.states(newest) == dict.fromkeys(CONTEXTS, "success")
    assert lists.writes == [4, 4, 4]
    assert lists.names == [[*TEN, "new"]] * 3


def test_one_list_that_fails_keeps_no_other_from_its_status(lists: Lists) -> None:
    lists.listed("help")
    lists.write("help", "ping")
    lists.places["discordbotlist.com"].fail_next(403)
    lists.merge(ends="6 failed")

    assert lists.names == [["help", "ping"], ["help"], ["help", "ping"]]
    assert lists.states() == dict(zip(CONTEXTS, ("success", "failure", "success"), strict=True))


@pytest.mark.promise("unreadable-deployments")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((403, {"message": "Resource not accessible by integration"}, {}), "403"),
        ((200, {"message": "a page"}, {}), "did not answer with a list"),
        ((200, [{"id": "x"}], {}), "cannot be read"),
        ((200, b"<html>", {}), "cannot be read"),
    ],
)
@pytest.mark.parametrize("mode", ["apply", "plan"])
def test_where_deployments_cannot_be_read_a_list_that_needs_them_is_not_sent(
    lists: Lists, hub: Hub, answer: Answer, words: str, mode: str
) -> None:
    lists.listed("help")
    lists.write("help", "ping")
    hub.rule = lambda request: answer if request.startswith("GET") and "depl" in request else None
    step = lists.merge(mode=mode)

    said = step.log
    assert "the list sent last is not known: " in said
    assert words in said
    assert words != "403" or "deployments: write" in said
    if mode == "plan":
        assert (step.code, step.outputs["result"]) == (0, "changes"), step.log
        assert "| `top.gg` | ? | ? | ? |" in step.summary
        assert lists.writes == [1, 1, 1]
    else:
        assert (step.code, step.outputs["failure-reason"]) == (5, "incomplete"), step.log
        assert lists.writes == [1, 1, 2]  # the list that is read is applied


@pytest.mark.promise("forged-deployments")
def test_a_forged_deployment_raises_the_limit_and_decides_nothing_else(
    lists: Lists, hub: Hub
) -> None:
    wanted = [*TEN[:5], "new"]
    del lists.places["telegram"]
    lists.listed(*TEN)
    for made in [*hub.deployments.deployments]:
        payload = made["payload"] | {"names": TEN[:5], "request": "forged", "size": 5}
        forged = {"ref": made["ref"], "environment": made["environment"], "task": "commandsync"}
        forged |= {"payload": payload, "auto_merge": False, "required_contexts": []}
        hub.deployments.now += timedelta(seconds=1)
        _, record, _ = hub.deployments.create(forged)
        hub.deployments.append(record["id"], "success", "")
    lists.write(*wanted)
    step = lists.merge()

    assert lists.names == [wanted, wanted], step.log


@pytest.mark.promise("unreadable-deployments")
@pytest.mark.parametrize("permission", ["read", ""])
def test_a_list_whose_deployment_cannot_be_created_is_not_sent(
    lists: Lists, hub: Hub, permission: str
) -> None:
    lists.listed("help")
    lists.write("help", "ping")
    hub.deployments.permission = permission
    step = lists.merge(ends="5")

    assert "deployments: write" in step.log
    assert lists.writes == [1, 1, 2]


@pytest.mark.promise("unrecorded-lists")
def test_a_success_that_cannot_be_recorded_is_incomplete(lists: Lists, hub: Hub) -> None:
    lists.listed(*TEN[:2])
    lists.write(*TEN)

    def rule(request: str) -> Answer | None:
        ends = request.startswith("POST") and request.endswith("/statuses")
        is_end = ends and hub.deployments.states()[-1] == ["in_progress"]
        return (502, {}, {}) if is_end else None

    hub.rule = rule
    step = lists.merge(ends="6 incomplete")
    hub.rule = lambda _: None
    lists.write(*TEN[:2])
    refused = lists.merge()

    assert "The sent list is not recorded" in step.log
    assert lists.names == [TEN] * 3
    assert refused.code == 5
    assert "would delete 8 of 10 listed commands" in error_of(refused)


def test_a_list_that_can_be_read_needs_no_status(lists: Lists, hub: Hub) -> None:
    for name in UNREAD:
        del lists.places[name]
    lists.first("help")
    lists.write("help", "ping")
    hub.rule = lambda request: (403, {}, {}) if "graphql" in request else None
    planned = lists.runner.run(push(), mode="plan", ends="0 changes")
    lists.merge(ends="0 applied")

    assert "with the token" in planned.summary
    assert lists.names == [["help", "ping"]]


def test_only_the_merge_that_adds_an_entry_allows_to_replace_a_list_unseen(lists: Lists) -> None:
    lists.first("help")
    lists.write("help")
    lists.places["top.gg"].fail_next(403)
    failed = lists.merge()
    lists.merge(max_deletes="0", ends="0 applied")
    lists.write("help", "ping", without="discordbotlist.com")
    removed = lists.merge()
    lists.write("help", "ping")
    back = lists.merge()

    assert failed.outputs["result"] == "failed", failed.log
    assert (removed.code, back.code) == (0, 0), back.log
    assert lists.names == [["help", "ping"]] * 3


@pytest.mark.promise("replaced-unseen")
def test_an_unsent_entry_of_an_earlier_version_needs_a_decision(lists: Lists, hub: Hub) -> None:
    lists.first("help")
    lists.write("help")
    lists.runner.commit()
    lists.write("help", "ping")
    proposed = lists.propose()
    refused = lists.merge()
    lists.merge(other("workflow_dispatch"), mode="apply", apply="current", ends="0 applied")
    lists.merge(ends="0 applied")

    assert (proposed.code, refused.code) == (0, 5), proposed.log + refused.log
    for step in (proposed, refused):
        assert "list of top.gg" in step.log
        assert "apply: current" in step.log
    assert "**Refused**" in hub.ours[0]
    assert lists.names == [["help", "ping"]] * 3


@pytest.mark.parametrize("begins", [True, False])
def test_all_commits_of_a_push_are_one_merge(lists: Lists, *, begins: bool) -> None:
    before = lists.first("help")
    if begins:  # the push begins with the manifest itself
        (lists.runner.workspace / "commands.yaml").unlink()
        before = lists.runner.commit()
    lists.write("help")
    lists.runner.commit()
    lists.write("help", "ping")
    lists.runner.commit()
    lists.merge(pushed(before), ends="0 applied")


def test_a_listing_of_another_bot_is_another_list(lists: Lists) -> None:
    lists.listed(*TEN)
    text = (lists.runner.workspace / "commands.yaml").read_text(encoding="utf-8")
    more = (
        '- service: top.gg\n    bot: "42"\n    token_env: COMMANDSYNC_TOKEN_42\n  - service: top.gg'
    )
    lists.runner.write(text.replace("- service: top.gg", more))
    step = lists.propose(ends="0")

    assert "| `top.gg`, bot `42` | ? | ? | ? | none | **nothing: replaced unseen" in step.summary
    assert "| `top.gg`, bot `812045337190064138` | 0 | 0 | 0 |" in step.summary
    assert "| `discordbotlist.com` | 0 | 0 | 0 |" in step.summary


def test_a_manifest_that_is_not_in_git_needs_a_decision(lists: Lists) -> None:
    lists.runner.checks_out = False
    lists.write("help")
    event = other("workflow_dispatch")
    refused = lists.merge(event, mode="apply")
    lists.merge(event, mode="apply", apply="current", ends="0 applied")

    assert (refused.code, "git repository" in error_of(refused)) == (5, True)
    assert lists.names == [["help"]] * 3


def test_drift_is_found_in_lists_that_can_be_read(lists: Lists, hub: Hub) -> None:
    lists.listed("help")
    place = lists.places["telegram"]
    lists.runner.variables[place.variable] = place.token
    lists.runner.run(other("schedule"), ends="0 no-changes")
    lists.write("help", "ping")
    found = lists.runner.run(other("schedule"), ends="3 changes")
    del lists.runner.variables[place.variable]
    blind = lists.runner.run(other("schedule"), ends="0 unchecked")

    assert "`top.gg`, `discordbotlist.com`." in found.summary
    assert "| `telegram` | 1 | 0 | 0 |" in hub.issues[0]["body"]
    assert "`telegram`." in blind.summary
    assert hub.issues[0]["state"] == "open"
    assert lists.writes == [1, 1, 1]


def test_a_page_and_lists_have_one_comment(lists: Lists, hub: Hub, service: Service) -> None:
    bot = service.bot(["help", "gone"])
    head = f'bot: "{bot.id}"\nbase_url: {bot.url}\n'
    lists.runner.base["commands.yaml"] = (
        lists.runner.commit(fields(("help",), ("gone",)) + head) and head
    )
    lists.write("help", head=head)
    lists.propose(base_url=bot.url)
    hub.merged[SHA] = [7]
    step = lists.merge(token=bot.token, base_url=bot.url, ends="0 applied")

    assert bot.names() == ["help"]
    assert lists.names == [["help"]] * 3
    assert len(hub.ours) == 1
    assert len(step.outputs["backup-file"].splitlines()) == 1
    page = f"commandsync/{service_of(bot.url)}"
    assert lists.states() == dict.fromkeys([page, *CONTEXTS], "success")


def test_an_apply_without_a_token_of_a_listing_names_its_variable(lists: Lists) -> None:
    lists.first("help")
    lists.write("help")
    step = lists.runner.run(push(), ends="2 invalid")

    assert "COMMANDSYNC_TOKEN_TOPGG below env:" in error_of(step)


def test_a_host_of_the_manifest_gets_a_token_if_an_input_names_it(runner: Runner) -> None:
    replaced = {"method": "POST", "url": "https://list.example/{bot}", "authorization": "{token}"}
    entry = {"service": "our-list", "token_env": "COMMANDSYNC_TOKEN_OUR", "replace": replaced}
    runner.base["commands.yaml"] = runner.commit(fields(("help",))) and fields(("help",))
    runner.write(f'{fields(("help",))}bot: "{BOT}"\nlistings: [{json.dumps(entry)}]\n')
    runner.variables["COMMANDSYNC_TOKEN_OUR"] = "marked-token-of-our-list"
    refused = runner.run(push())
    named = runner.run(push(), hosts="list.example")

    assert "COMMANDSYNC_HOSTS=list.example" in error_of(refused)
    assert "COMMANDSYNC_HOSTS" not in named.log
    assert "marked-token" not in named.log.replace("::add-mask::marked-token-of-our-list\n", "")


EVERY_SCOPE = "[default, all_private_chats, all_group_chats, all_chat_administrators]"


@pytest.mark.parametrize(
    ("scopes", "said"),
    [
        ("", "telegram (de): an earlier version had this list, of 2 commands"),
        ("", "telegram: hidden in private chats by a list of 2 commands"),
        (EVERY_SCOPE, "telegram (de): an earlier version had this list, of 2 commands"),
    ],
)
def test_a_dropped_list_is_kept_and_named(lists: Lists, scopes: str, said: str) -> None:
    """A scope or a language that is taken out of the manifest is never deleted by that."""
    telegram = lists.places["telegram"]
    del lists.places["top.gg"], lists.places["discordbotlist.com"]
    lists.runner.repo.write({"de.yaml": "help: Zeigt alles.\n"})
    short = lists.write("help", "ping")
    lists.runner.write(f"{short}    scopes: {EVERY_SCOPE}\n    languages: {{de: de.yaml}}\n")
    lists.merge(ends="0 applied")
    kept, before = dict(telegram.lists), lists.head
    assert len(kept) == 8

    lists.runner.write(short + (f"    scopes: {scopes}\n" if scopes else ""))
    step = lists.merge(pushed(before), ends="0 no-changes")

    assert telegram.lists == kept
    assert said in step.log
