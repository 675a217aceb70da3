"""`--strict`: a warning about the manifest fails, before anything is written."""

from tests.support.bots import Proxy, Service
from tests.support.home import Home, checked, fields


def test_a_files_warning_fails_at_once(home: Home, service: Service, proxy: Proxy) -> None:
    home.knows(service.bot(["help"]), url=proxy.url)
    home.write(fields(("help", "…")))

    assert home.run("validate").code == 0
    for command in (["validate"], ["plan"], ["apply", "--yes"]):
        ran = home.run(*command, "--strict")
        assert (ran.code, ran.out) == (4, "")
        assert ran.err.startswith("commands.yaml:4:18: error: ")
        assert " 1 problem\n  hint: a strict run " in ran.err
        document = checked(home.run(*command, "--strict", "--format", "json"), "result")
        assert [problem["line"] for problem in document["problems"]] == [4]
    assert proxy.requests == []


def test_a_listings_warning_fails_first(home: Home, service: Service, proxy: Proxy) -> None:
    home.knows(service.bot(["help"]), url=proxy.url)
    pinned = fields(("help", "Reworded.")).replace("name:", "id: gone\n    name:")
    home.write(pinned, "pinned.yaml")
    home.write(fields(("help", "Does it.")), "old.yaml")

    assert "'gone'" in home.run("plan", "-f", "pinned.yaml").out
    for command in (["plan"], ["apply", "--yes"]):
        ran = home.run(*command, "-f", "pinned.yaml", "--strict")
        assert (ran.code, ran.out) == (4, "")
        assert ran.err.startswith("pinned.yaml:3:5: error: 'help' ")
    assert proxy.writes == []
    renamed = fields(("assist",)).replace("{prefix}assist", "{prefix}help")
    home.write(renamed, "renamed.yaml")
    ran = home.run("plan", "-f", "renamed.yaml", "--against", "old.yaml", "--strict", exits=4)
    assert "'assist' looks like 'help'" in ran.err


def test_a_saved_plan_cannot_be_strict(home: Home) -> None:
    ran = home.run("apply", "--plan", "plan.json", "--strict", "--yes", exits=2)

    assert "--strict" in ran.err
