"""GitHub's deployments, as its documentation of REST describes them; nobody has tried them there.

One object has those of a repository, and answers requests, for a server of HTTP or without one. Its
clock moves by a second with each write, and as far as a test says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Record = dict[str, Any]

_ALL = re.compile(r"/repos/[^/]+/[^/]+/deployments")
_STATUSES = re.compile(r"/repos/[^/]+/[^/]+/deployments/(\d+)/statuses")
_STATES = {"error", "failure", "inactive", "in_progress", "queued", "pending", "success"}
_LONGEST_DESCRIPTION = 140
_LONGEST_TEXT = 65_535  # characters; not documented, other texts have this limit


@dataclass
class SimulatedDeployments:
    """The deployments of a repository, and the permission of the job."""

    deployments: list[Record] = field(default_factory=list)  # the oldest first
    statuses: dict[int, list[Record]] = field(
        default_factory=dict
    )  # by deployment, the oldest first
    permission: str = "write"  # or `read`, or empty
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    page: int = 100  # the most records of a page

    def answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any = None,  # noqa: ANN401 - JSON
    ) -> tuple[int, Any, str] | None:
        """Answer with a status, a content and the `Link` header; None for another resource."""
        statuses = _STATUSES.fullmatch(path)
        if not (statuses or _ALL.fullmatch(path)):
            return None
        if not self.permission or (method == "POST" and self.permission == "read"):
            return 403, {"message": "Resource not accessible by integration"}, ""
        if statuses and int(statuses[1]) not in self.statuses:
            return 404, {"message": "Not Found"}, ""
        if method == "POST":
            self.now += timedelta(seconds=1)
            return self._set(int(statuses[1]), body) if statuses else self.create(body)
        if statuses:
            return self._paged(self.statuses[int(statuses[1])], path, query)
        filters = {key: query[key] for key in ("environment", "task", "ref", "sha") if key in query}
        found = [each for each in self.deployments if filters.items() <= each.items()]
        return self._paged(found, path, query)

    def payloads(self) -> list[Record]:
        return [each["payload"] for each in self.deployments]

    def states(self) -> list[list[str]]:
        """Return the states of each deployment, the oldest first."""
        return [[each["state"] for each in of] for of in self.statuses.values()]

    def create(self, body: Record) -> tuple[int, Any, str]:
        required, known = (
            {"ref"},
            {
                *("ref", "task", "auto_merge", "required_contexts", "payload", "environment"),
                *("description", "transient_environment", "production_environment"),
            },
        )
        if not required <= body.keys() <= known or not re.fullmatch("[0-9a-f]{40}", body["ref"]):
            return 422, {"message": "Validation Failed"}, ""
        if body.get("auto_merge", True) or body.get("required_contexts") != []:
            return 409, {"message": "Conflict: the branch is behind, or a check is missing"}, ""
        if len(str(body.get("payload", ""))) > _LONGEST_TEXT:
            return 422, {"message": f"Only {_LONGEST_TEXT} characters are allowed"}, ""
        number = 1_000 + len(self.deployments)
        at = f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
        record = {
            "id": number,
            "sha": body["ref"],
            "ref": body["ref"],
            "task": body.get("task", "deploy"),
            "payload": body.get("payload", ""),
            "environment": body.get("environment", "production"),
            "original_environment": body.get("environment", "production"),
            "description": body.get("description"),
            "creator": {"login": "github-actions[bot]"},
            "created_at": at,
            "updated_at": at,
        }
        self.deployments.append(record)
        self.statuses[number] = []
        return 201, record, ""

    def _set(self, number: int, body: Record) -> tuple[int, Any, str]:
        if body.get("state") not in _STATES or len(body["description"]) > _LONGEST_DESCRIPTION:
            return 422, {"message": "Validation Failed"}, ""
        if body["state"] == "success" and body.get("auto_inactive", True):
            for each in self.deployments:
                if each["id"] != number:
                    self.append(each["id"], "inactive", "")
        return 201, self.append(number, body["state"], body["description"]), ""

    def append(self, number: int, state: str, description: str) -> Record:
        count = sum(map(len, self.statuses.values()))
        at = f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
        record = {"id": 50_000 + count, "state": state, "description": description}
        record |= {"created_at": at, "updated_at": at}
        self.statuses[number].append(record)
        return record

    def _paged(
        self, records: list[Record], path: str, query: Mapping[str, str]
    ) -> tuple[int, Any, str]:
        """Return a page of records, the newest first."""
        number = int(query.get("page", "1"))
        size = min(self.page, int(query.get("per_page", "30")))
        newest = records[::-1]
        begin = (number - 1) * size
        rest = "&".join(f"{key}={value}" for key, value in query.items() if key != "page")
        more = begin + size < len(newest)
        return 200, newest[begin : begin + size], f"{path}?{rest}&page={number + 1}" if more else ""
