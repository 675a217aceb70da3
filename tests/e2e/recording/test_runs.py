"""Programs that are really run, in a real fence where this machine can make one."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commandsync.recording import Order, record, with_signs
from commandsync.recording.hosts import parse_allowed
from commandsync.recording.outcome import Recording, RunEnd
from tests.support.fence import CALL, HELP, fenced

Run = Callable[..., Recording]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Record a program of Python in an empty folder; its source has `put` and `call`."""

    def run(source: str, *words: str, **more: object) -> Recording:
        path = tmp_path / "bot.py"
        path.write_text(CALL + textwrap.dedent(source), encoding="utf-8")
        program = [*words, sys.executable, str(path)]
        allowed = parse_allowed(more.pop("allow", []), [])  # type: ignore[arg-type]
        order = Order(program=program, cwd=tmp_path, allowed=allowed, **more)  # type: ignore[arg-type]
        return asyncio.run(record(order))

    return run


@pytest.fixture
def outside() -> Iterator[tuple[int, list[bytes]]]:
    """A service of this machine: its port, and what was sent to it."""
    said: list[bytes] = []

    def answer() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                said.append(connection.recv(100))
                connection.sendall(b"hello")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1], said
        server.shutdown(socket.SHUT_RDWR)


DIFFING = f"""
path = f"/applications/{{os.environ['CLIENT_ID']}}/commands"
put([{HELP}, {{**{HELP}, "name": "old"}}])
known = {{command["name"]: command["id"] for command in call("GET", path)}}
call("PATCH", f"{{path}}/{{known['help']}}", {{"description": "Helps"}})
call("DELETE", f"{{path}}/{{known['old']}}")
call("POST", path, {{**{HELP}, "name": "new"}})
"""
SERVER_ONLY = f"""
path = f"/applications/{{os.environ['CLIENT_ID']}}/guilds/123456789012345678/commands"
call("PUT", path, [{HELP}])
"""
# A bot that logs in as two shards, and registers when both are ready.
LOGIN = f"""
import asyncio, aiohttp
async def shard(session, url, number):
    async with session.ws_connect(url + "?v=10&encoding=json") as gateway:
        assert (await gateway.receive_json())["op"] == 10
        identify = {{"token": os.environ["TOKEN"], "intents": 1, "properties": {{}}}}
        await gateway.send_json({{"op": 2, "d": {{**identify, "shard": [number, 2]}}}})
        while (message := await gateway.receive_json())["t"] != "READY":
            pass
        await gateway.send_json({{"op": 1, "d": message["s"]}})
        while (await gateway.receive_json())["op"] != 11:
            pass
        return message["d"]["shard"]
async def main():
    async with aiohttp.ClientSession() as session:
        url = call("GET", "/gateway/bot")["url"]
        print(await asyncio.gather(*(shard(session, url, number) for number in (0, 1))))
asyncio.run(main())
put([{HELP}])
"""
NEW = {**HELP, "name": "new"}
CONVERSATIONS = {
    "a diffing registration": (DIFFING, {"": [{**HELP, "description": "Helps"}, NEW]}),
    "one server only": (SERVER_ONLY, {"123456789012345678": [HELP]}),
    "a login with shards": (LOGIN, {"": [HELP]}),
}


@fenced
@pytest.mark.parametrize(("source", "lists"), CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_each_call_is_recorded(run: Run, source: str, lists: dict[str, list[object]]) -> None:
    recording = run(source)

    assert recording.discord == lists, recording.tail
    assert recording.is_whole == ("" in lists), recording.doubt


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
OBJECTS = st.builds(
    lambda name, text, options: {"name": name, "description": text, "type": 1, "options": options},
    st.from_regex(r"[a-z]{1,9}", fullmatch=True),
    TEXTS,
    st.builds(lambda text: {"type": 3, "name": "x", "description": text}, TEXTS).map(lambda x: [x]),
)


@fenced
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OBJECTS, max_size=30, unique_by=lambda command: command["name"]))
def test_what_is_recorded_is_what_was_sent(run: Run, commands: list[object]) -> None:
    recording = run(f"put(json.loads({json.dumps(commands)!r}))")

    assert recording.discord == {"": commands}
    assert (recording.doubt, recording.is_empty) == ("", not commands)


@fenced
@pytest.mark.promise("folder-kept")
def test_files_of_the_folder_stay_and_hosts_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("old", encoding="utf-8")
    recording = run(
        f"""
        open("kept.txt", "w").write("new"); open("made.txt", "w").write("x")
        print(open("kept.txt").read())
        for host in ("top.gg", "top.gg", "api.github.com"):
            try: urllib.request.urlopen(f"https://{{host}}/")
            except OSError: pass
        put([{HELP}])
        """
    )

    assert recording.tail == ("new",)
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bot.py", "kept.txt"]
    assert recording.refused == {"top.gg": 2, "api.github.com": 1}


@fenced
@pytest.mark.parametrize(
    ("end", "ending", "more"),
    [
        ("sys.exit(3)", RunEnd.FAILED, {}),
        ("os.abort()", RunEnd.FAILED, {}),
        ("while True: put([]); time.sleep(0.3)", RunEnd.TIMED_OUT, {"timeout": 2.0}),
    ],
)
def test_a_run_that_is_cut_or_fails_is_not_whole(
    run: Run, end: str, ending: RunEnd, more: dict[str, float]
) -> None:
    recording = run(f"put([{HELP}])\n{end}", **more)

    assert recording.ending is ending
    assert not recording.is_whole


@fenced
def test_a_program_that_registers_nothing_is_shown_with_its_last_lines(run: Run) -> None:
    token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.abcdefghijklmnopqrstuvwxyz012345678901"
    recording = run(f"print('first'); print('with {token}')")

    assert recording.is_empty
    assert not recording.is_whole
    assert recording.tail[0] == "first"
    assert "abcdefghijklmnop" not in "".join(recording.tail)


@fenced
@pytest.mark.promise("nothing-left")
def test_a_bot_that_stays_ends_when_it_is_quiet_with_all_that_it_started(run: Run) -> None:
    recording = run(
        f"""
        import subprocess
        subprocess.Popen(["sleep", "7531"], start_new_session=True)
        put([{HELP}])
        time.sleep(600)
        """
    )

    assert recording.ending is RunEnd.QUIET
    assert recording.discord == {"": [HELP]}
    assert not _processes("7531")


def _processes(word: str) -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_text(encoding="utf-8", errors="replace").split("\0")
            found += [path] if word in arguments else []
        except OSError:
            continue
    return found


@fenced
def test_a_child_with_an_empty_environment_is_recorded(run: Run, tmp_path: Path) -> None:
    child = f"import os; os.environ.update(TOKEN='x', CLIENT_ID='7')\n{CALL}\nput([{HELP}])"
    (tmp_path / "child.py").write_text(child, encoding="utf-8")
    recording = run(
        """
        import subprocess
        subprocess.run([sys.executable, "child.py"], env={}, check=True)
        """
    )

    assert recording.discord == {"": [HELP]}, recording.tail


@fenced
def test_ctrl_c_ends_the_program_and_all_that_it_started(tmp_path: Path) -> None:
    script = "setsid sleep 9753 & setsid nohup sleep 9753 & exec sleep 9753"
    words = [sys.executable, "-m", "commandsync", "import", "--", "sh", "-c", script]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as importing:
        deadline = time.monotonic() + 20
        while len(_processes("9753")) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        importing.send_signal(signal.SIGINT)
        _, said = importing.communicate(timeout=20)

    assert importing.returncode == 130, said
    assert not _processes("9753")
    assert "Traceback" not in said


@fenced
def test_a_cancelled_run_ends_the_program(tmp_path: Path) -> None:
    async def cancel() -> None:
        order = Order(program=["sleep", "8642"], cwd=tmp_path)
        task = asyncio.create_task(record(order))
        while not _processes("8642"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancel())

    assert not _processes("8642")


@fenced
def test_a_bot_of_telegram_polls_and_sets_menus(run: Run) -> None:
    recording = run(
        """
        TELEGRAM = "https://api.telegram.org/bot987654321:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
        def bot(method, **given):
            return call("POST", f"/{method}", given, TELEGRAM)["result"]
        print(bot("getMe")["id"], bot("getUpdates", timeout=0)[0]["message"]["text"])
        bot("setMyCommands", commands=[{"command": "a", "description": "A"}])
        bot("setMyCommands", commands=[], language_code="de")
        bot("deleteMyCommands", scope={"type": "all_group_chats"})
        """,
        say="/start",
    )

    assert recording.tail == ("987654321 /start",)
    assert recording.telegram == {
        ("default", ""): [{"command": "a", "description": "A"}],
        ("default", "de"): [],
    }


ESCAPES = {
    "a socket": "socket.create_connection(('127.0.0.1', {port}), 2).sendall(b'x')",
    "another address": "socket.create_connection(('{address}', {port}), 2).sendall(b'x')",
    "a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    ".sendto(b'x', ('{address}', {port})); raise OSError",
    "a unix socket": "socket.socket(socket.AF_UNIX).connect('{path}')",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect('\\0{path}')",
    "a name": "socket.getaddrinfo('example.com', 80)",
    "a capability": "os.close(os.open('/proc/1/ns/net', 0)); import ctypes; "
    "ctypes.CDLL(None).umount2(b'/run', 2) and sys.exit(9); sys.exit(0)",
}


@fenced
@pytest.mark.parametrize("words", [(), ("env", "-i"), ("setsid", "--wait")], ids=str)
@pytest.mark.promise("fence-holds")
def test_nothing_leaves_the_fence(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    outside: tuple[int, list[bytes]],
    words: tuple[str, ...],
) -> None:
    port, said = outside
    path = str(tmp_path_factory.mktemp("outside") / "service.sock")
    address = socket.gethostbyname(socket.gethostname())
    with (
        socket.socket(socket.AF_UNIX) as service,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(("", port))
        datagrams.settimeout(0)
        service.bind(path)
        service.listen()
        abstract.bind(f"\0{path}")
        abstract.listen()
        tries = [line.format(port=port, address=address, path=path) for line in ESCAPES.values()]
        source = "import os, socket, sys\nfor line in " + repr(tries) + ":\n"
        source += "    try: exec(line); print('LEFT', line)\n"
        source += "    except OSError as error: print('held')\n"
        source += "    except SystemExit as error: print('LEFT' if not error.code else 'held')\n"
        (tmp_path / "escape.py").write_text(source, encoding="utf-8")
        program = [*words, sys.executable, "-I", str(tmp_path / "escape.py")]
        recording = asyncio.run(record(Order(program=program, cwd=tmp_path)))
        with pytest.raises(BlockingIOError):
            datagrams.recv(1)

    assert set(recording.tail) == {"held"}, recording.tail
    assert said == []


@fenced
def test_a_poll_of_telegram_ends_with_the_recording(run: Run) -> None:
    start = time.monotonic()
    recording = run(
        """
        import threading
        TELEGRAM = "https://api.telegram.org/bot987654321:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
        def bot(method, **given):
            return call("POST", f"/{method}", given, TELEGRAM)["result"]
        threading.Thread(target=bot, args=("getUpdates",), kwargs={"timeout": 50}).start()
        time.sleep(1)  # until the poll is the only request
        bot("setMyCommands", commands=[{"command": "a", "description": "A"}])
        """,
    )

    assert recording.ending is RunEnd.QUIET
    assert time.monotonic() - start < 15


@fenced
@pytest.mark.parametrize("allowed", ["localhost", "[::1]", "0.0.0.0", "127.0.0.1"])  # noqa: S104 - names
def test_all_names_of_this_machine_reach_an_allowed_service(
    run: Run, outside: tuple[int, list[bytes]], allowed: str
) -> None:
    port, said = outside
    recording = run(
        f"""
        import socket
        for host in ("localhost", "127.0.0.1", "::1"):
            with socket.create_connection((host, {port}), 5) as database:
                database.sendall(b"select 1")
                print(database.recv(5))
        """,
        allow=[f"{allowed}:{port}"],
    )

    assert recording.tail == ("b'hello'",) * 3
    assert said == [b"select 1"] * 3


@fenced
def test_a_closed_port_is_counted_and_named(run: Run, outside: tuple[int, list[bytes]]) -> None:
    port, said = outside
    recording = run(
        f"""
        import socket
        for host in ("127.0.0.1", "::1", "localhost"):
            try: socket.create_connection((host, {port}), 2)
            except OSError: pass
        """
    )

    assert recording.ports[port] >= 3
    assert said == []

    order = Order(program=["true"])
    assert asyncio.run(with_signs(recording, order)).open_ports == [port]
    for _ in range(200):  # the service hears of the connection in its own thread
        if said:
            break
        time.sleep(0.05)
    assert said == [b""]


@fenced
def test_a_bot_that_waits_for_a_database_is_ended(run: Run) -> None:
    recording = run(
        """
        import socket
        while True:
            try: socket.create_connection(("localhost", 5432), 2)
            except OSError: time.sleep(0.5)
        """
    )

    assert (recording.ending, recording.seconds < 20) == (RunEnd.POINTLESS, True)
    assert recording.ports[5432] > 3


@fenced
def test_an_allowed_service_is_no_platform(run: Run, outside: tuple[int, list[bytes]]) -> None:
    port, said = outside
    recording = run(
        f"""
        import socket
        for first in (b"select 1", b"POST /bot123:abc/setMyCommands HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", {port}), 5) as database:
                database.sendall(first)
                print(database.recv(5))
        """,
        allow=[f"127.0.0.1:{port}"],
    )

    assert recording.tail == ("b'hello'", "b''")
    assert said[0] == b"select 1"
    assert b"POST" not in b"".join(said)


@fenced
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
@pytest.mark.promise("no-fence-no-run")
def test_where_the_fence_is_not_possible_nothing_runs(tmp_path: Path) -> None:
    source = (
        "import asyncio, pathlib, sys\n"
        "from commandsync.recording import Order, record\n"
        "from commandsync.errors import CommandsyncError\n"
        "try: asyncio.run(record(Order(program=['touch', sys.argv[1]])))\n"
        "except CommandsyncError as error: print(error.message, error.hint)\n"
    )
    made = tmp_path / "ran"
    limited = 'echo 0 > /proc/sys/user/max_net_namespaces; exec "$@"'
    words = [sys.executable, "-c", source, str(made)]
    ended = subprocess.run(
        [
            shutil.which("unshare") or "",
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            limited,
            "sh",
            *words,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "the program was not run" in ended.stdout, ended.stderr
    assert "commandsync import discord" in ended.stdout
    assert not made.exists()


NODE = """
const api = "https://discord.com/api/v10/applications/" + process.env.CLIENT_ID + "/commands";
const child = require("node:child_process");
(async () => {
  try { await fetch("http://127.0.0.1:PORT/"); } catch (error) { console.log("held"); }
  const headers = { "Content-Type": "application/json", Authorization: "Bot " + process.env.TOKEN };
  const body = JSON.stringify([{ name: "a", description: "A" }]);
  await fetch(api, { method: "PUT", headers, body });
  if (process.env.CHILD) return;
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const env = { CHILD: "1", CLIENT_ID: "7", TOKEN: "x", NODE_EXTRA_CA_CERTS };
  child.execFileSync(process.execPath, [__filename], { env });
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@fenced
def test_a_program_of_node_and_its_child_are_recorded(
    tmp_path: Path, outside: tuple[int, list[bytes]]
) -> None:
    port, said = outside
    (tmp_path / "bot.cjs").write_text(NODE.replace("PORT", str(port)), encoding="utf-8")
    order = Order(program=["node", "bot.cjs"], cwd=tmp_path)
    recording = asyncio.run(record(order))

    assert recording.discord[""] == [{"type": 1, "description": "A", "name": "a"}], recording.tail
    assert recording.registrations == 2
    assert recording.tail[0] == "held"
    assert said == []


ESM = """
import { Worker, isMainThread } from "node:worker_threads";
import { fileURLToPath } from "node:url";
if (isMainThread) new Worker(fileURLToPath(import.meta.url));
else {
  const headers = { "Content-Type": "application/json", Authorization: "Bot " + process.env.TOKEN };
  const body = JSON.stringify([{ name: "a", description: "A" }]);
  const api = `https://discord.com/api/v10/applications/${process.env.CLIENT_ID}/commands`;
  await fetch(api, { method: "PUT", headers, body });
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@fenced
def test_a_worker_in_a_module_of_node_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "bot.mjs").write_text(ESM, encoding="utf-8")
    order = Order(program=["node", "bot.mjs"], cwd=tmp_path)
    recording = asyncio.run(record(order))

    assert recording.discord[""] == [{"type": 1, "description": "A", "name": "a"}], recording.tail


RAW = """
const net = require("node:net");
const socket = net.connect(PORT, "ADDRESS");
socket.on("connect", () => { socket.end("x"); console.log("LEFT"); });
socket.on("error", () => console.log("held"));
"""


@fenced
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_without_hooks_is_fenced(tmp_path: Path, outside: tuple[int, list[bytes]]) -> None:
    port, said = outside
    address = socket.gethostbyname(socket.gethostname())
    code = RAW.replace("PORT", str(port)).replace("ADDRESS", address)
    (tmp_path / "bot.js").write_text(code, encoding="utf-8")
    program = ["env", "NODE_OPTIONS=", "node", "bot.js"]
    recording = asyncio.run(record(Order(program=program, cwd=tmp_path)))

    assert (recording.tail, said) == (("held",), [])
