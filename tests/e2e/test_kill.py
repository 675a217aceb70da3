"""SIGKILL in the middle of a real run, at every request, before or after it is done."""

import json
import subprocess

import pytest

from tests.support.draws import scene
from tests.support.home import LONGEST, Home, fields
from tests.support.listing import FaultServer
from tests.support.story import Story
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="there is no SIGKILL on Windows")

FIRST, LAST = 2, 13  # the first write, and the reads at the end
CASE = scene()
MANIFEST = (
    fields(*(want.text for want in CASE.wants_of("commands")))
    + "announcements:\n"
    + "".join(
        f"  - {json.dumps(dict(zip(('title', 'description'), want.text, strict=True)))}\n"
        for want in CASE.wants_of("announcements")
    )
    + "sync: {announcements: mirror, max_deletes: 5}\n"
)


@pytest.mark.promise("no-duplicates")
@pytest.mark.parametrize(
    ("number", "done"),
    [
        # `make soak` has all; the other tests kill each request before or after it is done.
        pytest.param(number, done, marks=[pytest.mark.soak] * ((number % 2 == 0) is done))
        for number in range(FIRST, LAST)
        for done in (False, True)
    ],
)
def test_a_killed_run_is_finished_by_the_next(home: Home, number: int, *, done: bool) -> None:
    story = Story(CASE)
    service = story.service
    children: list[subprocess.Popen[bytes]] = []

    def kill(now: int) -> bool:
        if now != number or not children:
            return False
        children.pop().kill()
        return True

    home.write(MANIFEST)
    with FaultServer(service) as server:
        for name, value in (("BASE_URL", server.url), ("BOT", "42"), ("TOKEN", "marked")):
            home.variable(f"COMMANDSYNC_{name}", value)
        if done:
            server.answered = kill
        else:
            server.arrived = kill
        child = home.started("apply", "--yes")
        children.append(child)
        _, err = child.communicate(timeout=LONGEST)
        assert child.returncode == -9, err.decode()
        begun = len(service.requests)

        first = home.run("apply", "--yes")
        again = home.run("apply", "--yes")

    assert first.code == 0, first.said
    assert again.code == 0
    assert story.left() == []
    assert story.problems == []
    rewritten = [request for request in service.requests[begun:] if request.kind == "add"]
    assert len(rewritten) <= len(CASE.wants)
