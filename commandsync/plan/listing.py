"""What a plan knows of one listing of several: how its list was read, and what it cannot show."""

from dataclasses import dataclass

from commandsync.diagnostics import Do, Notice
from commandsync.plan.rules import SyncRules
from commandsync.records.losses import Loss

THE_LIST = "list"  # what a plan is compared with where the service returns its list


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedListing:
    """One of the listings of a manifest, as it is planned."""

    name: str  # the service's name; of a page, its host
    whole: bool = False  # whether the list is replaced as a whole, in one request
    readable: bool = True  # whether the list is read
    returned: bool = False  # whether the service returns its list, at least to who has the token
    compared_with: str = THE_LIST  # or a file, or a revision; empty where nothing is known
    size: int = 0  # how many commands a whole list contains that is sent
    losses: tuple[Loss, ...] = ()  # what the service does not show of the manifest
    unseen: bool = False  # whether a list may be replaced of which nothing is known
    renewed: tuple[str, ...] = ()  # what is sent with other options or the like, and equal texts
    resend: bool = False  # whether the list is sent also where it has no changes
    wants_none: bool = False  # whether the manifest itself has no commands

    @property
    def known(self) -> bool:
        """Whether the plan is compared with something."""
        return bool(self.compared_with)

    def sends(self, *, changes: bool) -> bool:
        """Whether apply sends the whole list; `changes` is whether the plan has some."""
        return self.whole and (changes or bool(self.renewed) or self.resend or not self.known)

    def refusal(self, rules: SyncRules, *, changes: bool) -> Notice | None:
        """Return why apply must not send the whole list; None if it may."""
        if not self.sends(changes=changes):
            return None
        limit = rules.max_deletes
        if not (self.size or (self.wants_none and limit and limit.unlimited)):
            why = "" if self.wants_none else ": the service shows none of the manifest's commands"
            return Notice(
                f"would send an empty list{why}",
                Do.ALLOW_DELETES(limit="all") if self.wants_none else "",
            )
        if not (self.known or self.unseen or self.returned):
            return Notice(
                f"would replace the whole list of {self.name}, of which nothing is known",
                Do.REPLACE_UNSEEN(),
            )
        return None
