import json
from pathlib import Path
from typing import Any

import pytest

from commandsync.errors import FileError
from commandsync.records.texts import Resource
from commandsync.server import storage
from commandsync.server.administration import create_bots, read_seed
from commandsync.server.database import opened

EXAMPLE = Path(__file__).parents[3] / "examples" / "seed.json"
BOT = {"id": "1", "profile": {"username": "Lantern"}}
HALF = "\ud800"
HALVES: list[dict[str, Any]] = [
    *({name: HALF} for name in ("prefix", "provider", "vanity", "inviteURL")),
    *({"information": {name: HALF}} for name in ("description", "overview")),
    {"information": {"tags": ["fun", HALF]}},
    {"information": {"creator": {"id": HALF}}},
    *(
        {"profile": {"username": "Lantern", name: HALF}}
        for name in ("avatar", "avatarURL", "banner", "discriminator", "tag", "username")
    ),
]


def seed_file(folder: Path, content: object) -> Path:
    path = folder / "seed.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def bot_with(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"bots": [{**BOT, **fields}]}


def test_the_example_creates_its_bots_with_all_they_have() -> None:
    seed = read_seed(EXAMPLE)
    with opened(":memory:") as database:
        bots = create_bots(seed, database)
        with database.reading() as connection:
            names = [
                row["name"] for row in storage.records_of(connection, bots[1].id, Resource.COMMAND)
            ]
            titles = [
                row["title"]
                for row in storage.records_of(connection, bots[1].id, Resource.ANNOUNCEMENT)
            ]

    assert [bot.username for bot in bots] == ["Harbor", "Lantern"]
    assert names == [
        command["name"] for command in json.loads(EXAMPLE.read_bytes())["bots"][1]["commands"]
    ]
    assert titles == ["Slash commands are here"]


def test_a_token_is_not_in_the_repr(tmp_path: Path) -> None:
    with opened(":memory:") as database:
        (bot,) = create_bots(read_seed(seed_file(tmp_path, bot_with())), database)

    assert bot.token not in repr(bot)


def test_a_bot_that_exists_is_left_as_it_is_and_keeps_its_token(tmp_path: Path) -> None:
    command = {"name": "ping", "description": "d", "syntax": "s", "uses": 3}
    with opened(":memory:") as database:
        first = create_bots(read_seed(seed_file(tmp_path, bot_with())), database)
        again = bot_with(profile={"username": "Other"}, commands=[command])
        second = create_bots(read_seed(seed_file(tmp_path, again)), database)
        with database.reading() as connection:
            listed = storage.records_of(connection, "1", Resource.COMMAND)

    assert second == first
    assert listed == []


@pytest.mark.parametrize(
    ("names", "tag"),
    [
        ({"username": "Lantern"}, "Lantern"),
        ({"username": "Lantern", "discriminator": "4821"}, "Lantern#4821"),
        ({"username": "Lantern", "tag": "own"}, "own"),
    ],
)
def test_the_tag_is_made_of_the_names(tmp_path: Path, names: dict[str, str], tag: str) -> None:
    seed = read_seed(seed_file(tmp_path, bot_with(profile=names)))

    assert seed.bots[0].profile.tag == tag


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not valid JSON"),
        ("[" * 200_000, "is not valid JSON"),
        ([], "it must be a JSON object"),
        ({}, "bots is missing"),
        ({"bots": [{}]}, r"bots\[0\]\.profile is missing; bots\[0\]\.id is missing"),
        ({"bots": [BOT, BOT]}, "bots contains a duplicate id"),
        (bot_with(id="a/b"), r"bots\[0\]\.id is not valid"),
        (bot_with(prefx="!"), r"bots\[0\]\.prefx is not a known field"),
        (bot_with(theme={"color": "red"}), r"bots\[0\]\.theme\.color is not valid"),
        (bot_with(commands=[{"name": 247}]), r"commands\[0\]\.name must be a string"),
        (bot_with(statistics={"servers": -1}), r"statistics\.servers must be at least 0"),
        *((bot_with(**half), "contains half of a surrogate pair") for half in HALVES),
        *(
            (bot_with(ratings={"average": number}), r"bots\[0\]\.ratings\.average is not valid")
            for number in (float("nan"), float("inf"))
        ),
        (bot_with(prefix="a\0"), r"bots\[0\]\.prefix is not valid: .*pattern"),
        (b'{"bots": "\xff"}', "is not valid JSON"),
    ],
)
def test_a_problem_is_reported_with_its_place(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(FileError, match=said) as caught:
        read_seed(seed_file(tmp_path, content))

    assert "seed file" in str(caught.value.hint)
