from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click
import jsonschema
import pytest
import yaml

from commandsync.api.policy import FAILURES_IN_A_ROW, LONGEST_WAIT
from commandsync.cli.program import EPILOG, program
from commandsync.document.documents import failure_kind
from commandsync.errors import CommandsyncError, FileError
from commandsync.manifest import json_schema
from commandsync.manifest.events import MOST_DEPTH
from commandsync.manifest.source import MOST_BYTES, MOST_NODES
from commandsync.plan.guard import ALWAYS_ALLOWED, DEFAULT_LIMIT
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.server import openapi_text
from commandsync.server.seeding import read_seed
from commandsync.sync.exits import Exit, worst
from commandsync.sync.settings import DEFAULT_MANIFEST, TOKEN_VARIABLE
from tests.e2e.readme_blocks import README, ROOT, Story, StoryError, played

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = README.read_text(encoding="utf-8")
PLAYED = {"console", "yaml", "diff"}
NOT_PLAYED = {"text", "sh", "json"}  # the picture, what sets up, the shape of a seed
RUN_APART = {"python"}  # each with its own service: see test_examples
NUMBERS = ["no", "one", "two", "three", "four", "five"]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"`(--?[a-z][a-z-]*)(?: [A-Z]+)?`")


def commands_of(group: click.Group, inside: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its words, those of groups in the place of their groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name} ")
        else:
            yield f"{inside}{name}", command


COMMANDS = dict(commands_of(program))


def table(*heads: str) -> list[list[str]]:
    """Return the cells of the one table with these words at its head."""
    head = re.escape("| " + " | ".join(heads) + " |")
    (body,) = re.findall(rf"^{head}\n\|[-|]+\|\n((?:\|.*\|\n)+)", TEXT, re.MULTILINE)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body.splitlines()
    ]


def code(cell: str) -> str:
    found = _CODE.search(cell)
    assert found is not None
    return found[1]


def words_of(cell: str) -> str:
    """Return the command that a cell names, without its arguments."""
    return code(cell).partition(" [")[0].partition(" ID")[0].partition(" USER")[0]


def options_of(command: click.Command) -> dict[str, click.Option]:
    return {
        name: option
        for option in command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


def fenced(language: str) -> list[str]:
    return [content for found, content in _FENCE.findall(TEXT) if found == language]


def keys_of(schema: dict[str, Any], inside: str = "") -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield every key of the manifest as the README writes it, and whether it is required."""
    for name, value in schema["properties"].items():
        yield f"{inside}{name}", value, name in schema.get("required", ())
        if "properties" in value:
            yield from keys_of(value, f"{inside}{name}.")
        elif "properties" in value.get("items", {}):
            yield from keys_of(value["items"], f"{inside}{name}[].")


def said_in(value: object, inside: str = "") -> Iterator[str]:
    """Yield every key that a manifest uses, as the README writes it."""
    for name, one in value.items() if isinstance(value, dict) else ():
        yield f"{inside}{name}"
        yield from said_in(one, f"{inside}{name}.")
        for entry in one if isinstance(one, list) else ():
            yield from said_in(entry, f"{inside}{name}[].")


def test_every_command_prints_what_the_readme_says() -> None:
    true = played(TEXT)

    assert true == TEXT, "python tests/e2e/readme_blocks.py --write"


def test_a_wrong_output_is_noticed() -> None:
    told = "```console\n$ commandsync schema nothing\nall is well\n$ echo $?\n0\n```\n"

    assert played(told).endswith("$ echo $?\n2\n```\n")


@pytest.mark.parametrize("line", ["rm -r .", "commandsync init | sort"])
def test_what_cannot_be_played_is_no_part_of_the_story(tmp_path: Path, line: str) -> None:
    with Story(tmp_path / "tour") as story, pytest.raises(StoryError, match="in this story"):
        story.run(line)


def test_an_edit_of_lines_that_are_not_there_is_no_part_of_the_story(tmp_path: Path) -> None:
    with Story(tmp_path / "tour") as story:
        (story.folder / "a.yaml").write_text("version: 1\n", encoding="utf-8")

        with pytest.raises(StoryError, match="stand 0 times"):
            story.edit("--- a.yaml\n-version: 2\n+version: 3\n")


def test_every_block_is_played_or_known_not_to_be() -> None:
    languages = {language for language, _ in _FENCE.findall(TEXT)}

    assert languages == PLAYED | NOT_PLAYED | RUN_APART
    assert TEXT.count("```") == 2 * len(_FENCE.findall(TEXT))
    assert all(content.startswith("# ") for content in fenced("yaml"))
    assert all(content.startswith("--- ") for content in fenced("diff"))


def test_what_sets_up_are_targets_that_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    words = "".join(fenced("sh")) + " ".join(_CODE.findall(_FENCE.sub("", TEXT)))
    targets = set(re.findall(r"\bmake ([a-z]+)\b", words))

    assert targets == {"demo", "test", "check", "bench", "faults"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_every_link_leads_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    }
    links = re.findall(r"\]\(([^)]+)\)", TEXT)

    assert links
    for link in links:
        assert link[1:] in anchors if link.startswith("#") else (ROOT / link).exists(), link


def test_the_reference_has_every_key_of_the_manifest_and_no_other() -> None:
    said = [code(row[0]) for row in table("key", "default", "means")]

    assert said == [key for key, _, _ in keys_of(json_schema())]


def test_the_reference_says_what_is_required_and_what_is_the_default() -> None:
    said = {code(row[0]): row[1] for row in table("key", "default", "means")}

    for key, schema, required in keys_of(json_schema()):
        assert (said[key] == "required") is required, key
        if "default" in schema:
            default = schema["default"]
            assert code(said[key]) == (default if isinstance(default, str) else json.dumps(default))


def test_one_example_shows_every_key_and_agrees_with_the_schema() -> None:
    (example,) = (one for one in fenced("yaml") if one.startswith("# bots/lantern/commands.yaml\n"))
    manifest = yaml.safe_load(example)

    jsonschema.validate(manifest, json_schema())

    assert set(said_in(manifest)) == {key for key, _, _ in keys_of(json_schema())}


def test_the_reference_has_every_command_in_its_order() -> None:
    said = [words_of(row[0]) for row in table("command", "does", "its own options")]

    assert said == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_option_of_a_command_and_no_other(name: str) -> None:
    (own,) = (
        row[2] for row in table("command", "does", "its own options") if words_of(row[0]) == name
    )
    said = set(_OPTION.findall(own))
    for options, of, _, _ in table("shared option", "of", "default", "means"):
        named = set(_CODE.findall(of))
        commands = {one for one in COMMANDS if not {one, one.partition(" ")[0]}.isdisjoint(named)}
        if of.startswith("all but"):
            commands = set(COMMANDS) - commands
        if name in commands:
            said |= set(_OPTION.findall(options))

    assert said == set(options_of(COMMANDS[name]))


def test_the_reference_says_the_defaults_of_shared_options() -> None:
    for options, _, said, _ in table("shared option", "of", "default", "means"):
        option = options_of(COMMANDS["plan"])[code(options).split()[0]]
        flag = option.is_flag or option.count
        words = {"--file": DEFAULT_MANIFEST}.get(option.opts[-1], option.default)

        if flag:
            assert said == "off"
        elif isinstance(words, str | float | int):
            assert code(said) == (f"{words:g}" if isinstance(words, float) else str(words))
        else:
            assert said.startswith(("from the manifest", "the variable", "every change"))


def test_the_reference_has_every_option_of_the_service_and_its_default() -> None:
    said = {code(row[0]).split()[0]: row[1] for row in table("option", "default", "means")}
    options = options_of(COMMANDS["serve"])

    assert said == {
        name: f"`{options[name].default}`" if name != "--seed" else "none"
        for name in ("--host", "--port", "--database", "--seed")
    }


def test_the_reference_has_every_variable_of_the_environment() -> None:
    said = {name for row in table("variable", "means") for name in _CODE.findall(row[0])}
    asked = {
        str(option.envvar)
        for command in COMMANDS.values()
        for option in options_of(command).values()
        if option.envvar
    }

    assert said >= asked | {TOKEN_VARIABLE, "NO_COLOR"}
    assert {name for name in said if name.startswith("COMMANDSYNC_")} == asked | {TOKEN_VARIABLE}


def test_the_reference_has_every_exit_code_in_the_words_of_the_help() -> None:
    said = dict(table("code", "means")[:-1])
    helped = dict(re.findall(r"^  (\d)  (.*)$", EPILOG, re.MULTILINE))

    assert list(said) == [str(int(code)) for code in Exit]
    assert table("code", "means")[-1][0] == "130, 143"
    for number, words in helped.items():
        assert said[number].replace("`", "").startswith(words.partition(":")[0])


def test_the_exit_code_of_several_manifests_is_the_first_of_the_order_that_the_readme_says() -> (
    None
):
    (said,) = re.findall(
        r"exit\s+code\s+is\s+the\s+first\s+of\s+130/143, ([\d, ]+) that\s+applies", TEXT
    )
    order = [int(number) for number in said.split(", ")]

    assert sorted(order) == [int(code) for code in Exit]
    assert [worst(order[n:]) for n in range(len(order))] == order
    assert worst([*order, 130]) == 130


def test_the_reference_has_every_kind_of_failure() -> None:
    (said,) = re.findall(r"what sort it is: ([^.]+)\.", " ".join(TEXT.split()))
    below = [CommandsyncError]
    for kind in below:
        below += kind.__subclasses__()
    kinds = {failure_kind(kind.__new__(kind)) for kind in below if kind is not CommandsyncError}

    assert set(_CODE.findall(said)) == kinds | {"interrupted", "declined"}


@pytest.mark.parametrize(
    "sentence",
    [
        f"{MOST_BYTES // 1024**2} MiB and {MOST_NODES:,} values",
        f"nested {MOST_DEPTH} deep",
        f"{DEFAULT_LIMIT.percent:g} %, and always {ALWAYS_ALLOWED}",
        f"cut after {SHORTEST_CUT} characters or more",
        f"up to {NUMBERS[int(LONGEST_WAIT / 60)]} minutes",
        f"{NUMBERS[FAILURES_IN_A_ROW].title()} network errors, time-outs or 5xx in a row",
    ],
)
def test_the_numbers_are_those_that_the_program_works_with(sentence: str) -> None:
    assert sentence in " ".join(TEXT.split())


def test_the_paths_of_the_service_are_those_that_it_answers() -> None:
    answered = json.loads(openapi_text())["paths"]
    said = {code(path): set(methods.split(", ")) for path, methods in table("path", "methods")}

    assert said == {path: {method.upper() for method in one} for path, one in answered.items()}


def test_the_seed_of_the_readme_is_a_seed(tmp_path: Path) -> None:
    (seed,) = fenced("json")
    path = tmp_path / "seed.json"
    path.write_text(seed, encoding="utf-8")

    (bot,) = read_seed(path).bots

    assert (bot.id, len(bot.commands), len(bot.announcements)) == ("812045337190064138", 1, 1)


def test_a_seed_needs_just_what_the_readme_says(tmp_path: Path) -> None:
    path = tmp_path / "seed.json"
    path.write_text('{"bots": [{"id": "1", "profile": {"username": "A"}}]}', encoding="utf-8")
    bare = tmp_path / "bare.json"
    bare.write_text('{"bots": [{"id": "1"}]}', encoding="utf-8")

    assert "each bot needs an `id` and a `profile` with a `username`" in README.read_text("utf-8")
    assert len(read_seed(path).bots) == 1
    with pytest.raises(FileError, match="profile"):
        read_seed(bare)
