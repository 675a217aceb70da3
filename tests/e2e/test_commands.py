"""Every command with its options, and every exit code."""

import json
import re

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import ROOT, Home, checked, commands_of, failed, fields

COMMANDS = {" ".join(words): command for words, command in commands_of() if words}
NAMES = [f"command {number}" for number in range(10)]


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    home.write(fields((NAMES[0], "Reworded."), *((name,) for name in NAMES[1:9]), ("new",)))
    return home.knows(service.bot(NAMES, ["v1"]))


def test_the_help_names_every_command_and_every_exit_code(home: Home) -> None:
    ran = home.run("--help", exits=0)

    lines = re.findall(
        r"^  ([a-z]+(?:, [a-z]+)*)  ", ran.out.partition("\nSync:\n")[2], re.MULTILINE
    )
    assert ", ".join(lines).split(", ") == list(
        dict.fromkeys(command.split()[0] for command in COMMANDS)
    )
    assert all(f"\n    {code}  " in ran.out for code in range(7))


@pytest.mark.parametrize("arguments", [["nonsense"], ["plan", "--nonsense"], ["doctor", "extra"]])
@pytest.mark.parametrize("way", [[], ["--format", "json"], ["--format=json"]])
def test_wrong_usage_is_exit_2(home: Home, arguments: list[str], way: list[str]) -> None:
    ran = home.run(*arguments, *way, exits=2)

    if way:
        assert failed(ran, "usage")
        assert ran.err == ""
    else:
        assert ran.err.startswith("error: ")
        assert "\n  hint: " in ran.err
        assert ran.out == ""


@pytest.mark.parametrize(
    "option",
    [
        ["--max-deletes", "many"],
        ["--max-deletes", "101%"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--retries", "-1"],
        ["--concurrency", "0"],
        ["--color", "sometimes"],
    ],
)
def test_values_that_make_no_sense_are_wrong_usage(home: Home, option: list[str]) -> None:
    ran = home.run("plan", *option, "--format", "json", exits=2)

    assert option[0] in failed(ran, "usage")


OTHER = "commandsync.yaml"
BY_DEFAULT = [
    *("validate", "plan", "apply --yes --dry-run", "pull", "changes --since commandsync.yaml"),
    "bots show",
]


@pytest.mark.parametrize("command", BY_DEFAULT)
def test_a_manifest_of_the_tools_name_is_found(home: Home, service: Service, command: str) -> None:
    bot = service.bot(["help"])
    home.write(f"bot: {bot.id}\nbase_url: {bot.url}\n{fields(('help',))}", OTHER)
    ran = home.run(*command.split())

    assert ran.code in {0, 3}, ran.said

    home.write(fields(("help",)))
    both = home.run(*command.split(), exits=2)

    assert "error: commands.yaml and commandsync.yaml both exist" in both.err
    assert home.run("validate", "-f", OTHER).code == 0


def test_a_starter_is_not_put_beside_a_manifest_with_the_other_name(home: Home) -> None:
    assert home.run("init", OTHER).err.endswith("commandsync validate -f commandsync.yaml\n")
    assert home.run("validate").out.startswith("commandsync.yaml: 2 commands")

    ran = home.run("init", exits=1)

    assert "error: commandsync.yaml exists already" in ran.err
    assert not (home.path / "commands.yaml").exists()


def test_an_import_follows_the_manifest_with_the_other_name(home: Home) -> None:
    home.write("version: 1\nimport: {from: list.json}\n", OTHER)
    home.write('[{"name": "help", "description": "Shows help.", "syntax": "/help"}]', "list.json")
    home.run("import", exits=0)

    assert "name: help" in home.read("commandsync.imported.yaml")
    assert not (home.path / "commands.yaml").exists()


def test_a_starter_can_be_put_anywhere(home: Home) -> None:
    ran = home.run("init", "bots/my music/commands.yaml", exits=0)

    assert ran.err.endswith("commandsync validate -f 'bots/my music/commands.yaml'\n")
    assert home.run("validate", "-f", "bots/my music/commands.yaml").code == 0


def test_a_manifest_comes_from_standard_input(home: Home, bot: Bot) -> None:
    text = fields(*((name,) for name in NAMES)).encode()

    assert home.run("validate", "-f", "-", stdin=text).code == 0
    assert home.run("plan", "-f", "-", "--detailed-exitcode", stdin=text).code == 0
    assert home.run("apply", "--yes", "-f", "-", stdin=text).code == 0
    assert bot.names() == NAMES


@pytest.mark.usefixtures("bot")
def test_pending_changes_are_exit_3_only_when_asked(home: Home) -> None:
    assert home.run("plan").code == 0
    assert home.run("plan", "--detailed-exitcode").code == 3

    home.write(fields())  # which apply would refuse
    refused = home.run("plan", "--detailed-exitcode", "--format", "json", exits=3)

    assert "10 of 10" in checked(refused, "plan")["refused"]["message"]


def test_pull_works_without_a_manifest_and_a_token(home: Home, bot: Bot) -> None:
    for name in ("COMMANDSYNC_BASE_URL", "COMMANDSYNC_BOT", "COMMANDSYNC_TOKEN"):
        home.forget(name)
    (home.path / "commands.yaml").unlink()

    ran = home.run("pull", "--bot", bot.id, "--base-url", bot.url, exits=0)

    assert f'bot: "{bot.id}"' in ran.out
    assert all(f"name: {name}" in ran.out for name in NAMES)
    assert "title: v1" in ran.out
    home.write(ran.out)
    assert home.run("plan", "--detailed-exitcode").code == 0


def test_pull_takes_the_listing_from_the_manifest(home: Home, bot: Bot) -> None:
    home.forget("COMMANDSYNC_BOT")
    home.write(f'bot: "{bot.id}"\n' + home.read("commands.yaml"))

    ran = home.run("pull", "--pin", exits=0)

    assert all(identifier in ran.out for identifier in bot.ids().values())
    assert "announcements" not in ran.out  # what the manifest does not manage is not read


@pytest.mark.parametrize("text", ["", 'version: 1\nbot: "{}"\n'], ids=["by the shell", "a bot"])
def test_pull_fills_a_manifest_that_is_empty(home: Home, bot: Bot, text: str) -> None:
    home.forget("COMMANDSYNC_BOT")  # the token says it
    home.write(text.format(bot.id))

    ran = home.run("pull", exits=0)

    assert f'bot: "{bot.id}"' in ran.out
    assert all(f"name: {name}" in ran.out for name in NAMES)
    assert "title: v1" in ran.out


def test_pull_reads_one_listing(home: Home) -> None:
    home.write(fields(), "bots/a.yaml")
    home.write(fields(), "bots/b.yaml")

    assert home.run("pull", "-f", "bots").code == 2


@pytest.mark.parametrize(
    "missing", [["COMMANDSYNC_BASE_URL"], ["COMMANDSYNC_BOT", "COMMANDSYNC_TOKEN"]]
)
@pytest.mark.usefixtures("bot")
def test_a_setting_that_is_missing_everywhere_is_asked_for(home: Home, missing: list[str]) -> None:
    for name in missing:
        home.forget(name)

    ran = home.run("plan", "--format", "json", exits=2)

    assert failed(ran, "usage")
    assert missing[0] in checked(ran, "plan")["error"]["hint"]


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("validate --file", "path"),
        ("plan --token-file", "path"),
        ("plan --env-file", "path"),
        ("plan --bot", "id"),
        ("plan --base-url", "base URL"),
        ("plan --out", "path"),
        ("plan --against", "path"),
        ("pull --out", "path"),
        ("apply --yes --plan", "path"),
        ("apply --yes --backup", "path"),
        ("init", "path"),
    ],
)
@pytest.mark.usefixtures("bot")
def test_an_empty_flag_is_one_that_is_given(home: Home, command: str, what: str) -> None:
    ran = home.run(*command.split(), "", exits=2)

    assert f"the {what} is empty" in ran.err


@pytest.mark.usefixtures("bot")
def test_an_empty_variable_is_one_that_is_not_set(home: Home) -> None:
    home.variable("COMMANDSYNC_BOT", "")

    assert home.run("plan").code == 0  # the token says it


@pytest.mark.promise("base-url-and-bot", "one-host")
def test_flags_go_before_the_environment_and_that_before_the_manifest(home: Home, bot: Bot) -> None:
    home.write("base_url: https://manifest.invalid\n" + home.read("commands.yaml"))
    by_environment = home.run("plan")
    home.write('bot: "1"\n' + home.read("commands.yaml"))
    home.variable("COMMANDSYNC_BASE_URL", "https://environment.invalid")
    home.variable("COMMANDSYNC_BOT", "2")
    by_flag = home.run("plan", "--bot", bot.id, "--base-url", bot.url)

    where = f"Bot {bot.id} at {bot.url} from commands.yaml\n"
    runs = (by_environment, by_flag)
    assert all(ran.out.startswith(where) for ran in runs)
    assert [re.findall(r" is from ([\w-]+)", ran.out) for ran in runs] == [
        ["COMMANDSYNC_BOT", "COMMANDSYNC_BASE_URL"],
        ["--bot", "--base-url"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("apply --yes", "plan", "pull", "doctor"),
        *("vote 7", "plan --against commands.yaml", "bots show"),
    ],
)
def test_a_left_over_bot_is_refused(home: Home, proxy: Proxy, service: Service, line: str) -> None:
    harbor, lantern = service.bot(), service.bot(["help"])
    home.knows(harbor, url=proxy.url)
    home.write(f'bot: "{lantern.id}"\n' + fields(("help",), ("new",)))
    ran = home.run(*line.split())

    assert ran.code == (1 if line == "doctor" else 2), ran.said
    assert f"COMMANDSYNC_BOT is {harbor.id}, " in ran.said
    assert f"commands.yaml is {lantern.id}" in ran.said
    assert proxy.requests == []
    assert harbor.names() == []


def test_a_flag_may_name_another_bot_than_the_manifest(home: Home, service: Service) -> None:
    harbor, lantern = service.bot(), service.bot()
    home.knows(harbor)
    home.write(f'bot: "{lantern.id}"\n' + fields(("help",)))

    assert home.run("apply", "--yes", "--bot", harbor.id).code == 0
    assert (harbor.names(), lantern.names()) == (["help"], [])


def test_plan_compares_two_manifests_offline(home: Home) -> None:
    home.write(fields(("help",), ("old",)), "before.yaml")
    home.write(fields(("help", "Reworded."), ("new",)))

    ran = home.run("plan", "--against", "before.yaml", "--format", "json", "--detailed-exitcode")

    plan = checked(ran, "plan")
    assert ran.code == 3
    assert [change["action"] for change in plan["changes"]] == ["edit", "add", "delete"]
    assert plan["base_url"] == ""
    assert (
        plan["warnings"][0]["message"]
        == "this is compared with before.yaml, and not with the listing"
    )


def test_pins_are_compared_only_where_both_manifests_have_them(home: Home) -> None:
    pinned = fields(("help",), ("old",), ("ping",))
    for number, name in enumerate(("help", "old", "ping")):
        pinned = pinned.replace(f'{{prefix}}{name}"', f'{{prefix}}{name}"\n    id: "{number}"')
    home.write(pinned.replace('"2"', '"3"'), "before.yaml")
    home.write(pinned.replace('name: "old"', 'name: "new"'))

    plan = checked(home.run("plan", "--against", "before.yaml", "--format", "json"), "plan")

    assert [(change["action"], change["renamed_from"]) for change in plan["changes"]] == [
        ("edit", "old")
    ]
    assert len(plan["warnings"]) == 1


def test_standard_input_is_compared_with_a_file_and_not_with_itself(home: Home) -> None:
    text = fields(("help",)).encode()
    home.write(text, "before.yaml")

    same = home.run("plan", "-f", "-", "--against", "before.yaml", stdin=text, exits=0)
    both = home.run("plan", "-f", "-", "--against", "-", stdin=text, exits=2)

    assert "No changes" in same.out
    assert "standard input" in both.err


@pytest.mark.parametrize("name", ["commands", "plan", "result", "docs"])
def test_schema_prints_what_is_kept_in_schemas(home: Home, name: str) -> None:
    ran = home.run("schema", name, exits=0)

    kept = ROOT / "schemas" / f"{name}.schema.json"
    assert ran.document == json.loads(kept.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "line",
    [
        *(
            "validate --file",
            "plan --out",
            "plan --against",
            "plan --token-file",
            "plan --env-file",
        ),
        *("apply --plan", "apply --backup", "pull --out", "init", "serve --seed"),
    ],
)
def test_completion_leaves_paths_to_the_shell(home: Home, line: str) -> None:
    words = home.child(
        _COMMANDSYNC_COMPLETE="bash_complete",
        COMP_WORDS=f"commandsync {line} ba",
        COMP_CWORD=str(len(line.split()) + 1),
    )

    assert words.out.split() == ["file,ba"]
