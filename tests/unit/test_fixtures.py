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

LOOKS_LIKE_YAML = re.findall(
    r"\S+",
    r"""
    8ball 247 24/7 007 0779 0x1F 0o17 0b11 1_000 1e3 3.14 .5 -1 +1 .inf .nan 12:30 190:20:30
    2001-01-01 off on yes no true False Y n null Null ~ = << >> > | # - --- ... ? @d %e 'q "q
    '' ` `x` \ \n [p] [p]ban {x} {{prefix}} {prefix}help !c &a *b name: .. . /
    """,
)
MORE_NAMES = (
    *("- a", ": b", "? c", "a: b", "a #b", "a, b", "key: value", "message id|message"),
    *("help  me", "it's", "!!python/name", "ban", "Ban", "BAN", "ServerInfo", "serverinfo"),
    *("\u2764", "\u2764\ufe0f"),
)
LINE_ENDS = ("\r\n", "[^\r]\n", " \n", "\t\n", "\u00a0\n", "\r[^\n]")
SCRIPTS = ("ARABIC", "HEBREW", "CYRILLIC", "HIRAGANA", "KATAKANA", "HANGUL", "CJK", "THAI")
EASILY_LOST = (
    *("\ufe0f", "\u200d", "\u20e3", "\U0001f3fd", "\U000e007f"),  # parts of emoji
    *("\u00a0", "\u200b", "\u2060", "\u00ad", "\ufeff", "\u0085", "\u2028", "\u2029"),  # spaces
    *("\u200f", "\u202e", "\u2067"),  # directions
    *("\U0001d4ef", "\u0301", "\t", "\x1b", "\x07", "\x7f"),
)
MEANINGFUL = (
    *(r"\{0\}", r"%user%", r"%%", r"\|", r"\|\|", r"<users\.\.\.>", r"@everyone", r"@here"),
    *(r"<@!?\d+>", r"^\.247$", r"^\[p\]ban", r"^`x`$", r"(?s)```.*``.*```", r"``a ` within``"),
    *(r"\{server\}", r"\$\{HOME\}", r"\\$", r"(?m)\\$", r"(?m)^---$", r"(?m)^\.\.\.$"),
    *(r"&amp;", r"</b>", r"^::error", r"##\[", r"\]\(https://", r"…$", r" #", r": "),
    *(r"(?m)^    \S",),
)


def test_there_are_600_whole_commands_and_no_two_are_equal() -> None:
    ids = {record["id"] for record in RECORDS}

    assert len(set(TEXTS)) == len(ids) == len(RECORDS) >= 600
    assert all(re.fullmatch(r"[0-9a-f]{24}", identifier) for identifier in ids)
    assert all(text.name and text.description and text.syntax for text in TEXTS)
    assert all({"uses", "createdAt", "__v"} <= record.keys() for record in RECORDS)


def test_fields_are_spelled_in_all_ways() -> None:
    categories = {repr(record.get("category", ...)) for record in RECORDS}
    texts = [(field, record.get(field) or "") for record in RECORDS for field in Text._fields]

    assert categories > {"Ellipsis", "None", "''"}
    assert {field for field, text in texts if text.strip(" \n") != text} == set(Text._fields)
    for ends in LINE_ENDS:
        assert any(re.search(ends, record["description"]) for record in RECORDS), ends


def test_names_look_like_something_else_have_spaces_or_differ_in_little() -> None:
    names = {text.name for text in TEXTS}
    composed = Counter(unicodedata.normalize("NFC", name) for name in names)
    twins = Counter((text.name, text.category) for text in TEXTS)

    assert {*LOOKS_LIKE_YAML, *MORE_NAMES} <= names
    assert sum(" " in text.name for text in TEXTS) >= len(TEXTS) / 3
    assert composed["caf\u00e9"] == 2
    assert sum(count > 1 for count in twins.values()) >= 10
    assert {"/afk [reason]", ".afk [reason]"} <= {t.syntax for t in TEXTS if t.name == "afk"}


def test_texts_are_long_with_and_without_lines() -> None:
    longest = max((text.description for text in TEXTS), key=len)

    assert len(longest) >= 2400
    assert longest.count("\n") >= 30
    assert any(len(t.description) >= 1300 and "\n" not in t.description for t in TEXTS)
    assert max(len(text.syntax) for text in TEXTS) >= 700


@pytest.mark.parametrize("script", SCRIPTS)
def test_names_and_descriptions_are_written_in_many_scripts(script: str) -> None:
    def written(part: str) -> bool:
        return any(unicodedata.name(character, "").startswith(script) for character in part)

    assert any(written(text.name) for text in TEXTS)
    assert any(written(text.description) for text in TEXTS)


def test_characters_that_are_easily_lost_and_texts_with_a_meaning_elsewhere_appear() -> None:
    for pattern in (*map(re.escape, EASILY_LOST), *MEANINGFUL):
        assert any(re.search(pattern, part) for text in TEXTS for part in text), pattern
