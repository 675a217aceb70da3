"""Writers that note what they asked and what was acknowledged, for a service that gets killed."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import cycle
from threading import Lock

from tests.support.callers import Caller, Record


@dataclass
class Writer:
    """Edits one command, deletes others and adds more; notes what it asked and what was done."""

    name: str
    edited: str
    others: deque[str]
    asked: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    edits_asked: int = 0
    edits_done: int = 0

    def work(self, caller: Caller, count: Callable[[], None]) -> None:
        """Write until the service is killed; call `count` after every write that was done."""
        try:
            while True:
                for write in (self._edit, self._delete, self._add):
                    write(caller)
                    count()
        except (OSError, HTTPException):
            return  # killed before it could answer

    def _edit(self, caller: Caller) -> None:
        self.edits_asked += 1
        texts = {"name": "edited", "description": f"{self.edits_asked}", "syntax": "s"}
        assert caller.ask("POST", "/commands", {"id": self.edited, **texts})[0] == 200
        self.edits_done = self.edits_asked

    def _delete(self, caller: Caller) -> None:
        identifier = self.others.popleft()
        self.asked.add(identifier)
        assert caller.ask("DELETE", f"/commands/{identifier}")[0] == 200
        self.done.add(identifier)

    def _add(self, caller: Caller) -> None:
        name = f"{self.name}.{len(self.asked)}"
        self.asked.add(name)
        texts = {"name": name, "description": "d", "syntax": "s"}
        assert caller.ask("POST", "/commands", texts)[0] == 200
        self.done.add(name)

    def check(self, listed: list[Record]) -> None:
        """Look whether a listing has all that was acknowledged, and nothing that was not sent."""
        ids = {one["id"] for one in listed}
        names = [one["name"] for one in listed if one["name"].startswith(f"{self.name}.")]
        added = {name for name in self.done if name.startswith(f"{self.name}.")}
        (edited,) = (one for one in listed if one["id"] == self.edited)
        assert self.edits_done <= int(edited["description"]) <= self.edits_asked
        assert not self.done & ids
        assert set(self.others) <= ids
        assert added <= set(names) <= self.asked
        assert names == sorted(set(names), key=lambda name: int(name.rpartition(".")[2]))


def writers_of(listed: list[Record], count: int) -> list[Writer]:
    """Share the commands of a bot: each writer edits one of them and deletes its others."""
    shares = [[one["id"] for one in listed[number::count]] for number in range(count)]
    return [
        Writer(f"writer{number}", edited, deque(others))
        for number, (edited, *others) in enumerate(shares)
    ]


def write_until_killed(
    writers: list[Writer], callers: Sequence[Caller], kill: Callable[[], None], goal: int
) -> None:
    """Let all write at once, until so many writes were acknowledged and the service is killed.

    A service of several processes has a caller for each; the writers are shared out.
    """
    count = _killer(kill, goal)
    with ThreadPoolExecutor(len(writers)) as pool:
        pairs = zip(writers, cycle(callers), strict=False)
        for work in [pool.submit(writer.work, caller, count) for writer, caller in pairs]:
            work.result()


def _killer(kill: Callable[[], None], goal: int) -> Callable[[], None]:
    """Return what kills a service when it was called so often."""
    lock = Lock()
    left = iter(range(goal - 1, 0, -1))

    def count() -> None:
        with lock:
            if not next(left, 0):
                kill()

    return count
