"""Plans, results and failures as JSON documents; this module needs no pydantic."""

from typing import Literal

VERSION: Literal[1] = 1
"""The version of every document."""
