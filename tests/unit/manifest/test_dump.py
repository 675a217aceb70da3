import re
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import FileError
from commandsync.manifest import load_manifests
from commandsync.manifest.dump import Shared, dump_manifest, fields_of, shared_of, starter
from commandsync.manifest.reader import DiscordListing
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text, canonical
from commandsync.services.discordobjects import text_of
from tests.support.discordobjects import OBJECTS
from tests.unit.manifest.conftest import Load

NOTED = (
    "version: 1\nprefix: /\ncommands:\n  - name: a\n    description: b\n    syntax: '{prefix}c'\n"
)


def listed(*entries: Entry) -> Snapshot:
    return Snapshot(MappingProxyType({Resource.COMMAND: entries}))


def dumped(*texts: CommandText) -> str:
    entries = [Entry(text, id=f"id{number}") for number, text in enumerate(texts)]
    return dump_manifest(listed(*entries), bot="", base_url="").text


def loaded(text: str) -> list[Text]:
    (manifest,) = load_manifests(["-"], stdin=text.encode)
    return [entry.text for entry in manifest.snapshot.collections[Resource.COMMAND]]


PIECES = st.sampled_from(
    [
        *"aZ9é語ع: #-\n\t\\\"'{}[]&*!|>%@`~,?=<.",
        *[
            "{prefix}",
            "{{prefix}}",
            "\r",
            "\n\n",
            " \n",
            "\n ",
            ": ",
            " #",
            "yes",
            "1e3",
            "😀\ufe0f",
        ],
        *["\x00", "\x1b", "\x7f", "\x85", "\xa0", "\u2028", "\u202e", "\ufeff", "\uffff"],
    ]
)
WORDS = st.one_of(
    st.lists(PIECES, min_size=1, max_size=12).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
).map(canonical)
TEXTS = st.builds(CommandText, *[WORDS.filter(bool)] * 3, WORDS)


PREFIXED = st.builds(
    lambda name, prefix, rest, category: CommandText(name, "x", f"{prefix}{name}{rest}", category),
    *(st.sampled_from("ab"), st.sampled_from(["/", "/", "/", "m!", "{", "::", "##[x]"])),
    *(
        st.sampled_from(["", "}", "{prefix}", " {{prefix}}", "\n/"]),
        st.sampled_from(["", "C", "C"]),
    ),
)


@given(st.lists(TEXTS | PREFIXED, unique=True, max_size=8))
@example([])
def test_what_is_dumped_loads_to_the_same_texts_in_the_same_order(texts: list[CommandText]) -> None:
    assert loaded(dumped(*texts)) == texts


@given(WORDS.filter(bool), WORDS.filter(bool))
def test_announcements_survive_too_even_twice(title: str, description: str) -> None:
    text = AnnouncementText(title, description)
    snapshot = Snapshot(MappingProxyType({Resource.ANNOUNCEMENT: (Entry(text), Entry(text))}))
    dump = dump_manifest(snapshot, bot="1", base_url="https://listing.example")
    (manifest,) = load_manifests(["-"], stdin=dump.text.encode)

    assert manifest.snapshot.scope == (Resource.ANNOUNCEMENT,)
    assert [e.text for e in manifest.snapshot.collections[Resource.ANNOUNCEMENT]] == [text, text]
    assert dump.warnings == ()


def test_a_dump_reads_as_people_write() -> None:
    first = CommandText("help", "Shows the menu.\n\n- and more: all", "{prefix}help [x]", "General")
    second = CommandText("off", 'Says "no".', "[p]off", "")
    third = CommandText("8ball", "It's Usage: \\o/ \t", "a\u202eb", "C#")

    dump = dump_manifest(
        listed(Entry(first, id="a1"), Entry(second, id=".."), Entry(third)),
        bot="007",
        base_url="https://listing.example",
        pin=True,
        header=["yaml-language-server: $schema=x", "", "two\nlines"],
    )

    assert dump.text == (
        "# yaml-language-server: $schema=x\n"
        "#\n"
        "# two lines\n"
        "version: 1\n"
        'bot: "007"\n'
        "base_url: https://listing.example\n"
        "commands:\n"
        "  - name: help\n"
        "    description: |-\n"
        "      Shows the menu.\n"
        "\n"
        "      - and more: all\n"
        '    syntax: "{{prefix}}help [x]"\n'
        "    category: General\n"
        '    id: "a1"\n'
        '  - name: "off"\n'
        '    description: Says "no".\n'
        '    syntax: "[p]off"\n'
        '  - name: "8ball"\n'
        '    description: "It\'s Usage: \\\\o/ \\t"\n'
        '    syntax: "a\\u202Eb"\n'
        "    category: C#\n"
    )


@pytest.mark.parametrize(
    ("syntax", "written"),
    [
        ("help", "help"),
        ("a: b", '"a: b"'),
        ("a:", '"a:"'),
        ("a #b", '"a #b"'),
        ("a:b#c", "a:b#c"),
        ("yes", '"yes"'),
        ("NULL", '"NULL"'),
        ("247", '"247"'),
        (".247", '".247"'),
        ("`x`", '"`x`"'),
        ('"x"', "'\"x\"'"),
        ("\\", "'\\'"),
        ("'\\'", "\"'\\\\'\""),
        ("\\\tb", '"\\\\\\tb"'),
        ("\\\x1b", '"\\\\\\u001B"'),
        ("日本語", "日本語"),
        ("a\r\x00b", '"a\\r\\u0000b"'),
    ],
)
def test_a_text_is_quoted_only_where_yaml_would_misread_it(syntax: str, written: str) -> None:
    text = dumped(CommandText("x", "y", syntax))

    assert f"    syntax: {written}\n" in text
    assert loaded(text) == [CommandText("x", "y", syntax)]


def test_an_equal_command_is_kept_once_and_reported() -> None:
    text = CommandText("a\nb", "y", "z")
    dump = dump_manifest(listed(Entry(text, id="1"), Entry(text, id="2")), bot="", base_url="")

    assert loaded(dump.text) == [text]
    (warning,) = dump.warnings
    assert f"  # {warning.partition(', and ')[0]}\n" in dump.text
    assert str(warning) == (
        'the command "a\\nb" (id "2") is listed once more, equal in all fields, and a manifest '
        "can contain it only once"
    )


def test_what_is_listed_without_a_needed_text_is_written_and_reported() -> None:
    dump = dump_manifest(listed(Entry(CommandText("a", "", ""))), bot="", base_url="")

    assert dump.text.endswith(
        '  # needs description and syntax\n  - name: a\n    description: ""\n    syntax: ""\n'
    )
    assert list(map(str, dump.warnings)) == [
        (
            'the command "a" is listed without description and syntax, which a manifest must '
            "have: fill it in"
        ),
    ]


def test_half_a_surrogate_pair_is_a_clear_error() -> None:
    with pytest.raises(FileError, match='"\\\\ud83d" contains half of a surrogate pair'):
        dumped(CommandText("a", "\ud83d", "c"))


@pytest.mark.parametrize("hostile", ["::set-output name=a::b", "  ::stop::x", "##[add-mask]x"])
@pytest.mark.parametrize("around", ["{}", "one\n{}\ntwo", "say {}"])
def test_no_line_of_a_dump_is_a_command_to_a_ci_runner(hostile: str, around: str) -> None:
    text = CommandText("a", around.format(hostile).strip(), around.format(hostile).strip(), "c")

    lines = dumped(text).splitlines()

    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line]
    assert loaded("\n".join(lines)) == [text]


def test_uses_that_are_noted_in_a_dump_are_read_back(load: Load) -> None:
    uses = [0, 1840, None]
    entries = [
        Entry(CommandText(f"c{n}", "x", "y"), id=f"i{n}", uses=count)
        for n, count in enumerate(uses)
    ]
    dump = dump_manifest(listed(*entries), bot="", base_url="", pin=True, uses=True)

    assert '    id: "i1" # uses: 1840\n' in dump.text
    assert '    id: "i2"\n' in dump.text
    assert [entry.uses for entry in load(dump.text).snapshot.collections[Resource.COMMAND]] == uses


@pytest.mark.parametrize(
    "line", ["", "    id: x\n    # uses: 7", "    id: x # uses: many", "    id: x # uses: 7 or 8"]
)
def test_other_comments_note_nothing(load: Load, line: str) -> None:
    (entry,) = load(NOTED + line).snapshot.collections[Resource.COMMAND]

    assert entry.uses is None


def test_the_starter_is_valid_by_itself(load: Load) -> None:
    manifest = load(starter("x.json"))

    assert starter("x.json").startswith("# yaml-language-server: $schema=x.json\n")
    assert manifest.warnings == ()
    assert manifest.rules == SyncRules()
    assert [e.text[2:] for e in manifest.snapshot.collections[Resource.COMMAND]] == [
        ("/help [command]", "General"),
        ("/ping", "Tools"),
    ]


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


def listing(texts: list[Text]) -> Snapshot:
    kinds = {kind: [text for text in texts if isinstance(text, kind.text)] for kind in Resource}
    return Snapshot({kind: tuple(map(Entry, members)) for kind, members in kinds.items()})


def commands(*syntaxes: str) -> list[CommandText]:
    return [CommandText(f"c{n}", "x", syntax) for n, syntax in enumerate(syntaxes)]


def categories(*names: str) -> list[CommandText]:
    return [CommandText(f"c{n}", "x", "y", name) for n, name in enumerate(names)]


@pytest.mark.parametrize(
    ("texts", "prefix"),
    [
        (commands("/c0", "/c1"), "/"),
        (commands("/c0 <x>", "/group c1", "c2"), "/"),
        (commands("m!c0", "m!c1", "m!c2", "/c3"), "m!"),
        (commands(".c0"), ""),
        (commands("/c0", "!c1"), ""),
        (commands("/c0", "/c1", "!c2", "!c3"), ""),
        (commands("c0", "c1"), ""),
        (commands("<c0>", "<c1>", "[c2]"), ""),
        (commands("play c0", "play c1"), ""),
        (commands("a {x}c0", "a {x}c1"), ""),
        ([CommandText("/a", "x", "/a"), CommandText("/b", "x", "/b <y>")], "/"),
        ([], ""),
        ([AnnouncementText("/a", "x"), AnnouncementText("/b", "x")], ""),
    ],
)
def test_the_prefix_of_most_commands_is_shared(texts: list[Text], prefix: str) -> None:
    assert shared_of(listing(texts)).prefix == prefix


@pytest.mark.parametrize(
    ("texts", "category"),
    [
        (categories("Fun", "Fun", "Fun", "Tools", "Tools"), "Fun"),
        (categories("Fun", "Fun"), ""),
        (categories(*["Fun"] * 5, *["Art"] * 5), "Fun"),
        (categories("Fun", "Fun", "Fun", "Fun", ""), "Fun"),
        (categories("Fun", "Fun", "Fun", ""), ""),
        (categories("x" * 101, "x" * 101, "x" * 101), ""),
    ],
)
def test_the_default_category_needs_fewer_lines(texts: list[Text], category: str) -> None:
    assert shared_of(listing(texts)).category == category


def test_an_entry_says_what_is_not_shared() -> None:
    shared = Shared("/", "Fun")

    assert fields_of(CommandText("a", "b", "/a {prefix}", "Fun"), shared, Resource.COMMAND) == {
        "name": "a",
        "description": "b",
        "syntax": "{prefix}a {{prefix}}",
    }
    assert fields_of(CommandText("a", "b", "!a"), shared, Resource.COMMAND)["syntax"] == "!a"
    assert fields_of(CommandText("a", "b", "!a"), shared, Resource.COMMAND)["category"] == ""
    assert "category" not in fields_of(CommandText("a", "b", "!a"), Shared(), Resource.COMMAND)
    assert fields_of(AnnouncementText("t", "d"), shared, Resource.ANNOUNCEMENT) == {
        "title": "t",
        "description": "d",
    }


@given(node=OBJECTS.filter(lambda node: node.get("type", 1) in {1, 2, 3}), pin=st.booleans())
def test_registered_commands_survive_with_their_objects_and_ids(
    node: dict[str, Any], *, pin: bool
) -> None:
    text = text_of(node)
    snapshot = Snapshot({Resource.APPLICATION_COMMAND: (Entry(text, id="71"),)})
    discord = DiscordListing(guild="61", base_url="http://127.0.0.1:80", location=Location("x"))
    dump = dump_manifest(snapshot, bot="5", base_url="", pin=pin, discord=discord)
    (manifest,) = load_manifests(["-"], stdin=dump.text.encode)

    assert manifest.discord == replace(discord, bot="5", location=Location("-", 4, 5))
    (command,) = manifest.registrables
    assert command.discord
    assert (text_of(command.discord), command.id) == (text, "71" if pin else "")


def test_a_registered_command_is_an_entry_for_readers() -> None:
    song = {"type": 3, "name": "song", "description": "The song to play, or its address."}
    names = [f"{number} times" for number in range(8)]
    choices = [{"name": name, "value": number} for number, name in enumerate(names)]
    times = {"choices": choices, "type": 4, "name": "times", "description": "How often"}
    options = [song, times, {"type": 1, "name": "no", "description": "", "options": []}]
    play = {"type": 1, "name": "play", "description": "Plays.", "options": options, "nsfw": True}
    menu = {"type": 2, "name": "User {prefix}"}
    entries = tuple(Entry(text_of(node), id="7") for node in (play, menu))
    snapshot = Snapshot({Resource.APPLICATION_COMMAND: entries})

    assert dump_manifest(snapshot, bot="", base_url="").text == (
        "version: 1\n"
        "commands:\n"
        "  - name: play\n"
        "    description: Plays.\n"
        '    syntax: "/play"\n'
        "    discord:\n"
        "      type: 1\n"
        "      name: play\n"
        "      description: Plays.\n"
        "      nsfw: true\n"
        "      options:\n"
        '        - {type: 3, name: song, description: "The song to play, or its address."}\n'
        "        - type: 4\n"
        "          name: times\n"
        "          description: How often\n"
        "          choices:\n"
        '            - {name: "0 times", value: 0}\n'
        '            - {name: "1 times", value: 1}\n'
        '            - {name: "2 times", value: 2}\n'
        '            - {name: "3 times", value: 3}\n'
        '            - {name: "4 times", value: 4}\n'
        '            - {name: "5 times", value: 5}\n'
        '            - {name: "6 times", value: 6}\n'
        '            - {name: "7 times", value: 7}\n'
        '        - {type: 1, name: "no"}\n'
        "  - name: User {prefix}\n"
        "    description: In the menu of a user, under Apps.\n"
        "    syntax: User {{prefix}}\n"
        '    discord: {type: 2, name: "User {prefix}"}\n'
    )
    empty = Snapshot({Resource.APPLICATION_COMMAND: ()})
    assert dump_manifest(empty, bot="", base_url="").text == "version: 1\ncommands: []\n"


def test_half_of_a_surrogate_pair_in_an_object_cannot_be_written() -> None:
    node = {"name": "play", "options": [{"type": 3, "name": "a", "description": "\ud83d"}]}
    snapshot = Snapshot({Resource.APPLICATION_COMMAND: (Entry(text_of(node)),)})

    with pytest.raises(FileError, match='"play" contains half of a surrogate pair'):
        dump_manifest(snapshot, bot="", base_url="")
