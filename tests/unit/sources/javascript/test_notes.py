"""What only a run of the code can tell is named with its place; any text ends in a reading."""

import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from commandsync.errors import UsageError
from commandsync.sources import javascript
from commandsync.sources.entry import Trait
from commandsync.sources.reading import read
from tests.support.botcode import drawn, notes_of
from tests.support.untrusted import WORDS, judge_source

BUILDER = "new SlashCommandBuilder().setName('a').setDescription('A')"
CHOICES = "{ name: 'x' }, { name: 'y' }, z"
COMPUTED = {  # the members of an object -> the column and the part that is computed, the syntax
    "data: new SlashCommandBuilder().setName(f())": "43 the name of this command",
    "data: make()": "9 the name of this command",
    f"data: {BUILDER}.setDescription(t('a'))": "83 the description of the command 'a' /a",
    f"data: {BUILDER}.addStringOption((o) => o.setName(x))": (
        "101 the name of this option of the command 'a' /a"
    ),
    f"data: {BUILDER}.addStringOption(options[0])": (
        "84 the name of this option of the command 'a' /a"
    ),
    f"data: {BUILDER}.addStringOption((o) => o.setName('o').addChoices({CHOICES}))": (
        "147 the name of this choice of the option 'o' /a [o]"
    ),
    f"data: {BUILDER}.addPages(1)": "9 a part of the command 'a' /a",
    f"data: {BUILDER}.setDefaultMemberPermissions(bits)": (
        "96 the default_member_permissions of the command 'a' /a"
    ),
    f"data: {BUILDER}, category: folder": "79 the category of this command /a",
    "name: n(), aliases: ['a']": "9 the name of this command",
    "name: 'a', aliases: ['a'], description: d()": "43 the description of this command {prefix}a",
    "data: { name: 'a', type: kind }": "28 the type of this command",
    f"data: {BUILDER}, ownerOnly: x": "80 the owner_only of the command 'a' /a",
    f"data: {BUILDER}, nsfw: !y, guildIds: []": "75 the nsfw of the command 'a' /a",
    f"data: {BUILDER}.setNSFW(x)": "76 the nsfw of the command 'a' /a",
    f"data: {BUILDER}, userPermissions: ['Speak', x]": (
        "96 the user_permissions of the command 'a' /a"
    ),
    "name: 'a', aliases: ['a'], enabled: x": "39 the enabled of the command 'a' {prefix}a",
    "name: 'a', usage: [u()]": "22 the usage of this command {prefix}a",
    f"data: withPages({BUILDER})": "9 a part of the command 'a' /a",
    "data: { ...base, name: 'a' }": "14 a part of the command 'a' /a",
}
UNCLEAR = {
    "name: 'a', description: 'A', run(context) {}": "1:18 cannot tell whether this is a slash",
    "data: { description: 'A' }": "2:9 the name of this command is missing",
    "data: { name: 'a', description: 'A'"
    + ", options: [{ type: 3, name: 'o'" * 5
    + "}]" * 5
    + "}": "2:146 the option 'o' has too many options",
}
CHANGED = {
    "a condition": "if (x) data.addStringOption((o) => o.setName('o'));",
    "a loop": "for (const name of names) {\n  data.addStringOption((o) => o.setName(name));\n}",
    "a function for each": "names.forEach((name) => data.addStringOption((o) => o.setName(name)));",
    "another function": "compute(data);",
    "a part of an expression": "x && data.addStringOption((o) => o.setName('o'));",
}
TOO_MUCH = {
    "calls in calls": "f(\n" * 300 + ")" * 300,
    "conditions in conditions": "if (x)\n" * 300 + f"{BUILDER};",
    "twice as many calls each time": "const f0 = () => 1;\n"
    + "".join(f"const f{n} = () => [f{n - 1}(), f{n - 1}()];\n" for n in range(1, 40))
    + "exports.data = f39();",
    "classes of classes": "".join(f"class C{n} extends C{n + 1} {{}}\n" for n in range(300)),
    "a long chain": BUILDER + "\n.setNSFW(true)" * 1000,
}
BAD = {
    "cannot be parsed": b"module.exports = { command: ",
    "is not UTF-8": b"// command \xe9",
    "is larger than 512 KiB": b"// command\n" * 60_000,
    "is nested too deeply": b"[{(\n" * 20_000 + b"command",
    "is nested too": b"{a:\n" * 120_000 + b"command",
    "is too complex": b"case a:\n" * 50_000 + b"command",
}


def noted(folder: Path, code: str | bytes) -> tuple[list[str], list[str]]:
    """Return the syntaxes of the commands in a file, and its notes with their places."""
    file = folder / "bot.js"
    file.write_bytes(code.encode() if isinstance(code, str) else code)
    reading = javascript.read(str(file))
    return [entry.syntax for entry in reading.entries], notes_of(reading)


@pytest.mark.parametrize(("members", "expected"), COMPUTED.items())
def test_what_is_computed_has_its_place(members: str, expected: str, tmp_path: Path) -> None:
    entries, (note,) = noted(
        tmp_path, f"module.exports = {{\n  {members}, execute() {{}} }}; // command"
    )

    part = note.removeprefix("bot.js:2:").replace(" is computed at run time", "")
    assert " ".join([part, *entries]) == expected


@pytest.mark.parametrize(("members", "expected"), UNCLEAR.items(), ids=["kind", "name", "depth"])
def test_what_is_not_clear_has_its_place(members: str, expected: str, tmp_path: Path) -> None:
    _, (note,) = noted(tmp_path, f"module.exports = {{\n  {members}, execute() {{}} }}; // command")

    assert note.startswith(f"bot.js:{expected}")


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_what_is_not_certain_is_left_out_with_its_place(change: str, tmp_path: Path) -> None:
    code = f"const data = {BUILDER};\n{change}\nmodule.exports = {{ data }};"
    entries, (note,) = noted(tmp_path, code)

    assert entries == ["/a"]
    assert note.startswith(("bot.js:2:", "bot.js:3:"))
    assert "'a' is computed" in note


@pytest.mark.parametrize(
    "call", ["client.commands.set('a', data)", "register(data)", "all.add(data)"]
)
def test_what_only_takes_a_builder_changes_nothing(call: str, tmp_path: Path) -> None:
    code = f"const data = {BUILDER};\n{call};\nmodule.exports = {{ data }};"

    assert noted(tmp_path, code) == (["/a"], [])


def test_an_option_that_adds_itself_to_its_list_is_read_once(tmp_path: Path) -> None:
    code = (
        "const { SlashCommandBuilder } = require('discord.js');\n"
        "const options = [];\n"
        "const add = (o) => { options.push(add); return o.setName('o').setDescription('O'); };\n"
        "options.push(add);\n"
        f"exports.data = {BUILDER}.addStringOption(options);\n"
    )
    (tmp_path / "a.js").write_text(code, encoding="utf-8")

    reading = javascript.read(str(tmp_path / "a.js"))

    assert [entry.syntax for entry in reading.entries] == ["/a [o]"]
    assert reading.unread == ()


@pytest.mark.parametrize("code", TOO_MUCH.values(), ids=TOO_MUCH)
def test_code_that_is_too_complex_is_said_to_be(code: str, tmp_path: Path) -> None:
    _, (note, *_) = noted(tmp_path, f"{code}\n// command")

    assert note.startswith("bot.js:1:1 ")
    assert "too complex" in note


@pytest.mark.parametrize(("reason", "code"), BAD.items(), ids=BAD)
def test_a_file_that_cannot_be_read_is_named(reason: str, code: bytes, tmp_path: Path) -> None:
    entries, (note,) = noted(tmp_path, code)

    assert entries == []
    assert note.startswith("bot.js:1:1 ")
    assert f"the file {reason}" in note


def test_files_that_are_too_large_are_not_kept_in_memory(tmp_path: Path) -> None:
    line = "commands.set(1); " * 20
    large = f"{line}\n" * (2 * 1024**2 // len(line))
    for number in range(12):
        (tmp_path / f"{number}.js").write_text(large, encoding="utf-8")

    tracemalloc.start()
    try:
        reading = javascript.read(str(tmp_path))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(reading.partly) == 12
    assert most < 8 * len(large)


@st.composite
def damaged(draw: DrawFn) -> bytes:
    """Draw code in which a few parts are cut out or replaced."""
    code = drawn(draw(st.integers(0, 1 << 32)))[1].encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(code)))
        piece = draw(st.sampled_from(WORDS["source"]))
        code = code[:start] + piece + code[start + draw(st.integers(0, 60)) :]
    return code


@pytest.mark.promise("code-not-run")
@given(code=damaged())
def test_damaged_code_breaks_no_promise(code: bytes) -> None:
    judge_source(code)


def test_flags_are_traits_and_folders_categories(tmp_path: Path) -> None:
    flags = {
        "ownerOnly: true": {Trait.OWNER_ONLY},
        "devOnly: true": {Trait.OWNER_ONLY},
        "preconditions: ['OwnerOnly']": {Trait.OWNER_ONLY},
        "testOnly: true": {Trait.GUILD_ONLY},
        "guildIds: ['1']": {Trait.GUILD_ONLY},
        "enabled: false": {Trait.HIDDEN},
        "nsfw: true": {Trait.NSFW},
        "userPermissions: [PermissionFlagsBits.Administrator]": {Trait.ADMIN_ONLY},
        "userPermissions: ['BanMembers'], guildOnly: true, ownerOnly: false": set(),
    }
    for number, flag in enumerate(flags):
        file = tmp_path / "commands" / "Mod" / "more" / f"c{number}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"module.exports = {{ data: {BUILDER}.setName('c{number}'), {flag} }};")
    entries = javascript.read(str(tmp_path)).entries

    assert [set(entry.traits) for entry in entries] == list(flags.values())
    assert {entry.category for entry in entries} == {"Mod"}


def test_imports_are_followed_and_generated_files_are_not(tmp_path: Path) -> None:
    files = {
        "texts/index.ts": "export const NAME = 'deep';\nexport default { about: 'Deep.' };",
        "kinds.ts": "export enum Kind { Fun = 'Fun stuff', Other }",
        "old.cjs": "exports.make = (name) => new SlashCommandBuilder().setName(name);",
        "all.js": "export { NAME as TITLE } from './texts';\n"
        "export * from './kinds';\n"
        "export { default as texts } from './texts';",
        "a.ts": "import texts, { NAME } from './texts/index.js';\n"
        "export default { name: NAME, description: texts.about, options: [] as const, type: 1 };",
        "b.js": "const { make } = require('./old'), exports = 'command';\n"
        "on(() => make('b').addStringOption((o) => o.setName('o')));\nexport { make };",
        "c.mjs": "import * as all from './all';\n"
        "export const data = { name: all.TITLE + 'er', description: all.texts.about };\n"
        "export const category = all.Kind.Fun;\n"
        "export function execute() {}",
        "d.js": f"import {{ NAME }} from 'else';\nexport const data = {BUILDER}.setName(NAME);",
        **dict.fromkeys(("dist/a.js", "a.min.js", "a.test/a.d.ts"), f"exports.data = {BUILDER};"),
        "long.js": f"exports.data = {BUILDER}; // {'x' * 6000}",
        "said.js": f"// @generated\nexports.data = {BUILDER};",
        "node_modules/a/index.js": f"exports.data = {BUILDER};",
    }
    for name, code in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code, encoding="utf-8")
    reading = read(str(tmp_path))

    assert [entry.syntax for entry in reading.entries] == ["/deep", "/deeper", "/b [o]"]
    assert [entry.category for entry in reading.entries] == [None, "Fun stuff", None]
    assert notes_of(reading) == ["d.js:1:10 the name of this command is computed at run time"]
    assert {Path(name).relative_to(tmp_path).as_posix() for name in reading.generated} == {
        *("dist/a.js", "a.min.js", "a.test/a.d.ts", "long.js", "said.js", "node_modules")
    }


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("commandsync.sources.javascript")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("commandsync.sources.javascript")
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    (tmp_path / "bot.js").touch()

    with pytest.raises(UsageError, match=r"needs? the extra|with the extra") as caught:
        read(str(tmp_path))

    assert "[javascript]" in str(caught.value.hint)
