"""An import, from files to files: what it plans is what it writes, whole and in order."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import FileError
from commandsync.manifest import fields, load_manifests
from commandsync.records.snapshot import Node
from commandsync.records.texts import CommandText, Resource
from commandsync.sources.changeset import Added, Declared, Edited, Import, Removed
from commandsync.sources.entry import SourceEntry, SourceReading, Trait
from commandsync.sources.imported import kept
from commandsync.sources.merge import three_way
from commandsync.sync.edits import EntryPlaces, edited_texts
from commandsync.sync.files import write_edits, write_file
from commandsync.sync.importplan import plan_import
from commandsync.sync.settings import Settings
from tests.support.plans import day

MANIFEST = """\
version: 1
prefix: /
import: {from: list.json}
commands:
- {name: ban, description: Bans., syntax: "{prefix}ban"}
"""
BAN = {"name": "ban", "description": "Bans.", "syntax": "/ban"}
KICK = {"name": "kick", "description": "Kicks.", "syntax": "/kick"}


def planned(*commands: dict[str, Any]) -> Import:
    Path("list.json").write_text(json.dumps(commands), encoding="utf-8")
    return plan_import(Settings(now=day(1)), [], registered=lambda _: SourceReading())


def registered(command: SourceEntry, *objects: Node) -> Import:
    reading = SourceReading(entries=(command,), objects=objects)
    return plan_import(Settings(now=day(1)), ["discord"], registered=lambda _: reading)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("commands.yaml").write_text(MANIFEST, encoding="utf-8")
    return tmp_path


def test_a_plan_writes_nothing(folder: Path) -> None:
    planned(BAN, KICK)

    assert sorted(path.name for path in folder.iterdir()) == ["commands.yaml", "list.json"]


def test_an_import_that_was_interrupted_between_two_files_is_finished() -> None:
    write_edits(planned(BAN).files)
    interrupted = planned(BAN | {"description": "Bans a member."}, KICK)
    for edit in interrupted.edits:
        write_file(edit.path, edit.after, force=True)
    finished = planned(BAN | {"description": "Bans a member."}, KICK)

    assert finished.merge.changes == ()
    assert finished.merge.reviews == ()
    assert [edit.path for edit in finished.files] == ["commands.imported.json"]


def test_a_file_that_changed_in_the_meantime_is_not_replaced() -> None:
    plan = planned(BAN, KICK)
    Path("commands.yaml").write_text(MANIFEST + "# mine\n", encoding="utf-8")

    with pytest.raises(FileError, match="has changed in the meantime"):
        write_edits(plan.files)
    assert Path("commands.yaml").read_text(encoding="utf-8").endswith("# mine\n")
    assert not Path("commands.imported.json").exists()


def test_a_new_category_goes_into_the_last_file_where_the_manifest_has_no_commands() -> None:
    Path("commands.yaml").write_text(
        "version: 1\nprefix: /\ninclude: [a.yaml, b.yaml]\nimport: {from: list.json}\n",
        encoding="utf-8",
    )
    Path("a.yaml").write_text("commands: []\n", encoding="utf-8")
    Path("b.yaml").write_text(MANIFEST.partition("json}\n")[2], encoding="utf-8")
    plan = planned(BAN, KICK | {"category": "Fun"})

    assert [edit.path for edit in plan.files] == ["b.yaml", "commands.imported.json"]


def test_a_file_that_is_broken_removes_none_of_its_commands(folder: Path) -> None:
    Path("commands.yaml").write_text("version: 1\nimport: {from: bot}\n", encoding="utf-8")
    Path("bot").mkdir()
    bot = "import discord\nbot = discord.ext.commands.Bot('!')\n"
    for name in ("a", "b"):
        command = f"@bot.slash_command(description='Does {name}.')\nasync def {name}(ctx): ...\n"
        Path(f"bot/{name}.py").write_text(bot + command, encoding="utf-8")
    write_edits(plan_import(Settings(now=day(1)), [], registered=lambda _: SourceReading()).files)
    Path("bot/a.py").write_text(f"{bot}@bot.slash_command(\n", encoding="utf-8")
    broken = plan_import(Settings(now=day(1)), [], registered=lambda _: SourceReading())
    (folder / "bot/a.py").unlink()
    removed = plan_import(Settings(now=day(1)), [], registered=lambda _: SourceReading())
    Path("bot/b.py").write_text(f"{bot}\n@bot.slash_command(\n", encoding="utf-8")

    with pytest.raises(FileError, match="bot has no commands that can be read") as caught:
        plan_import(Settings(now=day(1)), ["bot"], registered=lambda _: SourceReading())
    (unread,) = broken.unread
    assert unread.reason.endswith(": '(' was never closed")
    assert [problem.message for problem in caught.value.problems] == [unread.reason]
    assert str(caught.value.hint) == (
        "it uses discord.py; record the bot's program: commandsync import -- PROGRAM; or import "
        "what the bot has registered: commandsync import discord; or import a list of commands, "
        "such as commands.json"
    )
    assert broken.files == ()
    assert [held.name for held in broken.merge.held_back] == ["a"]
    assert len(removed.merge.of(Removed)) == 1


def test_a_former_name_that_is_a_command_again_is_removed_from_the_file() -> None:
    write_edits(planned(BAN).files)
    text = Path("commands.yaml").read_text(encoding="utf-8")
    Path("commands.yaml").write_text(
        text.removesuffix("}\n") + ", formerly: [kick, old]}\n", encoding="utf-8"
    )
    write_edits(planned(BAN, KICK).files)

    assert "formerly: [old]" in Path("commands.yaml").read_text(encoding="utf-8")


def test_two_commands_of_one_file_have_their_places() -> None:
    write_edits(planned(BAN, KICK).files)
    plan = planned(BAN | {"syntax": "/ban 2"}, KICK | {"description": "Removes."})
    first, second = plan.merge.of(Edited)

    assert plan.place(first.index, "syntax") == Location("commands.yaml", 5, 43)
    assert plan.place(second.index, "description") == Location("commands.yaml", 6, 29)


def test_half_of_a_surrogate_pair_becomes_a_sign_that_a_file_can_contain() -> None:
    live = SourceEntry(name="a\ud83d", description=" ", syntax="/a", key="discord:1")
    (added,) = registered(live).merge.of(Added)

    assert added.text == CommandText("a\ufffd", "…", "/a", "")


def test_objects_that_the_next_import_would_not_read_are_not_kept() -> None:
    live = SourceEntry(name="ban", description="Bans.", syntax="/ban", key="discord:1")
    plan = registered(live, kept({"name": "ban", "description": "é" * 5_242_880}))
    write_edits(plan.files)

    assert plan.objects == planned(BAN).objects == 0


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
    rules = f"import: {{traits: {json.dumps(sorted(wanted))}, exclude: ['dev *', 'debug*']}}\n"
    Path("commands.yaml").write_text(f"version: 1\n{rules}commands: []\n", encoding="utf-8")
    name = "Debug-dump" if is_named else "developers"
    live = SourceEntry(name=name, description="a", syntax="/b", traits=traits)
    reasons = [each.reason for each in registered(live).excluded]

    unwanted = " and ".join(trait for trait in Trait if trait in traits - wanted)
    reason = "its name matches 'debug*'" if is_named else f"it is {unwanted}"
    assert reasons == [reason] * bool(is_named or unwanted)


NAMES = st.sampled_from(["ban", "kick", "off", "~", "#1", "a: b", "é", "'q'"])
WORDS = st.sampled_from(["One.", "yes", "- x", "a #b", "a\nb\n\nc", '"x"', "{prefix}", "::error::"])
ENTRIES = st.lists(
    st.builds(
        SourceEntry,
        name=NAMES,
        description=WORDS,
        syntax=st.sampled_from(["/x", "{prefix}x <y>", "{{prefix}}x", "[x]"]),
        category=st.sampled_from([None, "General", "Fun", "no"]),
    ),
    max_size=6,
    unique_by=lambda entry: (entry.name, entry.syntax),
)


@given(ENTRIES, ENTRIES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["block", "flow"]))
def test_the_edited_file_says_what_the_merge_does(
    old: list[SourceEntry], new: list[SourceEntry], line_end: str, style: str
) -> None:
    text = _manifest(old, flow=style == "flow").replace("\n", line_end)
    manifest = _loaded(text)
    ours = manifest.snapshot.collections[Resource.COMMAND]
    merge = three_way(
        base=[Declared("x", entry) for entry in old],
        theirs=[Declared("x", entry) for entry in new],
        ours=ours,
        sources=["x"],
        text_of=_text_of,
    )
    edited = edited_texts(manifest, EntryPlaces.of(manifest, ours), {"-": text}, merge.changes)
    after = _loaded(edited.get("-", text)).snapshot.collections[Resource.COMMAND]
    wanted = {index: entry.text for index, entry in enumerate(ours)}
    for change in merge.changes:
        match change:
            case Added(text=added):
                wanted[len(wanted) + len(ours)] = added
            case Removed(index=index):
                del wanted[index]
            case Edited(index=index, fields=edits):
                edit = {each.field: each.new for each in edits}
                wanted[index] = CommandText(*wanted[index])._replace(**edit)

    assert sorted(entry.text for entry in after) == sorted(wanted.values())
    assert ("-" in edited) == bool(merge.changes)
    assert edited.get("-", text).startswith(text.partition("commands:")[0])


def _manifest(entries: list[SourceEntry], *, flow: bool) -> str:
    head = 'version: 1\nprefix: "!" # a comment\ndefaults: {category: General}\n'
    values = [
        {"name": each.name, "description": each.description, "syntax": each.syntax}
        | ({} if each.category is None else {"category": each.category})
        for each in entries
    ]
    if flow or not values:
        lines = [f"  - {json.dumps(entry, ensure_ascii=False)}\n" for entry in values]
        return f"{head}commands:{'' if lines else ' []'}\n{''.join(lines)}"
    lines = [
        f"{'    ' if number else '  - '}{key}: {json.dumps(text, ensure_ascii=False)}  # {key}\n"
        for entry in values
        for number, (key, text) in enumerate(entry.items())
    ]
    return f"{head}commands:\n{''.join(lines)}"


def _loaded(text: str) -> Any:  # noqa: ANN401 - a manifest
    (manifest,) = load_manifests(["-"], stdin=text.encode)
    return manifest


def _text_of(entry: SourceEntry) -> CommandText:
    syntax = entry.syntax.replace("{{prefix}}", "\0").replace("{prefix}", "!")
    syntax = syntax.replace("\0", "{prefix}")
    return CommandText(entry.name, entry.description, syntax, entry.category or "General")
