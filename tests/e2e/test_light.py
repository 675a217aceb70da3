"""Each heavy library is imported when it is first needed, and not before."""

import sys

import click
import pytest

from commandsync.cli.program import GROUPS, program
from tests.support.bots import Service
from tests.support.destination import destination
from tests.support.home import Home, commands_of, fields

HEAVY = (
    "requests",
    "urllib3",
    "dotenv",
    "pydantic",
    "yaml",
    "deepdiff",
    "rich",
    "aiohttp",
    "fastapi",
)
SERVER = ("fastapi", "sqlalchemy", "uvicorn", "jwt", "starlette")
OF_LISTINGS = (
    "commandsync.manifest.listingmodel",
    "commandsync.manifest.listings",
    "commandsync.services.catalogue",
    "commandsync.sources.imported",
    "commandsync.sync.lists",
)
OF_IMPORTS = (
    "commandsync.manifest.yamltext",
    "commandsync.sources",
    "commandsync.recording",
)
_SPY = """
import sys
from commandsync.cli.program import run
code = run(sys.argv[1:])
sys.stderr.write("\\nloaded: " + " ".join(sorted(sys.modules)))
sys.exit(code)
"""


def loaded(home: Home, *arguments: str, code: int = 0) -> set[str]:
    """Return the modules that a run has loaded in the end."""
    ran = home.child_of([sys.executable, "-c", _SPY], *arguments, exits=code)
    return set(ran.err.rpartition("loaded: ")[2].split())


@pytest.mark.parametrize(
    "arguments", [["--version"], *([*words, "--help"] for words, _ in commands_of())]
)
def test_version_and_help_load_nothing_heavy(home: Home, arguments: list[str]) -> None:
    modules = loaded(home, *arguments)

    assert "commandsync.cli.program" in modules
    assert modules.isdisjoint([*HEAVY, *SERVER])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [line for group in GROUPS.values() for line in group.items() if "," not in line[0]],
)
def test_the_list_of_commands_has_a_sentence_of_each(name: str, sentence: str) -> None:
    command = program.get_command(click.Context(program), name)

    assert command is not None
    assert command.get_short_help_str(100) == sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate"],
        ["docs", "COMMANDS.md"],
        ["changes", "--since", "commands.yaml"],
        ["import", "list.json"],
    ],
)
def test_what_needs_no_service_loads_no_http(home: Home, arguments: list[str]) -> None:
    home.write(fields(("help",)))
    home.write('[{"name": "new", "syntax": "/new"}]', "list.json")

    modules = loaded(home, *arguments)

    assert "yaml" in modules
    assert modules.isdisjoint(["requests", "urllib3", "deepdiff", "rich", *SERVER])


@pytest.mark.parametrize(
    ("entry", "loaded_too"),
    [("{name: a, description: b}", False), ("{name: a, description: 1, own: false}", True)],
    ids=["texts", "another key"],
)
def test_only_entries_that_are_not_plain_load_pydantic(
    home: Home, entry: str, *, loaded_too: bool
) -> None:
    home.write(f"version: 1\ncommands:\n- {entry[:-1]}, syntax: c}}\n")

    modules = loaded(home, "validate")

    assert ("pydantic" in modules, "pydantic_core" in modules) == (loaded_too, loaded_too)


def test_a_bot_that_loads_its_commands_loads_pyyaml_alone(home: Home) -> None:
    home.write(fields(("help",)))
    script = "import sys, commandsync\nprint(commandsync.load('commands.yaml'), *sys.modules)"

    ended = home.child_of([sys.executable, "-c", script])

    modules = set(ended.out.split())
    assert "LoadedCommand(name='help'," in ended.out
    assert "yaml" in modules
    assert modules.isdisjoint({*HEAVY, *SERVER, "click"} - {"yaml"})


def test_a_plan_without_changes_loads_nothing_that_shows_them(home: Home, service: Service) -> None:
    home.knows(service.bot(["help"]))
    home.write(fields(("help",)))

    modules = loaded(home, "plan")

    assert {"requests", "commandsync.services.service"} <= modules
    assert modules.isdisjoint(["deepdiff", "rich", "pydantic", *SERVER, *OF_LISTINGS, *OF_IMPORTS])


def test_a_plan_of_four_plain_listings_loads_no_pydantic(home: Home, service: Service) -> None:
    bot = home.knows(service.bot(["help"]))
    with destination(home, "telegram") as telegram:
        head = f'bot: "{bot.id}"\nbase_url: {bot.url}\n'
        others = "  - service: top.gg\n    lossy: options\n  - service: discordbotlist.com\n"
        home.write(f"{fields(('help',))}{head}listings:\n{telegram.entry}{others}")

        modules = loaded(home, "plan")

    assert {*OF_LISTINGS} - modules == {
        "commandsync.manifest.listingmodel",
        "commandsync.sources.imported",
    }
    assert modules.isdisjoint(["pydantic", "pydantic_core"])


def test_the_action_begins_without_what_only_some_of_its_runs_need(home: Home) -> None:
    script = "import sys, commandsync.action.run\nprint(*sys.modules)"

    ended = home.child_of([sys.executable, "-c", script])

    modules = set(ended.out.split())
    assert {"commandsync.action.verdict", "yaml"} <= modules
    heavy = ["pydantic", "deepdiff", "rich", "aiohttp", *SERVER]
    assert modules.isdisjoint([*heavy, *OF_LISTINGS, *OF_IMPORTS])


def test_a_plan_begins_to_read_before_it_loads_what_compares(home: Home, service: Service) -> None:
    home.knows(service.bot(["help"]))
    home.write(fields(("help",)))
    spy = """
import sys
from commandsync.client import driver
from commandsync.cli.program import run
start = driver.start_reading
driver.start_reading = lambda *rest: (print(*sys.modules, file=sys.stderr), start(*rest))[1]
sys.exit(run(sys.argv[1:]))
"""

    ran = home.child_of([sys.executable, "-c", spy], "plan", exits=0)

    before = set(ran.err.split())
    assert {"requests", "commandsync.manifest.reader"} <= before
    assert "commandsync.plan.plan" not in before


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (("-m", "commandsync", "validate"), ""),
        (("-c", "import commandsync; commandsync.load('commands.yaml')"), "seen"),
    ],
    ids=["the program", "a bot"],
)
def test_no_plugin_of_pydantic_sees_it(home: Home, arguments: tuple[str, ...], seen: str) -> None:
    home.write("version: 1\ncommands:\n- {name: help, description: a, syntax: b, own: false}\n")
    home.write(
        "print(end='seen')\n\ndef new_schema_validator(*_): return None, None, None", "spy.py"
    )
    home.write("Name: spy\nVersion: 1\n", "spy-1.dist-info/METADATA")
    home.write("[pydantic]\nspy = spy\n", "spy-1.dist-info/entry_points.txt")

    ran = home.child_of([sys.executable, *arguments], exits=0)

    assert ran.out.partition("commands.yaml")[0] == seen


def test_a_list_in_a_pipe_loads_no_tables(home: Home, service: Service) -> None:
    home.knows(service.bot(["help"]))

    modules = loaded(home, "bots", "list")

    assert "requests" in modules
    assert modules.isdisjoint(["deepdiff", "rich", "yaml", "aiohttp", *SERVER])


def test_differences_are_found_by_deepdiff(home: Home, service: Service) -> None:
    home.knows(service.bot(["help"]))
    home.write(fields(("help", "Reworded.")))

    modules = loaded(home, "plan", "--detailed-exitcode", code=3)

    assert "deepdiff" in modules
