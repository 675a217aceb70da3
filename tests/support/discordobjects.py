"""Generated objects of commands in Discord's shape, with keys that nobody knows yet.

They need not be ones that Discord accepts: lengths, orders and levels are free.
"""

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9).filter(
    str.strip
)
LANGUAGES = {
    f"{key}_localizations": st.dictionaries(st.sampled_from(["de", "no", "en-US"]), TEXTS)
    for key in ("name", "description")
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(TEXTS, parts, max_size=2),
    max_leaves=4,
)
FLAGS = dict.fromkeys(["required", "autocomplete"], st.booleans())
WHOLE = st.integers(-(2**53), 2**53)
VALUES = {
    3: st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    4: WHOLE,
    10: st.floats(allow_nan=False, allow_infinity=False) | WHOLE,
}


def with_own_names(tables: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(tables, max_size=3, unique_by=lambda table: table["name"])


def choices_of(kind: int) -> st.SearchStrategy[Any]:
    return with_own_names(
        st.fixed_dictionaries(
            {"name": TEXTS, "value": VALUES[kind]},
            optional={"name_localizations": LANGUAGES["name_localizations"]},
        )
    )


def options(below: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    """Return lists of options with the options below them."""

    def of_type(kind: int) -> st.SearchStrategy[Any]:
        needed = {"type": st.just(kind), "name": TEXTS, "description": TEXTS}
        extra = {**LANGUAGES, **FLAGS, "channel_types": st.lists(st.integers(0, 15)), "new": JSON}
        if kind in VALUES:
            extra |= {"choices": choices_of(kind), "min_value": VALUES[10], "max_length": WHOLE}
        return st.fixed_dictionaries(
            needed, optional=extra | ({"options": below} if below is not None else {})
        )

    return with_own_names(st.integers(1, 12).flatmap(of_type))


OBJECTS = st.fixed_dictionaries(
    {"name": TEXTS},
    optional={
        **LANGUAGES,
        "description": st.just("") | TEXTS,
        "type": st.integers(1, 5),
        "options": options(options(options(None))),
        "default_member_permissions": st.from_regex("[0-9]{1,20}", fullmatch=True),
        "contexts": st.lists(st.integers(0, 3)),
        "integration_types": st.lists(st.integers(0, 1)),
        "nsfw": st.booleans(),
        "dm_permission": st.booleans(),
        "handler": st.integers(1, 2),
        "unknown": JSON,
    },
)
