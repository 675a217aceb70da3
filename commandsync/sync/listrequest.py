"""The requests that would replace whole lists, to be shown: none has a token."""

import json
from dataclasses import dataclass

from commandsync.sync.job import Planned
from commandsync.sync.listings import ListingJob


@dataclass(frozen=True, slots=True)
class Request:
    """The request that replaces a whole list, without the token."""

    listing: str  # the service's name
    method: str  # the HTTP method
    url: str  # the URL; `{token}` is in the place of the token
    authorization: str  # the header of this name, as the URL; empty for none
    body: object  # the JSON body

    def as_keys(self) -> dict[str, object]:
        """Return it as keys of a JSON document."""
        return {
            "listing": self.listing,
            "method": self.method,
            "url": self.url,
            "authorization": self.authorization or None,
            "body": self.body,
        }

    def __str__(self) -> str:
        header = [f"Authorization: {self.authorization}"] if self.authorization else []
        body = json.dumps(self.body, indent=2)
        head = [f"{self.method} {self.url}", *header, "Content-Type: application/json"]
        return "\n".join([*head, "", body])


def request_of(planned: Planned) -> Request | None:
    """Return the request that would replace the list of a plan; None for a page."""
    job = planned.planner
    if not isinstance(job, ListingJob):
        return None
    operation = job.request(planned)
    return Request(
        listing=job.service.name,
        method=operation.method,
        url=job.site.address.api + operation.path,
        authorization=job.service.authorization,
        body=operation.body,
    )
