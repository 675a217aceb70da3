"""Plans of several listings as blocks: those that show the same are one, with all their names.

Two plans show the same if nothing but the listing and the warnings differ: a warning names its
listing. A warning that several listings have is in the first block only, and names them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commandsync.diagnostics import Notice
from commandsync.plan.plan import Plan, Target

_ANY = Target(bot="", base_url="", abilities={})


@dataclass(slots=True)
class Block:
    """Plans that show the same: `shown` is one of them, for a listing with the names of all."""

    shown: Plan
    plans: list[Plan] = field(default_factory=list)


def blocks_of(plans: Sequence[Plan]) -> list[Block]:
    """Return the blocks of plans, in the order of their first plans."""
    blocks: list[tuple[Plan, Block]] = []
    for plan in plans:
        key = _without_names(plan)
        block = next((block for known, block in blocks if known == key), None)
        if block is None or not (plan.listing and plan.listing.whole):
            blocks.append((key, block := Block(plan)))
        block.plans.append(plan)
    merged = [block for _, block in blocks]
    listings = _listings_of_notices(plans)
    for block in merged:
        block.shown = _shown(block, listings)
    return merged


def _listings_of_notices(plans: Sequence[Plan]) -> dict[Notice, list[str]]:
    """Return the names of the listings that each notice is about."""
    listings: dict[Notice, list[str]] = {}
    for plan in plans:
        for notice in plan.notices:
            listings.setdefault(_anonymous(plan, notice), []).append(_name(plan))
    return listings


def _shown(block: Block, listings: dict[Notice, list[str]]) -> Plan:
    """Return the plan of a block with all names; each shared notice is taken once."""
    plan, notices = block.plans[0], list[Notice]()
    for own, notice in [(each, notice) for each in block.plans for notice in each.notices]:
        anonymous = _anonymous(own, notice)
        if anonymous is notice and (own is plan or notice not in plan.notices):
            notices.append(notice)
        elif about := listings.pop(anonymous, []):
            named = ", ".join(dict.fromkeys(about))
            notices.append(replace(notice, message=named + anonymous.message))
    names = " and ".join(map(_name, block.plans))
    listing = plan.listing and replace(plan.listing, name=names, audience=None)
    return replace(plan, notices=tuple(notices), listing=listing)


def _without_names(plan: Plan) -> Plan:
    """Return a plan that is equal to any other one that shows the same."""
    if plan.listing is None:
        return plan
    return replace(
        plan,
        target=_ANY,
        listing=replace(plan.listing, name="", audience=None, digest="", losses=()),
        notices=(),
    )


def _anonymous(plan: Plan, notice: Notice) -> Notice:
    """Return a notice without the name of its listing, with which it begins; else the notice."""
    name = _name(plan)
    if not name or not notice.message.startswith(f"{name}: "):
        return notice
    return replace(notice, message=notice.message.removeprefix(name))


def _name(plan: Plan) -> str:
    return plan.listing.label if plan.listing else ""
