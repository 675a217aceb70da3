"""Files and folders in the forms in which bots' repositories have them."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import FileError, UsageError
from commandsync.sources import listfile, sourcefile
from commandsync.sources.reading import read

PING = {"name": "ping", "description": "Pings"}
HELP = {"name": "help", "description": "Helps", "type": 1}
EXPECTED = "expected a list of commands, or one command"
NOT_VALID = " is not valid JSON: "
SOMETHING_OTHER = "contains something other than commands, or nothing"
ROW = {"name": "ban", "description": "Bans", "syntax": "{prefix}ban <user>", "category": "Mod"}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a test name files as users do, relative to their folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, content: object) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode()
    path.write_bytes(data)
    return name


def complaint(source: str, **options: object) -> str:
    with pytest.raises(FileError) as caught:
        read(source, **options)  # type: ignore[arg-type]  # each test names its own
    return f"{caught.value.message} | {caught.value.hint}"


@pytest.mark.parametrize(
    "content",
    [
        [PING, HELP],
        {"commands": [PING, HELP]},
        {"slash_commands": [PING, HELP]},
        {"commands": [PING], "slash_commands": [HELP], "tags": ["a"]},
        {"name": "my bot", "commands": [PING, HELP]},
        {"exported": "today", "data": [PING, HELP]},
    ],
)
def test_a_list_is_found_in_whatever_wraps_it(inside: Path, content: object) -> None:
    result = read(write(inside, "commands.json", content))

    assert [entry.syntax for entry in result.entries] == ["/ping", "/help"]
    assert result.notes == ()


def test_one_object_is_one_command_also_if_it_has_lists(inside: Path) -> None:
    command = {**PING, "contexts": [0], "integration_types": [0, 1]}

    (entry,) = read(write(inside, "ping.json", command)).entries

    assert entry.syntax == "/ping"
    assert entry.place == Location("ping.json", 1, 1)


def test_an_empty_list_has_no_commands(inside: Path) -> None:
    assert read(write(inside, "commands.json", [])).entries == ()


def test_an_entry_has_the_place_of_its_command(inside: Path) -> None:
    text = (
        '\ufeff{\r\n  "count": 2,\r\n\t"commands" : [ {"name": "a", "x": "}]"},\r\n{"name":"b"}]}'
    )

    entries = read(write(inside, "commands.json", text.encode())).entries

    assert [entry.place for entry in entries] == [
        Location("commands.json", 3, 17),
        Location("commands.json", 4, 1),
    ]


@pytest.mark.promise("large-source")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1:1: not valid JSON: expecting value | "),
        (b'[\n{"name": }]', ":2:10: not valid JSON: expecting value | "),
        pytest.param(b"[" * 100_000, f"{NOT_VALID}it is nested too deeply | ", id="nested"),
        pytest.param(
            b"[" + b"9" * 5000 + b"]", f"{NOT_VALID}a number has too many digits | ", id="digits"
        ),
        (b'["\xff"]', f"{NOT_VALID}it is not UTF-8, UTF-16 or UTF-32 | "),
        pytest.param(
            b"[" + b"0," * 1_000_001,
            " is too large: it contains more than 1,000,000 values | ",
            id="many values",
        ),
        ("text", f":1:1: not a list of commands | {EXPECTED}"),
        ({"a": [1], "b": []}, f":3:5: not a command | {EXPECTED}"),
        ({"a": 1}, f":1:1: {SOMETHING_OTHER} | {EXPECTED}"),
        (b'{"a": [],\n"a": []}', ":1:1: the key 'a' is defined twice | "),
        ({"Fun": {"roll": "Rolls", "a": 1}}, f":2:10: {SOMETHING_OTHER} | {EXPECTED}"),
        ([PING, None], f":6:3: not a command | {EXPECTED}"),
        ({"commands": [["a"]]}, f":3:5: not a command | {EXPECTED}"),
        ([{"syntax": "/a"}], ":2:3: the command has no 'name' | "),
        ([{"name": ["a"], "syntax": "/a"}], ":2:3: the value of 'name' is not text | "),
        ([{"name": True, "syntax": "/a"}], ":2:3: the value of 'name' is not text | "),
    ],
)
def test_what_contains_no_commands_is_an_error(inside: Path, content: object, message: str) -> None:
    assert complaint(write(inside, "commands.json", content)) == f"commands.json{message}"


def test_a_folder_has_one_file_for_each_command_and_folders_are_categories(inside: Path) -> None:
    write(inside, "bot/ping.json", PING)
    move = {"type": 1, "name": "move", "description": "Moves"}
    write(inside, "bot/fun/games/chess.JSON", {"name": "chess", "options": [move]})
    write(inside, "bot/mod/ban.json", [{"name": "ban"}, ROW])
    write(inside, "bot/package.json", {"name": "my-bot"})
    write(inside, "bot/README.md", b"#")
    for passed_over in ("node_modules/x", ".git", "venv"):
        write(inside, f"bot/{passed_over}/a.json", {"name": "a"})

    entries = read("bot").entries

    assert [(entry.name, entry.category) for entry in entries] == [
        ("ping", None),
        ("chess move", "games"),
        ("ban", "mod"),
        ("ban", "Mod"),
    ]
    assert entries[1].place == Location("bot/fun/games/chess.JSON", 1, 1)


def test_a_folder_is_read_in_full_or_not_at_all(inside: Path) -> None:
    write(inside, "bot/ping.json", PING)
    write(inside, "bot/config.json", {"token": "x"})

    assert complaint("bot").startswith("bot/config.json:1:1: contains something other")


def test_a_link_in_a_folder_is_not_followed(inside: Path) -> None:
    write(inside, "secret/a.json", PING)
    write(inside, "bot/ping.json", PING)
    try:
        (inside / "bot" / "folder").symlink_to(inside / "secret")
        (inside / "bot" / "file.json").symlink_to(inside / "secret" / "a.json")
    except OSError:  # pragma: no cover - Windows without the right to make links
        pytest.skip("no links")

    assert len(read("bot").entries) == 1


def test_a_file_or_folder_with_python_code_is_read_as_python(inside: Path) -> None:
    code = (
        b"import discord\ntree = discord.app_commands.CommandTree(client)\n"
        b"@tree.command()\nasync def ping(interaction):\n    'Pings.'\n"
    )
    write(inside, "bot/cogs/main.py", code)
    write(inside, "bot/config.json", {"token": "x"})

    assert [entry.syntax for entry in read("bot").entries] == ["/ping"]
    assert read("bot/cogs/main.py") == read("bot/cogs") == read("bot")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("package.json", {"name": "bot", "description": "A bot.", "scripts": {"start": "node ."}}),
        ("other.json", {"name": "bot", "dependencies": {"discord.js": "^14.0.0"}}),
        ("tsconfig.json", {"name": "bot", "description": "It."}),
    ],
)
def test_a_file_that_configures_a_program_is_an_error(
    name: str, content: dict[str, object], inside: Path
) -> None:
    write(inside, name, content)

    assert complaint(name).startswith(f"{name} configures a program, and has no commands")


def test_all_languages_of_a_folder_are_read(inside: Path) -> None:
    write(
        inside,
        "bot/a.py",
        b"from discord.ext import commands\n@commands.command()\nasync def a(c): 'A'\n",
    )
    builder = b"new SlashCommandBuilder().setName('b').setDescription('B.')"
    write(inside, "bot/b.js", b"module.exports = { data: " + builder + b", execute(i) {} };\n")

    assert [entry.syntax for entry in read("bot").entries] == ["{prefix}a", "/b"]
    assert {Path(file).name for file in read("bot").files} == {"a.py", "b.js"}


def test_what_is_not_read_is_told_with_what_to_do(inside: Path) -> None:
    write(inside, "empty/notes.pdf", b"")

    assert complaint("gone.json").startswith("cannot read gone.json: ")
    assert complaint("gone.py").startswith("cannot read gone.py: ")
    assert complaint("a\0b.json").startswith("cannot read a\0b.json: ")
    assert complaint("ping.ts").startswith("cannot read ping.ts: ")
    assert complaint("empty").startswith("empty has no ")
    assert complaint("empty/notes.pdf") == (
        "empty/notes.pdf is not a source of commands | "
        "a source is the bot's code, Discord's commands as JSON, or a list as JSON, CSV or lines "
        "`name - text`"
    )


@pytest.mark.promise("large-source")
def test_a_source_has_limits(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        write(inside, f"bot/{name}.json", {"name": name})
    size = (inside / "bot" / "a.json").stat().st_size

    monkeypatch.setattr(sourcefile, "MOST_BYTES", 3 * size)
    assert len(read("bot").entries) == 3

    monkeypatch.setattr(sourcefile, "MOST_BYTES", 3 * size - 1)
    assert complaint("bot").startswith("bot/c.json is larger than")

    monkeypatch.setattr(sourcefile, "MOST_FILES", 2)
    assert complaint("bot").startswith("bot has more than 2 JSON")

    monkeypatch.setattr(sourcefile, "MOST_PLACES", 2)
    assert complaint("bot").startswith("bot has more than 2 f")


@pytest.mark.promise("large-source")
def test_a_large_file_is_not_read(inside: Path) -> None:
    path = write(inside, "commands.json", b" " * (sourcefile.MOST_BYTES + 1))

    assert "10 MiB" in complaint(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.json", [PING] * 3),
        ("list.json", [{**PING, "options": [{"type": 1, "name": name} for name in "abc"]}]),
        ("list.csv", b"name,syntax\na,/a\nb,/b\nc,/c\n"),
    ],
)
def test_a_source_has_so_many_commands_at_most(
    inside: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: object
) -> None:
    path = write(inside, name, content)

    monkeypatch.setattr(sourcefile, "MOST_COMMANDS", 3)
    assert len(read(path).entries) == 3

    monkeypatch.setattr(sourcefile, "MOST_COMMANDS", 2)
    assert complaint(path) == f"{name} has more than 2 commands | is it the right file?"


def test_a_list_of_ones_own_has_a_syntax(inside: Path) -> None:
    rows = [ROW, {"name": " a ", "syntax": "/a"}, {**PING, "type": 1}]

    ban, other, ping = read(write(inside, "list.json", rows)).entries

    assert (ban.name, ban.description, ban.syntax, ban.category) == (
        "ban",
        "Bans",
        "{prefix}ban <user>",
        "Mod",
    )
    assert (other.name, other.description, other.category) == ("a", "…", None)
    assert ban.place == Location("list.json", 2, 3)
    assert ping.syntax == "/ping"


def test_the_keys_of_a_list_of_ones_own_can_be_mapped(inside: Path) -> None:
    row = {"cmd": 247, "usage": "!247", "description": None, "group": False}
    columns = {"name": "cmd", "syntax": "usage", "category": "group"}

    (entry,) = read(write(inside, "list.json", {"all": [row]}), columns=columns).entries

    assert (entry.name, entry.syntax, entry.description) == ("247", "!247", "…")
    assert entry.category is None


NAMES = st.text("abcäß", min_size=1, max_size=6)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("help", "usage"), st.text("a <[/!{", max_size=8)),
        "description": NAMES,
        "arguments": st.lists(NAMES | st.fixed_dictionaries({"name": NAMES})),
        "type": st.sampled_from(["prefix", "slash", "hybrid", 1]),
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "args", "commands", "usage", "a"]), inner)
    ),
)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, FIELDS, min_size=1), min_size=1), st.data())
def test_no_command_of_a_list_is_lost_whatever_shape_it_has(
    commands: dict[str, dict[str, Any]], data: st.DataObject
) -> None:
    shapes = {
        key: data.draw(st.sampled_from(["rows", "keys", "helps", "wrapped"])) for key in commands
    }
    if not data.draw(st.booleans()):
        shapes = dict.fromkeys(shapes, data.draw(st.sampled_from(["flat", "listed"])))
    content: Any = {key: shaped(shapes[key], inner) for key, inner in commands.items()}
    if "flat" in shapes.values():
        content = [{**row, "category": key} for key, rows in content.items() for row in rows]
    elif "listed" in shapes.values():
        content = [{"name": key, "commands": rows} for key, rows in content.items()]
    result = listfile.of_json({"a.json": json.dumps(content).encode()}, columns={}, locale="")

    assert [(entry.name, entry.category) for entry in result.entries] == [
        (name, category) for category, inner in commands.items() for name in inner
    ]


def shaped(shape: str, commands: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    match shape:
        case "keys":
            return {name: {"usage": "", **fields} for name, fields in commands.items()}
        case "helps":
            return {name: fields.get("help", "") for name, fields in commands.items()}
        case "wrapped":
            return {"commands": shaped("rows", commands)}
        case _:
            return [{"name": name, **fields} for name, fields in commands.items()]


@given(JSON)
def test_any_json_is_commands_or_an_error(content: object) -> None:
    with suppress(FileError):
        result = listfile.of_json({"a.json": json.dumps(content).encode()}, columns={}, locale="")

        assert all(entry.name and entry.syntax for entry in result.entries)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"usage": "<user>"}, "{prefix}ban <user>"),
        ({"usage": "BAN <user>"}, "{prefix}BAN <user>"),
        ({"usage": "<prefix>ban [user]", "args": True}, "{prefix}ban [user]"),
        ({"usage": "?ban <user>"}, "?ban <user>"),
        ({"usage": "banish"}, "{prefix}ban banish"),
        ({"syntax": "/remove"}, "/remove"),
        ({"Arguments": ["user", "<x>", "y?"], "type": "HYBRID"}, "/ban <user> <x> [y]"),
        ({"args": {"user": "whom"}, "usage": ""}, "{prefix}ban <user>"),
        ({"args": [{"name": "a", "required": True}, {"name": "b"}]}, "{prefix}ban <a> [b]"),
        ({"args": [{"name": "a", "optional": True}]}, "{prefix}ban [a]"),
        ({"slash": {"mention": "</ban user:123456>"}, "usage": "x"}, "/ban user"),
        ({"type": "hybrid"}, "/ban"),
        ({"type": "text"}, "{prefix}ban"),
    ],
)
def test_a_syntax_is_made_of_its_arguments(inside: Path, row: dict[str, Any], text: str) -> None:
    path = write(inside, "list.json", [{"name": "ban", **row}])
    columns = {"syntax": "slash.mention"} if "slash" in row else {}
    (entry,) = read(path, columns=columns).entries

    assert entry.syntax == text
    assert complaint(path, columns={"category": "slash.typo"}).startswith("list.json:2:3: no comm")


def test_a_list_that_may_be_either_is_discords_and_says_so(inside: Path) -> None:
    named = read(write(inside, "a.json", [PING]))
    (spaced,) = read(write(inside, "b.json", [{"name": "config set"}])).entries
    (both,) = read(write(inside, "c.json", [{**HELP, "category": "Fun"}])).entries

    assert [entry.syntax for entry in named.entries] == ["/ping"]
    assert spaced.syntax == "{prefix}config set"
    assert (both.syntax, both.category) == ("/help", "Fun")
    assert named.notes[0].message.startswith("nothing says whether these are slash commands")


def test_columns_are_those_of_a_command(inside: Path) -> None:
    path = write(inside, "list.json", [ROW])

    with pytest.raises(UsageError, match="'usage' is not a field of a command") as caught:
        read(path, columns={"usage": "syntax"})
    assert str(caught.value.hint) == "the fields are name, description, syntax and category"


SHAPES = re.findall(
    r"^\| `([\[{].*?)` \| (?:`(.*?)`)?.* \| (.*?) ?\|$",
    (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("content", "syntax", "category"), SHAPES)
def test_documented_shapes_are_read(inside: Path, content: str, syntax: str, category: str) -> None:
    path = write(inside, "list.json", content.encode())
    if not syntax:
        assert complaint(path).startswith("list.json:1:2: not a command")
        return
    (entry,) = read(path).entries

    assert (entry.syntax, entry.category or "") == (syntax, category)
    assert len(SHAPES) == 13
