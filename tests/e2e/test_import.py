"""import writes the imported file whole, shows what changes, and leaves the manifest alone."""

import json
from typing import Any

import pytest

from tests.support.home import Home, failed
from tests.support.rawserver import RawServer, answering

MANIFEST = """\
# The commands of Lantern.
version: 1
prefix: "!"
defaults: {category: General}
import: {from: list.json}
"""
FILE = "commands.imported.yaml"
HELP = {"name": "help", "description": "Shows the help.", "syntax": "{prefix}help [command]"}
BAN = {
    "name": "ban",
    "description": "Bans a member.",
    "syntax": "{prefix}ban <user>",
    "category": "Moderation",
}
KICK = BAN | {"name": "kick", "description": "Kicks.", "syntax": "{prefix}kick <user>"}


def lists(home: Home, *commands: dict[str, Any], name: str = "list.json") -> None:
    home.write("[\n" + ",\n".join(map(json.dumps, commands)) + "\n]\n", name)


@pytest.fixture
def imported(home: Home) -> Home:
    """A manifest that was imported into once."""
    home.write(MANIFEST)
    lists(home, HELP, BAN)
    assert home.run("import").code == 0
    assert home.read("commands.yaml") == MANIFEST
    return home


def test_the_first_pattern_for_the_name_or_the_category_gives_the_category(home: Home) -> None:
    rules = "import: {from: list.json, categories: {H*: Help, '[a-m]*tion': Staff, '*': Rest}}"
    home.write(MANIFEST.replace("import: {from: list.json}", rules))
    lists(home, HELP, BAN, KICK | {"category": "Fun"})

    document = home.run("import", "--check", "--format", "json").document

    categories = [added["fields"]["category"]["new"] for added in document["changes"]]
    assert categories == ["Help", "Staff", "Rest"]


@pytest.mark.promise("commands-from-code")
def test_an_import_writes_its_file_and_no_other(imported: Home) -> None:
    lists(imported, KICK, BAN | {"description": "Bans."}, HELP)
    check = imported.run("import", "--check")
    ran = imported.run("import")
    again = imported.run("import", "--check")

    assert (check.code, ran.code, again.code) == (3, 0, 0)
    assert check.out == ran.out
    assert (
        ran.out
        == """\
commands.imported.yaml

  + kick  (list.json:2:1)
      description: "Kicks."
      syntax:      "{prefix}kick <user>"
      category:    "Moderation"
  ~ ban  (list.json:3:1)
      description: "Bans a member." → "Bans."

Import: 1 to add, 1 to edit, 0 to remove, 1 unchanged, 0 left out.
"""
    )
    assert "Run commandsync import, and commit the result." in check.err
    assert ran.err.endswith("wrote commands.imported.yaml\n")
    assert imported.read("commands.yaml") == MANIFEST
    names = [line for line in imported.read(FILE).splitlines() if "- name" in line]
    assert names == ["  - name: kick", "  - name: ban", "  - name: help"]


def test_what_the_manifest_wins_and_what_it_repeats_is_shown(imported: Home) -> None:
    entries = (
        "commands:\n- {name: help, description: Helps.}\n- {name: ban, category: Moderation}\n"
    )
    imported.write(MANIFEST + entries)
    ran = imported.run("import")

    assert (
        ran.out
        == """\
wins: help, description  (commands.yaml:7:3)
    here:   "Helps."
    source: "Shows the help."
only repeats the import, and can go: ban (commands.yaml:8:3)

Import: 0 to add, 0 to edit, 0 to remove, 2 unchanged, 0 left out.
"""
    )
    shown = imported.run("docs", "--format", "json").document["commands"]
    assert [each["description"] for each in shown] == ["Helps.", "Bans a member."]


def test_an_entry_that_is_not_complete_any_more_is_an_error_everywhere(
    imported: Home,
) -> None:
    imported.write(MANIFEST + "commands:\n- {name: ban, category: Fun}\n")
    lists(imported, HELP, KICK)
    ran = imported.run("import")
    checked = imported.run("validate")

    assert (ran.code, checked.code) == (4, 4)
    assert "wrote commands.imported.yaml" in ran.err
    for each in (ran, checked):
        assert 'commands.yaml:7:3: error: "ban" is not imported any more' in each.err
        assert "hint: remove the entry, or complete it" in each.err


def test_a_file_that_was_edited_by_hand_is_refused_and_written_with_force(imported: Home) -> None:
    imported.write(imported.read(FILE).replace("Bans a member.", "Bans."), FILE)
    warned = imported.run("validate")
    ran = imported.run("import")
    kept = imported.read(FILE)
    forced = imported.run("import", "--force")

    assert (warned.code, ran.code, forced.code) == (0, 4, 0)
    assert "commands.imported.yaml:1:1: warning: this file was edited" in warned.out
    assert "  - name: ban\n    description: Bans.\n" in ran.out
    assert "error: this file was edited by hand" in ran.err
    assert "Bans a member." not in kept
    assert "Bans a member." in imported.read(FILE)


def test_an_imported_file_is_not_a_manifest(imported: Home) -> None:
    assert imported.run("validate", "-f", FILE).code == 2
    assert imported.run("validate", "-f", ".").code == 0


def test_forgetting_a_command_that_is_not_kept_is_refused(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    for name in ("one", "two"):
        home.write(CODE.replace("NAME", name), f"src/{name}.js")
    home.run("import")
    before = home.read(FILE)
    none = home.run("import", "--forget", "one", exits=2)
    home.write("module.exports = { data: new SlashCommandBuilder(", "src/two.js")
    of_one = home.run("import", "--forget", "one", exits=2)
    both = home.run("import", "--check", "--forget", "two", "--forget", "other", exits=2)

    assert home.read(FILE) == before
    assert none.err == (
        "error: 'one' is not kept: the sources declare it\n"
        "  hint: no command is kept; to leave it out, name it in exclude: below import:\n"
    )
    assert of_one.err.endswith("  hint: kept: two\n")
    assert "'other' is not in commands.imported.yaml" in both.err
    assert "  - two\n" in home.run("import", "--forget", "two", exits=0).out


def test_forgetting_a_command_lets_what_was_kept_of_it_go(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    home.write(CODE.replace("NAME", "one"), "src/one.js")
    home.run("import")
    home.write(CODE.replace("NAME", "one").replace("'D.'", "text()"), "src/one.js")
    kept = home.run("import")
    gone = home.run("import", "--forget", "one")
    again = home.run("import", "--check")

    assert "kept: one: " in kept.out
    assert 'description: "D." → "…"' in gone.out
    assert again.code == 0


def test_without_a_manifest_and_a_source_the_way_to_begin_is_named(home: Home) -> None:
    home.write(CODE.replace("NAME", "one"), "src/one.js")

    for options in ((), ("--check",), ("--forget", "one")):
        ran = home.run("import", *options, exits=4)
        message, hint, *_ = ran.err.splitlines()
        assert message == "commands.yaml: error: the file does not exist"
        assert hint.startswith("  hint: commandsync import SOURCE begins it, where SOURCE is ")


def test_ejecting_prints_a_manifest_with_all_commands(imported: Home) -> None:
    imported.write(MANIFEST + "commands: [{name: help, description: Helps.}]\n")
    ran = imported.run("import", "--eject", exits=0)
    imported.write(ran.out, "own.yaml")
    shown = [
        imported.run("docs", "--format", "json", *o).document for o in ((), ("-f", "own.yaml"))
    ]

    assert ran.out.startswith("# The commands of Lantern.\nversion: 1\n")
    assert "import:" not in ran.out
    assert shown[0]["commands"] == shown[1]["commands"]


def test_every_command_that_is_left_out_is_named_with_its_reason(home: Home) -> None:
    home.write(
        MANIFEST.replace("from: list.json", "from: [list.json, more.json], exclude: debug*")
        + "sync: {ignore: [beta]}\n"
    )
    lists(home, HELP, {"name": "debug", "syntax": "/debug"}, {"name": "beta", "syntax": "/beta"})
    lists(home, HELP, BAN | {"ownerOnly": True}, name="more.json")
    ran = home.run("import")

    assert [line for line in ran.out.splitlines() if line.startswith("left out")] == [
        "left out: help  (more.json:2:1): list.json:2:1 has it already",
        "left out: debug  (list.json:3:1): excluded by 'debug*'",
        "left out: ban  (more.json:3:1): owner-only",
    ]
    assert "left_out: owner-only" in home.read(FILE)
    assert home.run("validate").out.startswith("commands.yaml: 1 command,")


def test_without_a_manifest_one_is_begun(home: Home) -> None:
    lists(home, {"name": "ban", "description": "Bans.", "syntax": "/ban"}, name="bot/list.json")
    ran = home.run("import", "bot/list.json", "-f", "docs/commands.yaml", exits=1)
    (home.path / "docs").mkdir()
    home.run("import", "bot/list.json", "-f", "docs/commands.yaml", exits=0)

    assert "folder" in ran.err
    assert home.read("docs/commands.yaml") == (
        'version: 1\n\nimport:\n  from:\n    - "../bot/list.json"\n'
    )
    assert 'from: "../bot/list.json"' in home.read("docs/commands.imported.yaml")
    assert home.run("import", "--check", "-f", "docs/commands.yaml").code == 0


def test_the_language_that_was_asked_for_is_kept_for_the_next_import(home: Home) -> None:
    lists(home, {"name": "ban", "description": "Bans.", "description_localizations": {"de": "Ä"}})
    home.run("import", "list.json", "--locale", "de", exits=0)
    other = home.run("import", "--locale", "fr", exits=2)

    assert home.run("import", "--check").code == 0
    assert "description: Ä" in home.read(FILE)
    assert "the locale is not 'fr'" in other.err


def test_the_command_that_writes_a_check_repeats_its_options(home: Home) -> None:
    home.write("version: 1\n", "a b.yaml")
    lists(home, {"name": "ban", "description": "Bans."})
    ran = home.run("import", "list.json", "--check", "-f", "a b.yaml")

    assert ran.code == 3
    assert "Run commandsync import -f 'a b.yaml' list.json" in ran.err
    assert home.read("a b.yaml") == "version: 1\n"


def test_commands_with_a_prefix_that_is_not_known_are_left_out_and_named(home: Home) -> None:
    lists(home, KICK)
    ran = home.run("import", "list.json", exits=0)
    home.write(f'prefix: "!"\n{home.read("commands.yaml")}')
    known = home.run("import")

    assert "warning: 1 command is left out: called with a prefix" in ran.err
    assert "(kick)\n" in ran.err
    assert "write the bot's prefix into the manifest, such as prefix" in ran.err
    assert "0 to add" in ran.out
    assert "1 left out" in ran.out
    assert "1 to add" in known.out
    assert "{prefix}kick" in home.read(FILE)


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("prefix", ["!", "/", "", '"', "{x}", "é "])
def test_the_next_import_knows_its_sources(home: Home, prefix: str, *, begins: bool) -> None:
    lists(home, HELP, KICK)
    if not begins:
        home.write(f"version: 1 # one\r\nprefix: {json.dumps(prefix)}\r\n")
    options = ["--prefix", prefix] if begins else []
    ran = home.run("import", "list.json", *options)
    shown = home.run("docs", "--format", "json").document
    again = home.run("import", "--check")

    assert (ran.code, again.code) == (0, 0)
    assert b"\r\r" not in (home.path / "commands.yaml").read_bytes()
    assert [each["syntax"] for each in shown["commands"]] == [
        f"{prefix}help [command]",
        f"{prefix}kick <user>",
    ]
    assert home.read("commands.yaml").count("import:") == 1
    refused = home.run("import", "list.json", "--prefix", prefix)
    assert refused.code == 2


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("--check", 2, "no source to import from was given | name the bot's code"),
        ("--check -f - list.json", 2, "import works on one manifest | name its file with -f"),
        ("--check -f commands.yaml -f b.yaml list.json", 2, "works on one manifest | with -f"),
        ("--check missing.json", 1, "cannot read missing.json: no such file | check the path"),
        ("--check empty.json", 1, "empty.json has no commands | is it the right file or folder?"),
        ("--check ", 2, "'[SOURCE]...': the path is empty | see commandsync import --help"),
        ("--forget x list.json", 2, "'x' is not in commands.imported.yaml | no command is kept"),
        ("--eject", 2, "commands.yaml has no import: | it has all of its commands"),
    ],
)
def test_what_cannot_be_imported_says_why(home: Home, options: str, code: int, words: str) -> None:
    home.write(MANIFEST.replace("import: {from: list.json}\n", ""))
    home.write("version: 1\nbot: '2'\ncommands: []\n", "b.yaml")
    lists(home, HELP, BAN)
    lists(home, name="empty.json")
    ran = home.run("import", *options.split(" "), exits=code)

    assert not (home.path / FILE).exists()
    message, _, hint = words.partition(" | ")
    error, hinted, *_ = ran.err.splitlines()
    assert "error: " in error
    assert message in error
    assert hinted.startswith("  hint: ")
    assert hint in hinted


@pytest.mark.promise("ci-links")
def test_in_ci_a_manifest_names_only_sources_in_the_checkout(home: Home) -> None:
    home.variable("GITHUB_WORKSPACE", str(home.path / "checkout"))
    home.write(MANIFEST.replace("list.json", "../list.json"), "checkout/commands.yaml")
    lists(home, HELP)
    ran = home.run("import", "--check", "-f", "checkout/commands.yaml", exits=1)

    assert "list.json is not in" in ran.err


def test_the_commands_that_are_registered_with_discord_are_imported(home: Home) -> None:
    home.write("version: 1\n")
    home.variable("DISCORD_TOKEN", "marked-discord-token-51aa")
    command = {"id": "7", "name": "ping", "description": "Pings."}
    with RawServer() as server:
        server.then(answering({"id": "42"}), answering([command]))
        server.then(answering({"id": "42"}), answering([command | {"name": "pong"}]))
        home.variable("DISCORD_BASE_URL", server.url)
        first = home.run("import", "discord")
        second = home.run("import", "-v")

    assert (first.code, second.code) == (0, 0)
    assert f"{server.url}, with the token from DISCORD_TOKEN" in second.err
    assert "list application commands: 0." in second.err
    assert "marked-discord" not in first.said + second.said + home.read(FILE)
    assert home.read("commands.yaml").endswith('import:\n  from:\n    - "discord"\n')
    assert "formerly: [ping]" in home.read(FILE)


def test_an_import_from_discord_that_fails_says_what_to_do_and_writes_nothing(home: Home) -> None:
    home.write("version: 1\n")
    check = ("import", "discord", "--check")
    without = home.run(*check)
    home.variable("DISCORD_TOKEN", "marked-discord-token-51aa")
    home.variable("DISCORD_BASE_URL", "http://discord.example/api")
    plain = home.run(*check)
    with RawServer() as server:
        server.then(answering({"message": "marked-discord-token-51aa"}, status=401))
        home.variable("DISCORD_BASE_URL", server.url)
        home.variable("DISCORD_APPLICATION_ID", "42")
        refused = home.run(*check, "--format", "json")

    assert (without.code, plain.code, refused.code) == (2, 5, 1)
    assert "DISCORD_TOKEN is not set" in without.err
    assert "developer portal" in without.err
    assert "http://discord.example/api is plain http" in plain.err
    assert failed(refused, "auth").endswith("(401: <hidden>)")
    assert server.requests[0].path == "/api/v10/applications/42/commands"
    assert home.read("commands.yaml") == "version: 1\n"


def test_patterns_are_sources_and_paths_are_left_out(home: Home) -> None:
    sources = "from: ['sc/**/*.json', 'src/*.py']"
    home.write(f"version: 1\nprefix: '!'\nimport: {{exclude: [Owner/*, secret/*], {sources}}}\n")
    code = "from discord import app_commands as it\n@it.command()\nasync def {}(_): 'Does it.'\n"
    for folder in ("fun", "fun/Disabled", "779641401482805289", "owner/x"):
        lists(home, KICK | {"name": folder[-5:]}, name=f"sc/{folder}/a.json")
    home.write("{", "sc/secret/x.json")
    home.write(code.format("ping"), "src/a.py")
    home.write(code.format("pong"), "src/deeper/b.py")
    ran = home.run("import")
    home.write(home.read("commands.yaml").replace("exclude", "traits: disabled, exclude"))

    left_out = [line.partition(": ")[2] for line in ran.out.splitlines() if line[:8] == "left out"]
    assert left_out == [
        "05289  (sc/779641401482805289/a.json:2:1): guild-only",
        "abled  (sc/fun/Disabled/a.json:2:1): disabled",
        "ner/x  (sc/owner/x/a.json:2:1): excluded by 'Owner/*'",
    ]
    assert "2 to add" in ran.out
    assert "1 to add" in home.run("import", "--check").out


CODE = "module.exports = { data: new SlashCommandBuilder().setName('NAME').setDescription('D.') };"


@pytest.fixture
def bot(home: Home) -> Home:
    """A bot in JavaScript, whose ten commands are imported."""
    home.write("version: 1\nimport: {from: src}\n")
    for number in range(10):
        home.write(CODE.replace("NAME", f"c{number}"), f"src/c{number}.js")
    assert home.run("import").code == 0
    return home


def test_a_command_that_is_not_read_any_more_is_kept_and_fails_a_check(bot: Home) -> None:
    bot.write(
        "module.exports = (a) => a({ name: 'c1', description: 'D.', execute() {} });", "src/c1.js"
    )
    check = bot.run("import", "--check")
    written = bot.run("import")
    again = bot.run("import", "--check")
    bot.write(bot.read("commands.yaml").replace("src}", "src, unread: c1.js}"))
    known = bot.run("import", "--check", "-v")

    assert (check.code, written.code, again.code, known.code) == (3, 0, 3, 0)
    place = "src/c1.js:1:27"
    reason = "this object is not registered or exported"
    assert f"kept: c1: the code that may declare it is not read: {reason}" in written.out
    assert f"not read: {place} c1: {reason}" in written.out
    assert written.out.splitlines()[-1].endswith("10 unchanged, 0 left out, 1 kept, 1 not read.")
    assert "  - name: c1\n" in bot.read(FILE)
    assert "not read: src/c1.js:1:27 c1: acknowledged" in known.err


def test_an_import_that_would_remove_too_much_is_refused(bot: Home) -> None:
    for number in range(4):
        bot.write("// gone", f"src/c{number}.js")
    check = bot.run("import", "--check")
    refused = bot.run("import")
    allowed = bot.run("import", "--max-deletes", "4")

    assert (check.code, refused.code, allowed.code) == (3, 5, 0)
    words = "would delete 4 of 10 commands of the manifest (40 %); the limit is 30 %"
    assert f"refused: {words}" in check.out
    assert f"error: the import {words}" in refused.err
    assert "4 to remove" in allowed.out


def test_when_nothing_is_found_the_next_step_is_named(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    home.write("const { T } = require('telegraf');\nbot.command(name(), () => 1);", "src/bot.js")
    home.write('[{"name": "a", "description": "A."}]', "src/my-commands.json")
    ran = home.run("import", "--check", exits=1)

    assert ran.err.splitlines() == [
        "src/bot.js:2:13: error: the name of this command is computed at run time",
        "",
        "error: src has no commands that can be read",
        (
            "  hint: it uses telegraf; record the bot's program: commandsync import -- "
            "node src/bot.js; or import its list of commands: "
            "commandsync import src/my-commands.json"
        ),
    ]


OPEN = "module.exports = { name: 'ping', description: 'P.', execute(context) {} };"
OF_AN_UNKNOWN_BOT = """\
import discord
def register(it):
    @it.command(name="ping", help="P.")
    async def ping(ctx): ...
"""


@pytest.mark.parametrize(
    ("file", "code", "without"),
    [("src/ping.js", OPEN, "cannot tell"), ("src/ping.py", OF_AN_UNKNOWN_BOT, "{prefix}ping")],
)
def test_the_form_of_commands_that_the_code_does_not_tell_is_in_the_manifest(
    file: str, code: str, without: str, home: Home
) -> None:
    home.write(code, file)
    manifest = 'version: 1\nprefix: "!"\nimport: {from: src}\n'
    seen = {}
    for form in ("", "slash", "prefix"):
        home.write(manifest.replace("src}", f"src, form: {form}}}" if form else "src}"))
        ran = home.run("import", "--check", exits=None)
        seen[form] = ran.out + ran.err

    assert without in seen[""]
    assert 'syntax:      "/ping"' in seen["slash"]
    assert 'syntax:      "{prefix}ping"' in seen["prefix"]
    assert "ping: cannot tell" not in seen["slash"] + seen["prefix"]


def test_the_form_must_be_one_of_two(home: Home) -> None:
    home.write("version: 1\nimport: {from: src, form: both}\n")
    home.write(OPEN, "src/ping.js")

    assert "slash" in home.run("import", "--check", exits=4).err


def test_a_locale_file_that_has_the_texts_is_named_with_the_setting(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    home.write(CODE.replace("NAME", "ping").replace("'D.'", "t('ping.about')"), "src/ping.js")
    home.write('{"ping": {"other": "x"}}', "src/locales/de.json")
    home.write('{"ping": {"about": "Ping."}}', "src/locales/en.json")
    before = home.run("import")
    home.write(home.read("commands.yaml").replace("src}", "src, texts: src/locales/en.json}"))
    after = home.run("import")

    assert 'description: "…"' in before.out
    assert "src/locales/en.json has the texts of 1 of the computed descriptions" in before.err
    assert "under import: in the manifest: texts: src/locales/en.json" in before.err
    assert after.err.count("texts") == 0
    assert "Ping." in home.read(FILE)


@pytest.mark.parametrize("key", ["commands:ping.about", "commands.ping.about", "ping.about"])
def test_texts_in_several_files_are_found_in_their_folder(key: str, home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    for name, used in {"ping": key, "pong": "events:pong"}.items():
        code = CODE.replace("NAME", name).replace("'D.'", f"t('{used}')")
        home.write(code, f"src/{name}.js")
    home.write('{"ping": {"about": "Ping."}}', "locales/en/commands.json")
    home.write('pong: "Pong."', "locales/en/events.yaml")
    before = home.run("import")
    home.write(home.read("commands.yaml").replace("src}", "src, texts: locales/en}"))
    home.run("import")

    assert "locales/en has the texts of 2 of the computed descriptions" in before.err
    assert "Ping." in home.read(FILE)
    assert "Pong." in home.read(FILE)


def test_many_warnings_for_one_cause_are_one_line(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\n")
    for number in range(10):
        code = CODE.replace("NAME", f"c{number}").replace("'D.'", "texts.about")
        home.write(code, f"src/c{number}.js")
    short, full = home.run("import", "--check"), home.run("import", "--check", "-v")

    first = "the description of the command 'c0' is computed at run time; 9 more like it"
    assert short.err.count("warning: ") == 1
    assert first in short.err
    assert full.err.count("is computed at run time") == 10


def test_what_one_source_leaves_out_no_other_one_makes_public(home: Home) -> None:
    home.write("version: 1\nimport: {from: [list.json, src]}\n")
    home.write(CODE.replace("NAME", "c1").replace("};", ", ownerOnly: true };"), "src/c1.js")
    lists(home, {"name": "c1", "description": "D.", "type": 1})
    ran = home.run("import", exits=0)

    assert "left out: c1  (list.json:2:1): owner-only" in ran.out
    assert "0 to add" in ran.out
