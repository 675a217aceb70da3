"""The number of requests: no more than needed, and none for a collection that is not managed."""

from collections import Counter

import pytest

from tests.support.bots import Bot, Proxy, Service, meeting
from tests.support.home import Home, checked, fields

NEWS = "announcements:\n  - title: v2\n    description: News.\n"
NAMES = [f"command {number}" for number in range(12)]
READS = ["GET announcements", "GET commands"]


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    return home.knows(service.bot(NAMES, ["v2"]), url=proxy.url)


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["plan", "apply --yes", "apply --dry-run"])
def test_a_run_without_changes_reads_each_once(home: Home, proxy: Proxy, command: str) -> None:
    home.write(fields(*((name,) for name in NAMES)) + NEWS)

    ran = home.run(*command.split(), exits=0)

    assert "No changes: " in ran.out
    assert sorted(proxy.shorts()) == READS


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["plan", "apply --yes"])
def test_the_collections_are_read_at_the_same_time(home: Home, proxy: Proxy, command: str) -> None:
    home.write(fields(*((name,) for name in NAMES)) + NEWS)
    proxy.rule = meeting(2)

    home.run(*command.split(), exits=0)

    assert proxy.most == 2


@pytest.mark.usefixtures("bot")
def test_a_collection_that_is_not_declared_is_never_read(home: Home, proxy: Proxy) -> None:
    home.write("version: 1\n" + NEWS)
    assert home.run("apply", "--yes").code == 0
    home.write(fields(*((name,) for name in NAMES)))
    assert home.run("apply", "--yes").code == 0

    assert proxy.shorts() == ["GET announcements", "GET commands"]


@pytest.mark.usefixtures("bot")
def test_a_manifest_that_manages_nothing_asks_nothing(home: Home, proxy: Proxy) -> None:
    home.write("version: 1\n")

    ran = home.run("apply", "--yes", exits=0)

    assert "No changes: " in ran.out
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
def test_changes_cost_one_request_each_and_a_read(home: Home, proxy: Proxy) -> None:
    kept = [(name, "Reworded.") for name in NAMES[:5]] + [(name,) for name in NAMES[5:10]]
    home.write(fields(*kept, ("new one",), ("new two",)) + NEWS)

    ran = home.run("apply", "--yes", "--format", "json")

    made = checked(ran, "result")["outcomes"]["done"]
    assert made == 5 + 2 + 2
    assert len(proxy.requests) == 2 + made + 2
    assert Counter(request.method for request in proxy.requests) == {
        "GET": 4,
        "POST": 7,
        "DELETE": 2,
    }
    assert sorted(proxy.shorts()[-2:]) == READS


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("most", [1, 3])
def test_no_more_requests_are_in_flight(home: Home, proxy: Proxy, most: int) -> None:
    home.write(fields(*((name, "Reworded.") for name in NAMES)) + NEWS)
    proxy.rule = meeting(most, when=lambda seen: seen.writes)

    home.run("apply", "--yes", "--concurrency", str(most), exits=0)

    assert proxy.most == most


@pytest.mark.usefixtures("bot")
def test_unordered_adds_go_together(home: Home, proxy: Proxy) -> None:
    home.write(fields(*((name,) for name in NAMES), *((f"new {n}",) for n in range(4))))
    proxy.rule = meeting(4, when=lambda seen: seen.writes)

    home.run("apply", "--yes", "--unordered", exits=0)

    assert proxy.most == 4
