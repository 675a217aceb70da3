"""`commandsync listings`: the table and the JSON document."""

from tests.support.home import Home


def test_the_table_names_every_service_and_says_which_are_simulated_only(home: Home) -> None:
    ran = home.run("listings")

    head, tried, *_ = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert head.split() == [
        "ABILITY",
        "PAGE",
        "DISCORD",
        "TOP.GG",
        "DISCORDBOTLIST.COM",
        "TELEGRAM",
    ]
    assert tried.count("simulated only") == 4


def test_the_document_has_the_services(home: Home) -> None:
    ran = home.run("listings", "--format", "json")

    names = [each["service"] for each in ran.document["services"]]
    assert names == ["page", "discord", "top.gg", "discordbotlist.com", "telegram"]
