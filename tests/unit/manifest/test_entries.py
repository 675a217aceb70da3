"""What Discord gets of a manifest: more than public lists show, and each with its place."""

from pathlib import Path
from typing import Any

import pytest

from commandsync.diagnostics import Location
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest, load_manifests
from commandsync.manifest.reader import DiscordListing
from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import (
    ImportedCommand,
    ImportedFile,
    ImportedPlace,
    Registrable,
    Standing,
)
from commandsync.records.texts import CommandText

HEAD = """\
version: 1
prefix: "!"
listings: [{service: discord}]
import: {from: src, order: [three], exclude: ["debug*", secret], unread: [known.js, acknowledged]}
sync: {ignore: ["beta-*"]}
"""


def object_of(name: str, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"name": name, "description": "D", "type": 1, **keys}


def command(name: str, **keys: Any) -> ImportedCommand:  # noqa: ANN401 - of any field
    values = {"description": "D", "syntax": f"/{name}", "source": "src/a.js"} | keys
    return ImportedCommand(name=name, **values)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(
    entries: str, *imported: ImportedCommand, unread: tuple[ImportedPlace, ...] = ()
) -> Manifest:
    Path("commands.yaml").write_text(f"{HEAD}{entries}", encoding="utf-8")
    text = imported_text(ImportedFile(imported, unread))
    Path("commands.imported.yaml").write_text(text, encoding="utf-8")
    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes)
    return manifest


def registered(manifest: Manifest) -> dict[str, Registrable]:
    found = {each.name: each for each in manifest.registrables}
    assert len(found) == len(manifest.registrables)
    return found


@pytest.mark.parametrize(
    ("reason", "standing"),
    [
        ("owner-only", Standing.REGISTERED),
        ("hidden", Standing.REGISTERED),
        ("admin-only and nsfw", Standing.REGISTERED),
        ("disabled", Standing.UNTOUCHED),
        ("guild-only", Standing.UNTOUCHED),
        ("owner-only and guild-only", Standing.UNTOUCHED),
        ("excluded by 'secret'", Standing.UNTOUCHED),
        ("not registered by the recorded program", Standing.UNTOUCHED),
    ],
)
def test_a_command_on_no_public_list_is_registered_or_left_alone(
    reason: str, standing: Standing
) -> None:
    manifest = load("", command("eval", left_out=reason, discord=object_of("eval")))

    (found,) = manifest.registrables
    assert (found.standing, found.reason) == (standing, reason)
    assert found.discord == object_of("eval")
    assert (found.source, found.location) == ("src/a.js", Location("commands.imported.yaml", 4, 5))
    assert manifest.snapshot.commands == ()


def test_a_prefix_command_on_no_public_list_is_not_registered() -> None:
    manifest = load("", command("eval", left_out="owner-only", syntax="{prefix}eval"))

    assert manifest.registrables == ()


def test_texts_and_a_pin_of_an_entry_are_laid_over_the_imported_object() -> None:
    own = object_of("ping", id="7", options=[{"type": 3, "name": "a", "description": "b"}])
    entry = "commands: [{name: ping, description: Quick., formerly: pong, discord: {id: 99}}]\n"
    ping = registered(load(entry, command("ping", discord=own)))["ping"]

    assert (ping.description, ping.id, ping.formerly) == ("Quick.", "99", ("pong",))
    assert ping.discord == {key: value for key, value in own.items() if key != "id"}
    assert ping.location == Location("commands.yaml", 6, 12)
    assert ping.places["options/0/name"].path == "commands.imported.yaml"


def test_the_id_in_an_imported_object_is_not_a_pin() -> None:
    ping = registered(load("", command("ping", discord=object_of("ping", id="7"))))["ping"]

    assert (ping.id, ping.discord) == ("", object_of("ping"))
    assert [ping.places.get(path) for path in ("options", "name/x", "x")] == [None] * 3
    assert len(ping.places) == 5


def test_the_object_of_an_entry_replaces_the_imported_one() -> None:
    entry = "commands: [{name: ping, discord: {name: ping, nsfw: true}}]\n"
    ping = registered(load(entry, command("ping", discord=object_of("ping"))))["ping"]

    assert ping.discord == {"name": "ping", "nsfw": True}
    assert ping.places["nsfw"] == Location("commands.yaml", 6, 53)


def test_an_entry_that_makes_a_command_public_has_the_imported_object() -> None:
    entry = "commands: [{name: eval, description: Runs., syntax: /eval}]\n"
    manifest = load(entry, command("eval", left_out="owner-only", discord=object_of("eval")))

    (found,) = manifest.registrables
    assert (found.discord, found.reason) == (object_of("eval"), "")
    assert found.standing is Standing.REGISTERED
    assert manifest.snapshot.commands == (CommandText("eval", "Runs.", "/eval"),)


def test_an_entry_of_its_own_does_not_have_the_imported_object() -> None:
    entry = "commands: [{name: eval, description: Runs., syntax: /eval, own: true}]\n"
    (found,) = load(
        entry, command("eval", left_out="owner-only", discord=object_of("eval"))
    ).registrables

    assert found.discord is None


def test_a_menu_of_the_same_name_is_another_command() -> None:
    menu = object_of("eval", type=3)
    entry = "commands: [{name: eval, description: Runs., syntax: /eval, discord: {name: eval}}]\n"
    manifest = load(entry, command("eval", syntax="eval", left_out="owner-only", discord=menu))

    assert [each.discord for each in manifest.registrables] == [menu, {"name": "eval"}]


def test_commands_are_in_the_order_of_the_code_whatever_public_lists_show_first() -> None:
    manifest = load(
        "commands: [{name: own, description: D, syntax: /own}, {name: three, category: C}]\n",
        command("one", left_out="owner-only"),
        command("two"),
        command("three"),
    )

    assert [each.name for each in manifest.registrables] == ["one", "two", "three", "own"]


def test_names_that_are_ignored_or_excluded_are_untouched_unless_an_entry_has_them() -> None:
    entry = "commands: [{name: debug log, description: Logs., syntax: /debug log}]\n"
    manifest = load(entry)

    names = ["beta-1", "debug", "debug log", "secret", "other"]
    assert [manifest.is_untouched(name) for name in names] == [True, True, False, True, False]


def test_places_that_are_not_read_count_until_the_manifest_acknowledges_them() -> None:
    places = (
        ImportedPlace("src/known.js", "computed"),
        ImportedPlace("src/other.js", "computed"),
        ImportedPlace("src/third.js", "computed", "acknowledged"),
        ImportedPlace("src/third.js", "computed", "another"),
    )

    assert load("", unread=places).unread == (places[1], places[3])


GROUP = """\
commands:
- name: queue
  description: The queue.
  syntax: /queue
  category: Music
  formerly: q
  discord:
    name: queue
    options:
    - {type: 1, name: add, description: Adds.}
    - {type: 1, name: show, description: Shows.}
    - {type: 2, name: config, description: C, options: [{type: 1, name: set, description: Sets.}]}
- {name: queue show, description: Shows all., syntax: /queue show}
"""


def test_public_lists_show_the_sub_commands_of_a_group_and_discord_gets_it_once() -> None:
    manifest = load(GROUP)

    assert manifest.snapshot.commands == (
        CommandText("queue add", "Adds.", "/queue add", "Music"),
        CommandText("queue config set", "Sets.", "/queue config set", "Music"),
        CommandText("queue show", "Shows all.", "/queue show"),
    )
    ((add, config, _),) = manifest.snapshot.collections.values()
    assert (add.formerly, config.formerly) == (("q add",), ("q config set",))
    assert [len(manifest.objects[name]) for name in ("queue add", "queue config set")] == [2, 3]
    assert [each.name for each in manifest.registrables] == ["queue", "queue show"]


def test_an_imported_sub_command_is_not_a_group() -> None:
    add = object_of("queue", options=[{"type": 1, "name": "add", "description": "Adds."}])
    manifest = load("", command("queue add", discord=add))

    assert manifest.snapshot.commands == (CommandText("queue add", "D", "/queue add"),)
    assert registered(manifest)["queue add"].discord == add


def listing(text: str) -> DiscordListing | None:
    text = f"version: 1\n{text}commands: []\n"
    (manifest,) = load_manifests(["-"], stdin=text.encode)
    assert manifest.listings == ()
    return manifest.discord


def test_discord_is_a_listing_apart_from_the_lists() -> None:
    keys = "guild: 0613, base_url: 'http://127.0.0.1:8081', token_env: COMMANDSYNC_X, bot: 5"
    found = listing(f"bot: 4\nlistings: [{{service: discord, {keys}, lossy: commands}}]\n")

    assert found == DiscordListing(
        guild="0613",
        base_url="http://127.0.0.1:8081",
        token_env="COMMANDSYNC_X",
        bot="5",
        lossy=("commands",),
        location=Location("-", 3, 12),
    )
    assert found.name == "discord (server 0613)"


def test_the_bot_of_a_manifest_is_that_of_the_listing_unless_it_has_one() -> None:
    found = listing("bot: 4\nlistings: [{service: discord}]\n")

    assert found
    assert (found.bot, found.name) == ("4", "discord")
    assert listing("bot: 4\nlistings: []\n") is None


def test_a_manifest_that_lists_discord_alone_has_no_page() -> None:
    text = b"version: 1\nlistings: [{service: discord}]\ncommands: []\n"
    (manifest,) = load_manifests(["-"], stdin=lambda: text)

    assert not manifest.has_page


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("", "", True),
        ("bot: 5", "bot: 5", True),
        ("bot: 5", "bot: 6", False),
        ("bot: 5, guild: 1", "bot: 5", False),
        ("token_env: COMMANDSYNC_A", "token_env: COMMANDSYNC_B", False),
        ("bot: 5, base_url: 'http://127.0.0.1:8081'", "bot: 5", False),
    ],
)
def test_two_manifests_cannot_have_the_same_commands_at_discord(
    one: str, other: str, *, is_same: bool
) -> None:
    for path, keys in (("one.yaml", one), ("other.yaml", other)):
        listing = f"{{service: discord{', ' if keys else ''}{keys}}}"
        Path(path).write_text(f"version: 1\nlistings: [{listing}]\ncommands: []\n", "utf-8")

    if not is_same:
        assert len(load_manifests(["."], stdin=bytes)) == 2
        return
    with pytest.raises(ManifestError) as caught:
        load_manifests(["."], stdin=bytes)
    (problem,) = caught.value.problems
    assert str(problem).endswith("duplicate listing discord (first at one.yaml:2:12)")
