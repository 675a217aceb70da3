"""What is known of the services, as a table in text or Markdown, or as one JSON document."""

from collections.abc import Iterator

from commandsync.records.losses import Limit
from commandsync.report import records, tables
from commandsync.report.lines import Screen, columns_of
from commandsync.services.abilities import Answer, Fact
from commandsync.services.catalogue import SERVICES, Row, table

_TRIED = "tried with the service itself"
_ABILITIES = {
    "read": "returns the list",
    "replace": "one request replaces the list",
    "write": "records are written one by one",
    "clear": "the list may be empty",
    "ids": "records have ids",
    "uses": "counts uses",
    "order": "keeps the order",
    "options": "shows options",
    "announcements": "takes announcements",
    "most records": "most commands",
    "most sub commands": "most sub-commands of a command",
    "levels": "levels of sub-commands",
    "wait": "seconds to wait after a 429",
}


def services_text(*, screen: Screen) -> str:
    """Return the table of abilities and services, and the sources below it."""
    head, rows = _cells()
    whole = screen._replace(width=None)
    shown = records.table([name.upper() for name in head], rows, screen=whole)
    if screen.width and max(map(columns_of, shown.splitlines())) > screen.width:
        # A service below the other: each fact has its line.
        shown = "\n".join(
            records.table([name.upper(), ""], [(row[0], row[column]) for row in rows], screen=whole)
            for column, name in enumerate(head[1:], 1)
        )
    sources = [
        line
        for title, url, checked in _sources()
        for line in (f"  {title}{checked}", *([f"    {url}"] if url else []))
    ]
    return "\n".join([shown, "sources:", *sources])


def services_markdown() -> str:
    """Return the same in Markdown, for the documents."""
    sources = (
        (f"[{title}]({url})" if url else title) + checked for title, url, checked in _sources()
    )
    return f"{tables.table(*_cells())}\n\nSources: {'; '.join(sources)}."


def services_json() -> str:
    """Return all facts of each service, with their sources, as a JSON document."""
    services = [
        {
            "service": service.name,
            "simulated_only": service.simulated_only,
            "facts": [
                {
                    "ability": row.ability,
                    "value": _value(row.fact),
                    "source": row.fact.source.title,
                    "url": row.fact.source.url or None,
                    "checked": row.fact.source.checked or None,
                }
                for row in table()
                if row.service == service.name
            ],
        }
        for service in SERVICES.values()
    ]
    return records.document({"services": services})


def _cells() -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows: an ability, and what each service has."""
    values: dict[str, dict[str, str]] = {}
    for row in table():
        for label, text in _shown(row):
            values.setdefault(label, {})[row.service] = text
    tried = ["simulated only" if each.simulated_only else "yes" for each in SERVICES.values()]
    rows = [
        [label, *(known.get(name, Answer.UNKNOWN) for name in SERVICES)]
        for label, known in values.items()
    ]
    return ["ability", *SERVICES], [[_TRIED, *tried], *rows]


def _shown(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table that a fact is in, and its text there."""
    match row.fact.value:
        case Limit(least=least, most=most, allowed=allowed):
            field = row.ability.removeprefix("limit of ")
            yield f"length of a {field}", f"{least} to {most}"
            if allowed:
                yield f"characters of a {field}", allowed
        case value:
            yield _ABILITIES.get(row.ability, f"shows the {row.ability}"), str(value)


def _value(fact: Fact) -> object:
    limit = fact.value
    if not isinstance(limit, Limit):
        return limit
    return {"least": limit.least, "most": limit.most, "allowed": limit.allowed or None}


def _sources() -> Iterator[tuple[str, str, str]]:
    """Yield the title of each source, its address, and when it was read."""
    for source in dict.fromkeys(row.fact.source for row in table()):
        checked = f" (checked {source.checked})" if source.checked else ""
        yield source.title, source.url, checked
