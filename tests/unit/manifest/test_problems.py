"""Every complaint about a manifest's content stands at its exact place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Complaints = Callable[[str | bytes], list[str]]

HEAD = "version: 1\ncommands:\n"
HELP = "- {name: a, description: b, syntax: c}\n"
EMPTY = 'write "" for none, or the text in quotes if it is meant'
ID = (
    "an id has a digit and no space: copy it from the address of the bot's page, or leave the key "
    "out where the bot's token is set, which holds the id"
)
TAGS = "quote the whole text if it begins with !, else remove the tag"
NONE = "leave the key out, or write [] for none"
URL = "give it as https://listing.example, without /v1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1:1: the file is empty | commandsync init writes a starter"]),
        ("# hello\n", ["1:1: the file is empty | commandsync init writes a starter"]),
        ("---\n", ["1:1: the file is empty | commandsync init writes a starter"]),
        (
            "# hello\n- name: a\n",
            [
                (
                    "1:1: a manifest must have keys at its top level, such as version: and "
                    "commands: | put the list under commands:"
                )
            ],
        ),
        (
            "hello\n",
            ["1:1: a manifest must have keys at its top level, such as version: and commands:"],
        ),
        ("# hello\ncommands: []\n", ["1:1: version is missing | begin the file with version: 1"]),
        ("version: 2\n", ['1:10: version must be the number 1, not "2"']),
        ('version: "1"\n', ['1:10: version must be the number 1, not "1"']),
        ("version: [1]\n", ["1:10: version must be a number, not a list"]),
        (
            "version: 1\n---\nversion: 1\n",
            [
                (
                    "2:1: a second document begins here "
                    "| a manifest is one document: remove the ---, or use a file of its own"
                )
            ],
        ),
    ],
)
def test_a_file_must_be_one_mapping_with_a_version(
    complaints: Complaints, text: str, expected: list[str]
) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "version: 1\ncomands: []\n",
            ['2:1: a manifest has no key "comands" | did you mean commands?'],
        ),
        (
            "version: 1\ncomands:\n- {name: a}\ncommands:\n- {name: b}\ncomand:\n- {name: c}\n",
            [
                '2:1: a manifest has no key "comands" | did you mean commands?',
                "3:3: a command needs a description",
                "3:3: a command needs a syntax",
                "5:3: a command needs a description",
                "5:3: a command needs a syntax",
                '6:1: a manifest has no key "comand" | did you mean commands?',
                "7:3: a command needs a description",
                "7:3: a command needs a syntax",
            ],
        ),
        (
            "version: 1\ncomands:\n- {name: a, syntax: b, usage: c}\n- x\ndefalts: {x: 1}\n",
            [
                '2:1: a manifest has no key "comands" | did you mean commands?',
                "3:3: a command needs a description",
                '3:24: a command has no key "usage" | did you mean syntax?',
                "4:3: a command must be keys and values, not a text",
                '5:1: a manifest has no key "defalts" | did you mean defaults?',
                '5:11: defaults has no key "x" | it may have category',
            ],
        ),
        (
            "version: 1\nsync: {ignore: ['😀é'], bto: 1}\n",
            ['2:24: sync has no key "bto" | it may have prune, ignore, max_deletes, announcements'],
        ),
        (
            HEAD + "- &x {name: a, description: b, syntax: c}\n- <<: *x\n  name: d\n",
            [
                (
                    '4:3: a command has no key "<<" '
                    "| merging is not supported: write the keys out, or use defaults"
                )
            ],
        ),
        (
            HEAD + "- {name: a, description: b, syntax: c, aliases: [h]}\n",
            [
                (
                    '3:40: a command has no key "aliases" '
                    "| names the command had before go under formerly"
                )
            ],
        ),
        (
            HEAD + "- {name: a, description: b, Usage: c}\n",
            [
                "3:3: a command needs a syntax",
                '3:29: a command has no key "Usage" | did you mean syntax?',
            ],
        ),
        (
            "version: 1\nbot: '1'\nbot: '2'\nbot: '3'\n",
            [
                '3:1: the key "bot" stands twice, first in line 2',
                '4:1: the key "bot" stands twice, first in line 2',
            ],
        ),
        ("version: 1\n? [a]\n: b\n", ["2:3: a key must be a text, not a list"]),
        ("version: 1\n{a: b}: c\n", ["2:1: a key must be a text, not a mapping"]),
        (
            HEAD + "- name: a\n- description: b\n  syntax: c\n",
            [
                "3:3: a command needs a description",
                "3:3: a command needs a syntax",
                "4:3: a command needs a name",
            ],
        ),
        (
            "version: 1\nannouncements:\n  - title: x\n",
            ["3:5: an announcement needs a description"],
        ),
        (
            "version: 1\nannouncements: [{description: x}]\n",
            ["2:17: an announcement needs a title"],
        ),
    ],
)
def test_keys_must_be_known_single_and_complete(
    complaints: Complaints, text: str, expected: list[str]
) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            HEAD + "- name: ''\n  description: '  '\n  syntax:\n",
            ["3:9: name is empty", "4:16: description is empty", "5:10: syntax is empty"],
        ),
        (
            HEAD + "- name: a\n  description: #general\n  syntax: &amp\n",
            [
                (
                    "4:15: description is empty "
                    "| quote the text: YAML reads what follows # as a comment"
                ),
                "5:11: syntax is empty | quote the text: YAML reads what follows & as an anchor",
            ],
        ),
        (
            "version: 1\ncommands:\nannouncements: ~\nsync: null\ninclude:\n",
            [
                f"2:10: commands must be a list, not null | {NONE}",
                f"3:16: announcements must be a list, not null | {NONE}",
                (
                    "4:7: sync must be keys and values, not null "
                    "| leave the key out, or write its keys below"
                ),
                f"5:9: include must be a list of texts, not null | {NONE}",
            ],
        ),
        (
            "version: 1\ncommands: {}\n",
            ["2:11: commands must be a list, not a mapping | write [] for none"],
        ),
        (
            "version: 1\ncommands: {a: b}\nannouncements: x\nsync: [a]\ndefaults: 3\n",
            [
                "2:11: commands must be a list, not a mapping | begin each entry with - name:",
                '3:16: announcements must be a list, not "x"',
                "4:7: sync must be keys and values, not a list",
                '5:11: defaults must be keys and values, not "3"',
            ],
        ),
        (
            HEAD + "- help\n-\n- [a]\n" + HELP,
            [
                "3:3: a command must be keys and values, not a text",
                "4:2: a command must be keys and values, not nothing",
                "5:3: a command must be keys and values, not a list",
            ],
        ),
        (
            HEAD + "- name: [p]\n  description: {0}\n  syntax:\n    - a\n    - b\n",
            [
                "3:9: name must be a text, not a list | quote this: YAML reads [p] as a list",
                (
                    "4:16: description must be a text, not a mapping "
                    "| quote this: YAML reads {0} as a mapping"
                ),
                "6:5: syntax must be a text, not a list",
            ],
        ),
        (
            f"version: 1\nbot: [{'x' * 300}]\n",
            ["2:6: bot must be a text, not a list"],
        ),
        (
            "version: 1\nsync: {prune: yes, max_deletes: half, announcements: miror, ignore: {}}\n",
            [
                (
                    '2:15: prune must be true or false, not "yes" '
                    "| write true or false, without quotes"
                ),
                '2:33: max_deletes must be a number, a percentage or all, not "half"',
                "2:54: announcements must be append or mirror | did you mean mirror?",
                "2:69: ignore must be a list of texts, not a mapping",
            ],
        ),
        *(
            (
                HEAD + f"- name: a\n  description: b\n  syntax: c\n  category: {none}\n"
                f"defaults: {{category: {none}}}\n",
                [
                    f"6:{13 if none else 12}: category must be a text, not null | {EMPTY}",
                    f"7:22: category must be a text, not null | {EMPTY}",
                ],
            )
            for none in ("", "~", "null", "Null", "NULL")
        ),
        *(
            (f"version: 1\nbot: {bot}\n", [f"2:6: bot must look like 779641401482805289 | {ID}"])
            for bot in ("Harbor", "off", "'779641401482805289 1'", "~", "\u0663")
        ),
        (
            "version: 1\nsync: {max_deletes: ''}\n",
            [
                (
                    '2:21: max_deletes must be a number, a percentage or all, not "" '
                    "| leave the key out for 30 % and always 3, or write 0 for none"
                )
            ],
        ),
        (
            (
                "version: 1\nsync:\n  prune: 'true'\n  max_deletes: [3]\n  announcements: 3\n"
                "  ignore: ['', [a]]\n"
            ),
            [
                (
                    '3:10: prune must be true or false, not "true" '
                    "| write true or false, without quotes"
                ),
                "4:16: max_deletes must be a number, a percentage or all, not a list",
                "5:18: announcements must be append or mirror",
                "6:12: ignore is empty",
                "6:16: ignore must be a text, not a list | quote this: YAML reads [a] as a list",
            ],
        ),
        (
            "version: 1\ntoken_env: eyJhbGciOi.secret\nbase_url: listing.example\n",
            [
                (
                    "2:12: token_env must look like COMMANDSYNC_TOKEN_MYBOT "
                    "| it names a variable of your environment; never write the token itself here"
                ),
                f"3:11: the base URL given is not an http or https URL | {URL}",
            ],
        ),
    ],
)
def test_values_must_be_of_their_kind(
    complaints: Complaints, text: str, expected: list[str]
) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            HEAD + "- {name: a, description: b, syntax: '{prefix}c'}\n",
            [
                (
                    "3:37: the syntax uses {prefix}, and the manifest has no prefix: | add prefix: "
                    "to the manifest, or write {{prefix}} for the literal text"
                )
            ],
        ),
        (
            "version: 1\nprefix: ' '\ncommands:\n- {name: a, description: b, syntax: '{prefix}'}\n",
            ["4:37: syntax is empty once {prefix} is filled in"],
        ),
        (
            HEAD + HELP + "- {name: ' a', description: b, syntax: c, category: ''}\n",
            [
                (
                    '4:3: the command "a" stands here twice, equal in all fields, first at -:3:3 '
                    "| remove one; commands of one name are fine when any field differs"
                )
            ],
        ),
        (
            HEAD + "- {name: a, description: b, syntax: c, formerly: [a, d, z]}\n"
            "- {name: d, description: b, syntax: c, formerly: ' d '}\n",
            [
                (
                    '3:51: formerly names the command\'s own name "a" '
                    "| leave it out: a command is matched by its own name first"
                ),
                (
                    '3:54: formerly names "d", which is still a command at -:4:3 '
                    "| remove one of the two: a rename that is done needs no formerly; where names "
                    "are swapped, pin the commands instead: commandsync pull --pin shows the ids"
                ),
                (
                    '4:50: formerly names the command\'s own name "d" '
                    "| leave it out: a command is matched by its own name first"
                ),
            ],
        ),
        (
            HEAD + "- {name: a, description: b, syntax: c, id: 1}\n"
            "- {name: d, description: b, syntax: c, id: '1'}\n"
            "- {name: e, description: b, syntax: c, id: ..}\n",
            [
                (
                    '4:44: the id "1" is pinned twice, first at -:3:44 '
                    "| an id belongs to one entry: remove it here or there"
                ),
                '5:44: ".." is not an id | copy it from commandsync pull --pin',
            ],
        ),
        (
            (
                "version: 1\nsync: {ignore: 'a*'}\n"
                "commands:\n- {name: ab, description: b, syntax: c}\n"
                "announcements:\n- {title: ac, description: b}\n"
            ),
            [
                (
                    '4:10: sync.ignore matches "ab": it would be added again on every run '
                    "| change the pattern, or remove the entry"
                ),
                (
                    '6:11: sync.ignore matches "ac": it would be added again on every run '
                    "| change the pattern, or remove the entry"
                ),
            ],
        ),
    ],
)
def test_entries_must_go_together(complaints: Complaints, text: str, expected: list[str]) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            HEAD + "- name: !help\n  description: !!str b\n  syntax: !!seq [c]\n",
            [
                f'3:9: YAML reads "!help" as a tag, and tags are not allowed | {TAGS}',
                f'4:16: YAML reads "!!str b" as a tag, and tags are not allowed | {TAGS}',
                f'5:11: YAML reads "!!seq" as a tag, and tags are not allowed | {TAGS}',
                "5:11: syntax must be a text, not a list",
            ],
        ),
        (
            "version: 1\nbot: &bot 1\ntoken_env: *bott\n",
            ['3:12: the alias "*bott" has no anchor above it | did you mean bot?'],
        ),
        (
            "version: 1\nbot: *help\n",
            ['2:6: the alias "*help" has no anchor above it | quote it if it is a text: "*help"'],
        ),
        (
            "version: 1\ncommands: &c\n  - *c\n",
            ['3:5: the alias "*c" stands inside what it stands for'],
        ),
    ],
)
def test_tags_and_loose_aliases_are_refused(
    complaints: Complaints, text: str, expected: list[str]
) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_whatever_ends_them(complaints: Complaints, end: str, mark: str) -> None:
    text = mark + end.join(["bto: 1", "version: 1", "prefix: 'a\u2028\x85b'", "bto2: 1", ""])

    assert [line.split(" a ")[0] for line in complaints(text)] == ["1:1:", "4:1:"]


def test_problems_are_sorted_by_place_and_said_once(complaints: Complaints) -> None:
    text = "version: 1\nannouncements:\n- {titel: &t [x]}\ncommands:\n- {nam: *t}\n"

    assert [line.split(": ")[0] for line in complaints(text)] == [
        *["3:3", "3:3", "3:4"],
        *["5:3", "5:3", "5:3", "5:4"],
    ]


def test_after_a_thousand_problems_reading_stops(complaints: Complaints) -> None:
    found = complaints("version: 1\n" + "".join(f"key{n}: 1\n" for n in range(1500)))

    assert len(found) == 1001
    assert found[999].startswith("1001:1: ")
    assert found[1000] == "1:1: there may be more problems: only the first 1000 are shown"
