"""A bot that is listed already gets a manifest by pull, and a backup brings its records back."""

import json
import re
import sys
from typing import Any

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home

Record = dict[str, Any]


def command(name: str, description: str, syntax: str, category: str = "", uses: int = 7) -> Record:
    record = {"name": name, "description": description, "syntax": syntax, "uses": uses}
    return record | {"category": category}


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    return home.knows(service.bot([command("help", "Helps.", "/help")], ["v1"]), url=proxy.url)


def test_a_pulled_file_names_the_schema_that_is_written_beside_it(home: Home, bot: Bot) -> None:
    assert home.run("pull", "--out", "bots/x.yaml").code == 1
    home.run("pull", "--out", "x.yaml", exits=0)

    assert home.read("x.yaml").startswith(
        "# yaml-language-server: $schema=./schemas/commands.schema.json\n"
        f'version: 1\nbot: "{bot.id}"\n'
    )
    assert json.loads(home.read("schemas/commands.schema.json"))["title"] == "commandsync manifest"
    home.write("{}", "schemas/commands.schema.json")
    again = home.run("pull", "--out", "x.yaml", "--force")
    assert again.err == "wrote x.yaml\n"
    assert home.read("schemas/commands.schema.json") == "{}"


def test_a_backup_brings_the_uses_back(home: Home, service: Service) -> None:
    plain = [command(name, f"Does {name}.", f"/{name}", uses=n) for n, name in enumerate("abcd")]
    bot = home.knows(service.bot([*plain, command("it's", "Is odd.", "/x", uses=1840)]))
    before = bot.ids()
    home.write("version: 1\ncommands: [{name: a, description: New., syntax: /a}]\n")
    home.run("apply", "--yes", "--max-deletes", "all", "--backup", "my backup.yaml")
    assert bot.names() == ["a"]
    odd = before["it's"]
    assert f'id: "{odd}" # uses: 1840\n' in home.read("my backup.yaml")
    assert " commandsync apply -f 'my backup.yaml'\n" in home.read("my backup.yaml")

    back = home.run("apply", "--yes", "-f", "my backup.yaml", exits=0)

    ids, lost = bot.ids(), {"b": 1, "c": 2, "d": 3, "it's": 1840}
    lines = re.findall(r"^  (client\.set_uses\(.*\))", back.out, re.MULTILINE)
    assert lines == [f'client.set_uses("{ids[name]}", {uses})' for name, uses in lost.items()]
    assert "remove the id" not in back.said
    assert ids["a"] == before["a"]

    script = "\n".join(["import commandsync", "client = commandsync.Client.from_env()", *lines])
    assert home.child_of([sys.executable, "-c", script]).code == 0
    assert {record["name"]: record["uses"] for record in bot.commands()} == {
        record["name"]: record["uses"] for record in [*plain, {"name": "it's", "uses": 1840}]
    }
    again = home.run("apply", "--yes", "-f", "my backup.yaml", exits=0)
    assert "set_uses" not in again.said


def test_a_backup_takes_a_newer_announcement_away(home: Home, service: Service) -> None:
    bot = home.knows(service.bot(["help"], ["v1"]))
    home.write("version: 1\nannouncements: [{title: v2, description: More news.}]\n")
    home.run("apply", "--yes", "--backup", "before.yaml")
    assert [record["title"] for record in bot.announcements()] == ["v1", "v2"]

    home.run("apply", "--yes", "-f", "before.yaml", exits=0)

    assert [record["title"] for record in bot.announcements()] == ["v1"]
