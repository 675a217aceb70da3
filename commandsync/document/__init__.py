"""Plans, results and failures as JSON documents; here is what needs no pydantic."""

from __future__ import annotations

from typing import Literal

from commandsync import errors

VERSION: Literal[1] = 1
"""The version of every document."""

_KINDS: dict[type, str] = {
    errors.UsageError: "usage",
    errors.ManifestError: "invalid",
    errors.FileError: "file",
    errors.StalePlanError: "stale",
    errors.RefusedError: "refused",
    errors.Unauthorized: "auth",
    errors.Forbidden: "auth",
    errors.RateLimited: "rate-limited",
    errors.TransportError: "network",
    errors.ServerError: "network",
    errors.ListingError: "service",
}


def failure_kind(error: errors.CommandsyncError) -> str:
    """Return the kind of failure that an error is, in one word."""
    return next((_KINDS[base] for base in type(error).mro() if base in _KINDS), "failed")
