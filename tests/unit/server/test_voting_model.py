"""Votes at any times are counted, refused and reminded of as a model in memory does it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.server import storage, tables, votes
from commandsync.server.database import Database
from commandsync.server.votes import with_counts
from tests.support.inside import cast, entries

INTERVAL = timedelta(hours=12)
BEGIN = datetime(2026, 2, 27, 23, 59, tzinfo=UTC)  # a Friday: the week, the month and the day end
USERS = ("1", "2", "3")

Step = tuple[Literal["vote", "remind"], str, timedelta]

# Whole and half intervals, so that votes come exactly when they may, and a little before and after.
pauses = st.builds(
    lambda halves, moments: max(timedelta(), halves * INTERVAL / 2 + timedelta(seconds=moments)),
    st.sampled_from([0, 0, 1, 1, 2, 2, 3, 15]),
    st.sampled_from([-60, 0, 0, 0.001, 60]),
)
steps = st.tuples(
    st.sampled_from(["vote", "vote", "vote", "remind"]), st.sampled_from(USERS), pauses
)


@dataclass
class Model:
    """The votes as they should be, the reminders that are due, and the events so far."""

    votes: list[tuple[str, datetime]] = field(default_factory=list)
    due: dict[str, datetime] = field(default_factory=dict)
    events: list[tuple[str, str]] = field(default_factory=list)

    def vote(self, user: str, at: datetime) -> bool:
        if self.has_voted(user, at):
            return False
        self.votes.append((user, at))
        self.due[user] = at + INTERVAL
        self.events.append(("vote", user))
        return True

    def has_voted(self, user: str, at: datetime) -> bool:
        return any(voter == user and at < then + INTERVAL for voter, then in self.votes)

    def remind(self, at: datetime) -> None:
        """Send what is due, of one time in the order of the first votes."""
        known = list(dict.fromkeys(user for user, _ in self.votes))
        for user in sorted(self.due, key=lambda user: (self.due[user], known.index(user))):
            if self.due[user] <= at:
                del self.due[user]
                self.events.append(("reminder", user))

    def counters(self, at: datetime) -> dict[str, int]:
        times = [then for _, then in self.votes]
        return {
            "servers": 0,
            "dailyVotes": sum(then.date() == at.date() for then in times),
            "weeklyVotes": sum(then.isocalendar()[:2] == at.isocalendar()[:2] for then in times),
            "monthlyVotes": sum((then.year, then.month) == (at.year, at.month) for then in times),
            "totalVotes": len(times),
        }


@dataclass
class Service:
    """The votes as they are; events are collected before they are pruned."""

    database: Database
    events: list[tuple[str, str]] = field(default_factory=list)
    _read: int = 0

    def vote(self, user: str, at: datetime) -> bool:
        try:
            cast(self.database, user, at, interval=INTERVAL)
        except votes.TooEarlyError:
            return False
        finally:
            self._collect()
        return True

    def remind(self, at: datetime) -> None:
        while votes.send_due(self.database, {"42"}, at):
            pass
        self._collect()

    def counters(self, at: datetime) -> dict[str, int]:
        with self.database.reading() as connection:
            (record,) = with_counts(connection, [storage.bot_of(connection, "42")], at=at)
        counted: dict[str, int] = record["statistics"]
        return counted

    def has_voted(self, user: str, at: datetime) -> bool:
        with self.database.reading() as connection:
            return votes.has_voted(connection, "42", user, at=at)

    def _collect(self) -> None:
        for entry in entries(self.database):
            if entry.seq > self._read:
                self._read = entry.seq
                self.events.append((entry.event, entry.data["user"]["id"]))


def emptied(database: Database) -> Service:
    """Return the service without votes: a new database for each example would take long."""
    with database.writing() as connection:
        for table in (tables.votes, tables.vote_days, tables.voters, tables.outbox):
            connection.execute(table.delete())
    return Service(database)


@pytest.mark.usefixtures("two_bots")
@given(st.lists(steps, max_size=20))
def test_votes_are_as_in_the_model(database: Database, story: list[Step]) -> None:
    service, model, at = emptied(database), Model(), BEGIN
    for act, user, pause in story:
        at += pause
        if act == "vote":
            assert service.vote(user, at) == model.vote(user, at)
        else:
            service.remind(at)
            model.remind(at)
        assert service.has_voted(user, at) == model.has_voted(user, at)
        assert service.counters(at) == model.counters(at)
    service.remind(at + INTERVAL)
    model.remind(at + INTERVAL)

    assert service.events == model.events
