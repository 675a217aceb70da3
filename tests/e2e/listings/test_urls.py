"""The URL of a declared service: `plan --requests` prints the very one that is requested."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.api.arguments import parse_address
from commandsync.client.request import Secrecy, request_of
from commandsync.manifest import load_manifests
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import of_operation
from tests.support.home import Home, fields
from tests.support.rawserver import RawServer, answering

ODD = (
    "/x/../api/{bot}",
    "//a//b",
    "/%73/%7e/%2f/%e4",
    '/a"<>[]^`|b',
    '/a?x=%73&y=[1]&z=//..&q="{bot}"',
    "/a/.?",
    "/a/b/..",
    "/!$&'()*+,;=:@",
)


def entry(name: str, url: str) -> dict[str, object]:
    replaced = {"method": "PUT", "url": url, "fields": {"name": "name"}}
    return {"service": name, "replace": replaced}


@pytest.mark.parametrize("path", ODD)
def test_the_url_that_is_printed_is_requested(home: Home, path: str) -> None:
    with RawServer().then(answering()) as server:
        listing = entry("own", f"{server.url}{path}")
        home.write(f'{fields(("ping",))}bot: "42"\nlistings: {json.dumps([listing])}\n')
        printed = home.run("plan", "--unseen", "--requests", exits=0)
        home.run("apply", "--yes", "--unseen", exits=0)

    (sent,) = server.requests
    assert re.findall("^ *PUT (.*)$", printed.out, re.MULTILINE) == [f"{server.url}{sent.target}"]


@given(
    st.from_regex(r"/(?:%[0-9A-Fa-f]{2}|[!\"$&-\[\]-z|~/.?]|\{bot\})*", fullmatch=True).filter(
        lambda path: "{token}" not in path
    )
)
@example("/a?b?c=%3F#".rstrip("#"))
def test_the_client_changes_no_url_that_was_loaded(path: str) -> None:
    text = json.dumps(
        {"version": 1, "commands": [], "listings": [entry("own", f"http://127.0.0.1:80{path}")]}
    )
    (manifest,) = load_manifests(["-"], stdin=text.encode)
    service = manifest.listings[0].list_service
    operation = service.replace("42", Snapshot({Resource.COMMAND: ()}))
    address = parse_address(service.origin, version=None)

    prepared = request_of(address, operation, Secrecy(None), {})

    assert prepared.url == of_operation(service, operation).url
