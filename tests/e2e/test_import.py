"""import follows the sources, keeps what somebody edited, and asks before it writes."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.support.home import Home, failed
from tests.support.rawserver import RawServer, answering
from tests.support.terminal import POSIX, Terminal

MANIFEST = """\
# The commands of Lantern.\r
version: 1\r
prefix: "!"\r
defaults: {category: General}\r
import: {from: list.json}\r
commands:\r
  - name: help   # shown first\r
    description: "Shows the help."\r
    syntax: "{prefix}help [command]"\r
\r
  - name: ban\r
    description: 'Bans a member.'\r
    syntax: "{prefix}ban <user>"\r
    category: Moderation\r
"""
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
    assert home.run("import", "--yes").code == 0
    assert home.read("commands.yaml") == MANIFEST
    return home


def test_the_first_pattern_for_the_name_or_the_category_gives_the_category(home: Home) -> None:
    rules = "import: {from: list.json, categories: {H*: Help, '[a-m]*tion': Staff, '*': Rest}}"
    home.write(MANIFEST[: MANIFEST.index("commands:")].replace("import: {from: list.json}", rules))
    lists(home, HELP, BAN, KICK | {"category": "Fun"})

    document = home.run("import", "--check", "--format", "json").document

    categories = [added["fields"]["category"]["new"] for added in document["changes"]]
    assert categories == ["Help", "Staff", "Rest"]


@pytest.mark.promise("commands-from-code")
def test_an_import_changes_the_lines_that_changed_and_no_other(imported: Home) -> None:
    lists(imported, HELP | {"description": "Shows everything."}, BAN, KICK)
    checked = imported.run("import", "--check", exits=3)
    ran = imported.run("import", "--yes", exits=0)

    assert '     8 -     description: "Shows the help."' in checked.out
    assert "commandsync import" in checked.err
    assert ran.out == checked.out
    assert ran.out.endswith(
        "Import: 1 to add, 1 to edit, 0 to remove, 0 to review, 1 unchanged, 0 left out.\n"
    )
    assert ran.err == "wrote commands.yaml and commands.imported.json\n"
    assert imported.read("commands.yaml") == MANIFEST.replace(
        '"Shows the help."', '"Shows everything."'
    ) + (
        "\r\n  - name: kick\r\n    description: 'Kicks.'\r\n    syntax: \"{prefix}kick <user>\"\r\n"
        "    category: Moderation\r\n"
    )
    again = imported.run("import", "--yes")
    nothing = "Import: 0 to add, 0 to edit, 0 to remove, 0 to review, 3 unchanged, 0 left out.\n"
    assert (again.code, again.out, again.err) == (0, nothing, "")
    assert imported.run("import", "--check").code == 0


def test_a_hand_edit_stays_and_what_both_changed_is_shown_with_both_texts(imported: Home) -> None:
    imported.write(MANIFEST.replace("Bans a member.", "Removes a member for good."))
    lists(imported, HELP, BAN | {"description": "Bans a user."})
    ran = imported.run("import", "--yes", exits=0)

    assert "Removes a member for good." in imported.read("commands.yaml")
    assert ran.out == snapshot("""\
review: ban, description: edited here, and changed in the source  (commands.yaml:12:18)
    here:   "Removes a member for good."
    source: "Bans a user."  (list.json:3:1)

commands.imported.json: only the record of the last import changes

Import: 0 to add, 0 to edit, 0 to remove, 1 to review, 2 unchanged, 0 left out.
""")
    assert imported.run("import", "--check").code == 0


def test_new_commands_go_into_the_included_file_of_their_category(home: Home) -> None:
    home.write(
        "version: 1\nprefix: '!'\ninclude: [more/*.yaml]\ncommands: []\nimport: {from: list.json}\n"
    )
    moderation = "commands:\n- {name: ban, description: Bans., syntax: /b, category: Moderation}\n"
    home.write(moderation, "more/moderation.yaml")
    lists(home, KICK)
    ran = home.run("import", "--yes")

    assert ran.err == "wrote more/moderation.yaml and commands.imported.json\n"
    assert home.read("more/moderation.yaml").startswith(moderation)
    assert "kick" in home.read("more/moderation.yaml")


def test_only_what_was_imported_last_may_be_out_of_date(imported: Home) -> None:
    (imported.path / "commands.imported.json").unlink()
    ran = imported.run("import", "--check", exits=3)

    assert "commands.imported.json: only the record of the last import changes" in ran.out


def test_the_json_document_has_every_change(imported: Home) -> None:
    lists(imported, HELP | {"name": "hilfe", "syntax": "{prefix}hilfe [command]"}, KICK)
    imported.write(MANIFEST.replace("[command]", "[page]"))
    document = imported.run("import", "--check", "--format", "json").document

    once = dict.fromkeys(("add", "edit", "remove", "review"), 1)
    others = dict.fromkeys(("unchanged", "left_out", "held_back", "unread"), 0)
    assert document["summary"] == once | others
    assert document["files"] == ["commands.yaml", "commands.imported.json"]
    edit, remove, add = document["changes"]
    assert edit["action"] == "edit"
    assert edit["name"] == "help"
    assert edit["fields"] == {"name": {"old": "help", "new": "hilfe"}}
    assert edit["formerly"] == ["help"]
    assert edit["location"] == {"path": "commands.yaml", "line": 7, "column": 5}
    assert (remove["action"], remove["name"]) == ("remove", "ban")
    assert add["fields"]["syntax"] == {"old": "", "new": "!kick <user>"}
    assert add["source"]["path"] == "list.json"
    (review,) = document["reviews"]
    assert (review["reason"], review["field"]) == ("both-changed", "syntax")


def test_every_command_that_is_left_out_is_listed_with_v(home: Home) -> None:
    home.write(
        MANIFEST.replace("from: list.json", "from: [list.json, more.json], exclude: debug*")
        + "sync: {ignore: [beta]}\n"
    )
    lists(home, HELP, {"name": "debug", "syntax": "/debug"}, {"name": "beta", "syntax": "/beta"})
    lists(home, BAN, HELP, name="more.json")
    assert home.run("import", "--yes").code == 0
    lines = home.read("commands.yaml").splitlines(keepends=True)
    home.write("".join(lines[:10]) + lines[-1])
    ran = home.run("import", "--check", "-v")

    read, *left_out = ran.err.splitlines()
    assert (ran.code, read.split(", ")[0]) == (0, "read commands.yaml: 1 command")
    assert left_out == [
        "left out: debug  (list.json:3:1): its name matches 'debug*'",
        "left out: beta  (list.json:4:1): sync.ignore matches its name",
        "left out: help  (more.json:3:1): list.json:2:1 has it already",
        "left out: ban  (more.json:2:1): it was deleted from the manifest",
    ]


def test_without_a_manifest_one_is_begun(home: Home) -> None:
    lists(home, {"name": "ban", "description": "Bans.", "syntax": "/ban"}, name="bot/list.json")
    ran = home.run("import", "bot/list.json", "--yes", "-f", "docs/commands.yaml", exits=1)
    (home.path / "docs").mkdir()
    home.run("import", "bot/list.json", "--yes", "-f", "docs/commands.yaml", exits=0)

    assert "folder" in ran.err
    assert home.read("docs/commands.yaml") == (
        'version: 1\n\nimport:\n  from:\n    - "../bot/list.json"\n\n'
        'commands:\n  - name: ban\n    description: Bans.\n    syntax: "/ban"\n'
    )
    assert home.run("import", "--check", "-f", "docs/commands.yaml").code == 0


def test_the_language_that_was_asked_for_is_kept_for_the_next_import(home: Home) -> None:
    lists(home, {"name": "ban", "description": "Bans.", "description_localizations": {"de": "Ä"}})
    new = home.run("import", "list.json", "--locale", "de", "--yes")
    home.run("import", "--check", exits=0)
    home.write("version: 1\nimport: {from: list.json}\ncommands: []\n")
    old = home.run("import", "--locale", "de", "--yes")

    assert new.err.startswith("wrote commands.yaml and commands.imported.json\n")
    assert old.err.endswith('  import: {from: ["list.json"], locale: "de"}\n')


def test_the_command_that_writes_a_check_repeats_its_options(home: Home) -> None:
    home.write("version: 1\ncommands: []\n", "a b.yaml")
    lists(home, {"name": "ban", "description": "Bans."})
    ran = home.run("import", "list.json", "--check", "-f", "a b.yaml", "--locale", "de")

    command = "commandsync import -f 'a b.yaml' --locale de list.json"
    assert f"Run {command}" in ran.err


def test_commands_with_a_prefix_that_is_not_known_are_left_out_and_named(home: Home) -> None:
    lists(home, KICK)
    new = home.run("import", "list.json", "--yes")
    home.write("version: 1\ncommands: []\n")
    old = home.run("import", "list.json", "--yes")
    home.write('version: 1\nprefix: "!"\ncommands: []\n')
    known = home.run("import", "list.json", "--yes")

    hints = [
        'give the prefix: --prefix "!"',
        "write the bot's prefix into the manifest, such as prefix",
    ]
    for ran, hint in zip((new, old), hints, strict=True):
        assert ran.code == 0
        assert "warning: 1 command is left out: called with a prefix" in ran.err
        assert "(kick)\n" in ran.err
        assert hint in ran.err
        assert "0 to add" in ran.out
        assert "1 left out" in ran.out
    assert "1 to add" in known.out
    assert "{prefix}kick" in home.read("commands.yaml")


def test_sources_that_were_given_can_be_written_into_the_manifest(home: Home) -> None:
    home.write(MANIFEST.replace("import: {from: list.json}\r\n", ""))
    lists(home, HELP, BAN)
    ran = home.run("import", "list.json", "--yes")

    assert ran.err.splitlines() == [
        "wrote commands.imported.json",
        "to import again with no arguments, add --save, or write into commands.yaml:",
        '  import: {from: ["list.json"]}',
    ]


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("prefix", ["!", "/", "", '"', "{x}", "é "])
def test_the_next_import_knows_its_sources(home: Home, prefix: str, *, begins: bool) -> None:
    lists(home, HELP, KICK)
    if not begins:
        home.write(f"version: 1 # one\r\nprefix: {json.dumps(prefix)}\r\ncommands: []\r\n")

    options = ["--prefix", prefix] if begins else ["--save"]
    ran = home.run("import", "list.json", "--yes", *options)
    shown = home.run("docs", "--format", "json").document
    again = home.run("import", "--check")

    assert (ran.code, again.code) == (0, 0)
    assert b"\r\r" not in (home.path / "commands.yaml").read_bytes()
    assert [each["syntax"] for each in shown["commands"]] == [
        f"{prefix}help [command]",
        f"{prefix}kick <user>",
    ]
    assert home.read("commands.yaml").count("import:") == 1
    refused = home.run("import", "list.json", "--yes", "--prefix", prefix)
    assert (refused.code, "this one exists" in refused.err) == (2, True)


ANCHORED = """\
version: 1
import: {from: list.json}
commands:
  - {name: ban, description: &text Bans., syntax: /ban}
  - {name: kick, description: *text, syntax: /kick}
  - {name: help, description: Helps., syntax: /help}
"""


def test_an_edit_that_cannot_be_made_in_place_stops_no_other(home: Home) -> None:
    ban, kick, helps = (
        {"name": name, "description": text, "syntax": f"/{name}"}
        for name, text in (("ban", "Bans."), ("kick", "Bans."), ("help", "Helps."))
    )
    home.write(ANCHORED)
    lists(home, ban, kick, helps)
    assert home.run("import", "--yes").code == 0
    lists(home, ban | {"description": "New text."}, kick, helps | {"description": "Shows."})

    checked, first, second = (home.run("import", each) for each in ("--check", "--yes", "--yes"))
    home.write(home.read("commands.yaml").replace("*text", '"Bans."'))
    last = home.run("import", "--yes")

    assert [each.code for each in (checked, first, second, last)] == [3, 3, 3, 0]
    for ran in (checked, first, second):
        assert "review: ban, description: cannot" in ran.out
        assert 'source: "New text."  (list.json:2:1)' in ran.out
    assert "description: Shows., syntax: /help" in home.read("commands.yaml")
    assert second.out.endswith("0 to edit, 0 to remove, 1 to review, 3 unchanged, 0 left out.\n")
    assert "New text." in home.read("commands.yaml")


def test_an_edited_command_that_is_gone_is_for_review(imported: Home) -> None:
    imported.write(imported.read("commands.yaml").replace("Bans a member.", "Removes a member."))
    lists(imported, HELP)
    first, second = imported.run("import", "--yes"), imported.run("import", "--check")
    text = imported.read("commands.yaml")
    imported.write(text.replace("{from: list.json}", "{from: list.json, exclude: [ban]}"))
    kept = imported.run("import", "--yes")

    assert "review: ban: " in first.out
    assert "review: ban: " in second.out
    assert "under exclude: of" in second.out
    assert (second.code, kept.code) == (0, 0)
    assert "review:" not in kept.out
    assert "Removes a member." in imported.read("commands.yaml")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("list.json", 2, "asks before it writes | --yes writes without asking, --check only"),
        ("--check", 2, "no source to import from was given | name the bot's code"),
        ("--check -f - list.json", 2, "edits the manifest in place | name its file with -f"),
        ("--check -f commands.yaml -f b.yaml list.json", 2, "one manifest, not several | with -f"),
        ("--check missing.json", 1, "cannot read missing.json: no such file | check the path"),
        ("--check empty.json", 1, "empty.json has no commands | is it the right file or folder?"),
        ("--check -f none.yaml list.json", 4, "none.yaml: error: the file does not exist | init"),
        ("--yes -f bots/ list.json", 4, "bots: error: the file does not exist | init writes"),
        ("--check ", 2, "'[SOURCE]...': the path is empty | see commandsync import --help"),
    ],
)
def test_what_cannot_be_imported_says_why(home: Home, options: str, code: int, words: str) -> None:
    home.write(MANIFEST.replace("import: {from: list.json}\r\n", ""))
    home.write("version: 1\nbot: '2'\ncommands: []\n", "b.yaml")
    lists(home, HELP, BAN)
    lists(home, name="empty.json")
    ran = home.run("import", *options.split(" "), exits=code)

    assert not (home.path / "commands.imported.json").exists()
    message, _, hint = words.partition(" | ")
    error, hinted, *_ = ran.err.splitlines()
    assert "error: " in error
    assert message in error
    assert hinted.startswith("  hint: ")
    assert hint in hinted


def test_a_result_that_would_not_be_valid_is_not_written(imported: Home) -> None:
    imported.write(MANIFEST.replace('prefix: "!"', 'prefix: ""'))
    lists(imported, HELP, BAN | {"syntax": "{prefix}"})
    ran = imported.run("import", "--yes", exits=4)

    assert "commands.yaml:13:13: error: after the import: syntax" in ran.err
    assert "<user>" in imported.read("commands.yaml")


@pytest.mark.promise("ci-links")
def test_in_ci_a_manifest_names_only_sources_in_the_checkout(home: Home) -> None:
    home.variable("GITHUB_WORKSPACE", str(home.path / "checkout"))
    home.write(MANIFEST.replace("list.json", "../list.json"), "checkout/commands.yaml")
    lists(home, HELP)
    ran = home.run("import", "--check", "-f", "checkout/commands.yaml", exits=1)

    assert "list.json is not in" in ran.err


def test_the_commands_that_are_registered_with_discord_are_imported(home: Home) -> None:
    home.write("version: 1\ncommands: []\n")
    home.variable("DISCORD_TOKEN", "marked-discord-token-51aa")
    command = {"id": "7", "name": "ping", "description": "Pings."}
    with RawServer() as server:
        server.then(answering({"id": "42"}), answering([command]))
        server.then(answering({"id": "42"}), answering([command | {"name": "pong"}]))
        home.variable("DISCORD_BASE_URL", server.url)
        first = home.run("import", "discord", "--yes")
        second = home.run("import", "discord", "--yes", "-v")

    assert (first.code, second.code) == (0, 0)
    assert f"{server.url}, with the token from DISCORD_TOKEN" in second.err
    assert "list application commands: 0." in second.err
    assert "marked-discord" not in first.said + second.said + home.read("commands.imported.json")
    assert '  import: {from: ["discord"]}' in second.err
    assert "formerly: [ping]" in home.read("commands.yaml")


def test_an_import_from_discord_that_fails_says_what_to_do_and_writes_nothing(home: Home) -> None:
    home.write("version: 1\ncommands: []\n")
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
    assert server.requests[0].path == "/v10/applications/42/commands"
    assert home.read("commands.yaml") == "version: 1\ncommands: []\n"


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
def test_on_a_terminal_the_changes_are_shown_and_asked_for(imported: Home) -> None:
    lists(imported, HELP, BAN, KICK)
    with Terminal.running(imported, "import") as terminal:
        shown = terminal.until("Write these changes? [y/N]: ")
        terminal.type("n\n")
        code, rest, _ = terminal.ended()

    assert "name: kick" in shown
    assert "Import: 1 to add" in shown
    assert (code, "Nothing was changed." in rest) == (1, True)
    assert imported.read("commands.yaml") == MANIFEST

    with Terminal.running(imported, "import", "--format", "json", piped=True) as terminal:
        terminal.until("Write these changes? [y/N]: ")
        terminal.type("y\n")
        code, _, out = terminal.ended()

    assert code == 0
    assert json.loads(out)["summary"]["add"] == 1
    assert "kick" in imported.read("commands.yaml")


def test_patterns_are_sources_and_paths_are_left_out(home: Home) -> None:
    home.write(
        "version: 1\nprefix: '!'\ncommands: []\nimport: {from: ['sc/**/*.json', 'src/*.py']}\n"
    )
    code = "import discord\n@bot.tree.command()\nasync def {}(interaction): 'Does it.'\n"
    for folder in ("fun", "fun/Disabled", "779641401482805289", "owner/x"):
        lists(home, KICK | {"name": folder[-5:]}, name=f"sc/{folder}/a.json")
    home.write("{", "sc/secret/x.json")
    home.write(code.format("ping"), "src/a.py")
    home.write(code.format("pong"), "src/deeper/b.py")
    exclude = "exclude: [Owner/*, secret/*], from"
    home.write(home.read("commands.yaml").replace("from", exclude))
    ran = home.run("import", "--yes", "-v")
    home.write(home.read("commands.yaml").replace("exclude", "traits: disabled, exclude"))

    left_out = [line.partition(": ")[2] for line in ran.err.splitlines() if "left" in line]
    assert left_out == [
        "05289  (sc/779641401482805289/a.json:2:1): it is guild-only",
        "abled  (sc/fun/Disabled/a.json:2:1): it is disabled",
        "ner/x  (sc/owner/x/a.json:2:1): its file matches 'Owner/*'",
    ]
    assert home.read("commands.yaml").count("- name: ") == 2
    assert "1 to add" in home.run("import", "--check").out


CODE = "module.exports = { data: new SlashCommandBuilder().setName('NAME').setDescription('D.') };"


@pytest.fixture
def bot(home: Home) -> Home:
    """A bot in JavaScript, whose ten commands are imported."""
    home.write("version: 1\nimport: {from: src}\ncommands: []\n")
    for number in range(10):
        home.write(CODE.replace("NAME", f"c{number}"), f"src/c{number}.js")
    assert home.run("import", "--yes").code == 0
    return home


def test_a_command_that_is_not_read_any_more_is_held_back_and_fails_a_check(bot: Home) -> None:
    bot.write(
        "module.exports = make({ name: 'c1', description: 'D.', execute() {} });", "src/c1.js"
    )
    check = bot.run("import", "--check")
    written = bot.run("import", "--yes")
    bot.write(bot.read("commands.yaml").replace("src}", "src, unread: c1.js}"))
    known = bot.run("import", "--check", "-v")

    assert (check.code, written.code, known.code) == (3, 0, 0)
    held, unread, _, counts = check.out.splitlines()
    place = "src/c1.js:1:23"
    why = f"its source has it no more, but {place} may declare it, and is not read"
    assert held == f"held back: c1: {why}  (commands.yaml:7:5)"
    assert unread.startswith(f"not read: {place} c1: this object is not registered or exported")
    assert counts.endswith("10 unchanged, 0 left out, 1 held back, 1 not read.")
    assert "- name: c1\n" in bot.read("commands.yaml")
    assert "not read: src/c1.js:1:23 c1: acknowledged" in known.err


def test_an_import_that_would_remove_too_much_is_refused(bot: Home) -> None:
    for number in range(4):
        bot.write("// gone", f"src/c{number}.js")
    check = bot.run("import", "--check")
    refused = bot.run("import", "--yes")
    allowed = bot.run("import", "--yes", "--max-deletes", "4")

    assert (check.code, refused.code, allowed.code) == (3, 5, 0)
    words = "would delete 4 of 10 commands of the manifest (40 %); the limit is 30 %"
    assert f"refused: {words}" in check.out
    assert f"error: the import {words}" in refused.err
    assert "4 to remove" in allowed.out


def test_an_import_without_the_files_of_commands_holds_back_removals_once(bot: Home) -> None:
    document = json.loads(bot.read("commands.imported.json"))
    for command in document["commands"]:
        del command["file"]
    bot.write(json.dumps(document), "commands.imported.json")
    bot.write("// gone", "src/c1.js")
    first = bot.run("import", "--yes")
    second = bot.run("import", "--yes")

    assert "1 held back" in first.out
    assert "1 to remove" in second.out


def test_when_nothing_is_found_the_next_step_is_named(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\ncommands: []\n")
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


def test_a_locale_file_that_has_the_texts_is_named_with_the_setting(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\ncommands: []\n")
    home.write(CODE.replace("NAME", "ping").replace("'D.'", "t('ping.about')"), "src/ping.js")
    home.write('{"ping": {"other": "x"}}', "src/locales/de.json")
    home.write('{"ping": {"about": "Ping."}}', "src/locales/en.json")
    before = home.run("import", "--yes")
    home.write(home.read("commands.yaml").replace("src}", "src, texts: src/locales/en.json}"))
    after = home.run("import", "--yes")

    assert 'description: "…"' in before.out
    assert "src/locales/en.json has the texts of 1 of the computed descriptions" in before.err
    assert "under import: in the manifest: texts: src/locales/en.json" in before.err
    assert after.err.count("texts") == 0
    assert "Ping." in home.read("commands.yaml")


@pytest.mark.parametrize("key", ["commands:ping.about", "commands.ping.about", "ping.about"])
def test_texts_in_several_files_are_found_in_their_folder(key: str, home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\ncommands: []\n")
    for name, used in {"ping": key, "pong": "events:pong"}.items():
        code = CODE.replace("NAME", name).replace("'D.'", f"t('{used}')")
        home.write(code, f"src/{name}.js")
    home.write('{"ping": {"about": "Ping."}}', "locales/en/commands.json")
    home.write('pong: "Pong."', "locales/en/events.yaml")
    before = home.run("import", "--yes")
    home.write(home.read("commands.yaml").replace("src}", "src, texts: locales/en}"))
    home.run("import", "--yes")

    assert "locales/en has the texts of 2 of the computed descriptions" in before.err
    assert "Ping." in home.read("commands.yaml")
    assert "Pong." in home.read("commands.yaml")


def test_many_warnings_for_one_cause_are_one_line(home: Home) -> None:
    home.write("version: 1\nimport: {from: src}\ncommands: []\n")
    for number in range(10):
        code = CODE.replace("NAME", f"c{number}").replace("'D.'", "texts.about")
        home.write(code, f"src/c{number}.js")
    short, full = home.run("import", "--check"), home.run("import", "--check", "-v")

    first = "the description of the command 'c0' is computed at run time; 9 more like it"
    assert short.err.count("warning: ") == 1
    assert first in short.err
    assert full.err.count("is computed at run time") == 10


def test_a_command_that_one_source_leaves_out_is_named(home: Home) -> None:
    home.write("version: 1\nimport: {from: [src, list.json]}\ncommands: []\n")
    home.write(CODE.replace("NAME", "c1").replace("};", ", ownerOnly: true };"), "src/c1.js")
    lists(home, {"name": "c1", "description": "D.", "type": 1})
    ran = home.run("import", "--check")

    assert "'c1' is left out here, since it is owner-only, but imported from list.json" in ran.err
