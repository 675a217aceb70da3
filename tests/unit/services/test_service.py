"""A service is one value: its requests, its answers, and the plan of a list that it replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync import Client
from commandsync.api.operations import Operation, T_co
from commandsync.client.connection import Connection
from commandsync.errors import (
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    RateLimited,
    Redirected,
    Reply,
    ServerError,
    Unauthorized,
)
from commandsync.manifest import Manifest
from commandsync.plan.changes import Add, Delete, Edit
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Ability, CommandText, Resource, Text
from commandsync.services.catalogue import DISCORD_BOT_LIST, LISTS, TOP_GG
from commandsync.services.fit import as_listed, fit
from commandsync.services.service import PAGE, ListService, RecordService, accepted
from commandsync.services.telegram import TELEGRAM
from commandsync.sync import run
from commandsync.sync.apply import AppliedPlans, apply, carry_out
from commandsync.sync.diagnosis import reachability
from commandsync.sync.job import RecordJob, connected
from commandsync.sync.settings import Settings, load, read_clock
from commandsync.sync.sites import site_of
from tests.support.rawserver import Exchange, SocketServer, answer

DATED = {"date": "Mon, 23 Nov 2026 15:05:02 +0100"}
MANIFEST = """\
version: 1
bot: "7"
commands:
- {name: ping, description: Says pong., syntax: /ping}
- {name: ban, description: Bans., syntax: /ban}
announcements:
- {title: Two, description: New text., id: "2"}
"""


def moved(operation: Operation[T_co]) -> Operation[T_co]:
    """Return an operation with the path that it has at the other service."""
    return replace(operation, path=operation.path.replace("/bot/", "/applications/", 1))


def _edit(bot: str, kind: Resource, listed: Entry, text: Text) -> Operation[str]:
    operation = moved(PAGE.edit(bot, kind, listed, text))
    return replace(operation, method="PUT", path=f"{operation.path}/{listed.id}")


OTHER = RecordService(
    name="other",
    abilities={Resource.COMMAND: Ability(edit=False), Resource.ANNOUNCEMENT: Ability(edit=True)},
    facts=PAGE.facts,
    authorization="Bearer {token}",
    read=lambda bot, kind: moved(PAGE.read(bot, kind)),
    add=lambda bot, kind, text: moved(PAGE.add(bot, kind, text)),
    edit=_edit,
    delete=lambda bot, kind, record_id: moved(PAGE.delete(bot, kind, record_id)),
)


@dataclass(kw_only=True)
class OtherServer(SocketServer):
    """A server with the paths and the header of the other service, and no others."""

    listed: dict[str, list[dict[str, str]]] = field(
        default_factory=lambda: {
            "commands": [{"id": "1", "name": "ban", "description": "Kicks.", "syntax": "/ban"}],
            "announcements": [{"id": "2", "title": "Two", "description": "Old text."}],
        }
    )

    def handle(self, exchange: Exchange) -> None:
        request = exchange.request
        version, applications, bot, collection, *ids = request.path.split("/")[1:]
        assert (version, applications, bot) == ("v1", "applications", "7")
        assert request.headers["authorization"] == "Bearer s3cret-token"
        records = self.listed[collection]
        match request.method:
            case "POST":
                records.append({"id": str(len(records) + 10), **request.json})
            case "PUT":
                (record,) = [record for record in records if [record["id"]] == ids]
                record.update(request.json)
            case method:
                assert method == "GET"
        exchange.send(answer({"success": True, "data": records}))


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "commands.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    monkeypatch.setenv("COMMANDSYNC_TOKEN", "s3cret-token")
    return str(path)


def check(server: OtherServer) -> None:
    """Check that the announcement was edited, and that commands, as posts, were only added."""
    assert sorted(request.method for request in server.writes) == ["POST", "PUT"]
    assert [record["description"] for record in server.listed["announcements"]] == ["New text."]
    assert [record["name"] for record in server.listed["commands"]] == ["ban", "ping"]


def test_a_run_uses_the_service_of_its_site(manifest: str) -> None:
    with OtherServer() as server:
        settings = Settings(now=read_clock(), files=(manifest,), base_url=server.url)
        (loaded,) = load(settings)
        site = replace(site_of(settings, loaded), service=OTHER)

        @contextmanager
        def opened(_manifests: Sequence[Manifest]) -> Iterator[list[RecordJob]]:
            with connected(settings, [site]) as (connection,):
                yield [RecordJob(site, settings, connection, loaded)]

        ending = carry_out(apply(load=lambda: [loaded], connect=opened))

        assert isinstance(ending, AppliedPlans)
        assert [result.verified for result in ending.results] == [True]
        check(server)


def test_a_check_of_the_set_up_reads_from_the_service_of_its_site(manifest: str) -> None:
    with OtherServer() as server:
        settings = Settings(now=read_clock(), files=(manifest,), base_url=server.url)
        (loaded,) = load(settings)
        site = replace(site_of(settings, loaded), service=OTHER)
        _, service = islice(reachability(settings, site), 2)

        assert (service.state, service.message.partition(", ")[2]) == ("ok", "commands listed: 1")


def test_a_run_of_a_client_uses_the_service_of_its_connection(manifest: str) -> None:
    with OtherServer() as server, Client("s3cret-token", server.url, bot="7") as client:
        client.connection = Connection(
            client.connection.address, client.connection.token, service=OTHER
        )
        result = run(client, manifest)

        assert result.verified
        check(server)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(204, b""),
        Reply(200, b""),
        Reply(200, b"OK"),
        Reply(200, b"[]"),
        Reply(200, b"null"),
        Reply(200, b"true"),
        Reply(200, "\ufeffOK".encode()),
        Reply(200, b'[{"name": "ban", "description": "Bans."}]'),
        Reply(200, '[{"name": "ban"}]'.encode("utf-16")),
        Reply(200, b'{"message": "Success"}'),
        Reply(200, b'{"status": 200, "message": "Updated"}'),
        Reply(201, b'{"success": true}'),
    ],
)
def test_any_body_of_a_success_is_accepted(reply: Reply) -> None:
    accepted(reply)


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (Reply(200, b'{"success": false, "message": "No."}'), Invalid, "failure: No."),
        (Reply(200, b'{"error": {"status": 500, "message": "No."}}'), Invalid, "failure: No."),
        (Reply(200, '\ufeff{"success": false}'.encode()), Invalid, "reports a failure"),
        (Reply(200, '{"success": false}'.encode("utf-16")), Invalid, "reports a failure"),
        (Reply(200, b'[{"name": "ban"}, {"error": "No."}]'), Invalid, "failure: No."),
        (Reply(200, b'{"data": {"ok": false}}'), Invalid, "reports a failure"),
        (Reply(200, b"false"), Invalid, "reports a failure"),
        (Reply(200, b"<!doctype html>"), DecodeError, "HTML page"),
        (Reply(200, "\ufeff<html>".encode()), DecodeError, "not valid JSON"),
        (Reply(200, "<html>".encode("utf-16")), DecodeError, "not valid JSON"),
        (Reply(200, b"\xff\xfe\xfd"), DecodeError, "not text"),
        (Reply(200, b"[{"), DecodeError, "not valid JSON"),
        (Reply(200, b'{"message": "Succ'), DecodeError, "not valid JSON"),
        (Reply(302, b""), Redirected, "redirects"),
        (Reply(400, b'{"title": "Bad Request", "status": 400}'), Invalid, "400: Bad Request"),
        (Reply(422, b'{"title": "Invalid", "detail": "[0].name"}'), Invalid, r"422: \[0\].name"),
        (Reply(401, b'{"error": {"status": 401, "message": "Who?"}}'), Unauthorized, "401: Who?"),
        (Reply(403, b'{"error": "Not yours"}'), Forbidden, "403: Not yours"),
        (Reply(404, b"Cannot PUT"), NotFound, "HTTP 404"),
        (Reply(405, b""), Invalid, "HTTP 405"),
        (Reply(429, b'{"retry-after": 3600}'), RateLimited, "HTTP 429.*; .* allowed in 3,600 s"),
        (Reply(502, b"<html>"), ServerError, "HTTP 502"),
    ],
)
def test_a_refusal_is_quoted(reply: Reply, error: type[ListingError], message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        accepted(reply)

    assert type(refusal.value) is error
    assert "base URL" not in str(refusal.value.hint)


def test_the_description_of_a_record_is_not_a_message() -> None:
    with pytest.raises(Invalid, match=r"\(HTTP 400\)"):
        accepted(Reply(400, b'{"description": "Bans."}'))


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (Reply(429, b'{"retry-after": 3600}'), 3600),
        (Reply(429, b'{"retry_after": 1.5}'), 1.5),
        (Reply(429, b'{"retry-after": 3600}', {"retry-after": "5"}), 5),
        (Reply(429, b'{"retry-after": 3600}', {"retry-after": "0"}), 0),
        (Reply(429, b'{"retry-after": "soon"}'), None),
        (Reply(429, b'{"retry-after": true}'), None),
        (Reply(429, b'{"retry-after": -1}'), None),
        (Reply(429, b'{"retry-after": 1e400}'), None),
        (Reply(429, b'{"parameters": 3}'), None),
        (Reply(429, b'[{"retry-after": 3}]'), None),
        (Reply(429, b""), None),
    ],
)
def test_the_wait_is_in_a_header_or_in_the_body(reply: Reply, seconds: float | None) -> None:
    with pytest.raises(RateLimited) as refusal:
        accepted(reply)

    assert refusal.value.retry_after == seconds


@pytest.mark.parametrize(
    ("seconds", "date", "hint"),
    [
        (120, "Mon, 23 Nov 2026 15:05:02 +0100", "run again later"),
        (121, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 14:08 UTC"),
        (3600, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 15:06 UTC"),
        (86_400, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 2026-11-24 14:06 UTC"),
        (10**30, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 2027-11-24 14:06 UTC"),
        (3600, "", "run again later"),
    ],
)
def test_a_wait_that_is_too_long_has_a_time(seconds: int, date: str, hint: str) -> None:
    with pytest.raises(RateLimited) as refusal:
        accepted(Reply(429, b"", {"retry-after": str(seconds), "date": date}))

    assert refusal.value.hint == hint


NAMES = st.sampled_from(["ban", "kick", "/afk", ".afk", "config", "config prefix", "config set a"])
TEXTS = st.lists(
    st.builds(CommandText, NAMES, st.sampled_from(["One.", "Two."]), st.just("/x"), st.just("Fun")),
    max_size=8,
)


def snapshot_of(texts: list[CommandText]) -> Snapshot:
    return Snapshot({Resource.COMMAND: tuple(map(Entry, texts))})


def planned(service: ListService, *, wanted: Snapshot, before: Snapshot) -> RecordPlan:
    """Plan a manifest against the list that an earlier version left on a service."""
    return make_plan(
        desired=fit(service, wanted).snapshot,
        listed=as_listed(fit(service, before).snapshot),
        target=Target(bot="42", base_url=service.origin, abilities=service.abilities),
        rules=SyncRules(),
    )


@pytest.mark.parametrize("service", LISTS.values(), ids=lambda service: service.name)
@given(texts=TEXTS)
def test_what_was_sent_needs_no_change(service: ListService, texts: list[CommandText]) -> None:
    wanted = snapshot_of(texts)

    assert planned(service, wanted=wanted, before=wanted).changes == ()


@pytest.mark.parametrize("service", LISTS.values(), ids=lambda service: service.name)
@given(old=TEXTS, new=TEXTS)
def test_every_difference_of_two_versions_is_a_change(
    service: ListService, old: list[CommandText], new: list[CommandText]
) -> None:
    plan = planned(service, wanted=snapshot_of(new), before=snapshot_of(old))

    versions = [fit(service, snapshot_of(texts)).snapshot.commands for texts in (old, new)]
    assert bool(plan.changes) == (sorted(versions[0]) != sorted(versions[1]))
    assert plan.unwritable == ()


def test_changes_name_the_commands() -> None:
    before = snapshot_of([CommandText("ban", "Bans.", "/ban"), CommandText("kick", "Kicks.", "/k")])
    after = snapshot_of([CommandText("ban", "Bans you.", "/ban"), CommandText("warn", "W.", "/w")])

    edit, add, delete = planned(TELEGRAM, wanted=after, before=before).changes
    assert isinstance(edit, Edit)
    assert isinstance(add, Add)
    assert isinstance(delete, Delete)
    assert (edit.id, edit.after[1]) == ("ban", "Bans you.")
    assert add.after == CommandText("warn", "W.", "")
    assert delete.id == "kick"


@pytest.mark.parametrize(
    ("service", "reply", "seconds", "hint"),
    [
        (TOP_GG, Reply(429, b"", DATED), 3600, "run again after 15:06 UTC"),
        (TOP_GG, Reply(429, b'{"retry-after": "3600"}', DATED), 3600, "run again after 15:06 UTC"),
        (TOP_GG, Reply(429, b"", DATED | {"retry-after": "3600.0"}), 3600, "after 15:06 UTC"),
        (TOP_GG, Reply(429, b"", DATED | {"retry-after": "5"}), 5, "run again later"),
        (DISCORD_BOT_LIST, Reply(429, b"", DATED), inf, "run again later"),
    ],
)
def test_a_limit_without_a_time_costs_what_is_known_of_the_service(
    service: ListService, reply: Reply, seconds: float, hint: str
) -> None:
    operation = service.limited(service.replace("42", Snapshot({Resource.COMMAND: ()})))

    with pytest.raises(RateLimited) as refusal:
        operation.read(reply)

    assert refusal.value.retry_after == seconds
    assert hint in str(refusal.value.hint)
