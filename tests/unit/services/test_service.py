"""A second service is one value: other paths, another header, and other abilities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import pytest

from commandsync import Client
from commandsync.api.operations import Operation, T_co
from commandsync.client.connection import Connection
from commandsync.records.texts import Ability, Resource, Text
from commandsync.services.page import PAGE
from commandsync.services.service import RecordService
from commandsync.sync import run
from commandsync.sync.execution import Stop, execute, refusal_of
from commandsync.sync.job import Job, Planned, connected
from commandsync.sync.loading import load
from commandsync.sync.reachability import reachability
from commandsync.sync.settings import Settings, read_clock, site_of
from commandsync.sync.signals import Signals
from tests.support.rawserver import Exchange, SocketServer, answer

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


def _edit(bot: str, kind: Resource, record_id: str, text: Text) -> Operation[str]:
    operation = moved(PAGE.edit(bot, kind, record_id, text))
    return replace(operation, method="PUT", path=f"{operation.path}/{record_id}")


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
        with connected(settings, [site]) as (connection,):
            planned = Job(loaded, site, settings, connection).read()
            assert isinstance(planned, Planned)
            assert refusal_of(planned) is None
            stop = Stop()
            (result,) = execute([planned], stop, settings=settings, signals=Signals())

        assert result.verified
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
