"""Comments go to a real HTTP stand-in for GitHub."""

from tests.support.hub import hub

__all__ = ["hub"]
