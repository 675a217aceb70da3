"""Random calls are answered as a model in memory and the OpenAPI document say.

schemathesis tries every operation at the limits of the document.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from commandsync.records.texts import Resource
from commandsync.server.bodies import AN_ID
from commandsync.server.database import opened
from commandsync.server.service import running
from commandsync.server.tables import record_tables
from tests.support.bots import Service
from tests.support.callers import NOBODY, OPERATIONS, Caller

_PROGRAM = "from schemathesis.cli import schemathesis; schemathesis()"
_TEXTS = {
    Resource.COMMAND: {"name": "ping", "description": "Says pong.", "syntax": "/ping"},
    Resource.ANNOUNCEMENT: {"title": "v2", "description": "It is out."},
}
_BOT = {
    "id": "779641401482805289",  # as the examples of the document have it
    "profile": {"username": "Lantern"},
    **{kind.collection: [text] for kind, text in _TEXTS.items()},
}


def run_schemathesis(
    database: str, folder: Path, *arguments: str, longest: float
) -> subprocess.CompletedProcess[str]:
    """Run all checks of schemathesis on a service, and return how it ended.

    Args:
        database: What the service stores its bot in: the one of the document's examples.
        folder: Where what schemathesis writes is left.
        arguments: What it is told beyond that, such as its phases.
        longest: Seconds after which it is ended.
    """
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"bots": [_BOT]}), encoding="utf-8")
    with running(database, seed=seed) as service:
        _give_example_ids(database)
        header = f"Authorization: Bot {service.bots[0].token}"
        return subprocess.run(
            [
                *(sys.executable, "-c", _PROGRAM, "run", f"{service.url}/v1/openapi.json"),
                *("--checks", "all", "--header", header, "--no-color"),
                *("--generation-database", "none", *arguments),
            ],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=longest,
            check=False,
        )


def _give_example_ids(database: str) -> None:
    with opened(database) as handle, handle.writing() as connection:
        for kind in record_tables:
            connection.execute(update(record_tables[kind]).values(id=AN_ID))


Record = dict[str, Any]

FIELDS = {"commands": ("name", "description", "syntax"), "announcements": ("title", "description")}
READ = {"id", "createdAt", "updatedAt"}
WHO = {"owner": 0, "nobody": 401, "stranger": 403}


class Call(NamedTuple):
    """A call of a story."""

    act: str
    who: str
    collection: str
    number: int
    text: str
    more: Record


calls = st.builds(
    Call,
    st.sampled_from(["add", "add", "add", "edit", "put", "delete", "uses", "vote", "stats"]),
    st.sampled_from(["owner"] * 8 + ["nobody", "stranger"]),
    st.sampled_from(["commands", "commands", "announcements"]),
    st.integers(0, 2),
    st.sampled_from(
        ["a", "b", " c\n", "<b>&amp;</b>", "日本語", "x" * 1_000, "", " ", "x" * 1_001]
    ),
    st.sampled_from([{}, {"category": "Fun"}, {"category": ""}, {"category": None}, {"__v": 3}]),
)


def body_of(call: Call, identifier: str | None = None) -> Record:
    given = {} if identifier is None else {"id": identifier}
    return {**given, **dict.fromkeys(FIELDS[call.collection], call.text), **call.more}


@dataclass
class Model:
    """One bot as it should be; it knows the ids by the order of the additions."""

    records: dict[str, dict[int, Record]] = field(
        default_factory=lambda: {"commands": {}, "announcements": {}}
    )
    added: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIELDS, 0))
    voters: set[int] = field(default_factory=set)
    servers: int = 0

    def answer(self, call: Call) -> int:
        """Do what a call asks for, and return the status of its answer."""
        if call.who != "owner":
            return WHO[call.who]
        match call.act:
            case "add" | "edit" | "put":
                return self._write(call)
            case "delete":
                return 404 if self.records[call.collection].pop(call.number, None) is None else 200
            case "uses":
                return self._set_uses(call)
            case "vote":
                return self._vote(call.number)
            case _:
                self.servers = call.number
                return 200

    def listed(self, collection: str) -> list[Record]:
        return [
            {name: value for name, value in record.items() if value != ""}
            for record in self.records[collection].values()
        ]

    def _write(self, call: Call) -> int:
        if not call.text.strip() or len(call.text) > 1_000:
            return 400
        records = self.records[call.collection]
        new = dict.fromkeys(FIELDS[call.collection], call.text)
        if call.collection == "commands":
            new["category"] = call.more.get("category") or ""
        if call.act == "add":
            counters = {"uses": 0} if call.collection == "commands" else {}
            records[self.added[call.collection]] = {**new, **counters}
            self.added[call.collection] += 1
        elif call.number not in records:
            return 404
        else:
            records[call.number] |= new
        return 200

    def _set_uses(self, call: Call) -> int:
        if call.number not in self.records["commands"]:
            return 404
        self.records["commands"][call.number]["uses"] = call.number * 7
        return 200

    def _vote(self, user: int) -> int:
        if user in self.voters:
            return 409
        self.voters.add(user)
        return 200


@dataclass
class Bot:
    """The same bot on the service."""

    owner: Caller
    others: dict[str, Caller]
    ids: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in FIELDS})

    def answer(self, call: Call) -> int:
        status, _ = self.others.get(call.who, self.owner).ask(*self._asked(call))
        if (call.act, status) == ("add", 200):
            self.ids[call.collection].append(self.owner.listed(call.collection)[-1]["id"])
        return status

    def listed(self, collection: str) -> list[Record]:
        return [
            {name: value for name, value in record.items() if name not in READ}
            for record in self.owner.listed(collection)
        ]

    def _asked(self, call: Call) -> tuple[str, str, object]:
        ids = self.ids[call.collection]
        record = ids[call.number] if call.number < len(ids) else NOBODY
        match call.act:
            case "add":
                return "POST", f"/{call.collection}", body_of(call)
            case "edit" | "put":
                return {"edit": "POST", "put": "PUT"}[call.act], "/commands", body_of(call, record)
            case "delete":
                return "DELETE", f"/{call.collection}/{record}", None
            case "uses":
                return "PUT", f"/commands/{record}/uses", {"uses": call.number * 7}
            case "vote":
                return "POST", "/votes", {"user": {"id": str(call.number)}}
            case _:
                return "POST", "/stats", {"servers": call.number}


@pytest.fixture
def own_service(database_url: str) -> Iterator[Service]:
    with running(database_url) as started, opened(database_url) as database:
        yield Service(started.url, database)


def joined(service: Service) -> Bot:
    """Create a bot, and one whose owner is a stranger to it."""
    bot, other = service.bot(), service.bot()
    owner = Caller(bot.url, bot.id, bot.token)
    return Bot(
        owner, {"nobody": replace(owner, token=""), "stranger": replace(owner, token=other.token)}
    )


def feasible(call: Call) -> Call:
    """Return a call that the interface has: announcements cannot be edited and have no uses."""
    return call._replace(collection="commands") if call.act in {"edit", "put", "uses"} else call


@settings(
    max_examples=max(10, settings().max_examples // 4)  # each of them is a dozen requests or two
)
@given(st.lists(calls.map(feasible), min_size=10, max_size=30))
def test_every_call_is_answered_as_in_the_model(own_service: Service, story: list[Call]) -> None:
    bot, model = joined(own_service), Model()
    for call in story:
        assert bot.answer(call) == model.answer(call), call
    statistics = bot.owner.ask("GET")[1]["data"]["statistics"]
    voted = {user for user in range(3) if bot.owner.ask("GET", f"/voters/{user}")[1]["voted"]}

    assert {name: bot.listed(name) for name in FIELDS} == {
        name: model.listed(name) for name in FIELDS
    }
    assert (statistics["servers"], statistics["totalVotes"]) == (model.servers, len(model.voters))
    assert voted == model.voters


def test_every_operation_answers_as_described(tmp_path: Path) -> None:
    """Each example, and values at and beyond every limit of the document."""
    ended = run_schemathesis(
        str(tmp_path / "listing.db"),
        tmp_path,
        *("--phases", "examples,coverage", "--seed", "1"),
        longest=120,
    )

    assert ended.returncode == 0, ended.stdout
    assert f"Tested: {len(OPERATIONS)}" in ended.stdout
