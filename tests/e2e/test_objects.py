"""What an import keeps of Discord's objects goes to a list that takes them, and into mentions."""

import json
from typing import Any

import pytest

import commandsync
from tests.support.destination import Destination, destination
from tests.support.home import Home, Ran, checked, git_repo

WHO = {"type": 6, "name": "member", "description": "Who", "required": True}
SET = {"type": 1, "name": "set", "description": "Sets it."}
BAN = {
    "type": 1,
    "name": "ban",
    "description": "Bans.",
    "description_localizations": {"de": "Verbannt."},
    "default_member_permissions": "4",
    "options": [WHO],
}
CONFIG = {"type": 1, "name": "config", "description": "Settings.", "options": [SET]}
MENU = {"type": 3, "name": "Report Message", "description": ""}
IDS = ({"id": "11", "version": "9"}, {"id": "12", "application_id": "7"}, {"id": "13"})
OBJECTS = "commands.imported.yaml"


def imported(home: Home, *objects: dict[str, Any]) -> Ran:
    registered = [each | own for each, own in zip(objects, IDS, strict=False)]
    home.write(json.dumps(registered), "bot.json")
    return home.run("import", "bot.json", exits=0)


def pending(place: Destination, *since: str) -> tuple[int, list[str]]:
    """Return the exit code of a plan, and its warnings."""
    ran = place.home.run("plan", "--detailed-exitcode", "--format", "json", *since)
    return ran.code, [each["message"] for each in checked(ran, "plan")["warnings"]]


@pytest.mark.promise("platform-objects")
@pytest.mark.parametrize("earlier", ["HEAD", "sent.yaml"])
def test_a_list_gets_what_the_platform_has_and_each_change_of_it(home: Home, earlier: str) -> None:
    since = ("--since", earlier)
    with destination(home, "top.gg") as place:
        place.write(more="    lossy: [category, description]\n")
        imported(home, BAN, CONFIG, MENU)
        assert place.apply("--unseen").code == 0
        assert place.listing.commands == [BAN, CONFIG, MENU]

        sent = {"yaml": home.read("commands.yaml"), "imported.yaml": home.read(OBJECTS)}
        git_repo(home.path).commit({f"commands.{end}": text for end, text in sent.items()})
        for end, text in sent.items():
            home.write(text, f"sent.{end}")
        assert pending(place, *since) == (0, [])

        other = BAN | {"options": [WHO | {"description": "Whom"}]}
        imported(home, other, CONFIG, MENU)
        code, (changed,) = pending(place, *since)
        assert code == 3
        assert place.apply(*since).code == 0
        assert place.listing.commands == [other, CONFIG, MENU]

        own = "commands: [{name: ban, description: Bans them.}]"
        home.write(home.read("commands.yaml").replace("commands: []", own))
        code, (lost,) = pending(place, *since)
        assert code == 3
        options = (
            "the options, permissions or languages of 1 command changed (ban: member description)"
        )
        shown = "the translations of 1 command are not shown: the manifest has another text (ban)"
        assert (changed, lost) == (f"top.gg: {options}", f"top.gg: {shown}")
        assert place.apply(*since).code == 0
        texts = {key: text for key, text in other.items() if key != "description_localizations"}
        assert place.listing.commands == [texts | {"description": "Bans them."}, CONFIG, MENU]


def test_nothing_is_sent_of_objects_that_are_broken_or_contain_the_token(home: Home) -> None:
    with destination(home, "top.gg") as place:
        place.write()
        imported(home, BAN)
        sound = home.read(OBJECTS)
        home.write(sound.replace("Who", f'"{place.listing.token}"'), OBJECTS)
        exposing = place.apply("--unseen", form="text")
        home.write("{", OBJECTS)
        broken = place.apply("--unseen", form="text")

        assert (exposing.code, broken.code) == (5, 4)
        assert "contains a token" in exposing.err
        assert f"{OBJECTS}:1:1: error: " in broken.err
        assert place.listing.token not in exposing.said
        assert place.listing.requests == []


def test_commands_are_mentioned_where_their_ids_are_known(home: Home) -> None:
    home.write("version: 1\ncommands: []\n")
    imported(home, BAN, CONFIG, MENU)
    marks = "<!-- commandsync:commands columns=mention,name format=list -->"
    home.write(f"{marks}\n<!-- /commandsync:commands -->\n", "LIST.md")
    assert home.run("docs", "LIST.md").code == 0
    news = "Try {mention:config set}, {mention:/ban}."
    announced = home.run("announce", "--title", "News", "--text", news, exits=0)
    loaded = commandsync.load(home.path / "commands.yaml")

    mentions = {each.name: each.mention for group in loaded.values() for each in group}
    assert mentions == {"ban": "</ban:11>", "config set": "</config set:12>", "Report Message": ""}
    assert "- </config set:12>: `config set`\n" in home.read("LIST.md")
    assert "- `Report Message`\n" in home.read("LIST.md")
    assert "Try </config set:12>, </ban:11>." in announced.out

    ran = home.run("announce", "--title", "News", "--text", "Try {mention:nothing}.", exits=2)
    assert "'nothing'" in ran.err


def test_choices_are_listed_with_their_option_and_a_change_names_the_option(home: Home) -> None:
    choices = [{"name": name, "value": name} for name in ("Americas", "Asia")]
    region = {"type": 3, "name": "region", "description": "Where you play.", "choices": choices}
    play = {
        "type": 1,
        "name": "play",
        "description": "Plays.",
        "id": "13",
        "options": [WHO, region],
    }
    home.write("version: 1\ncommands: []\n")
    imported(home, play)
    old, objects = home.read("commands.yaml"), home.read(OBJECTS)
    marks = "<!-- commandsync:commands columns=name,options format=list -->"
    home.write(f"{marks}\n<!-- /commandsync:commands -->\n", "LIST.md")
    assert home.run("docs", "LIST.md").code == 0
    home.write(old, "old.yaml")
    home.write(objects, "old.imported.yaml")
    renamed = play | {"options": [WHO, region | {"name": "continent"}]}
    imported(home, renamed)
    changed = home.run("changes", "--since", "old.yaml", exits=0)

    (command,) = commandsync.load(home.path / "commands.yaml")[""]
    assert "[continent]" in command.syntax
    assert "continent: Where you play. (Americas, Asia)" in command.options
    who = f"{WHO['name']}: {WHO['description']}"
    told = f"{who}; region: Where you play. (Americas, Asia)"
    assert told in home.read("LIST.md").replace("\\", "")
    assert "continent" in changed.out
