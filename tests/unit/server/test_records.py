"""What a seed file can spell and no answer can carry."""

import json
from pathlib import Path
from typing import Any

import pytest

from commandsync.errors import FileError
from commandsync.server.seed import read_seed

HALF = "\ud800"
PROFILE = {"username": "Lantern"}


@pytest.mark.parametrize(
    "fields",
    [
        {"prefix": HALF},
        {"provider": HALF},
        {"vanity": HALF},
        {"inviteURL": HALF},
        {"information": {"tags": ["fun", HALF]}},
        {"information": {"description": HALF}},
        {"information": {"overview": HALF}},
        {"information": {"creator": {"id": HALF}}},
        *({"profile": {**PROFILE, name: HALF}} for name in ("avatar", "avatarURL", "banner")),
        *({"profile": {**PROFILE, name: HALF}} for name in ("discriminator", "tag", "username")),
    ],
)
def test_half_a_surrogate_pair_is_refused_in_every_text(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    with pytest.raises(FileError, match="contains half of a surrogate pair"):
        read_seed(_seed(tmp_path, fields))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_say_is_refused(tmp_path: Path, number: float) -> None:
    with pytest.raises(FileError, match=r"bots\[0\]\.ratings\.average is not valid"):
        read_seed(_seed(tmp_path, {"ratings": {"average": number}}))


def _seed(folder: Path, fields: dict[str, Any]) -> Path:
    path = folder / "seed.json"
    path.write_text(json.dumps({"bots": [{"id": "1", "profile": PROFILE, **fields}]}))
    return path
