"""Marks of tests that wait for a defect to be mended; once none is left, this module goes."""

from __future__ import annotations

import pytest

from tests.support.clients import HastyAsyncClient, HastyClient

_BOTH = {"blocking": HastyClient, "asynchronous": HastyAsyncClient}


def fails_today(reason: str, *kinds: str) -> pytest.MarkDecorator:
    """Mark a test of both clients as failing, with these kinds of client (all of them if none)."""
    fails = pytest.mark.xfail(strict=True, reason=reason)
    params = [
        pytest.param(client, id=kind, marks=[fails] if not kinds or kind in kinds else [])
        for kind, client in _BOTH.items()
    ]
    return pytest.mark.parametrize("open_client", params, indirect=True)
