"""Secrets, in each of their forms, for the runner to mask in the job's log."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHORTEST = 6  # characters: masking a shorter text would make the log unreadable
_SECRETS = ("INPUT_TOKEN", "INPUT_GITHUB_TOKEN")
_VARIABLE = re.compile(r"COMMANDSYNC_(?!BASE_URL$|BOT$)\w+")  # the variables of token_env
_JWT_PARTS = 3


def forms_of_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return every text that the log must not show, without duplicates."""
    secrets = [
        value.strip()
        for name, value in sorted(environ.items())
        if name in _SECRETS or _VARIABLE.fullmatch(name)
    ]
    forms = (form for secret in secrets for form in _forms(secret))
    return tuple(dict.fromkeys(form for form in forms if len(form) >= _SHORTEST))


def _forms(secret: str) -> Iterator[str]:
    """Return the forms of a secret: whole, its lines, encoded, and its own parts."""
    bare = re.sub(r"^Bot\s+", "", secret)
    for text in (secret, bare, *secret.splitlines()):
        yield text.strip()
    yield quote(bare, safe="")
    yield json.dumps(bare)[1:-1]
    for text in (bare, f"Bot {bare}"):
        encoded = b64encode(text.encode()).decode()
        yield encoded
        yield encoded.rstrip("=")
        yield encoded.translate(str.maketrans("+/", "-_")).rstrip("=")
    parts = bare.split(".")
    if len(parts) == _JWT_PARTS:
        yield from parts[1:]  # the payload and the signature; the header is not secret
