"""A service of an exact kind in memory, and whole runs of the product on it.

It keeps the names that it is sent, each once for a type; an add of a known name overwrites that
command, and a list has room for a few of each type. It shares no rule with the product. Faults go
with the number of a request, as those of `Listing`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commandsync.api.content import content_of, raise_for_status
from commandsync.api.operations import Operation, Overwritten
from commandsync.errors import DecodeError, Reply, TransportError
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand, Resource, Text, object_of
from commandsync.services.service import PAGE, RecordService
from tests.support.listing import Fault
from tests.support.registered import KIND, MOST, TARGET
from tests.support.runs import Driver, Moments, Parts, to_its_end

Node = dict[str, Any]
PATH = "/commands"


@dataclass(frozen=True)
class Sent:
    """A request that came."""

    method: str
    id: str  # of the command that it is about; empty for the list
    body: Mapping[str, Any]


@dataclass
class Registry:
    """The service."""

    faults: dict[int, Fault] = field(default_factory=dict)
    store: Callable[[Node], Node] = dict  # what becomes of an object when it is stored
    # Told after each request, such as to let another editor come between.
    witness: Callable[["Registry"], None] = lambda _: None
    commands: dict[str, Node] = field(default_factory=dict)  # by their ids
    requests: list[Sent] = field(default_factory=list)
    overwritten: list[str] = field(default_factory=list)  # the ids of records that adds replaced
    _ids: int = 0

    @classmethod
    def of(cls, texts: Iterable[ApplicationCommand], **others: Any) -> "Registry":  # noqa: ANN401 - its fields
        """Return a service with these commands, whose ids are `r0`, `r1` and so on."""
        registry = cls(**others)
        for text in texts:
            registry.add(text.node)
        return registry

    @property
    def texts(self) -> dict[str, ApplicationCommand]:
        """The commands in truth, by their ids."""
        return {id_: ApplicationCommand.of(node) for id_, node in self.commands.items()}

    @property
    def writes(self) -> list[Sent]:
        """The requests that would change something."""
        return [sent for sent in self.requests if sent.method != "GET"]

    def add(self, node: Mapping[str, Any]) -> str:
        """Add a command as it is; return its id."""
        self._ids += 1
        self.commands[f"r{self._ids - 1}"] = dict(node)
        return f"r{self._ids - 1}"

    def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: Any = None,  # noqa: ANN401 - JSON
    ) -> Reply | TransportError:
        """Answer a request, or fail to."""
        assert not query
        number, id_ = len(self.requests), path.removeprefix(PATH).removeprefix("/")
        self.requests.append(Sent(method, id_, body or {}))
        fault = self.faults.get(number) or Fault("none")
        answer: Reply | TransportError = Reply(202, b"{}")
        if fault.applied:
            answer = self.serve(method, id_, body)
        self.witness(self)
        return answer if fault.answer is None else fault.answer(answer)

    def serve(self, method: str, id_: str, body: Node) -> Reply:
        """Do what a request asks for."""
        if method == "GET":
            return _reply(200, [{"id": each, **node} for each, node in self.commands.items()])
        if method == "POST":
            return self._add(body)
        if id_ not in self.commands:
            return _reply(404, {"message": "unknown"})
        if method == "DELETE":
            del self.commands[id_]
            return Reply(204, b"")
        return self._edit(id_, body)

    def _add(self, body: Node) -> Reply:
        known = self._named(body["type"], body["name"])
        if known:
            self.overwritten.append(known)
            self.commands[known] = self.store(body)
            return _reply(200, {"id": known})
        size = sum(node["type"] == body["type"] for node in self.commands.values())
        if size >= MOST[str(body["type"])]:
            return _reply(400, {"message": "no more"})
        return _reply(201, {"id": self.add(self.store(body))})

    def _edit(self, id_: str, body: Node) -> Reply:
        node = {**self.commands[id_], **body}
        if self._named(node["type"], node["name"]) not in {"", id_}:
            return _reply(400, {"message": "that name is taken"})
        self.commands[id_] = self.store({k: v for k, v in node.items() if v is not None})
        return _reply(200, {"id": id_})

    def _named(self, kind: int, name: str) -> str:
        """Return the id of the command of a type and a name; empty for none."""
        ids = [i for i, n in self.commands.items() if (n["type"], n["name"]) == (kind, name)]
        assert len(ids) <= 1
        return "".join(ids)


def _reply(status: int, content: object) -> Reply:
    return Reply(status, json.dumps(content).encode())


def _read(reply: Reply) -> tuple[Entry, ...]:
    nodes = content_of(reply)
    if not isinstance(nodes, list):
        raise DecodeError("no list", reply=reply)
    own = [{key: value for key, value in node.items() if key != "id"} for node in nodes]
    return tuple(
        Entry(ApplicationCommand.of(part), id=node["id"], own=(node,))
        for part, node in zip(own, nodes, strict=True)
    )


def _id_in(reply: Reply) -> str:
    match content_of(reply):
        case {"id": str(id_)}:
            return id_
        case _:
            raise DecodeError("no id", reply=reply)


def _added(reply: Reply) -> str:
    return Overwritten(_id_in(reply)) if reply.status == 200 else _id_in(reply)


def _edit(bot: str, kind: Resource, listed: Entry, text: Text) -> Operation[str]:
    """Return the request for the keys that differ from the object as it was listed."""
    assert (bot, kind) == (TARGET.bot, KIND)
    before: Node = dict(*listed.own)
    after = object_of(text) or {}
    gone = dict.fromkeys(before.keys() - after.keys() - {"id"})
    body = {key: value for key, value in after.items() if before.get(key) != value} | gone
    path = f"{PATH}/{listed.id}"
    return Operation("edit", "PATCH", path, _id_in, body=body)


def _written(reply: Reply) -> str:
    if reply.status != 204:
        raise_for_status(reply)
        raise DecodeError("it has a body", reply=reply)
    return ""


SERVICE = RecordService(
    name="registry",
    abilities=TARGET.abilities,
    facts=PAGE.facts,
    authorization="",
    read=lambda _, __: Operation("list", "GET", PATH, _read),
    add=lambda _, __, text: Operation("add", "POST", PATH, _added, body=object_of(text)),
    edit=_edit,
    delete=lambda _, __, id_: Operation(
        "delete", "DELETE", f"{PATH}/{id_}", _written, gone_is_done=True
    ),
)


def _reading(driver: Driver, scope: Iterable[Resource]) -> Moments[Snapshot]:
    assert [*scope] == [KIND]
    return Snapshot({KIND: (yield from driver.calling(SERVICE.read(TARGET.bot, KIND)))})


def listing_of(registry: Registry) -> tuple[Entry, ...]:
    """Return the commands as a read shows them."""
    return to_its_end(_reading(Driver(registry), [KIND])).collections[KIND]


PARTS = Parts(reading=_reading, service=SERVICE)
"""The parts of a run on this service."""
