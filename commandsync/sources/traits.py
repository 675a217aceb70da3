"""Why a command may not belong on a public list: what the keys of its declaration say."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from commandsync.sources.entry import Trait
from commandsync.sources.jsonfile import listed

_Rule = tuple[Trait, Callable[[object], bool]]


def only_administrators(permissions: object) -> bool:
    """Whether permissions of Discord, or the name of one, let only administrators use a command."""
    if isinstance(permissions, str):
        if not re.fullmatch("[0-9]{1,20}", permissions):
            return permissions.upper() == "ADMINISTRATOR"
        permissions = int(permissions)
    return type(permissions) is int and (permissions == 0 or bool(permissions & 1 << 3))


def _is_set(value: object) -> bool:
    return isinstance(value, (bool, str, int, list)) and bool(value)


_RULES: dict[str, _Rule] = {  # by the keys, in lower case and without underscores
    "(group)?nsfw(only)?|agerestricted": (Trait.NSFW, _is_set),
    "hidden|hide|disabled": (Trait.HIDDEN, _is_set),
    "enabled": (Trait.HIDDEN, lambda value: value is False),
    "testonly|guildids?|(test)?guilds": (Trait.GUILD_ONLY, _is_set),
    "(bot)?owners?(only)?|dev(eloper)?(only)?": (Trait.OWNER_ONLY, _is_set),
    "preconditions": (Trait.OWNER_ONLY, lambda value: "OwnerOnly" in listed(value)),
    "defaultpermission": (Trait.ADMIN_ONLY, lambda value: value is False),
    "(user|member|default|required)*perm(ission)?s?": (
        Trait.ADMIN_ONLY,
        lambda value: any(map(only_administrators, listed(value))),
    ),
}


@lru_cache(1000)
def _rules(key: str) -> list[_Rule]:
    word = key.replace("_", "").casefold()
    return [rule for keys, rule in _RULES.items() if re.fullmatch(keys, word)]


def traits_by_key(fields: Mapping[str, object]) -> Iterator[tuple[str, Trait | None]]:
    """Yield each key that may say why, with what it says; None if its value does not say that."""
    for key, value in fields.items():
        yield from ((key, trait if holds(value) else None) for trait, holds in _rules(key))


def traits_of(fields: Mapping[str, object]) -> frozenset[Trait]:
    """Return what the keys of an object say."""
    return frozenset(trait for _, trait in traits_by_key(fields) if trait)
