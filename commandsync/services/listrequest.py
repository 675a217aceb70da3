"""The request that replaces a whole list, as a value: it is compared, and it is sent.

`list_request` makes the request of a service, a bot and the commands that the service can show,
without the token. Equal commands do not make equal requests: another service, address, key or order
changes the request. So a list is as it was exactly if the digest of its request is.
"""

import json
from hashlib import sha256
from typing import NamedTuple

from commandsync.api.arguments import service_of
from commandsync.api.operations import Operation
from commandsync.records.snapshot import Snapshot
from commandsync.services.service import ListService


class ListRequest(NamedTuple):
    """A request, which has `{token}` where the token goes."""

    method: str
    url: str
    body: str  # the JSON text

    @property
    def digest(self) -> str:
        """The digest over the whole request, whatever the host is called in its URL."""
        scheme, _, rest = self.url.partition("://")
        host, slash, path = rest.partition("/")
        url = f"{scheme}://{service_of(f'{scheme}://{host}')}{slash}{path}"
        return sha256(f"{self.method}\n{url}\n{self.body}".encode()).hexdigest()


def list_request(service: ListService, bot: str, commands: Snapshot) -> ListRequest:
    """Return the request that replaces a list by commands, as `fit` returns them.

    Raises `ValueError` if the commands are not managed.
    """
    return of_operation(service, service.replace(bot, commands))


def of_operation(service: ListService, operation: Operation[None]) -> ListRequest:
    """Return the request of an operation of a service."""
    body = json.dumps(operation.body)
    return ListRequest(operation.method, service.origin + operation.path, body)
