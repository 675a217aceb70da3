"""The listing service whose page of a bot has records with ids: read, added, edited and deleted.

Its requests come from the service interface ("Endpoints", "Authentication").
"""

from commandsync.api import operations
from commandsync.api.credentials import SCHEME
from commandsync.records.facts import Answer, Reads, Source
from commandsync.records.texts import Resource
from commandsync.services.abilities import PAGE_ABILITIES
from commandsync.services.service import RecordService, facts_of

PAGE = RecordService(
    name="page",
    abilities=PAGE_ABILITIES,
    facts=facts_of(
        Source("service interface: Endpoints"),
        Resource.COMMAND.fields[1:],  # a text has the fields of this service
        {},
        read=Reads.RECORDS,
        replace=Answer.NO,
        **dict.fromkeys(("write", "clear", "ids", "uses", "announcements"), Answer.YES),
    ),
    authorization=f"{SCHEME} {{token}}",
    read=operations.reading,
    add=operations.add,
    edit=operations.edit,
    delete=operations.delete,
)
"""The service of the interface that the client library implements."""
