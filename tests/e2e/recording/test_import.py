"""`commandsync import -- PROGRAM`: what a program registers reaches the manifest and stays."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from commandsync.manifest import load_manifests
from tests.support.fence import CALL, fenced
from tests.support.home import Home, Ran
from tests.support.terminal import Terminal

Import = Callable[..., Ran]
OPTION = {"type": 3, "name": "song", "description": "Its name", "required": True}
FILE = "commands.imported.yaml"
PLAY = {"type": 1, "name": "play", "description": "Plays a song", "options": [OPTION]}
HELP = {"type": 1, "name": "help", "description": "Shows help"}


@pytest.fixture
def record(home: Home) -> Import:
    """Import from a program of Python that registers some commands and then does something."""

    def record(
        commands: list[object], *words: str, then: str = "", flags: tuple[str, ...] = ()
    ) -> Ran:
        text = f"{CALL}\nput(json.loads({json.dumps(commands)!r}))\n{then}\n"
        (home.path / "deploy.py").write_text(text, encoding="utf-8")
        return home.run("import", *words, *flags, "--", sys.executable, "deploy.py")

    return record


@fenced
def test_a_recorded_command_is_in_the_manifest_with_its_object(home: Home, record: Import) -> None:
    ran = record([PLAY, HELP])

    assert (ran.code, "Recorded 2 commands (1 with options) from" in ran.err) == (0, True), ran.said
    (manifest,) = load_manifests([str(home.path / "commands.yaml")], stdin=bytes)
    assert manifest.imported is not None
    play, shown = sorted(manifest.imported.commands, key=lambda each: each.name != "play")
    assert (play.syntax, play.discord, play.recorded) == ("/play <song>", PLAY, True)
    assert not {"application_id", "version", "guild_id"} & {*(shown.discord or {})}
    assert record([PLAY, HELP], flags=("--check",)).code == 0


TEN = [{"type": 1, "name": f"c{number}", "description": "A command"} for number in range(10)]
PATH = "/applications/7/commands"
INCOMPLETE = {
    "one by one, with pauses": f"""
for command in TEN:
    call("POST", "{PATH}", command)
    time.sleep(4)
""",
    "seven at first, and all later": """
put(TEN[:7])
time.sleep(5)
put(TEN)
""",
    "a module that needs a refused host": """
try:
    urllib.request.urlopen("https://api.example.com/commands")
except OSError:
    pass
put(TEN[:7])
""",
    "registrations that are refused": f"""
for command in TEN:
    if command["name"] in {{"c1", "c2", "c3"}}: command["description"] = ""
    try: call("POST", "{PATH}", command)
    except OSError: pass
""",
    "a list that is not valid JSON": f"""
request = urllib.request.Request("https://discord.com/api/v10{PATH}", b"[{{", method="PUT")
put(TEN[:7])
try: urllib.request.urlopen(request)
except OSError: pass
""",
    "one server only": """
call("PUT", "/applications/7/guilds/123456789012345678/commands", TEN[:3])
""",
    "a closed port": """
import socket
try: socket.create_connection(("localhost", 27017), 2)
except OSError: pass
put(TEN[:7])
""",
    "a program that stays": "put(TEN[:7]); time.sleep(600)",
    "a failure": "put(TEN[:7]); sys.exit(1)",
}


def _kept(home: Home) -> set[str]:
    """Return the names of commands in all files of YAML."""
    text = "".join(path.read_text(encoding="utf-8") for path in home.path.glob("*.yaml"))
    return {str(command["name"]) for command in TEN if f"name: {command['name']}\n" in text}


@fenced
@pytest.mark.promise("incomplete-run")
@pytest.mark.parametrize("then", INCOMPLETE.values(), ids=INCOMPLETE)
def test_a_run_that_is_not_known_to_be_whole_removes_nothing(home: Home, then: str) -> None:
    head = f"{CALL}\nTEN = json.loads({json.dumps(TEN)!r})\n"
    program = ("--", sys.executable, "deploy.py")
    (home.path / "deploy.py").write_text(f"{head}put(TEN)", encoding="utf-8")
    first = home.run("import", *program)
    before = _kept(home)
    (home.path / "deploy.py").write_text(f"{head}{then}", encoding="utf-8")
    ran = home.run("import", *program)

    assert (first.code, len(before)) == (0, 10), first.said
    assert _kept(home) == before, ran.said
    assert "Traceback" not in ran.said


@fenced
@pytest.mark.promise("incomplete-run")
def test_an_empty_run_changes_nothing(home: Home, record: Import) -> None:
    record([PLAY])
    before = home.read(FILE)
    ran = record([])

    assert (ran.code, "registered nothing" in ran.err) == (1, True)
    assert record([], flags=("--check",)).code == 1
    assert home.read(FILE) == before


@fenced
def test_a_whole_run_without_a_command_removes_it(home: Home, record: Import) -> None:
    record([PLAY, HELP])
    ran = record([PLAY])

    assert "1 to remove" in ran.out, ran.said
    assert "name: help" not in home.read(FILE)


@fenced
def test_a_run_in_doubt_removes_what_is_allowed(home: Home, record: Import) -> None:
    record([PLAY, HELP])
    kept = record([PLAY], then="sys.exit(1)")
    text = home.read(FILE)
    removed = record([PLAY], "--complete", then="sys.exit(1)")

    assert "1 command was not registered (help)" in kept.err
    assert "the program failed (exit 1)" in kept.err
    assert "--complete" in kept.err
    assert "name: help" in text
    assert (removed.code, "1 to remove" in removed.out) == (0, True), removed.said


@fenced
@pytest.mark.parametrize(("answer", "stays"), [("n", True), ("y", False)])
def test_on_a_terminal_it_is_asked_what_a_run_in_doubt_removes(
    home: Home, record: Import, answer: str, *, stays: bool
) -> None:
    record([PLAY, HELP])
    record([PLAY], then="sys.exit(1)", flags=("--check",))  # writes the program
    program = ("--", sys.executable, "deploy.py")
    with Terminal.running(home, "import", *program) as terminal:
        terminal.until("Remove them? [y/N]")
        terminal.type(f"{answer}\n")
        code, _, _ = terminal.ended()

    assert code == 0
    assert ("name: help" in home.read(FILE)) == stays


@fenced
def test_a_terminal_shows_what_the_program_prints(home: Home, record: Import) -> None:
    record([PLAY], then="print('::error::first'); print('second'); time.sleep(1)")
    with Terminal.running(home, "import", "--", sys.executable, "deploy.py") as terminal:
        terminal.until("| ::error::first")
        terminal.until("| second")
        code, rest, _ = terminal.ended()

    assert (code, "Recorded 1 command" in rest) == (0, True), rest


@fenced
def test_code_beside_a_recording_gives_the_rest(home: Home, record: Import) -> None:
    code = """
from discord import app_commands
from discord.ext import commands

class Music(commands.Cog):
    @commands.command()
    async def skip(self, ctx):
        "Skips a song"

    @commands.hybrid_command()
    async def play(self, ctx, song: str):
        "Read from the code"

    @app_commands.command(description="It is old")
    async def old(self, interaction): ...
"""
    (home.path / "bot.py").write_text(code, encoding="utf-8")
    ran = record([PLAY], "bot.py", "--prefix", "!", flags=("-v",))

    text = home.read(FILE)
    assert "Plays a song" in text, ran.said
    assert "category: Music" in text
    assert "{prefix}skip" in text
    assert "left_out: not registered by the recorded program" in text
    assert "left out: old" in ran.out


@fenced
@pytest.mark.promise("only-after-dashes")
def test_an_import_without_the_program_keeps_its_commands(home: Home, record: Import) -> None:
    record([PLAY])
    (home.path / "deploy.py").write_text("open('ran', 'w')", encoding="utf-8")
    ran = home.run("import")

    assert (ran.code, "commandsync import -- " in ran.err) == (2, True), ran.said
    listed = [{"name": "skip", "description": "Skips", "type": 1}]
    (home.path / "list.json").write_text(json.dumps(listed), encoding="utf-8")
    home.write(home.read("commands.yaml") + "  from: list.json\n")
    assert home.run("import").code == 0
    text = home.read(FILE)
    assert ("name: play" in text, "name: skip" in text) == (True, True)
    assert not (home.path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--",), "no program follows --"),
        (("--allow", "db", "--", "true"), "is not a valid service"),
        (("--allow", "top.gg:443", "--", "true"), "the stand-ins answer"),
        (("--timeout", "0", "--", "true"), "--timeout"),
        (("--guild", "my-server", "--", "true"), "is not the ID of a server"),
        (("--env", "NOT_SET_HERE", "--", "true"), "is not set"),
        (("nowhere.py", "--", "true"), "cannot read nowhere.py"),
    ],
)
def test_wrong_usage_runs_nothing(home: Home, words: tuple[str, ...], part: str) -> None:
    ran = home.run("import", *words)

    assert (ran.code in {1, 2}, part in ran.err) == (True, True), ran.said
    assert "registered" not in ran.said


def test_an_edited_file_is_refused_before_the_run(home: Home) -> None:
    listed = [{"name": "skip", "description": "Skips", "type": 1}]
    (home.path / "list.json").write_text(json.dumps(listed), encoding="utf-8")
    assert home.run("import", "list.json").code == 0
    home.write(home.read(FILE).replace("Skips", "Jumps"), FILE)

    ran = home.run("import", "--", "no-such-program")

    assert (ran.code, "edited by hand" in ran.err) == (4, True), ran.said
    assert "no-such-program" not in ran.said


@fenced
@pytest.mark.promise("program-output")
def test_what_a_program_prints_starts_no_command_of_a_runner(home: Home) -> None:
    lines = ["::error::a", "   ::add-mask::b", "##[error]c", "\t::warning::d", "x\r::notice::e"]
    text = f"for line in {lines!r}: print(line)"
    (home.path / "bot.py").write_text(text, encoding="utf-8")
    ran = home.run("import", "--", sys.executable, "bot.py", "::error::f")

    assert ran.code == 1
    assert "add-mask" in ran.err
    said = ran.said.replace("\r", "\n").splitlines()
    assert not [line for line in said if line.lstrip().startswith("::") or "##[" in line]


@fenced
def test_the_empty_run_of_a_missing_program_says_so(home: Home) -> None:
    ran = home.run("import", "--check", "--", "no-such-program")

    assert ran.code == 1
    assert "no-such-program cannot be run: No such file or directory" in ran.err
    assert "bwrap" not in ran.err


@fenced
def test_a_secret_of_the_project_is_not_written(home: Home, record: Import) -> None:
    (home.path / ".env").write_text("API_KEY=correct-horse-battery\n", encoding="utf-8")
    ran = record([{**HELP, "description": "Uses correct-horse-battery"}])

    assert ran.code == 5
    assert "correct-horse-battery" not in ran.said
    assert not [path for path in home.path.glob("*.yaml") if "correct-horse" in path.read_text()]
