import json

from commandsync.report.lines import PLAIN
from commandsync.report.services import services_json, services_markdown, services_text
from commandsync.services.catalogue import SERVICES, table


def row(label: str) -> list[str]:
    """Return the cells of a row of the Markdown table."""
    (line,) = (line for line in services_markdown().splitlines() if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_a_service_that_nobody_used_is_marked() -> None:
    assert row("tried with the service itself") == ["yes", *["simulated only"] * 3]


def test_abilities_are_yes_no_or_unknown() -> None:
    assert row("returns the list") == ["records", "no", "no", "whole list"]
    assert row("the list may be empty") == ["yes", "unknown", "unknown", "yes"]


def test_limits_are_shown_with_the_characters_that_are_allowed() -> None:
    assert row("length of a description") == ["unknown", "1 to 100", "1 to 100", "1 to 256"]
    assert row("characters of a name")[-1] == "a-z, 0-9 and _"
    assert row("seconds to wait after a 429")[1] == "3600"


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
    assert limit["value"] == {"least": 1, "most": 32, "allowed": "a-z, 0-9 and _"}
    assert limit["checked"] == "2026-11"
    assert {each["service"]: each["simulated_only"] for each in document["services"]} == {
        name: service.simulated_only for name, service in SERVICES.items()
    }
