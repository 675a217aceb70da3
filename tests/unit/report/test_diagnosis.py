import json
from pathlib import Path

import pytest

from commandsync.diagnostics import Check
from commandsync.report.diagnosis import check_lines
from commandsync.report.lines import PLAIN, Screen
from commandsync.report.records import services_json, services_markdown, services_text
from commandsync.services.catalogue import SERVICES, table

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
    assert check_lines(CHECK, screen=Screen(width=width)).splitlines() == lines


@pytest.mark.parametrize("width", [None, 80])
def test_a_long_names_message_is_below_in_its_column(width: int | None) -> None:
    check = Check("discordbotlist.com", "ok", "not checked")

    assert check_lines(check, screen=Screen(width=width)).splitlines() == [
        "ok       discordbotlist.com",
        "                      not checked",
    ]


DOCS = Path(__file__).parents[3] / "docs"


def test_the_documentation_has_the_table_word_for_word() -> None:
    listings = (DOCS / "listings.md").read_text(encoding="utf-8")

    assert services_markdown() in listings


def test_the_text_and_the_markdown_have_every_fact_and_every_source() -> None:
    text = services_text(screen=PLAIN)
    cells = [line.split(" | ") for line in services_markdown().splitlines() if line.startswith("|")]

    assert all(len(row) == 1 + len(SERVICES) for row in cells[2:])
    for fact in (row.fact for row in table()):
        assert fact.source.title in text
        assert fact.source.checked in text
        assert f"[{fact.source.title}]({fact.source.url})" in services_markdown() or (
            not fact.source.url
        )


def test_the_document_has_every_fact_with_its_source() -> None:
    document = json.loads(services_json())

    facts = [(each["service"], fact) for each in document["services"] for fact in each["facts"]]
    assert document["version"] == 1
    assert [(name, fact["ability"]) for name, fact in facts] == [
        (row.service, row.ability) for row in table()
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
