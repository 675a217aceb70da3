"""The listing service whose page of a bot has records with ids: read, added, edited and deleted.

Its requests come from the service interface ("Endpoints", "Authentication").
"""

from __future__ import annotations

from types import MappingProxyType

from commandsync.api import operations
from commandsync.api.credentials import SCHEME
from commandsync.records.facts import Answer, Facts, Reads, Source
from commandsync.services.abilities import PAGE_ABILITIES
from commandsync.services.service import RecordService

_SOURCE = Source("service interface: Endpoints")
_YES, _NO, _UNKNOWN = (_SOURCE.says(answer) for answer in Answer)

PAGE = RecordService(
    name="page",
    abilities=PAGE_ABILITIES,
    facts=Facts(
        read=_SOURCE.says(Reads.RECORDS),
        replace=_NO,
        write=_YES,
        clear=_YES,
        ids=_YES,
        uses=_YES,
        order=_UNKNOWN,
        options=_NO,
        announcements=_YES,
        most_records=_UNKNOWN,
        most_sub_commands=_SOURCE.says(0),
        levels=_SOURCE.says(0),
        wait=_UNKNOWN,
        fields=MappingProxyType({"description": _YES, "syntax": _YES, "category": _YES}),
    ),
    authorization=f"{SCHEME} {{token}}",
    read=operations.reading,
    add=operations.add,
    edit=operations.edit,
    delete=operations.delete,
)
"""The service of the interface that the client library implements."""
