"""Which versions, paths and methods there are, and how the others are refused."""

import json
import re

import pytest

from tests.support.callers import NOBODY, OPERATIONS, Caller

READS = sorted(path for method, path in OPERATIONS if method == "GET")
PATHS = sorted({path for _, path in OPERATIONS})


def filled(template: str, caller: Caller) -> str:
    """Return a path of the document for a bot, and for records that it does not have."""
    return re.sub(r"\{\w+\}", NOBODY, template.replace("{bot}", caller.bot))


@pytest.mark.parametrize("path", ["/v0", "/v0/", "/v0/bot/1", "/v00/bots", "/v0/bot/1/commands"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_version_0_is_discontinued(caller: Caller, method: str, path: str) -> None:
    reply = caller.raw(method, path)

    assert reply.status == 410
    assert json.loads(reply.content)["error"].startswith("version 0 is")


@pytest.mark.parametrize("path", ["/v2", "/v2/bot/1", "/v11/bots", "/v999999999/"])
def test_an_unknown_version_names_the_one_there_is(caller: Caller, path: str) -> None:
    reply = caller.raw("GET", path)

    assert reply.status == 404
    assert "version is 1" in json.loads(reply.content)["error"]


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", "/bots", "/v", "/v1x/bot/1", "/v9999999999/bot/1"]
)
def test_an_unknown_path_names_the_beginning_of_all(caller: Caller, path: str) -> None:
    reply = caller.raw("GET", path)

    assert reply.status == 404
    assert json.loads(reply.content)["error"].endswith(" /v1/")


@pytest.mark.parametrize("template", PATHS)
def test_another_method_is_refused_with_those_of_the_path(caller: Caller, template: str) -> None:
    reply = caller.raw("PATCH", filled(template, caller))
    allowed = {method for method, path in OPERATIONS if path == template}
    if "GET" in allowed:
        allowed.add("HEAD")

    assert reply.status == 405
    assert set(reply.headers["allow"].split(", ")) == allowed
    assert reply.headers["allow"] in json.loads(reply.content)["error"]


def test_a_path_that_is_only_written_has_no_head(caller: Caller) -> None:
    reply = caller.raw("HEAD", f"/v1/bot/{caller.bot}/commands/{NOBODY}")

    assert (reply.status, reply.headers["allow"], reply.content) == (405, "DELETE", b"")


@pytest.mark.parametrize("path", [*READS, "/v1/openapi.json", "/v1/bot/nobody"])
def test_a_head_is_a_get_without_its_body(caller: Caller, path: str) -> None:
    get = caller.raw("GET", filled(path, caller))
    head = caller.raw("HEAD", filled(path, caller))
    changing = {"date", "content-length"}  # the time that an answer took has one to three digits

    assert (head.status, head.content) == (get.status, b"")
    assert head.headers.keys() == get.headers.keys()
    assert {k: v for k, v in head.headers.items() if k not in changing} == {
        k: v for k, v in get.headers.items() if k not in changing
    }
