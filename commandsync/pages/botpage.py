"""The page of a bot: what it is, its numbers, announcements, commands and latest voters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commandsync.diagnostics import Problem
from commandsync.pages.commandlist import Mark, Row, groups_of
from commandsync.pages.templates import Assets, beside, render, static_files
from commandsync.records.models import Bot
from commandsync.records.texts import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a page says of the manifest that it is a preview of."""

    summary: str = ""  # the counts of the plan, in a sentence; empty if no manifest was valid yet
    refusal: str = ""  # why `apply` would refuse the plan; empty if it would not
    notices: tuple[str, ...] = ()  # warnings
    # Of the newest manifest; the page shows the last valid one, if any.
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingTab:
    """What another service will show of a manifest."""

    name: str  # of the service
    rows: Sequence[Row]  # the commands as it shows them, and after them those that are gone
    losses: Sequence[str]  # what it does not show, in sentences without a full stop
    summary: str  # the counts of its plan, in a sentence
    compared: str  # what the rows are compared with, in a sentence

    @property
    def number(self) -> int:
        """The number of commands that it shows."""
        return sum(row.mark is not Mark.GONE for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """What the page of a bot shows."""

    bot: Bot
    rows: Mapping[Resource, Sequence[Row]]  # the oldest first, and after them those that are gone
    preview: Preview | None = None  # what it is a preview of; None for a listing
    listings: Sequence[ListingTab] = ()  # the other listings of a preview
    voters: Sequence[Mapping[str, Any]] = ()  # its latest votes as on the wire, the newest first
    next_vote: str = ""  # when the reader may vote again, as on the wire; empty for now


def render_bot(page: BotPage, *, assets: Assets, version: int = 0) -> str:
    """Return the HTML of a bot's page; the `version` of a preview changes with the page."""
    articles = {kind: _newest_first(rows) for kind, rows in page.rows.items() if not kind.group}
    lists = {kind: groups_of(rows) for kind, rows in page.rows.items() if kind.group}
    return render(
        "bot",
        assets=assets,
        bot=page.bot,
        lists=lists,
        articles=articles,
        changed={
            mark: [
                row
                for kind, rows in page.rows.items()
                for row in articles.get(kind, rows)
                if row.mark is mark
            ]
            for mark in reversed(Mark)  # what is deleted first
        },
        voters=page.voters,
        preview=page.preview,
        listings=page.listings,
        next_vote=page.next_vote,
        version=version,
    )


def _newest_first(rows: Sequence[Row]) -> list[Row]:
    kept = [row for row in rows if row.mark is not Mark.GONE]
    return [*reversed(kept), *(row for row in rows if row.mark is Mark.GONE)]


def page_files(page: BotPage) -> dict[str, bytes]:
    """Return the files of a folder with the page of a bot, `index.html` first."""
    html = render_bot(page, assets=beside())
    return {"index.html": html.encode(), **static_files()}
