"""What a valid manifest says: text stays text, and every place is known."""

import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

import commandsync
from commandsync import ManifestError, UsageError
from commandsync.diagnostics import Location
from commandsync.manifest import load_manifests
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from tests.unit.manifest.conftest import Load

WarningsOf = Callable[[str], list[str]]

WHOLE = """\
version: 1
bot: "0779"
base_url: https://Listing.example/v1/
token_env: COMMANDSYNC_TOKEN_MYBOT
prefix: "owo "
defaults: {category: General}
sync:
  prune: false
  ignore: ["beta-*"]
  max_deletes: 12.5%
  announcements: mirror
commands:
  - name: help
    description: |
      Shows  \r
      the menu.
    syntax: "{prefix}help {{prefix}} {0}"
    formerly: [h, " hlp "]
    id: 64f0c2
  - {name: a, description: b, syntax: c, category: "", formerly: x}
  - &again {name: 😀, description: b, syntax: c, category: Fun}
announcements:
  - title: v2.0
    description: Now.
"""
HEAD = "version: 1\ncommands:\n"
MANIFEST = """\
version: 1
prefix: "!"
defaults: {category: General}
include: [more/*.yaml]
commands:
  - {name: help, description: Shows the help., syntax: "{prefix}help [command]"}
  - {name: facts, description: Says a fact., syntax: /facts, category: Fun}
  - {name: ping, description: Says pong., syntax: /ping, category: ""}
  - {name: about, description: Shows who made it., syntax: /about}
"""

INCLUDED = """\
commands:
  - {name: joke, description: Says a joke., syntax: /joke, category: Fun}
"""


def test_a_whole_manifest_is_read_with_its_places(load: Load) -> None:
    manifest = load(WHOLE)

    assert manifest.snapshot.collections == {
        Resource.COMMAND: (
            Entry(
                CommandText("help", "Shows  \nthe menu.", "owo help {prefix} {0}", "General"),
                id="64f0c2",
                location=Location("-", 13, 5),
                formerly=("h", "hlp"),
            ),
            Entry(CommandText("a", "b", "c"), location=Location("-", 20, 5), formerly=("x",)),
            Entry(CommandText("😀", "b", "c", "Fun"), location=Location("-", 21, 5)),
        ),
        Resource.ANNOUNCEMENT: (
            Entry(AnnouncementText("v2.0", "Now."), location=Location("-", 23, 5)),
        ),
    }
    assert manifest.rules == SyncRules(
        prune=False,
        ignore=("beta-*",),
        max_deletes=DeleteLimit(percent=12.5),
        announcements="mirror",
    )
    assert (manifest.path, manifest.paths) == ("-", ("-",))
    assert (manifest.bot, manifest.base_url) == ("0779", "https://listing.example")
    assert manifest.token_env == "COMMANDSYNC_TOKEN_MYBOT"
    assert manifest.prefix == "owo "


def test_what_is_left_out_is_not_managed(load: Load) -> None:
    manifest = load("version: 1\nannouncements: []\n")

    assert manifest.snapshot.collections == {Resource.ANNOUNCEMENT: ()}
    assert manifest.rules == SyncRules()
    assert (manifest.bot, manifest.base_url, manifest.token_env) == ("", "", "")
    assert manifest.prefix is None
    assert manifest.warnings == ()


@pytest.mark.parametrize(
    "text",
    ["off", "yes", "247", ".247", "0779", "1e3", "~", "null", "0x10", "2001-01-01", "1:30", "\\"],
)
def test_text_is_text(load: Load, text: str) -> None:
    manifest = load(
        f"version: 1\nprefix: {text}\ncommands:\n"
        f"- {{name: {text}, description: {text}, syntax: {text}}}"
    )
    (entry,) = manifest.snapshot.collections[Resource.COMMAND]

    assert entry.text == (text, text, text, "")
    assert manifest.prefix == text


def test_anchors_and_aliases_may_share_what_is_said_twice(load: Load) -> None:
    manifest = load(
        "version: 1\nannouncements: &none []\nsync: {ignore: *none, prune: &f false}\ncommands:\n"
        "- &a {name: a, description: &d d, syntax: s}\n- {name: b, description: *d, syntax: s}\n"
        "- {name: c, description: *d, syntax: s, formerly: &old [x]}\n"
        "- {name: e, description: *d, syntax: s, formerly: *old}\n"
    )
    commands = manifest.snapshot.collections[Resource.COMMAND]

    assert [entry.text[:2] for entry in commands] == [
        ("a", "d"),
        ("b", "d"),
        ("c", "d"),
        ("e", "d"),
    ]
    assert manifest.rules == SyncRules(prune=False)
    assert manifest.snapshot.collections[Resource.ANNOUNCEMENT] == ()


def test_warnings_end_at_what_anybody_reads(warnings_of: WarningsOf) -> None:
    lines = [f"- {{name: a{n}, description: …, syntax: c}}\n" for n in range(1100)]

    assert len(warnings_of(HEAD + "".join(lines))) == 1000


def test_the_rules_of_an_import_are_read(load: Load) -> None:
    manifest = load(
        "version: 1\ndefaults: {category: General}\ncommands: []\nimport:\n"
        "  from: [bot/, discord]\n  exclude: debug*\n  categories: {MusicCog: Music}\n"
        "  traits: nsfw\n  columns: {syntax: usage}\n  locale: de\n"
    )

    assert manifest.category == "General"
    assert asdict(manifest.imports) == {
        "sources": ("bot/", "discord"),
        "exclude": ("debug*",),
        "categories": {"MusicCog": "Music"},
        "traits": ("nsfw",),
        "columns": {"syntax": "usage"},
        "order": (),
        "locale": "de",
        "texts": "",
        "form": None,
        "program": "",
        "unread": (),
    }


def test_a_manifest_is_loaded_as_it_would_be_after_an_edit(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    path.write_bytes(b"version: 1\r\ncommands: []\r\n")
    read: dict[str, bytes] = {}
    load_manifests([str(path)], stdin=bytes, contents=read)
    edited = {path.as_posix(): b"version: 1\nbot: '42'\ncommands: []\n"}
    (manifest,) = load_manifests([str(path)], stdin=bytes, contents=edited)

    assert read == {path.as_posix(): b"version: 1\r\ncommands: []\r\n"}
    assert manifest.bot == "42"


def test_commands_come_by_category_with_the_prefix_and_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    (tmp_path / "more").mkdir()
    path.write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "more" / "fun.yaml").write_text(INCLUDED, encoding="utf-8")

    loaded = commandsync.load(path)

    assert loaded == commandsync.load(str(tmp_path))
    assert list(loaded) == ["", "General", "Fun"]
    assert loaded["General"][0] == CommandText(
        "help", "Shows the help.", "!help [command]", "General"
    )
    assert [command.name for command in loaded["Fun"]] == ["facts", "joke"]
    assert [command.syntax for command in loaded[""]] == ["/ping"]


def test_a_manifest_without_commands_has_none(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    path.write_text("version: 1\nannouncements: []\n", encoding="utf-8")

    assert commandsync.load(path) == {}


def test_the_traceback_of_an_invalid_manifest_has_the_places(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    entries = "".join(f"  - {{name: c{number}}}\n" for number in range(30))
    path.write_text(f"version: 1\ncommands:\n{entries}", encoding="utf-8")

    with pytest.raises(ManifestError) as caught:
        commandsync.load(path)

    shown = "".join(traceback.format_exception(caught.value))
    assert f"\n{path.as_posix()}:3:5: a command needs a description\n" in shown
    assert shown.count(path.as_posix()) == 20
    assert len(caught.value.problems) == 60


def test_a_folder_of_several_manifests_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        text = f"version: 1\nbot: '{len(name)}'\ncommands: []\n# {name}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="contains 2 manifests"):
        commandsync.load(tmp_path)
