import re

from commandsync.manifest.dump import starter
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.texts import Resource
from tests.unit.manifest.conftest import Load


def test_the_starter_is_valid_by_itself(load: Load) -> None:
    manifest = load(starter())

    assert manifest.warnings == ()
    assert manifest.rules == SyncRules()
    assert [e.text[2:] for e in manifest.snapshot.collections[Resource.COMMAND]] == [
        ("/help [command]", "General"),
        ("/ping", "Tools"),
    ]


def test_the_starter_names_its_schema_for_editors() -> None:
    assert starter("x.json").startswith("# yaml-language-server: $schema=x.json\n")


def test_what_the_starter_suggests_in_comments_is_valid_too(load: Load) -> None:
    suggested = re.sub(
        r"^( *)# (?=bot:|base_url:|max_deletes:|formerly:|announcements:|  )",
        r"\1",
        starter(),
        flags=re.MULTILINE,
    )
    manifest = load(suggested)

    assert manifest.bot == "779641401482805289"
    assert manifest.base_url == "https://listing.example"
    assert manifest.rules.max_deletes == DeleteLimit(percent=10)
    assert manifest.snapshot.scope == (Resource.COMMAND, Resource.ANNOUNCEMENT)


def test_a_starter_says_which_listing_as_far_as_that_is_known(load: Load) -> None:
    known = load(starter(bot="0779", base_url="https://listing.example"))
    half = load(starter(bot="1e3"))

    assert (known.bot, known.base_url) == ("0779", "https://listing.example")
    assert (half.bot, half.base_url) == ("1e3", "")
    assert "# base_url: https://listing.example" in starter(bot="1")
