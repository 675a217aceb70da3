"""The token appears in no output, file or foreign request, on every command and every failure."""

import json
import os
import signal
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.bots import Bot, Instead, Proxy, Rule, Service
from tests.support.home import LONGEST, Home, Ran, fields
from tests.support.rawserver import RawServer, Request

VARIABLE = "COMMANDSYNC_TOKEN"


@dataclass
class Watch:
    """Looks for the token while the program runs and after it has ended.

    Attributes:
        token: The bot's real token.
        leaks: Where it was seen, and must not be.
        rule: What the service does after a look at all processes.
    """

    token: str
    leaks: list[str]
    rule: Rule

    def __call__(self, seen: Request) -> Instead | None:
        self._processes()
        return self.rule(seen)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The token, what of it nobody else knows, and what others make of it."""
        secret = self.token.rpartition(".")[2]
        encoded = [b64encode(f"{start}{self.token}".encode()).decode() for start in ("", "Bot ")]
        return (self.token, secret, *encoded, quote(self.token, safe=""), self.token[::-1])

    def look(self, where: str, text: str) -> None:
        if any(spelling in text for spelling in self.spellings):
            self.leaks.append(where)

    def _processes(self) -> None:
        """Look at every process's arguments, and at every variable but the intended one."""
        for process in Path("/proc").glob("[0-9]*"):
            if process.name == str(os.getpid()):
                continue
            with suppress(OSError):  # it has ended meanwhile, or is somebody else's
                self.look(f"{process}/cmdline", (process / "cmdline").read_text("utf-8", "replace"))
                for variable in (process / "environ").read_text("utf-8", "replace").split("\0"):
                    if not variable.startswith(f"{VARIABLE}="):
                        self.look(f"{process}/environ", variable)


@pytest.fixture
def decoy() -> Iterator[RawServer]:
    """Another host: whatever comes here was sent to the wrong one."""
    with RawServer() as server:
        yield server
    assert server.connections == 0


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("help", "Reworded."), ("play",), ("new",)))
    return home.knows(service.bot(["help", "play", "old"], ["v1"]), url=proxy.url)


@pytest.fixture
def watch(bot: Bot, proxy: Proxy) -> Watch:
    watch = Watch(bot.token, [], lambda _: None)
    proxy.rule = watch
    return watch


def found(watch: Watch, home: Home, proxy: Proxy, *runs: Ran) -> list[str]:
    """Return where the token appears besides the one header to the one host."""
    for ran in runs:
        watch.look("stdout", ran.out)
        watch.look("stderr", ran.err)
    for path in home.path.rglob("*"):
        watch.look(str(path), path.name)
        if path.is_file() and path.name != "token.txt":
            watch.look(str(path), path.read_text("utf-8", "replace"))
    for seen in proxy.requests:
        assert seen.headers.get("authorization") in {None, f"Bot {watch.token}"}
        others = {name: value for name, value in seen.headers.items() if name != "authorization"}
        watch.look(f"{seen.short}: line", seen.path)
        watch.look(f"{seen.short}: headers", json.dumps(others))
        watch.look(f"{seen.short}: body", seen.body.decode("utf-8", "replace"))
    return watch.leaks


RUNS = {
    "validate": ("validate", 0),
    "init": ("init other.yaml", 0),
    "schema": ("schema plan", 0),
    "plan": ("plan --out plan.json", 0),
    "plan, json": ("plan --format json", 0),
    "plan, markdown": ("plan --format markdown", 0),
    "plan, github": ("plan --format github --detailed-exitcode", 3),
    "plan, against a file": ("plan --against commands.yaml", 0),
    "doctor": ("doctor --format json", 0),
    "pull": ("pull --pin --out pulled.yaml", 0),
    "apply": ("apply --yes --backup before.yaml", 0),
    "apply, json": ("apply --yes --format json", 0),
    "apply, from a file": ("apply --yes --token-file token.txt", 0),
    "apply, a saved plan": ("apply --plan saved.json --yes", 0),
    "a dry run": ("apply --dry-run", 0),
    "no terminal": ("apply", 2),
    "an unknown option": ("apply --token x", 2),
    "a file that exists": ("plan --out commands.yaml", 1),
    "a missing manifest": ("plan -f missing.yaml", 4),
    "a missing plan": ("apply --plan missing.json --yes", 1),
    "an unknown host": ("plan --base-url https://listing.invalid --retries 0", 1),
    "plain http elsewhere": ("plan --base-url http://listing.example", 5),
    "credentials in the URL": ("plan --base-url https://me:pass@listing.example", 2),
    "https to plain http": ("plan --base-url https://127.0.0.1:{port} --retries 0", 1),
    "a refused connection": ("plan --base-url http://127.0.0.1:1 --retries 0", 1),
    "too many deletes": ("apply --yes --max-deletes 0", 5),
}


@pytest.mark.promise("token-header", "token-output")
@pytest.mark.parametrize("what", RUNS)
def test_no_command_shows_it(home: Home, bot: Bot, proxy: Proxy, watch: Watch, what: str) -> None:
    command, code = RUNS[what]
    port = proxy.url.rpartition(":")[2]
    home.write(bot.token, "token.txt")
    home.run("plan", "--out", "saved.json")
    loud = () if command.startswith("schema") else ("-vv",)

    ran = home.run(*command.format(port=port).split(), *loud, exits=code)

    assert "Traceback" not in ran.said
    assert found(watch, home, proxy, ran) == []


def echoing(seen: Request) -> Instead:
    """Say the token back in every place an answer has."""
    said = seen.headers.get("authorization", "")
    headers = {"Location": f"https://other.example/{said}", "Retry-After": said, "X-Echo": said}
    body = {"error": said, "message": said, "data": [{"name": said, "id": said}]}
    return Instead(418, body, headers)


def saying(status: int, body: bytes | object = b"", **headers: str) -> Rule:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Instead(status, body, named)


FAILURES: dict[str, Rule] = {
    **{str(status): saying(status, {"error": "No."}) for status in (400, 401, 403, 404, 409, 422)},
    **{str(status): saying(status, b"<html>") for status in (500, 502, 503, 504)},
    "429": saying(429, Retry_After="0"),
    "429 for long": saying(429, Retry_After="9999"),
    "no JSON": saying(200, b"<!doctype html>"),
    "no list": saying(200, {"data": None}),
    "no gzip": saying(200, b"[]", Content_Encoding="gzip"),
    "too large a number": saying(200, b"[" + b"9" * 5000 + b"]"),
    "an echo": echoing,
}


QUICK = ("400", "401", "403", "429 for long", "an echo")  # others are looked into for seconds


@pytest.mark.parametrize(
    ("what", "moment"),
    [*((what, "reads") for what in FAILURES), *((what, "writes") for what in QUICK)],
)
def test_no_failure_shows_it(
    home: Home, proxy: Proxy, watch: Watch, caplog: pytest.LogCaptureFixture, what: str, moment: str
) -> None:
    fail = FAILURES[what]
    caplog.set_level(0)
    watch.rule = lambda seen: fail(seen) if seen.writes is (moment == "writes") else None

    ran = home.run("apply", "--yes", "-vv", "--retries", "1")

    watch.look("a log, of any library", caplog.text)
    assert "urllib3" in caplog.text
    assert ran.code in {1, 6}, ran.said
    assert "Traceback" not in ran.said
    assert any("authorization" in seen.headers for seen in proxy.requests)
    assert found(watch, home, proxy, ran) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_interruption_shows_it(
    home: Home, proxy: Proxy, watch: Watch, number: signal.Signals
) -> None:
    child = home.started("apply", "--yes", "-vv")
    watch.rule = lambda seen: child.send_signal(number) if seen.writes else None

    out, err = child.communicate(timeout=LONGEST)

    assert child.returncode == 128 + number
    assert found(watch, home, proxy, Ran(child.returncode, out.decode(), err.decode())) == []


@pytest.mark.promise("redirects")
@pytest.mark.parametrize("target", ["{decoy}/v1/bot/1/commands", "{decoy}@127.0.0.1/", "//{host}/"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_it_nowhere(
    home: Home, proxy: Proxy, watch: Watch, decoy: RawServer, status: int, target: str
) -> None:
    place = target.format(decoy=decoy.url, host=decoy.url.removeprefix("http://"))
    watch.rule = lambda _: Instead(status, b"", {"Location": place})

    ran = home.run("plan", "-vv", exits=1)

    assert "redirects" in ran.err
    assert found(watch, home, proxy, ran) == []


@pytest.mark.promise("https-proxy")
@pytest.mark.usefixtures("bot")
def test_an_https_proxy_gets_no_token(home: Home, watch: Watch, proxy: Proxy) -> None:
    came: list[str] = []

    def tunnel(seen: Request) -> Instead:
        came.append(seen.short)
        return Instead(407)

    watch.rule = tunnel
    url = proxy.url.replace("//", "//me:marked-password@")

    ran = home.child(
        "plan", "-vv", "--retries", "0", "--base-url", "https://listing.example", HTTPS_PROXY=url
    )

    assert ran.code == 1
    assert "proxy" in ran.err
    assert "marked-password" not in ran.said
    assert all("authorization" not in seen.headers for seen in proxy.requests)
    assert found(watch, home, proxy, ran) == []


@pytest.mark.promise("other-hosts")
@pytest.mark.parametrize(
    "host", ["127.0.0.1.evil.example", "[::1].evil.example", "localhost.evil.example", "127.1"]
)
def test_a_false_loopback_is_refused(home: Home, proxy: Proxy, watch: Watch, host: str) -> None:
    ran = home.run("plan", "-vv", "--base-url", f"HTTP://{host}")

    assert ran.code in {2, 5}
    assert proxy.requests == []
    assert found(watch, home, proxy, ran) == []


@pytest.mark.promise("upper-case-scheme")
@pytest.mark.parametrize(
    "spelling",
    ["HTTP://127.0.0.1:{port}", "http://LOCALHOST.:{port}/v1/", "http://[::ffff:127.0.0.1]:{port}"],
)
def test_any_loopback_is_spoken_to(home: Home, proxy: Proxy, watch: Watch, spelling: str) -> None:
    port = proxy.url.rpartition(":")[2]

    ran = home.run("plan", "-vv", "--base-url", spelling.format(port=port), "--retries", "0")

    assert ran.code == 0, ran.err
    assert len(proxy.requests) == 1
    assert found(watch, home, proxy, ran) == []


@pytest.mark.promise("token-env")
@pytest.mark.parametrize("name", ["MY_CLOUD_SECRET", "PATH", "COMMANDSYNC", "commandsync_x", "=x"])
def test_a_foreign_variable_is_not_sent(home: Home, proxy: Proxy, watch: Watch, name: str) -> None:
    home.write(f"token_env: {name}\n" + home.read("commands.yaml"))
    home.forget(VARIABLE)

    for variable in ("MY_CLOUD_SECRET", "COMMANDSYNC"):
        home.variable(variable, "marked-secret")

    ran = home.run("plan", "-vv", exits=4)

    assert "token_env" in ran.err
    assert "marked-secret" not in ran.said
    assert proxy.requests == []
    assert watch.leaks == []


@pytest.mark.promise("token-file")
def test_a_misplaced_token_is_not_shown(home: Home, bot: Bot, proxy: Proxy, watch: Watch) -> None:
    home.forget(VARIABLE)
    text = home.read("commands.yaml")
    runs = [home.run("plan", "-vv", "--token-file", bot.token)]
    for line in (f"token_env: {bot.token}", f"token: {bot.token}"):
        home.write(f"{line}\n{text}")
        runs.append(home.run("plan", "-vv"))
    home.write(text)

    assert [ran.code for ran in runs] == [1, 4, 4]
    assert proxy.requests == []
    assert found(watch, home, proxy, *runs) == []
