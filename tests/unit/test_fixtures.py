"""The listing that other tests start from has the shapes of real listings."""

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest


class Text(NamedTuple):
    name: str
    description: str
    syntax: str
    category: str


def compared(value: str | None) -> str:
    """Fold what the manifest folds, said once more here so that a mistake there shows."""
    return (value or "").replace("\r\n", "\n").strip()


LISTED = Path(__file__).parents[1] / "fixtures" / "listed.json"
RECORDS = json.loads(LISTED.read_text(encoding="utf-8"))
TEXTS = [Text(*(compared(record.get(field)) for field in Text._fields)) for record in RECORDS]
NAMES = {text.name for text in TEXTS}

LOOKS_LIKE_YAML = re.findall(
    r"\S+",
    r"""
    8ball 247 24/7 007 0779 0x1F 0o17 0b11 1_000 1e3 3.14 .5 -1 +1 .inf .nan 12:30 190:20:30
    2001-01-01 off on yes no true False Y n null Null ~ = << >> > | # - --- ... ? @d %e 'q "q
    '' ` `x` \ \n [p] [p]ban {x} {{prefix}} {prefix}help !c &a *b name: .. . /
    """,
)
MORE_NAMES = [
    *("- a", ": b", "? c", "a: b", "a #b", "a, b", "key: value", "message id|message"),
    *("help  me", "it's", "!!python/name"),
]


def one_has(pattern: str) -> bool:
    return any(re.search(pattern, part) for text in TEXTS for part in text)


def test_there_are_600_whole_commands_and_no_two_are_equal() -> None:
    ids = {record["id"] for record in RECORDS}

    assert len(set(TEXTS)) == len(ids) == len(RECORDS) >= 600
    assert all(re.fullmatch(r"[0-9a-f]{24}", identifier) for identifier in ids)
    assert all(text.name and text.description and text.syntax for text in TEXTS)
    assert all({"uses", "createdAt", "__v"} <= record.keys() for record in RECORDS)


def test_no_category_comes_in_all_three_spellings() -> None:
    spellings = Counter(
        "absent" if "category" not in record else repr(record["category"])
        for record in RECORDS
        if not record.get("category")
    )

    assert set(spellings) == {"absent", "None", "''"}


def test_names_look_like_something_else_have_spaces_or_differ_in_little() -> None:
    composed = Counter(unicodedata.normalize("NFC", name) for name in NAMES)

    assert {*LOOKS_LIKE_YAML, *MORE_NAMES} <= NAMES
    assert sum(" " in text.name for text in TEXTS) >= len(TEXTS) / 3
    assert {"ban", "Ban", "BAN", "ServerInfo", "serverinfo", "\u2764", "\u2764\ufe0f"} <= NAMES
    assert composed["caf\u00e9"] == 2


def test_a_name_appears_twice_in_one_category_with_another_syntax() -> None:
    twins = Counter((text.name, text.category) for text in TEXTS)

    assert sum(count > 1 for count in twins.values()) >= 10
    assert {"/afk [reason]", ".afk [reason]"} <= {t.syntax for t in TEXTS if t.name == "afk"}


def test_texts_are_long_with_and_without_lines() -> None:
    longest = max((text.description for text in TEXTS), key=len)

    assert len(longest) >= 2400
    assert longest.count("\n") >= 30
    assert any(len(t.description) >= 1300 and "\n" not in t.description for t in TEXTS)
    assert max(len(text.syntax) for text in TEXTS) >= 700


def test_fields_are_stored_with_whitespace_around_them() -> None:
    padded = {
        f
        for r in RECORDS
        for f in Text._fields
        if (r.get(f) or "").strip(" \n") != (r.get(f) or "")
    }

    assert padded == set(Text._fields)


@pytest.mark.parametrize("ends", ["\r\n", "[^\r]\n", " \n", "\t\n", "\u00a0\n", "\r[^\n]"])
def test_lines_end_in_many_ways(ends: str) -> None:
    assert any(re.search(ends, record["description"]) for record in RECORDS)


@pytest.mark.parametrize(
    "script", ["ARABIC", "HEBREW", "CYRILLIC", "HIRAGANA", "KATAKANA", "HANGUL", "CJK", "THAI"]
)
def test_names_and_descriptions_are_written_in_many_scripts(script: str) -> None:
    def written(part: str) -> bool:
        return any(unicodedata.name(character, "").startswith(script) for character in part)

    assert any(written(text.name) for text in TEXTS)
    assert any(written(text.description) for text in TEXTS)


EASILY_LOST = [
    "\ufe0f",  # variation selector
    "\u200d",  # zero-width joiner
    "\u20e3",  # keycap
    "\U0001f3fd",  # skin tone
    "\U000e007f",  # tag of a subdivision flag
    "\U0001d4ef",  # beyond the first plane
    "\u00a0",  # no-break space
    "\u200b",  # zero-width space
    "\u2060",  # word joiner
    "\u00ad",  # soft hyphen
    "\ufeff",  # byte order mark
    "\u0085",  # next line
    "\u2028",  # line separator
    "\u2029",  # paragraph separator
    "\u200f",  # right-to-left mark
    "\u202e",  # right-to-left override
    "\u2067",  # right-to-left isolate
    "\u0301",  # combining acute accent
    "\t",
    "\x1b",
    "\x07",
    "\x7f",
]


def test_characters_that_are_easily_lost_appear() -> None:
    assert [each for each in EASILY_LOST if not one_has(re.escape(each))] == []


MEANINGFUL = [
    *(r"\{0\}", r"%user%", r"%%", r"\|", r"\|\|", r"<users\.\.\.>", r"@everyone", r"@here"),
    *(r"<@!?\d+>", r"^\.247$", r"^\[p\]ban", r"^`x`$", r"(?s)```.*``.*```", r"``a ` within``"),
    *(r"\{server\}", r"\$\{HOME\}", r"\\$", r"(?m)\\$", r"(?m)^---$", r"(?m)^\.\.\.$"),
    *(r"&amp;", r"</b>", r"^::error", r"##\[", r"\]\(https://", r"…$", r" #", r": "),
    *(r"(?m)^    \S",),
]


def test_texts_with_a_meaning_elsewhere_appear() -> None:
    assert [pattern for pattern in MEANINGFUL if not one_has(pattern)] == []
