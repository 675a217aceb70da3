"""A bot that is listed already gets a manifest, by pull and pull --merge; nothing of it is lost."""

import json
import re
import sys
from typing import Any

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home
from tests.support.terminal import POSIX, Terminal

Record = dict[str, Any]

MANIFEST = """\
# Written by hand.\r
version: 1\r
prefix: "/"\r
defaults: {category: General}\r
include: more.yaml\r
commands:\r
  - name: help   # first\r
    description: "Shows the help."\r
    syntax: "{prefix}help"\r
\r
  - name: queue\r
    description: 'Shows the songs that come next.'\r
    syntax: "{prefix}queue [page]"\r
    category: Music\r
    formerly: [list] # since v2\r
"""
MORE = "commands:\n- {name: ban, description: Bans., syntax: '/ban <user>', category: Mod}"


def command(name: str, description: str, syntax: str, category: str = "", uses: int = 7) -> Record:
    record = {"name": name, "description": description, "syntax": syntax, "uses": uses}
    return record | {"category": category}


LISTED = [
    command("Help", "Shows the help.", "/help", "General"),
    command("songs", "Shows the songs that come next.", "/songs [page]", "Music"),
    command("kick", "Kicks {prefix} a member.", "/kick {prefix}", "Mod"),
    command("off", "Turns it off.\n\nReally: now", "!off", "General"),
    command("ban", "Bans.", "/ban <user>", "Mod"),
    command("free", "Has no category.", "/free"),
]
QUESTION = "Write these changes? [y/N]: "


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(MANIFEST)
    home.write(MORE, "more.yaml")
    return home.knows(service.bot(LISTED, ["v1"]), url=proxy.url)


@pytest.mark.usefixtures("bot")
def test_a_merge_adds_what_is_missing_and_keeps_every_other_byte(home: Home, proxy: Proxy) -> None:
    ran = home.run("pull", "--merge", "--yes", exits=0)

    assert home.read("commands.yaml") == MANIFEST.replace(
        '    syntax: "{prefix}help"\r\n',
        '    syntax: "{prefix}help"\r\n\r\n  - name: "off"\r\n    description: |-\r\n'
        '      Turns it off.\r\n\r\n      Really: now\r\n    syntax: "!off"\r\n',
    ).replace("formerly: [list]", "formerly: [list, songs]") + (
        "\r\n  - name: free\r\n    description: 'Has no category.'\r\n    syntax: \"{prefix}free\""
        "\r\n    category: ''\r\n"
    )
    assert home.read("more.yaml") == MORE + (
        "\n- {name: kick, description: 'Kicks {prefix} a member.', "
        "syntax: '{prefix}kick {{prefix}}', category: Mod}"
    )
    assert "\nMerge: 3 to add, 1 to rename.\n" in ran.out
    assert '\n    16 +     syntax: "!off"\n' in ran.out
    assert proxy.writes == []

    planned = home.run("plan")
    assert "Plan: 0 to add, 0 to edit, 2 to rename, 0 to delete, 4 unchanged." in planned.out
    again = home.run("pull", "--merge", "--yes", exits=0)
    assert [*ran.err.splitlines(), again.out] == [
        (
            "warning: commands.yaml:11:5: 'queue' and the listed 'songs' have nearly the same text:"
            " they become one command, with its id and uses kept"
        ),
        "  hint: if they are two commands, do not merge: write both into the manifest",
        "wrote commands.yaml and more.yaml",
        "next: commandsync plan shows what is left to change",
        "Nothing is missing: the manifest has everything that is listed.\n",
    ]


@pytest.mark.usefixtures("bot")
def test_a_quiet_merge_prints_the_counts_alone(home: Home) -> None:
    ran = home.run("pull", "--merge", "--yes", "-q")

    assert (ran.code, ran.out, ran.err) == (0, "Merge: 3 to add, 1 to rename.\n", "")


@pytest.mark.usefixtures("bot")
def test_new_entries_get_their_ids_on_request(home: Home, bot: Bot) -> None:
    assert home.run("pull", "--merge", "--pin", "--yes").code == 0

    pinned = home.read("more.yaml").replace("'", "")  # an id may need none
    assert f"category: Mod, id: {bot.ids()['kick']}}}" in pinned


def test_a_name_that_is_live_elsewhere_is_pinned(home: Home, service: Service) -> None:
    text = "Shows the songs that come next."
    bot = home.knows(service.bot([command("a", "x", "/a"), command("a", text, "/queue [page]")]))
    home.write(
        "version: 1\ncommands:\n- {name: a, description: x, syntax: /a}\n"
        f"- {{name: queue, description: {text}, syntax: '/queue [page]'}}\n"
    )

    home.run("pull", "--merge", "--yes", exits=0)

    pinned = home.read("commands.yaml").replace("'", "")  # an id may need none
    assert f"syntax: /queue [page], id: {bot.commands()[1]['id']}}}\n" in pinned
    assert "0 to add, 0 to edit, 1 to rename, 0 to delete" in home.run("plan").out


def test_a_manifest_that_only_names_the_bot_is_filled(home: Home, bot: Bot) -> None:
    home.write(f'version: 1\nbot: "{bot.id}"')

    ran = home.run("pull", "--merge", "--yes", "-f", "./commands.yaml", exits=0)

    assert "Merge: 7 to add, 0 to rename." in ran.out
    assert "next: commandsync plan -f ./commands.yaml " in ran.err
    assert "\nannouncements:\n  - title: v1\n    description: News." in home.read("commands.yaml")
    assert home.run("plan", "--detailed-exitcode").code == 0


@pytest.mark.usefixtures("bot")
def test_off_a_terminal_a_merge_wants_yes_before_any_request(home: Home, proxy: Proxy) -> None:
    ran = home.run("pull", "--merge", exits=2)

    assert "hint: --yes " in ran.err
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("options", "code", "message", "hint"),
    [
        (
            "--out x.yaml",
            2,
            "--merge and --drop-formerly edit the manifest itself",
            "leave out --out and --force",
        ),
        (
            "--force",
            2,
            "--merge and --drop-formerly edit the manifest itself",
            "leave out --out and --force",
        ),
        ("-f -", 2, "a merge edits the manifest in place", "name its file with -f"),
        (
            "-f commands.yaml -f other.yaml",
            2,
            "a merge works on one manifest, not several: commands.yaml and other.yaml",
            "name its file with -f",
        ),
        (
            "-f missing.yaml",
            4,
            "the file does not exist",
            "commandsync init writes a starter; -f names another file",
        ),
        (
            "-f anchored.yaml",
            4,
            "the edit cannot be made in place",
            "make it by hand: anchors, aliases and odd layouts are not edited",
        ),
    ],
)
def test_what_cannot_be_merged_is_named_and_nothing_is_written(
    home: Home, options: str, code: int, message: str, hint: str
) -> None:
    home.write('version: 1\nbot: "77"\ncommands: []\n', "other.yaml")
    home.write("version: 1\ncommands: &all []\nannouncements: *all\n", "anchored.yaml")
    before = {path: path.read_bytes() for path in home.path.iterdir()}

    ran = home.run("pull", "--merge", "--yes", *options.split(), exits=code)

    assert {path: path.read_bytes() for path in home.path.iterdir()} == before
    assert f"error: {message}\n  hint: {hint}\n" in ran.err


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
@pytest.mark.usefixtures("bot")
def test_on_a_terminal_a_merge_shows_the_lines_and_asks(home: Home) -> None:
    home.variable("NO_COLOR", "1")
    with Terminal.running(home, "pull", "--merge", piped=True) as terminal:
        shown = terminal.until(QUESTION)
        terminal.type("n\n")
        code, rest, out = terminal.ended()

    assert "\n    22 +     formerly: [list, songs] # since v2\n" in shown
    assert "\nMerge: 3 to add, 1 to rename.\n" in shown
    assert (code, out) == (1, "")
    assert "\nNothing was changed." in rest
    assert home.read("commands.yaml") == MANIFEST

    with Terminal.running(home, "pull", "--merge", "-q") as terminal:
        terminal.until(QUESTION)
        home.write(MANIFEST + "# later\n")
        terminal.type("y\n")
        code, rest, _ = terminal.ended()

    assert code == 1
    assert "in the meantime" in rest
    assert home.read("commands.yaml") == MANIFEST + "# later\n"
    assert home.read("more.yaml") == MORE


def test_a_pulled_file_names_the_schema_that_is_written_beside_it(home: Home, bot: Bot) -> None:
    (home.path / "commands.yaml").unlink()

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


def test_a_merge_sees_the_renames_that_a_plan_sees(home: Home, service: Service) -> None:
    text = "Plays the songs that you ask for in the channel that you are in right now"
    old = [command("p", f"{text}.", "/p", uses=3), command("r", f"{text} again.", "/r", uses=4)]
    bot = home.knows(service.bot([*old, command("help", "Helps.", "/help")]))
    home.write(
        "version: 1\nprefix: /\nsync: {max_deletes: all}\ncommands:\n"
        '- {name: help, description: Helps., syntax: "{prefix}help"}\n'
        f'- {{name: play, description: {text}., syntax: "{{prefix}}play"}}\n'
        f'- {{name: resume, description: {text} again., syntax: "{{prefix}}resume"}}\n'
    )
    ids = bot.ids()
    pairs = re.findall(r"(\w+) +← (\w) ", home.run("plan").out)

    merged = home.run("pull", "--merge", "--yes")

    assert pairs == [("play", "p"), ("resume", "r")]
    assert "Merge: 0 to add, 2 to rename." in merged.out
    assert home.run("apply", "--yes").code == 0
    assert bot.ids() == {"play": ids["p"], "resume": ids["r"], "help": ids["help"]}


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
