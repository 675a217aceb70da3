"""Code reads as what discord.js makes of it, in every form in which bots write commands."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.sources import javascript
from commandsync.sources.entry import SourceReading
from commandsync.sources.listfile import of_json
from commandsync.sources.objects import object_of
from tests.support.botcode import RECORDED, drawn, made_by_discord_js
from tests.support.objects import objects_in
from tests.support.runner import ROOT

PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
FORMS = ROOT / "tests" / "fixtures" / "javascript" / "forms.md"
NPM = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", ".")


def rows(reading: SourceReading) -> list[tuple[object, ...]]:
    return sorted((e.name, e.description, e.syntax, sorted(e.traits)) for e in reading.entries)


def expected(command: dict[str, Any], locale: str = "") -> list[tuple[object, ...]]:
    data = json.dumps([command]).encode()
    return rows(of_json({"": data}, columns={}, locale=locale))


@pytest.fixture
def read_drawn(tmp_path: Path) -> Callable[..., list[tuple[object, ...]]]:
    """What is read of drawn code, without a note."""

    def read(seed: int, locale: str = "") -> list[tuple[object, ...]]:
        name, code, _ = drawn(seed)
        (tmp_path / name).write_text(code, encoding="utf-8")
        reading = javascript.read(str(tmp_path / name), locale=locale)
        assert [note for note in reading.notes if note.location] == []
        return rows(reading)

    return read


@given(seed=st.integers(0, 1 << 32), locale=st.sampled_from(("", "de")))
def test_drawn_code_reads_as_the_command_that_it_declares(
    read_drawn: Callable[..., list[tuple[object, ...]]], seed: int, locale: str
) -> None:
    assert read_drawn(seed, locale) == expected(drawn(seed)[2], locale)


def test_recorded_code_reads_the_same(read_drawn: Callable[..., list[tuple[object, ...]]]) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))

    assert [read_drawn(seed) for seed in range(len(recorded))] == list(map(expected, recorded))


def test_literal_code_gives_the_objects_that_discord_js_was_seen_to_make(tmp_path: Path) -> None:
    for seed, command in enumerate(json.loads(RECORDED.read_text(encoding="utf-8"))):
        name, code, _ = drawn(seed)
        (tmp_path / name).write_text(code, encoding="utf-8")
        (found,) = objects_in(javascript.read(str(tmp_path / name)))

        assert found == object_of(command)


@pytest.mark.parametrize(
    "option",
    [
        "{ name: 'to', description: texts.to, type: 3 }",
        "{ name: 'to', description: 'To.' }",
        "{ name: 'to', type: 3 }",
        "{ name: 'to', description: 'To.', type: 3, choices: [{ name: 'a' }] }",
        "...more",
    ],
)
def test_code_that_is_not_all_literal_gives_no_object(option: str, tmp_path: Path) -> None:
    code = f"exports.data = {{ name: 'go', description: 'Goes.', type: 1, options: [{option}] }};"
    (tmp_path / "go.js").write_text(code, encoding="utf-8")
    reading = javascript.read(str(tmp_path / "go.js"))

    assert [entry.name for entry in reading.entries] == ["go"]
    assert objects_in(reading) == ()


def test_code_reads_as_discord_js_makes_it_now(
    read_drawn: Callable[..., list[tuple[object, ...]]], discord_js: Path
) -> None:
    seeds = range(1000, 1200)
    made = made_by_discord_js(discord_js, seeds)

    assert [read_drawn(seed) for seed in seeds] == list(map(expected, made))


GUIDE = """\
const { SlashCommandBuilder } = require("discord.js");
module.exports = {
  data: new SlashCommandBuilder().setName(NAME).setDescription(TEXT)
    .addStringOption((option) => option.setName("what").setDescription("What.").setRequired(true)),
  async execute(interaction) {},
};
"""


def test_the_documented_line_writes_the_commands_of_a_guides_layout(discord_js: Path) -> None:
    (line,) = re.findall(r"^node -e '(.+)'$", PAGE, re.MULTILINE)
    wanted = []
    for number, category in enumerate(("utility", "Fun stuff", "modération")):
        name, text = f"command-{number}", f'Does {number}: it\'s "so".'
        file = discord_js / "commands" / category / f"{name}.js"
        file.parent.mkdir(parents=True)
        code = GUIDE.replace("NAME", json.dumps(name)).replace("TEXT", json.dumps(text))
        file.write_text(code, encoding="utf-8")
        (file.parent / "notes.md").write_text("# Notes", encoding="utf-8")
        wanted.append((name, text, f"/{name} <what>", category))

    subprocess.run([shutil.which("node") or "node", "-e", line], cwd=discord_js, check=True)

    data = (discord_js / "commands.json").read_bytes()
    reading = of_json({"": data}, columns={}, locale="")
    found = [(e.name, e.description, e.syntax, e.category) for e in reading.entries]
    assert sorted(found) == sorted(wanted)


@pytest.fixture(scope="module")
def discord_js(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which npm's discord.js is installed; skips the test if it cannot be."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node is not there; what discord.js made is recorded")
    folder = tmp_path_factory.mktemp("installed")
    try:
        subprocess.run([npm, *NPM[1:], "discord.js@14"], cwd=folder, check=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm cannot be reached; what discord.js made is recorded")
    return folder


ROW = re.compile(r"^\| ([^|]+) \| (`+)(.+?)\2 \| (.+) \|$", re.MULTILINE)
DOCUMENTED = {
    form: (code, shown) for form, _, code, shown in ROW.findall(FORMS.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize(("code", "shown"), DOCUMENTED.values(), ids=DOCUMENTED)
def test_a_documented_form_is_read(code: str, shown: str, tmp_path: Path) -> None:
    file = tmp_path / "commands.ts"
    file.write_text(code, encoding="utf-8")
    reading = javascript.read(str(file))

    assert [e.syntax for e in reading.entries] == re.findall("`(.+?)`", shown.replace("\\|", "|"))
    assert reading.notes == ()


def test_each_framework_of_the_documentation_has_a_form() -> None:
    table = PAGE.partition("| framework |")[2].partition("\n\n")[0]
    frameworks = [
        name for row in table.split("\n")[2:] for name in row.split(" | ")[0][2:].split(", ")
    ]

    assert "Seyfert" in frameworks
    assert [name for name in frameworks if not any(name in form for form in DOCUMENTED)] == []
