"""Answers that are kept until the database changes: a bot's lists and the list of bots."""

from collections.abc import Callable, Coroutine
from datetime import UTC, date
from time import perf_counter
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from commandsync.server.endpoint import passing_time

State = tuple[int, date] | None

MOST_KEPT = 32 * 1024 * 1024
"""Bytes of all kept answers."""

_TIME = b',"passingTime":'
_OK = 200


class KeptAnswers:
    """The answers of one state of the database on one day, each without its passing time."""

    def __init__(self) -> None:
        self._state: State = None
        self._answers: dict[str, bytes] = {}
        self._size = 0

    def get(self, path: str, state: State) -> bytes | None:
        """Return the answer of a path and its query in this state, if it is kept."""
        return self._answers.get(path) if state == self._state else None

    def add(self, path: str, state: State, answer: bytes) -> None:
        """Keep an answer that was made after this state was read."""
        if state != self._state or self._size + len(answer) > MOST_KEPT:
            self._answers.clear()
            self._state, self._size = state, 0
        if state is not None:
            self._answers[path] = answer
            self._size += len(answer)


class KeptRoute(APIRoute):
    """A route whose answers depend on the path, its query, the database and the day alone."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request: with the kept answer, or with a new one."""
        make = super().get_route_handler()

        async def handle(request: Request) -> Response:
            started = perf_counter()
            kept, number = request.app.state.kept, request.app.state.listing.state()
            day = request.app.state.now().astimezone(UTC).date()  # counts of votes depend on it
            state = None if number is None else (number, day)
            path = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
            answer = kept.get(path, state)
            if answer is None:
                response = await make(request)
                if response.status_code == _OK:
                    kept.add(path, state, bytes(response.body).rpartition(_TIME)[0])
                return response
            content = b'%s%s"%s"}' % (answer, _TIME, passing_time(started).encode())
            return Response(content, media_type="application/json")

        return handle
