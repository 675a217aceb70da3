"""`discord:` of an entry: texts as they are spelled, values by their types, unknown keys kept."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commandsync.manifest import load_manifests
from commandsync.manifest.scalars import flow
from commandsync.records.registrations import Registrable

HEAD = """\
version: 1
listings: [{service: discord}]
commands:
- name: a
  description: b
  syntax: /a
  discord: """


def registrables(text: str) -> tuple[Registrable, ...]:
    (manifest,) = load_manifests(["-"], stdin=(HEAD + text).encode)
    return manifest.registrables


def read(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the object of a command, without its id."""
    (command,) = registrables(text)
    return command.discord


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


@given(OBJECTS)
def test_an_object_that_is_written_is_read_as_it_was(node: dict[str, Any]) -> None:
    assert read(flow(node)) == node


def test_texts_are_strings_as_they_are_spelled() -> None:
    node = read(
        "{name: off, description: 247, name_localizations: {no: 1e3, de: .5}, id: 7, "
        "options: [{type: 3, name: 07, description: true, choices: [{name: 1, value: 1.0}]}]}"
    )

    assert node == {
        "name": "off",
        "description": "247",
        "name_localizations": {"no": "1e3", "de": ".5"},
        "options": [
            {
                "type": 3,
                "name": "07",
                "description": "true",
                "choices": [{"name": "1", "value": "1.0"}],
            }
        ],
    }


def test_the_value_of_a_choice_follows_the_type_of_its_option() -> None:
    values = "name: o, description: d, choices: [{name: one, value: 1}]"
    node = read(f"{{options: [{{type: 3, {values}}}]}}")

    assert node["options"][0]["choices"][0]["value"] == "1"
    for kind in (4, 10):
        (option,) = read(f"{{options: [{{{values}, type: {kind}}}]}}")["options"]
        assert option["choices"][0]["value"] == 1


def test_null_is_as_good_as_leaving_a_key_out() -> None:
    node = read(
        "{name: a, type: ~, contexts: null, nsfw: null, name_localizations: ~, options: ["
        "{type: 3, name: b, description: c, choices: null, required: ~}], unknown: null}"
    )

    assert node == {
        "name": "a",
        "options": [{"type": 3, "name": "b", "description": "c"}],
        "unknown": None,
    }


def test_a_block_ends_without_a_line_end_and_a_quoted_string_is_kept_to_the_letter() -> None:
    text = '\n    description: |\n      Long.\n    options:\n    - {type: 3, name: " x ", '
    node = read(text + "description: d}\n")

    assert node["description"] == "Long."
    assert node["options"][0]["name"] == " x "


def test_permissions_are_digits_with_quotes_or_without() -> None:
    for digits in ("8", "'8'"):
        assert read(f"{{default_member_permissions: {digits}}}") == {
            "default_member_permissions": "8"
        }


def test_an_id_alone_is_a_pin_and_says_nothing_about_options() -> None:
    (command,) = registrables("{id: 0123}")

    assert (command.id, command.discord) == ("0123", None)
    assert command.places == {}


def test_every_part_of_an_object_has_its_place() -> None:
    (command,) = registrables(
        "\n    name: a\n    options:\n      - name: b\n        type: 3\n        description: c\n"
        "        choices:\n          - {name: d, value: e}\n"
    )

    assert {path: (at.line, at.column) for path, at in command.places.items()} == {
        "": (8, 5),
        "name": (8, 11),
        "options": (10, 7),
        "options/0": (10, 9),
        "options/0/name": (10, 15),
        "options/0/type": (11, 15),
        "options/0/description": (12, 22),
        "options/0/choices": (14, 11),
        "options/0/choices/0": (14, 13),
        "options/0/choices/0/name": (14, 20),
        "options/0/choices/0/value": (14, 30),
    }
