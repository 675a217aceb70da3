"""`serve --as NAME` prints what leads to a simulation, and answers as that service."""

import json
import re
import signal
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml

from commandsync.cli.serve import QUESTIONS, flag
from commandsync.simulation.registry import SERVICES
from tests.e2e.readme_blocks import ADDRESS, ROOT
from tests.support.callers import Caller
from tests.support.home import LONGEST, Home
from tests.support.terminal import POSIX

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
TOKEN = re.compile(r"simulated-[0-9a-f]{32}")
PING = {"command": "ping", "description": "Says pong."}


class Served:
    """A simulation in a process of its own, and what it printed until it accepted requests."""

    def __init__(self, home: Home, *arguments: str) -> None:
        self.child = home.started("serve", "--port", "0", *arguments)
        assert self.child.stdout is not None
        printed: list[str] = []
        while not printed or not re.search(r"^    (base_url|limits): ", printed[-1]):
            printed.append(self.child.stdout.readline().decode())
            assert printed[-1], self.ended()
        self.printed = "".join(printed)
        self.url = printed[0].removeprefix("listening on ").strip()
        self.lines, _, self.manifest = self.printed.partition("\n\n")[2].partition("\n\n")
        self.token = self.lines.partition("=")[2].strip()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        status, content, _ = Caller(self.url, "", "").raw(method, path, data, sent)
        return status, json.loads(content) if content else None

    def ended(self) -> str:
        """End it, and return what it printed on standard error."""
        self.child.send_signal(signal.SIGTERM)
        _, err = self.child.communicate(timeout=LONGEST)
        return err.decode()


def test_every_question_of_a_service_is_an_option_and_no_other() -> None:
    asked = {question for service in SERVICES.values() for question in service.open}

    assert asked == set(QUESTIONS)


def test_the_documents_name_every_service_and_every_answer() -> None:
    rows = dict(re.findall(r"^\| `(\S+)` \| (.*) \|$", PAGE, re.MULTILINE))
    for service in SERVICES.values():
        options = [
            f"`{flag(question)} " + r"\|".join(answers) + "`"
            for question, answers in service.open.items()
        ]
        assert rows[service.name].rpartition(" | ")[2] == (", ".join(options) or "nothing")


def test_what_it_prints_is_as_documented_and_is_pasted_whole(home: Home) -> None:
    served = Served(home, "--as", "top.gg", "--empty", "refused")
    (example,) = re.findall(r"```console\n\$ commandsync serve --as .*\n([\s\S]*?)```", PAGE)
    shown = TOKEN.sub("<token of top.gg>", served.printed.replace(served.url, ADDRESS))

    assert shown == example.replace("rate limit 100/second\n", "")
    assert yaml.safe_load(served.manifest) == {
        "listings": [{"service": "top.gg", "base_url": served.url}]
    }
    if POSIX:
        pasted = subprocess.run(
            [which("sh") or "sh", "-c", f'{served.lines}\nprintf %s "$COMMANDSYNC_TOKEN_TOPGG"'],
            capture_output=True,
            text=True,
            check=True,
        )
        assert pasted.stdout == served.token
    path, bearer = "/api/v1/projects/@me/commands", f"Bearer {served.token}"
    statuses = [served.ask("PUT", path, [], Authorization=bearer)[0]]
    statuses.append(served.ask("PUT", path, [{**PING, "name": "p"}], Authorization=bearer)[0])
    _, lists = served.ask("GET", "/")
    _, page, _ = Caller(served.url, "", "").raw("GET", "/", None, {"Accept": "text/html"})

    assert statuses == [422, 204]
    assert lists == {
        "simulated": "top.gg",
        "lists": {"default": [{**PING, "name": "p"}]},
        "announcements": [],
    }
    assert b"<h1><bdi>top.gg, simulated</bdi></h1>" in page
    assert re.findall(b"<h4[^>]*><a[^>]*>([^<]*)<", page) == [b"p"]
    assert served.ended() == "rate limit 100/second\n"


@pytest.mark.promise("serve-as")
def test_the_log_of_requests_has_no_token(home: Home) -> None:
    served = Served(home, "--as", "telegram", "-v")
    status, _ = served.ask("POST", f"/bot{served.token}/setMyCommands", {"commands": [PING]})
    served.ask("GET", f"/bot{served.token}?token={served.token}")
    logged = served.ended()

    assert status == 200
    assert '"POST /bot***/setMyCommands HTTP/1.1" 200' in logged
    assert not TOKEN.search(logged)


def test_conditions_have_the_form_of_the_service(home: Home) -> None:
    served = Served(home, "--as=telegram", "--fail=1", "--rate-limit=2/hour", "--chaos-seed=7")
    failed, failed_again, limited = (
        served.ask("POST", f"/bot{served.token}/getMe") for _ in range(3)
    )
    beside, _ = served.ask("GET", "/")
    said = served.ended()

    assert {failed[0], failed_again[0]} <= {500, 503}
    assert failed[1]["error_code"] == failed[0]
    assert limited[0] == 429
    assert 3_590 < limited[1]["parameters"]["retry_after"] <= 3_600
    assert beside == 200
    assert said == "rate limit 2/hour\nfailures 100.0%, chaos seed 7\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--empty", "refused"], "--empty needs --as"),
        (["--as", "list.example"], "'list.example' is not"),
        (["--as", "disq.ink"], "'disq.ink' is not"),
        (["--as", "telegram", "--method", "put"], "'method' for telegram"),
        (["--as", "top.gg", "--retry-after", "never"], "of 'retry_after'"),
        (["--as", "top.gg", "--host", "localhost"], "--host cannot be"),
        (["--as", "top.gg", "--database", "x.db"], "--database cannot be"),
    ],
)
def test_contradictory_options_are_wrong_usage(home: Home, arguments: list[str], said: str) -> None:
    ran = home.run("serve", "--port", "0", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert [*Path(home.path).iterdir()] == []


def test_a_database_in_the_environment_is_not_used(home: Home) -> None:
    home.variable("COMMANDSYNC_DATABASE", "listing.db")
    Served(home, "--as", "telegram").ended()

    assert [*Path(home.path).iterdir()] == []
