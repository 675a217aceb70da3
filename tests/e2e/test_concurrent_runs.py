"""Two machines, such as CI jobs, for one bot: real runs at the same time."""

import sys
from collections import Counter

import pytest

from tests.support.bots import Bot, Proxy, Service, meeting
from tests.support.home import LONGEST, Home, Ran, checked, fields

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the folder for locks can be moved on Linux"
)
NAMES = [f"command {number}" for number in range(4)]
NEW = [f"new {number}" for number in range(3)]
WANTED = fields(*((name, "Reworded.") for name in NAMES[:3]), *((name,) for name in NEW))
POSTS = 'announcements:\n  - {title: "v1", description: "It is out."}\n'


def both(home: Home, proxy: Proxy) -> list[Ran]:
    """Run two of them that read before either writes."""
    reads = 4  # two collections each
    met: list[str] = []
    rule = meeting(reads)

    def together(seen: object) -> None:
        if len(met) < reads:
            met.append("read")
            rule(seen)  # type: ignore[arg-type]  # the proxy's own

    proxy.rule = together
    line = ("apply", "--yes", "--format", "json")
    children = [home.started(*line, XDG_STATE_HOME=str(home.path / machine)) for machine in "ab"]
    ended = []
    for child in children:
        out, err = child.communicate(timeout=LONGEST)
        ended.append(Ran(child.returncode, out.decode(), err.decode()))
    proxy.rule = lambda _: None
    return ended


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(WANTED + POSTS)
    return home.knows(service.bot(NAMES), url=proxy.url)


def test_both_end_and_the_next_run_clears_up(home: Home, bot: Bot, proxy: Proxy) -> None:
    ids = bot.ids()
    ran = both(home, proxy)

    results = [checked(one, "result") for one in ran]
    doubled = {name for name, count in Counter(bot.names()).items() if count > 1}
    said = " ".join(notice["message"] for result in results for notice in result["notices"])
    assert {one.code for one in ran} <= {0, 6}
    assert doubled
    assert all(repr(name) in said for name in doubled)
    home.run("apply", "--yes")
    home.run("apply", "--yes", exits=0)
    assert sorted(bot.names()) == sorted([*NAMES[:3], *NEW])
    assert {name: bot.ids()[name] for name in NAMES[:3]} == {name: ids[name] for name in NAMES[:3]}
