import json
from pathlib import Path

import pytest

from commandsync.diagnostics import Check
from commandsync.errors import ListingError
from commandsync.records.models import Bot, Command, Voter
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.report import PLAIN, Screen, records
from commandsync.report.records import table
from commandsync.services.catalogue import SERVICES
from commandsync.services.catalogue import table as service_facts

HEAD = ("ID", "NAME", "TEXT")
HOSTILE = ("::error::x", " ::debug::y", "a\n##[group]z\x1b[31m\u202e")


@pytest.mark.parametrize("width", [None, 80])
def test_columns_are_aligned_whatever_the_script(width: int | None) -> None:
    rows = [("1", "日本", "a"), ("2", "e\u0301te\u0301", "b"), ("3", "plain", "c")]
    shown = table(HEAD, rows, screen=Screen(width=width)).splitlines()

    assert [line.rstrip()[-1] for line in shown] == ["T", "a", "b", "c"]
    assert shown[1] == "1   日本   a"
    assert shown[2] == "2   e\u0301te\u0301    b"
    assert shown[3] == "3   plain  c"


@pytest.mark.parametrize(("size", "wide"), [(199, 199), (200, 200), (201, 200)])
def test_cells_are_whole_off_a_terminal(size: int, wide: int) -> None:
    long = "x" * size
    shown = table(HEAD, [("1", long, "a"), ("2", "b", "c")], screen=PLAIN).splitlines()

    assert shown[1] == f"1   {long}  a"
    assert shown[2] == f"2   b{' ' * (wide - 1)}  c"


def test_a_terminal_gets_lines_that_fit() -> None:
    row = ("64f0c2a91be34d5a7c0e8812", "x" * 200, "y" * 200)
    shown = table(HEAD, [row], screen=Screen(width=60)).splitlines()
    full = table(HEAD, [row], screen=Screen(width=60, full=True))

    assert all(len(line) <= 60 for line in shown)
    assert shown[1].startswith(f"{row[0]}  xxx")
    assert shown[1].endswith("x…")
    assert "  ".join(row) in full


def test_colours_are_for_the_head_and_only_when_wanted() -> None:
    plain = table(HEAD, [("1", "a", "b")], screen=Screen(width=80))
    painted = table(HEAD, [("1", "a", "b")], screen=Screen(color=True, width=80))

    assert "\x1b" not in plain
    assert "\x1b[1m" in painted.splitlines()[0]


@pytest.mark.parametrize("width", [None, 200])
@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_steers_nothing(text: str, width: int | None) -> None:
    shown = table(HEAD, [(text, text, text)], screen=Screen(width=width))

    assert len(shown.splitlines()) == 2
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert "##[" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_markup_of_the_terminal_library_is_only_text() -> None:
    shown = table(
        HEAD, [("1", "[bold]x[/bold]", ":smile: [link=x]")], screen=Screen(color=True, width=80)
    )

    assert "[bold]x[/bold]  :smile: [link=x]" in shown


def test_bots_are_columns() -> None:
    shown = records.bots_table([Bot(id="1")], screen=PLAIN)

    assert shown.split() == ["ID", "NAME", "SERVERS", "VOTES", "RATING", "OVERVIEW", "1"]


def test_listed_records_are_one_document_with_ids_and_uses() -> None:
    listed = Snapshot(
        {
            Resource.COMMAND: (
                Entry(CommandText("help", "Helps.", "/help"), id="c1", uses=7),
                Entry(CommandText("help", "Helps.", "/help")),
            ),
            Resource.ANNOUNCEMENT: (),
        }
    )
    document = json.loads(records.listed_document(listed, bot="42", base_url="https://a.example"))

    text = {"name": "help", "description": "Helps.", "syntax": "/help", "category": ""}
    assert document == {
        "version": 1,
        "bot": "42",
        "base_url": "https://a.example",
        "commands": [{"id": "c1", **text, "uses": 7}, {"id": None, **text, "uses": None}],
        "announcements": [],
    }


def test_one_record_is_shown_field_by_field() -> None:
    bot = Bot.model_validate(
        {"id": "1", "information": {"tags": ["a", "b"]}, "more": {"deep": {}, "list": []}}
    )
    shown = records.record_table(bot, screen=PLAIN)
    lines = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}

    assert lines["id"] == ["1"]
    assert lines["information.tags"] == ["a,", "b"]
    assert lines["ratings.average"] == []
    assert lines["more.deep"] == ["{}"]


def test_a_document_holds_what_is_not_known_here_too() -> None:
    voter = Voter.model_validate({"_id": "1", "username": "::x\ud800", "avatar": {"url": "u"}})
    text = records.document({"bot": "42", "voters": [voter], "one": voter, "number": 3})
    document = json.loads(text)

    assert "::" not in text
    assert document["voters"] == [document["one"]]
    assert document["one"].items() >= {"id": "1", "username": "::x\ud800"}.items()
    assert document["one"]["avatar"] == {"url": "u"}
    assert (document["version"], document["bot"], document["number"]) == (1, "42", 3)


def test_what_is_no_json_number_is_null() -> None:
    odd = {"id": "1", "name": "n", "uses": float("inf"), "more": [{"x": float("nan")}, 1.5]}
    document = json.loads(
        records.document({"commands": (Command.model_validate(odd),)}), parse_constant=pytest.fail
    )

    assert document["commands"][0]["uses"] is None
    assert document["commands"][0]["more"] == [{"x": None}, 1.5]


def test_what_nests_too_deep_is_a_clear_error() -> None:
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    command = Command.model_validate({"id": "1", "name": "n", "more": deep})

    with pytest.raises(ListingError, match="nested too deeply"):
        records.document({"commands": [command]})


CHECK = Check("access", "failed", "the service does not accept the token", "copy the token again")


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            None,
            [
                "failed   access       the service does not accept the token",
                "                      hint: copy the token again",
            ],
        ),
        (
            54,
            [
                "failed   access       the service does not accept the",
                "                      token",
                "                      hint: copy the token again",
            ],
        ),
        (
            24,
            [
                "failed   access",
                "  the service does not",
                "  accept the token",
                "  hint: copy the token",
                "  again",
            ],
        ),
    ],
)
def test_a_check_is_wrapped_beside_its_name(width: int | None, lines: list[str]) -> None:
    assert records.check_lines(CHECK, screen=Screen(width=width)).splitlines() == lines


@pytest.mark.parametrize("width", [None, 80])
def test_a_long_names_message_is_below_in_its_column(width: int | None) -> None:
    check = Check("discordbotlist.com", "ok", "not checked")

    assert records.check_lines(check, screen=Screen(width=width)).splitlines() == [
        "ok       discordbotlist.com",
        "                      not checked",
    ]


DOCS = Path(__file__).parents[3] / "docs"


def test_the_documentation_has_the_table_word_for_word() -> None:
    listings = (DOCS / "listings.md").read_text(encoding="utf-8")

    assert records.services_markdown() in listings


def test_the_text_and_the_markdown_have_every_fact_and_every_source() -> None:
    text = records.services_text(screen=PLAIN)
    cells = [
        line.split(" | ")
        for line in records.services_markdown().splitlines()
        if line.startswith("|")
    ]

    assert all(len(row) == 1 + len(SERVICES) for row in cells[2:])
    for fact in (row.fact for row in service_facts()):
        assert fact.source.title in text
        assert fact.source.checked in text
        assert f"[{fact.source.title}]({fact.source.url})" in records.services_markdown() or (
            not fact.source.url
        )


def test_the_document_has_every_fact_with_its_source() -> None:
    document = json.loads(records.services_json())

    facts = [(each["service"], fact) for each in document["services"] for fact in each["facts"]]
    assert document["version"] == 1
    assert [(name, fact["ability"]) for name, fact in facts] == [
        (row.service, row.ability) for row in service_facts()
    ]
    (limit,) = (
        fact for name, fact in facts if (name, fact["ability"]) == ("telegram", "limit of name")
    )
    assert (limit["value"]["least"], limit["value"]["most"]) == (1, 32)
    assert "0-9" in limit["value"]["allowed"]
    assert limit["checked"] == "2026-11"
    assert {each["service"]: each["simulated_only"] for each in document["services"]} == {
        name: service.simulated_only for name, service in SERVICES.items()
    }
