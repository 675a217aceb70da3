"""What each listing service can do with each kind of record."""

from types import MappingProxyType

from commandsync.records.texts import Abilities, Ability, Resource

PAGE_ABILITIES: Abilities = MappingProxyType(
    {
        Resource.COMMAND: Ability(edit=True, uses=True),
        Resource.ANNOUNCEMENT: Ability(edit=False),
    }
)
"""Of the service of the interface ("Endpoints"): it edits commands, and counts their uses.

It is asked where no service is named: by a manifest, a saved plan, and the commands for single
records.
"""

LIST_ABILITIES: Abilities = MappingProxyType({Resource.COMMAND: Ability(edit=True)})
"""Of a service that takes the whole list: a list with another text for a command is an edit."""
