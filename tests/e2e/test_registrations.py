"""The commands that an application has registered at Discord, as a listing of a manifest."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import ImportedCommand, ImportedFile, ImportedPlace
from tests.support.discordserver import APPLICATION, SERVER, DiscordListing, DiscordServer
from tests.support.home import Home, git_repo
from tests.support.rawserver import Exchange
from tests.support.simulations import serve_simulation
from tests.support.terminal import POSIX, Terminal

TOKEN = "COMMANDSYNC_TOKEN_DISCORD"
CLAIMS = urlsafe_b64encode(b'{"id": "1"}').decode()
LISTING_TOKEN = f"eyJhbGciOiJIUzI1NiJ9.{CLAIMS}.signature"
PING: dict[str, Any] = {"name": "ping", "description": "Says pong."}
REGION: dict[str, Any] = {
    "name": "region",
    "description": "Sets the region.",
    "options": [
        {
            "type": 3,
            "name": "region",
            "description": "The region.",
            "required": True,
            "choices": [{"name": "eu", "value": "eu"}, {"name": "us", "value": "us"}],
        }
    ],
}

SAY = {"name": "say", "description": "Says it.", "syntax": "/say <text>"}  # with unknown options


@pytest.fixture
def discord(home: Home) -> Iterator[DiscordServer]:
    """Discord, whose token the environment has."""
    with DiscordServer() as server:
        home.variable(TOKEN, server.listing.token)
        yield server


def entry(node: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return an entry of a manifest with Discord's object."""
    texts = {"name": node["name"], "description": node.get("description", "Opens a menu.")}
    return {**texts, "syntax": f"/{node['name']}", "discord": node, **more}


def manifest(home: Home, server: DiscordServer, *entries: object, top: str = "") -> None:
    """Write a manifest that lists Discord."""
    commands = f"commands: {json.dumps(entries)}\n"
    home.write(f"version: 1\n{top}{server.entry}{commands}")


def kinds(server: DiscordServer, since: int = 0) -> list[str]:
    return [request.kind for request in server.listing.requests[since:]]


def test_commands_are_registered_whole_and_then_nothing_is_left_to_do(
    home: Home, discord: DiscordServer
) -> None:
    manifest(home, discord, entry(PING), entry(REGION))

    applied = home.run("apply", "--yes", exits=0)
    planned = home.run("plan", "--detailed-exitcode", exits=0)

    assert applied.out.endswith("Apply: 2 done. Verified: nothing is left to do.\n")
    assert "No changes: nothing is left to do." in planned.out
    listed = {each["name"]: each for each in discord.listing.listed()}
    assert listed.keys() == {"ping", "region"}
    assert [each["name"] for each in listed["region"]["options"][0]["choices"]] == ["eu", "us"]


HUNDRED = [{"name": f"command-{n}", "description": "Before."} for n in range(100)]


class AtOnce(DiscordServer):
    """Discord, which answers the first two requests only when both have come."""

    def handle(self, exchange: Exchange) -> None:
        self.wait_for(2, writes=False)
        super().handle(exchange)


def test_a_plan_of_a_hundred_equal_commands_makes_two_requests_at_once(home: Home) -> None:
    with AtOnce() as server:
        home.variable(TOKEN, server.listing.token)
        server.listing.seed(*HUNDRED)
        manifest(home, server, *map(entry, HUNDRED), top=f'bot: "{APPLICATION}"\n')

        ran = home.run("plan", "--detailed-exitcode", exits=0)

    assert "100 unchanged" in ran.out
    assert sorted(kinds(server)) == ["application", "read"]


@pytest.mark.promise("discord-one-by-one")
def test_a_hundred_changes_are_a_hundred_writes_and_three_reads(
    home: Home, discord: DiscordServer
) -> None:
    ids = [each["id"] for each in discord.listing.seed(*HUNDRED)]
    edited = [entry({**node, "description": "After."}) for node in HUNDRED]
    manifest(home, discord, *edited)

    home.run("apply", "--yes", exits=0)

    assert kinds(discord) == ["application", "read", *["edit"] * 100, "read"]
    assert [each["id"] for each in discord.listing.listed()] == ids
    assert {each["description"] for each in discord.listing.listed()} == {"After."}


def test_the_application_is_named_by_the_plan_and_in_its_document(
    home: Home, discord: DiscordServer
) -> None:
    manifest(home, discord, entry(PING))

    text = home.run("plan", exits=0)
    document = home.run("plan", "--format", "json", exits=0).document

    name = discord.listing.ask("GET", "/applications/@me").content["name"]
    assert text.out.startswith(f"discord: application {APPLICATION} ({name}) at {discord.url}")
    assert (document["listing"], document["bot"]) == ("discord", APPLICATION)
    assert (document["known"], document["compared_with"]) == (True, "list")
    assert document["scope"] == ["application commands"]


@pytest.mark.promise("discord-token-names")
@pytest.mark.parametrize("command", [["plan"], ["apply", "--yes"]], ids=" ".join)
def test_the_token_of_another_application_is_refused(
    home: Home, discord: DiscordServer, command: list[str]
) -> None:
    manifest(home, discord, entry(PING), top='bot: "1234567890"\n')

    ran = home.run(*command, exits=5)

    assert f"belongs to application {APPLICATION}" in ran.said
    assert "not to bot 1234567890" in ran.said
    assert discord.listing.writes() == []


def test_the_id_of_the_bots_user_is_the_bot_too(home: Home) -> None:
    with DiscordServer(listing=DiscordListing(choices={"bot_id": "other"})) as server:
        home.variable(TOKEN, server.listing.token)
        user = server.listing.ask("GET", "/applications/@me").content["bot"]["id"]
        manifest(home, server, entry(PING), top=f'bot: "{user}"\n')

        home.run("apply", "--yes", exits=0)

        assert user != APPLICATION
        assert [each["name"] for each in server.listing.listed()] == ["ping"]


def test_a_plan_names_the_commands_of_one_server(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord, entry(PING), entry(REGION))

    planned = home.run("plan", "--guild", SERVER, "--format", "json", exits=0).document
    home.run("apply", "--guild", SERVER, "--yes", exits=0)

    assert (planned["listing"], planned["guild"]) == (f"discord (server {SERVER})", SERVER)
    assert {each["name"] for each in discord.listing.listed(SERVER)} == {"ping", "region"}
    assert discord.listing.listed() == []


def test_a_server_is_the_only_listing_of_its_run(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord, entry(PING), top="base_url: https://listing.example\n")
    home.variable("COMMANDSYNC_BOT", "42")

    ran = home.run("plan", "--guild", SERVER, exits=0)

    assert ran.out.startswith(f"discord (server {SERVER}): application {APPLICATION}")
    assert "listing.example" not in ran.out


def test_a_command_of_a_server_that_is_also_global_is_a_warning(
    home: Home, discord: DiscordServer
) -> None:
    discord.listing.seed(PING)
    manifest(home, discord, entry(PING), entry(REGION))

    ran = home.run("plan", "--guild", SERVER, exits=0)

    assert f"discord (server {SERVER}): ping is also a global command" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--guild", "here"], "'here' is not the id of a server"),
        (["--guild", ""], "'' is not the id of a server"),
        (["--guild", "6", "--listing", "discord"], "a server selects the listing discord alone"),
        (["--listing", "discord (server 6)"], "no listing is called 'discord (server 6)'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_server_has_an_id_and_selects_discord_alone(
    home: Home, discord: DiscordServer, arguments: list[str], message: str
) -> None:
    manifest(home, discord, entry(PING))

    ran = home.run("plan", *arguments, exits=2)

    assert message in ran.err
    assert discord.listing.requests == []


def test_a_manifest_without_discord_has_no_server(home: Home) -> None:
    home.write("version: 1\ncommands: []\n")

    ran = home.run("plan", "--guild", SERVER, exits=2)

    assert "no manifest of the run lists discord" in ran.err


def test_without_a_token_the_plan_says_so_and_an_apply_names_the_variable(
    home: Home, discord: DiscordServer
) -> None:
    home.forget(TOKEN)
    manifest(home, discord, entry({**PING, "id": "7"}))

    planned = home.run("plan", "--detailed-exitcode", exits=0)
    applied = home.run("apply", "--yes", exits=2)

    assert planned.out.startswith(f"discord: the application of the token at {discord.url} from")
    assert "discord returns its list only with the token" in planned.out
    assert "pinned" not in planned.said
    assert planned.out.endswith("Plan: 1 command to send.\n")
    assert f"no token was given for discord\n  hint: set {TOKEN}" in applied.err
    assert discord.listing.requests == []


def test_without_a_token_a_plan_can_be_compared_with_an_earlier_version(
    home: Home, discord: DiscordServer
) -> None:
    home.forget(TOKEN)
    manifest(home, discord, entry(PING), entry(REGION))
    home.write(home.read("commands.yaml"), "before.yaml")
    manifest(home, discord, entry({**PING, "description": "Says pong, quickly."}))

    ran = home.run("plan", "--since", "before.yaml", "--detailed-exitcode", exits=3)
    document = home.run("plan", "--since", "before.yaml", "--format", "json", exits=0).document

    assert ran.out.endswith("Plan: 0 to add, 1 to edit, 1 to delete, 0 unchanged.\n")
    assert (document["known"], document["compared_with"]) == (True, "before.yaml")
    assert discord.listing.requests == []


def test_another_host_gets_no_token_unless_the_environment_names_it(home: Home) -> None:
    home.variable("DISCORD_TOKEN", "a-token-for-discord")
    listing = "listings: [{service: discord, base_url: 'https://discord.example'}]\n"
    home.write(f"version: 1\n{listing}commands: []\n")

    ran = home.run("apply", "--yes", exits=5)

    assert "discord.example is named by the manifest only" in ran.err


def test_a_saved_plan_is_applied_to_its_application_and_server(
    home: Home, discord: DiscordServer
) -> None:
    discord.listing.seed(REGION, guild=SERVER)
    changed = {**REGION, "description": "Sets your region."}
    manifest(home, discord, entry(PING), entry(changed), SAY)

    home.run("plan", "--guild", SERVER, "--out", "plan.json", exits=0)
    first = home.run("apply", "--plan", "plan.json", "--yes", exits=0)
    again = home.run("apply", "--plan", "plan.json", "--yes", exits=0)

    assert "Apply: 2 done." in first.out
    assert "Everything was done already" in again.out
    assert discord.listing.listed() == []
    assert len(discord.listing.listed(SERVER)) == 2


def test_a_plan_of_several_listings_is_not_saved(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord, entry(PING))
    both = home.read("commands.yaml").replace("commands:", "  - service: top.gg\ncommands:")
    home.write(both)

    several = home.run("plan", "--out", "plan.json", exits=2)
    home.run("plan", "--out", "plan.json", "--listing", "discord", exits=0)

    assert "--out saves one plan of records: of the page, or of discord" in several.err
    assert json.loads(home.read("plan.json"))["listing"] == "discord"


MENU = {"name": "Report to us", "type": 3}
SPOKEN = {**PING, "name_localizations": {"de": "klopfen"}, "contexts": [0], "nsfw": True}
QUEUE: dict[str, Any] = {
    "name": "queue",
    "description": "The queue.",
    "options": [
        {"type": 1, "name": "add", "description": "Adds a song."},
        {"type": 1, "name": "show", "description": "Shows it."},
    ],
}


@pytest.mark.parametrize("options", [[], ["--pin"]], ids=" ".join)
def test_a_plan_of_what_was_pulled_has_no_changes(
    home: Home, discord: DiscordServer, options: list[str]
) -> None:
    discord.listing.seed(SPOKEN, REGION, MENU, QUEUE)
    manifest(home, discord)

    home.run("pull", "--out", "pulled.yaml", *options, exits=0)
    planned = home.run("plan", "-f", "pulled.yaml", "--detailed-exitcode", exits=0)

    assert planned.out.endswith("Plan: 0 to add, 0 to edit, 0 to delete, 4 unchanged.\n")
    assert f"base_url: {discord.url}" in home.read("pulled.yaml")


def test_what_one_server_has_is_pulled_as_json(home: Home, discord: DiscordServer) -> None:
    [listed] = discord.listing.seed(PING, guild=SERVER)
    manifest(home, discord)

    document = home.run("pull", "--guild", SERVER, "--format", "json", exits=0).document

    assert (document["bot"], document["guild"]) == (APPLICATION, SERVER)
    [command] = document["application commands"]
    assert (command["id"], command["name"], command["type"]) == (listed["id"], "ping", "1")
    assert command["object"]["description"] == "Says pong."


def test_a_page_is_pulled_where_a_manifest_has_both(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord, top='base_url: http://127.0.0.1:9\nbot: "42"\n')
    home.variable("COMMANDSYNC_TOKEN", "a-token-of-the-page")

    page = home.run("pull", "--retries", "0", exits=1)
    home.write("version: 1\n" + discord.entry + "commands: []\n")
    home.run("pull", "--listing", "discord", exits=0)

    assert "127.0.0.1:9 refuses connections" in page.err


def test_a_backup_brings_the_commands_back(home: Home, discord: DiscordServer) -> None:
    discord.listing.seed(SPOKEN, REGION)
    before = discord.listing.listed()
    manifest(home, discord, entry({**PING, "description": "Other."}))

    home.run("apply", "--yes", "--backup", "before.yaml", "--max-deletes", "all", exits=0)
    home.run("apply", "--yes", "-f", "before.yaml", exits=0)

    keys = ("name", "description", "options", "nsfw", "contexts", "name_localizations")
    shown = [
        [{key: each.get(key) for key in keys} for each in listed]
        for listed in (before, discord.listing.listed())
    ]
    assert shown[0] == shown[1]
    assert "A command that is added then has a new id.\n" in home.read("before.yaml")


def test_the_requests_of_a_plan_are_those_of_its_apply(home: Home, discord: DiscordServer) -> None:
    discord.listing.seed(REGION, QUEUE)
    changed = {**REGION, "description": "Sets your region."}
    manifest(home, discord, entry(PING), entry(changed))

    text = home.run("plan", "--requests", exits=0)
    document = home.run("plan", "--requests", "--format", "json", exits=0).document
    home.run("apply", "--yes", exits=0)

    shown = [(each["method"], each["url"], each["body"]) for each in document["requests"]]
    writes = discord.listing.writes()
    api = f"{discord.url}/api/v10"
    assert shown == [(sent.method, f"{api}{sent.path}", sent.body) for sent in writes]
    assert [sent.kind for sent in writes] == ["edit", "add", "delete"]
    assert f"\nDELETE {api}{writes[-1].path}\nAuthorization: Bot {{token}}\n" in text.out
    assert discord.listing.token not in text.out + json.dumps(document)


def test_the_requests_of_renames_are_in_the_order_in_which_names_get_free(
    home: Home, discord: DiscordServer
) -> None:
    names = [f"n{number}" for number in range(5)]
    before = discord.listing.seed(*({**PING, "name": name} for name in names))
    after = [
        {**PING, "name": name, "id": old["id"]}
        for name, old in zip((*names[1:], "free"), before, strict=True)
    ]
    manifest(home, discord, *map(entry, after))

    requests = home.run("plan", "--requests", "--format", "json", exits=0).document["requests"]
    home.run("apply", "--yes", exits=0)

    sent = [(write.method, write.body) for write in discord.listing.writes()]
    assert [(each["method"], each["body"]) for each in requests] == sent
    assert [body["name"] for _, body in sent] == ["free", *names[:0:-1]]


def test_without_changes_there_is_no_request(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord)

    assert home.run("plan", "--requests", exits=0).out == "no request: nothing is left to do\n"


def checks(home: Home, code: int | None = 0) -> list[tuple[str, str, str]]:
    """Return the checks of Discord: their name, state and message."""
    document = home.run("doctor", "--format", "json", exits=code).document
    return [
        (each["name"], each["state"], each["message"])
        for each in document["checks"]
        if each["name"].startswith("discord")
    ]


def test_doctor_names_the_application_of_the_token(home: Home, discord: DiscordServer) -> None:
    discord.listing.seed(PING, REGION)
    manifest(home, discord, entry(PING))

    [(name, state, message)] = checks(home)

    assert (name, state) == ("discord", "ok")
    assert f"application {APPLICATION} (" in message
    assert message.endswith(f"in {TOKEN}, commands registered: 2")
    assert sorted(kinds(discord)) == ["application", "read"]


def test_doctor_finds_the_token_of_another_application(home: Home, discord: DiscordServer) -> None:
    manifest(home, discord, entry(PING), top='bot: "1234567890"\n')

    [(name, state, message)] = checks(home, code=5)

    assert (name, state) == ("discord", "failed")
    assert f"belongs to application {APPLICATION}" in message


def test_doctor_needs_a_token_and_access_to_the_server(home: Home) -> None:
    listing = DiscordListing(choices={"servers": "one"})
    with DiscordServer(listing=listing) as server:
        manifest(home, server, entry(PING))
        without = checks(home, code=1)
        home.variable(TOKEN, server.listing.token)
        text = home.read("commands.yaml").replace("commands:", "    guild: 1234567890\ncommands:")
        home.write(text)
        elsewhere = checks(home, code=1)

    assert without == [("discord", "failed", "no token was given for discord")]
    [(name, state, message)] = elsewhere
    assert (name, state) == ("discord (server 1234567890)", "failed")
    assert "has no access to the server 1234567890" in message


CODE = """\
from discord.ext import commands
bot = commands.Bot(command_prefix="!")

@bot.tree.command(description="Says pong.")
async def ping(interaction): ...

@bot.tree.command(description="Plays a song.")
async def play(interaction): ...
"""


def test_doctor_compares_the_names_in_the_code_with_those_at_discord(
    home: Home, discord: DiscordServer
) -> None:
    discord.listing.seed(PING, {"name": "old", "description": "Was there."})
    home.write(CODE, "bot.py")
    home.write(f"version: 1\nimport: {{from: bot.py}}\n{discord.entry}")
    home.run("import", exits=0)

    names = home.run("doctor", "--format", "json", exits=3).document["names"]

    [result] = names
    assert [each["name"] for each in result["places"]] == ["code", "manifest", "discord"]
    assert {each["name"]: each["differences"] for each in result["commands"]} == {
        "ping": [],
        "play": ["not listed"],
        "old": ["gone"],
    }


def test_an_import_warns_where_discord_is_a_source_and_a_listing(
    home: Home, discord: DiscordServer
) -> None:
    discord.listing.seed(PING)
    home.variable("DISCORD_TOKEN", discord.listing.token)
    home.variable("DISCORD_BASE_URL", f"{discord.url}/api")
    home.write(f"version: 1\nimport: {{from: discord}}\n{discord.entry}")

    ran = home.run("import", exits=0)

    assert "discord is a source and a listing" in ran.said
    assert "commandsync import --eject" in ran.said
    planned = home.run("plan", "--detailed-exitcode", exits=0)
    assert "No changes: nothing is left to do." in planned.out


@pytest.mark.parametrize("recorded", [True, False])
def test_doctor_warns_where_the_program_registers_commands_too(
    home: Home, discord: DiscordServer, *, recorded: bool
) -> None:
    command = ImportedCommand(
        name="ping", description="Says pong.", syntax="/ping", recorded=recorded, discord=PING
    )
    home.write(imported_text(ImportedFile((command,))), "commands.imported.yaml")
    block = "import: {from: bot.py, program: node deploy.js}\n"
    home.write(CODE, "bot.py")
    home.write(f"version: 1\n{block}{discord.entry}")

    states = [(state, message) for _, state, message in checks(home, code=3)]

    assert [state for state, _ in states] == ["ok", *["warning"] * recorded]
    assert ("node deploy.js registers commands, too" in states[-1][1]) is recorded


@pytest.mark.parametrize(
    ("name", "line", "warns"),
    [
        ("bot.py", "await bot.tree.sync(guild=None)", True),
        ("bot.py", "tree.synced()", False),
        ("src/ready.js", "await client.application.commands.set(commands);", True),
        ("src/ready.js", "client.commands.set(command.data.name, command);", False),
        ("src/deploy.ts", "rest.put(Routes.applicationGuildCommands(id, server), { body });", True),
    ],
)
def test_doctor_warns_where_the_code_registers_commands_too(
    home: Home, discord: DiscordServer, name: str, line: str, *, warns: bool
) -> None:
    home.write(imported(), "commands.imported.yaml")
    home.write(line, name)
    manifest(home, discord, entry(PING), top=f"import: {{from: {name.partition('/')[0]}}}\n")

    accepted, *warnings = checks(home, code=None)

    assert accepted[1] == "ok"
    assert [message.partition(":")[0] for _, _, message in warnings] == (
        [f"{name} registers commands, too"] * warns
    )


def test_parts_that_discord_refuses_are_named_before_anything_is_written(
    home: Home, discord: DiscordServer
) -> None:
    option = {"type": 3, "name": "Text", "description": "x" * 101}
    manifest(home, discord, entry({**PING, "options": [option]}), entry(REGION))

    checked = home.run("validate", exits=0)
    strict = home.run("validate", "--strict", exits=4)
    applied = home.run("apply", "--yes", exits=4)

    for ran in (checked, strict, applied):
        for key in ("name", "description"):
            assert f"ping: options/Text/{key} " in ran.out + ran.err
    assert "2 commands, 2 warnings" in checked.out
    assert kinds(discord) == ["application", "read"]


def imported(*commands: ImportedCommand, unread: Sequence[str] = ()) -> str:
    """Return the text of an imported file, with places that were not read."""
    places = tuple(ImportedPlace("bot.py", "its name is computed", name) for name in unread)
    return imported_text(ImportedFile(commands, places))


def read_from_code(name: str, **more: Any) -> ImportedCommand:  # noqa: ANN401 - of any field
    node = {"name": name, "description": "Does it.", "type": 1}
    command = ImportedCommand(name=name, description="Does it.", syntax=f"/{name}", discord=node)
    return replace(command, **more)


def test_code_that_is_partly_read_deletes_only_what_a_version_had(
    home: Home, discord: DiscordServer
) -> None:
    repo = git_repo(home.path)
    nodes = [{"name": name, "description": "Does it."} for name in ("ping", "old", "computed")]
    discord.listing.seed(*nodes)
    home.write(f"version: 1\nimport: {{from: bot.py}}\n{discord.entry}")
    home.write(imported(read_from_code("ping"), read_from_code("old")), "commands.imported.yaml")
    repo.commit({})
    partly = imported(read_from_code("ping"), unread=["computed"])
    home.write(partly, "commands.imported.yaml")

    planned = home.run("plan", "--format", "json", exits=0).document
    [warning] = [each["message"] for each in planned["warnings"] if "stays" in each["message"]]
    head = "version: 1\nimport: {from: bot.py, unread: [bot.py]}\n"
    home.write(head + discord.entry)
    acknowledged = home.run("plan", "--format", "json", exits=0).document

    deleted = [
        [change["name"] for change in document["changes"]] for document in (planned, acknowledged)
    ]
    assert deleted == [["old"], ["old", "computed"]]
    assert warning == "discord: computed stays, for not all of the code was read: bot.py"


def test_a_listing_is_one_of_several(home: Home, discord: DiscordServer) -> None:
    with serve_simulation("top.gg") as topgg:
        home.variable(topgg.variable, topgg.token)
        manifest(home, discord, entry(PING))
        more = topgg.manifest.removeprefix("listings:\n") + "    lossy: [category, syntax]\n"
        home.write(home.read("commands.yaml").replace("commands:", f"{more}commands:"))

        planned = home.run("plan", "--format", "json", exits=0).document
        home.run("apply", "--yes", "--unseen", exits=0)
        alone = home.run("plan", "--listing", "discord", "--format", "json", exits=0).document

        assert [each["listing"] for each in planned["results"]] == ["discord", "top.gg"]
        assert alone["summary"]["unchanged"] == 1
        assert [each["name"] for each in topgg.commands] == ["ping"]


def test_a_strict_run_refuses_losses_that_the_manifest_does_not_name(
    home: Home, discord: DiscordServer
) -> None:
    manifest(home, discord, entry(PING), SAY)

    ran = home.run("plan", "--strict", exits=4)
    document = home.run("plan", "--format", "json", exits=0).document
    home.write(home.read("commands.yaml").replace("commands:", "    lossy: [commands]\ncommands:"))
    home.run("plan", "--strict", exits=0)

    assert "say" in ran.err
    [loss] = document["losses"]
    assert (loss["field"], loss["names"]) == ("commands", ["say"])


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
def test_apply_asks_for_renames_and_reads_the_application_once(
    home: Home, discord: DiscordServer
) -> None:
    [was] = discord.listing.seed({**PING, "description": "Says pong to whoever asks for it."})
    renamed = {"name": "knock", "description": "Says pong to whoever asks for it."}
    manifest(home, discord, entry(renamed))

    with Terminal.running(home, "apply") as terminal:
        terminal.until('Is "ping" renamed to "knock", with its id kept? [y/N]: ')
        terminal.type("y\n")
        terminal.until("1 to rename. Make these changes? [y/N]: ")
        terminal.type("y\n")
        code, _, _ = terminal.ended()

    assert code == 0
    assert kinds(discord) == ["application", "read", "read", "edit", "read"]
    [listed] = discord.listing.listed()
    assert (listed["id"], listed["name"]) == (was["id"], "knock")


def test_only_what_a_version_had_is_deleted_with_owned(home: Home, discord: DiscordServer) -> None:
    repo = git_repo(home.path)
    discord.listing.seed(PING, REGION)
    manifest(home, discord, entry(PING))
    repo.commit({})

    refused = home.run("apply", "--yes", "--owned", exits=5)
    home.run("apply", "--yes", "--owned", "--no-prune", exits=0)

    assert "no version of the manifest had: application command 'region'" in refused.err
    assert "commandsync import discord reads it" in refused.err
    assert "or apply without --owned" in refused.err


def test_a_full_list_loses_first_as_many_as_it_gets(home: Home, discord: DiscordServer) -> None:
    menus = [{"name": f"Menu {n}", "type": 3} for n in range(15)]
    discord.listing.seed(*menus)
    new = [{"name": f"New {n}", "type": 3} for n in range(2)]
    stay = [entry(node, syntax=node["name"]) for node in (*menus[:10], *new)]
    manifest(home, discord, *stay)

    planned = home.run("plan", "--max-deletes", "5", exits=0)
    shown = home.run(
        "plan", "--max-deletes", "5", "--requests", "--format", "json", exits=0
    ).document["requests"]
    home.run("apply", "--yes", "--max-deletes", "5", exits=0)

    order = ["delete"] * 2 + ["add"] * 2 + ["delete"] * 3
    assert [sent.kind for sent in discord.listing.writes()] == order
    assert [each["method"] for each in shown] == [
        {"delete": "DELETE", "add": "POST"}[kind] for kind in order
    ]
    assert planned.out.count("first, since the list is full") == 2
    assert len(discord.listing.listed()) == 12


def test_the_limit_on_deletes_counts_sub_commands(home: Home, discord: DiscordServer) -> None:
    subs = [{"type": 1, "name": f"sub-{n}", "description": "It."} for n in range(8)]
    group = {"name": "queue", "description": "The queue.", "options": subs}
    discord.listing.seed(group)
    manifest(home, discord, entry({**group, "options": subs[:2]}))

    ran = home.run("apply", "--yes", exits=5)

    assert "would delete 6 of 8 listed application commands" in ran.out
    assert "each sub-command counts" in ran.out
    assert discord.listing.writes() == []


@pytest.mark.parametrize(
    ("variables", "code", "message"),
    [
        ({"COMMANDSYNC_TOKEN_DISCORD": "one-token", "DISCORD_TOKEN": "another"}, 2, "and differ"),
        ({"DISCORD_TOKEN": LISTING_TOKEN}, 2, "contains the token of a listing service"),
        ({}, 2, "hint: set DISCORD_TOKEN"),
    ],
    ids=["two", "of a page", "none"],
)
def test_the_token_is_that_of_discord_alone(
    home: Home, variables: dict[str, str], code: int, message: str
) -> None:
    for name, token in variables.items():
        home.variable(name, token)
    home.write("version: 1\nlistings: [{service: discord}]\ncommands: []\n")

    ran = home.run("apply", "--yes", exits=code)

    assert message in ran.err
    assert not any(token in ran.said for token in variables.values())
