"""The times of a manifest: from when and until when an entry is to be listed.

A time has a zone, so that it means the same on every machine. Its forms are those that RFC 3339 and
YAML's timestamps have in common.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from commandsync.manifest.fields import Context, refusal
from commandsync.manifest.nodes import Node, Scalar, called
from commandsync.manifest.problems import quoted

_DAY = r"2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = f"{_DAY}[T ]{_OF_DAY}(:[0-5][0-9])?"
_WITH_ZONE = f"{_TIME}(Z|[+-]{_OF_DAY})"
_EXAMPLE = "2026-12-01T18:00Z"


def _time(value: Node, info: ValidationInfo[Context]) -> datetime:
    key = info.field_name
    if not isinstance(value, Scalar) or value.is_null:
        kind = "null" if value and isinstance(value, Scalar) else called(value)
        raise refusal(f"{key} must be a time, not {kind}", f"write it like {_EXAMPLE}")
    if re.fullmatch(_DAY, value):
        hint = f"write {value}T00:00Z for the beginning of that day in UTC"
        raise refusal(f"{key} has no time of day: {quoted(value)}", hint)
    if re.fullmatch(_TIME, value):
        hint = f"write {value}Z for UTC, or the offset of your zone, as in {value}+01:00"
        raise refusal(f"{key} has no time zone: {quoted(value)}", hint)
    with suppress(ValueError):  # the month does not have that day
        if re.fullmatch(_WITH_ZONE, value):
            return datetime.fromisoformat(value).astimezone(UTC)
    raise refusal(f"{key} is not a valid time: {quoted(value)}", f"write it like {_EXAMPLE}")


Time = Annotated[
    datetime | None,
    PlainValidator(_time),
    WithJsonSchema({"type": "string", "pattern": f"^{_WITH_ZONE}$"}),
]
"""A time with a zone, read as UTC; None if left out."""
