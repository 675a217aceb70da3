"""An import, from files to files: what it plans is what it writes, whole, and again the same."""

import json
import subprocess
from pathlib import Path
from shutil import rmtree
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import FileError, ManifestError, UsageError
from commandsync.manifest import fields
from commandsync.records.snapshot import ImportedCommand
from commandsync.sources.changeset import Import
from commandsync.sources.entry import SourceEntry, SourceReading, Trait
from commandsync.sync.files import write_edits, write_file
from commandsync.sync.importplan import plan_import
from commandsync.sync.importsource import RecordedCommands
from commandsync.sync.settings import Settings
from tests.support.plans import day

MANIFEST = "version: 1\nprefix: /\nimport: {from: list.json}\n"
BAN = {"name": "ban", "description": "Bans.", "syntax": "/ban"}
KICK = {"name": "kick", "description": "Kicks.", "syntax": "/kick"}
FILE = "commands.imported.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("commands.yaml").write_text(MANIFEST, encoding="utf-8")
    return tmp_path


def plan(*given: str, **options: Any) -> Import:  # noqa: ANN401 - of `plan_import`
    options.setdefault("registered", lambda _: SourceReading())
    return plan_import(Settings(now=day(1)), given, **options)


def planned(*commands: dict[str, Any], **options: Any) -> Import:  # noqa: ANN401 - as above
    Path("list.json").write_text(json.dumps(commands), encoding="utf-8")
    return plan(**options)


def imported(*commands: dict[str, Any], **options: Any) -> Import:  # noqa: ANN401 - as above
    result = planned(*commands, **options)
    write_edits(result.files)
    return result


def registered(*commands: SourceEntry, manifest: str = "from: discord") -> Import:
    Path("commands.yaml").write_text(f"version: 1\nimport: {{{manifest}}}\n", encoding="utf-8")
    return plan(registered=lambda _: SourceReading(entries=commands))


def recorded(*names: str, is_whole: bool = True) -> RecordedCommands:
    """Return a recording of commands with an object each."""
    entries = [
        SourceEntry(
            name=name,
            description=f"Recorded {name}.",
            syntax=f"/{name} [x]",
            discord={"name": name, "type": 1, "description": f"Recorded {name}."},
        )
        for name in names
    ]
    return RecordedCommands(
        "node x.js",
        lambda _: SourceReading(entries=tuple(entries)),
        "" if is_whole else "it failed",
    )


def git(*arguments: str) -> None:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments]
    subprocess.run(line, check=False, capture_output=True)


def names(result: Import) -> list[str]:
    return [command.name for command in result.after.commands]


def test_a_plan_writes_nothing(folder: Path) -> None:
    planned(BAN, KICK)

    assert sorted(path.name for path in folder.iterdir()) == ["commands.yaml", "list.json"]


def test_two_imports_in_a_row_write_the_same_bytes_and_the_second_writes_nothing() -> None:
    first = imported(BAN, KICK)
    text = Path(FILE).read_bytes()

    assert names(first) == ["ban", "kick"]
    assert planned(BAN, KICK).files == ()
    Path(FILE).unlink()
    imported(BAN, KICK)
    assert Path(FILE).read_bytes() == text


def test_line_ends_and_a_formatter_change_nothing() -> None:
    imported(BAN, KICK)
    text = Path(FILE).read_text("utf-8")
    Path(FILE).write_bytes(text.replace("\n", "\r\n").replace('"/ban"', "'/ban'").encode())

    assert planned(BAN, KICK).files == ()


def test_a_file_that_changed_in_the_meantime_is_not_replaced() -> None:
    imported(BAN)
    result = planned(BAN, KICK)
    write_file(FILE, "mine", force=True)

    with pytest.raises(FileError, match="changed"):
        write_edits(result.files)


def test_an_entry_that_loses_its_command_is_a_problem_of_the_written_file() -> None:
    imported(BAN, KICK)
    text = f"{MANIFEST}commands:\n- {{name: kick, category: Mod}}\n"
    Path("commands.yaml").write_text(text, encoding="utf-8")

    result = planned(BAN)

    assert result.files
    assert [problem.message for problem in result.problems] == ['"kick" is not imported any more']


def test_what_was_edited_by_hand_is_refused_with_the_entries_that_keep_it() -> None:
    imported(BAN, KICK)
    text = Path(FILE).read_text("utf-8")
    own = "  - name: mine\n    description: Mine.\n    syntax: /mine\n"
    edited = text.replace("Bans.", "Bans a user.").replace("digest:", f"{own}digest:")
    Path(FILE).write_text(edited, encoding="utf-8")

    result = planned(BAN, KICK)

    assert result.was_edited
    assert [dict(values) for values in result.edits] == [
        {"name": "ban", "description": "Bans a user."},
        {"name": "mine", "description": "Mine.", "syntax": "/mine"},
    ]
    assert names(result) == ["ban", "kick"]


def test_a_conflict_is_solved_by_importing_again() -> None:
    imported(BAN)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "a")
    git("checkout", "-qb", "other")
    imported({**BAN, "name": "expel", "syntax": "/expel"})
    git("commit", "-qam", "b")
    git("checkout", "-q", "main")
    imported(BAN, KICK)
    git("commit", "-qam", "c")
    git("merge", "-q", "other")
    assert "<<<<<<<" in Path(FILE).read_text("utf-8")

    result = imported({**BAN, "name": "expel", "syntax": "/expel"}, KICK)

    assert names(result) == ["expel", "kick"]
    assert result.after.commands[0].formerly == ("ban",)
    assert "<<<<<<<" not in Path(FILE).read_text("utf-8")


def test_a_conflict_without_git_is_refused() -> None:
    Path(FILE).write_text("imported: 1\n<<<<<<< a\n", encoding="utf-8")

    with pytest.raises(ManifestError, match="merge conflict") as caught:
        planned(BAN)
    assert "--force" in str(caught.value.problems[0].hint)
    assert names(imported(BAN, force=True)) == ["ban"]
    assert planned(BAN).files == ()


def test_import_is_appended_to_a_manifest_that_has_none() -> None:
    text = "# Mine.\r\nversion: 1\r\nprefix: /\r\n"
    Path("commands.yaml").write_bytes(text.encode())
    Path("list.json").write_text(json.dumps([BAN]), encoding="utf-8")

    result = plan("list.json")
    write_edits(result.files)

    written = Path("commands.yaml").read_bytes().decode()
    assert written == f'{text}\r\nimport:\r\n  from:\r\n    - "list.json"\r\n'
    assert names(plan()) == ["ban"]
    assert plan("list.json").files == ()


def test_another_source_than_those_of_the_manifest_is_refused_with_the_lines() -> None:
    imported(BAN)
    Path("more.json").write_text(json.dumps([KICK]), encoding="utf-8")

    with pytest.raises(UsageError, match=r"more\.json is not among them") as caught:
        plan("more.json")
    assert 'from: ["list.json", "more.json"]' in str(caught.value.hint)
    assert Path("commands.yaml").read_text("utf-8") == MANIFEST


def test_braces_cannot_be_appended_to() -> None:
    Path("commands.yaml").write_text("{version: 1, prefix: /}\n", encoding="utf-8")
    Path("list.json").write_text(json.dumps([BAN]), encoding="utf-8")

    with pytest.raises(UsageError, match="cannot be appended"):
        plan("list.json")


def test_a_kept_command_goes_by_its_name() -> None:
    Path("commands.yaml").write_text("version: 1\nimport: {from: bot.py}\n", encoding="utf-8")
    code = "import discord\nbot = discord.Bot()\n"
    one, two = (f"@bot.slash_command()\nasync def {n}(ctx): 'Does.'\n" for n in ("one", "two"))
    Path("bot.py").write_text(code + one + two, encoding="utf-8")
    write_edits(plan().files)
    broken = "@bot.slash_command(name=f())\nasync def three(ctx): 'Does.'\n"
    Path("bot.py").write_text(code + one + broken, encoding="utf-8")

    result = plan()
    write_edits(result.files)

    assert [(c.name, c.kept) for c in result.after.commands] == [("one", False), ("two", True)]
    assert [kept.name for kept in result.kept] == ["two"]
    assert plan().files == ()
    assert names(plan(forget=["two"])) == ["one"]
    with pytest.raises(UsageError, match="'six' is not in"):
        plan(forget=["six"])


def test_a_recording_and_an_import_without_it_give_the_same_file() -> None:
    Path("commands.yaml").write_text("version: 1\nimport: {from: bot.py}\n", encoding="utf-8")
    code = "import discord\nbot = discord.Bot()\nclass Fun(discord.Cog):\n"
    code += "    @discord.slash_command()\n    async def one(self, ctx): 'Code.'\n"
    code += "    @discord.slash_command()\n    async def two(self, ctx): 'Code.'\n"
    Path("bot.py").write_text(code, encoding="utf-8")

    write_edits(plan(recorded=recorded("three", "one")).files)
    after = plan()

    assert after.files == ()
    assert [(c.name, c.description, c.category, c.left_out) for c in after.after.commands] == [
        ("one", "Recorded one.", "Fun", ""),
        ("two", "Code.", "Fun", "not registered by the recorded program"),
        ("three", "Recorded three.", "", ""),
    ]
    assert [c.recorded for c in after.after.commands] == [True, False, True]
    Path("bot.py").write_text(code + "# edited\n", encoding="utf-8")
    assert "has changed since 'one' was recorded" in plan().notes[0].message
    assert plan().files == ()


def test_a_run_that_is_not_whole_removes_nothing() -> None:
    Path("commands.yaml").write_text("version: 1\nimport: {program: x}\n", encoding="utf-8")
    write_edits(plan(recorded=recorded("one", "two", "three", "four")).files)

    part = plan(recorded=recorded("one", "five", is_whole=False))
    whole = plan(recorded=recorded("one", "two", "three"))

    assert sorted(names(part)) == ["five", "four", "one", "three", "two"]
    assert names(whole) == ["one", "two", "three"]


def test_half_of_a_surrogate_pair_becomes_a_sign_that_a_file_can_contain() -> None:
    node = {"name": "a", "type": 1, "description": "\ud83d"}
    live = SourceEntry(name="a\ud83d", description=" ", syntax="/a", discord=node)

    (command,) = registered(live).after.commands

    assert (command.name, command.description) == ("a\ufffd", "…")
    assert command.discord == {**node, "description": "\ufffd"}


def test_objects_for_which_the_file_is_too_small_are_not_kept() -> None:
    node = {"name": "ban", "type": 1, "description": "é" * 5_242_880}
    live = SourceEntry(name="ban", description="Bans.", syntax="/ban", discord=node)

    result = registered(live)

    assert result.after.commands[0].discord is None
    assert "not kept" in result.notes[0].message


def test_a_fact_of_the_code_counts_for_what_discord_has() -> None:
    Path("bot.py").write_text(
        "import discord\nfrom discord.ext import commands\nbot = discord.Bot()\n"
        "@bot.slash_command()\n@commands.is_owner()\nasync def go(ctx): 'Goes.'\n",
        encoding="utf-8",
    )
    live = SourceEntry(name="go", description="Goes.", syntax="/go")

    result = registered(live, manifest="from: [discord, bot.py]")

    assert [(c.name, c.left_out) for c in result.after.commands] == [("go", "owner-only")]


def test_the_examples_of_a_starter_are_named() -> None:
    entries = "- {name: help, description: Shows what the bot can do., syntax: /help}\n"
    entries += "- {name: ping, description: Says how quickly the bot answers., syntax: /ping}\n"
    Path("commands.yaml").write_text(f"{MANIFEST}commands:\n{entries}", encoding="utf-8")

    assert "examples of commandsync init" in planned(BAN).notes[-1].message


def test_a_manifest_knows_every_trait() -> None:
    assert get_args(fields.Trait) == tuple(Trait)


@given(
    traits=st.frozensets(st.sampled_from(Trait)),
    wanted=st.sets(st.sampled_from(Trait)),
    is_named=st.booleans(),
)
def test_a_command_that_is_not_public_is_left_out_unless_each_trait_is_asked_for(
    traits: frozenset[Trait], wanted: set[Trait], *, is_named: bool
) -> None:
    rules = f"from: discord, traits: {json.dumps(sorted(wanted))}, exclude: ['dev *', 'debug*']"
    name = "Debug-dump" if is_named else "developers"
    live = SourceEntry(name=name, description="a", syntax="/b", traits=traits)
    (command,) = registered(live, manifest=rules).after.commands

    unwanted = " and ".join(trait for trait in Trait if trait in traits - wanted)
    assert command.left_out == ("excluded by 'debug*'" if is_named else unwanted)


_LISTED = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["ban", "kick", "off", "~", "#1", "a: b", "é", "'q'"]),
            "description": st.sampled_from(
                ["One.", "yes", "- x", "a #b", "a\nb\n\nc", "::error::"]
            ),
            "syntax": st.sampled_from(["/x", "{prefix}x <y>", "{{prefix}}x", "[x]"]),
            "category": st.sampled_from(["", "General", "Fun", "no"]),
        }
    ),
    min_size=1,
    max_size=6,
)


@given(_LISTED, _LISTED)
def test_a_check_agrees_with_the_import(
    old: list[dict[str, Any]], new: list[dict[str, Any]]
) -> None:
    for file in (FILE, "commands.yaml"):
        Path(file).unlink(missing_ok=True)
    Path("commands.yaml").write_text(MANIFEST, encoding="utf-8")
    imported(*old)
    result = imported(*new)

    again = planned(*new)

    assert again.files == ()
    assert again.before == again.after == result.after
    assert all(isinstance(command, ImportedCommand) for command in again.after.commands)


COG = """
from discord.ext import commands

class Fun(commands.Cog):
    @commands.command()
    {decorator}
    async def {name}(self, ctx):
        "Does it."
"""


def failing(source: str) -> str:
    with pytest.raises(FileError) as failed:
        plan_import(
            Settings(now=day(1), files=("commands.yaml",)), [source], registered=no_requests
        )
    return str(failed.value.hint)


def no_requests(_locale: str) -> SourceReading:
    raise AssertionError("nothing was to be read from Discord")


@given(
    place=st.sampled_from(
        [
            ("bot", "other", "."),
            ("bot/cogs/tools", "bot/cogs", "bot/cogs"),
            ("bot/a", "bot/b", "bot"),
        ]
    ),
    names=st.lists(st.sampled_from(["ban", "kick", "mute"]), min_size=1, unique=True),
)
def test_a_folder_without_commands_names_the_one_that_has_them(
    folder: Path, place: tuple[str, str, str], names: list[str]
) -> None:
    empty, full, expected = place
    for old in ("bot", "other"):
        rmtree(folder / old, ignore_errors=True)
    (folder / "commands.yaml").write_text("version: 1\nprefix: '!'\n", encoding="utf-8")
    for path in (empty, full):
        (folder / path).mkdir(parents=True, exist_ok=True)
    (folder / empty / "tool.py").write_text("import discord\n", encoding="utf-8")
    for name in names:
        code = COG.format(name=name, decorator="@commands.cooldown(1, 5)")
        (folder / full / f"{name}.py").write_text(code, encoding="utf-8")

    hint = failing(empty)

    assert f"read in {expected}: commandsync import {expected};" in hint
    assert "commandsync import --" not in hint
    assert "commandsync import discord" not in hint


def test_a_bot_that_registers_is_to_be_recorded(folder: Path) -> None:
    (folder / "commands.yaml").write_text("version: 1\n", encoding="utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "tool.py").write_text("import discord\n", encoding="utf-8")
    (folder / "deploy-commands.js").write_text("rest.put(route, body);\n", encoding="utf-8")

    hint = failing("src")

    assert "commandsync import -- node deploy-commands.js" in hint


@pytest.mark.parametrize("decorator", ["@commands.is_owner()", "@commands.cooldown(1, 5)"])
def test_traits_that_leave_out_everything_are_named(folder: Path, decorator: str) -> None:
    (folder / "commands.yaml").write_text("version: 1\nprefix: '!'\n", encoding="utf-8")
    code = COG.format(name="ban", decorator=decorator)
    (folder / "cog.py").write_text(code, encoding="utf-8")

    planned = plan_import(
        Settings(now=day(1), files=("commands.yaml",)), ["cog.py"], registered=no_requests
    )

    named = [note for note in planned.notes if "traits: [owner-only]" in str(note.hint)]
    assert len(named) == ("is_owner" in decorator)
