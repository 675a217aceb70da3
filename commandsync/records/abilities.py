"""What a listing service can do with each kind of record: the type; `services/` has the values."""

from collections.abc import Mapping
from dataclasses import dataclass

from commandsync.records.texts import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """What a service can do with one kind of record."""

    edit: bool  # whether it can edit a listed record, which then keeps its id
    uses: bool = False  # whether it counts how often a record is used

    @property
    def posts(self) -> bool:
        """Whether records are posts, which readers see as new each time.

        A post is replaced only on request, may have the text of another one, and may have a time
        from when and until when it is listed.
        """
        return not self.edit


Abilities = Mapping[Resource, Ability]
"""What a service can do with each kind that it lists."""
